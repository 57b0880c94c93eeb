# SPDX-License-Identifier: Apache-2.0
#
# article_5_distributed_lock_test.sh - the fifth article by command: SETNX, every
# option of SET, its program, Redisson's scripts, and our lock.

. "$(dirname "${BASH_SOURCE[0]}")/articles.sh"

test_setnx_and_del() {
    says '(integer) 1' SETNX k v
    says '(integer) 0' SETNX k v
    says '(integer) 1' DEL k
    says '(integer) 1' SETNX k v
}

test_set_nx_ex_3() {
    says OK SET key value NX EX 3
    says '(nil)' SET key value NX EX 3
    lives 3 key
    says '(integer) 1' PEXPIRE key 30
    eventually 2 is_gone key
    says OK SET key value NX EX 3
}

test_table_of_set_nx() {
    says OK SET mykey value NX
    says '(nil)' SET mykey value NX
    expect 1 value set mykey value --nx
}

test_table_of_set_xx() {
    says '(nil)' SET mykey value XX
    expect 1 value set mykey value --xx
    says OK SET mykey value
    says OK SET mykey value XX
    expect 0 value set mykey value --xx
}

test_table_of_set_get() {
    says OK SET mykey value
    says '"value"' SET mykey newvalue GET
    expect 0 value set mykey newer --get
    same 'previous value' newvalue "$out"
}

test_table_of_set_ex_and_px() {
    says OK SET mykey value EX 10
    lives 10 mykey
    says OK SET mykey value PX 10000
    lives 10 mykey
}

test_table_of_set_exat_and_pxat() {
    says OK SET mykey value EXAT 1672531199
    is_gone mykey || fail 'mykey is there'
    says OK SET mykey value PXAT 1672531199000
    is_gone mykey || fail 'mykey is there'
    says OK SET mykey value EXAT $(($(date +%s) + 100))
    lives 101 mykey
}

test_table_of_set_keepttl() {
    says OK SET mykey value EX 10
    says OK SET mykey value KEEPTTL
    lives 10 mykey
    says OK SET mykey value
    lasts mykey
}

# setIfAbsent(key, "123", 600, SECONDS), twice.
test_set_if_absent() {
    expect 0 value set yang37 123 --nx --ttl 600
    expect 0 value get yang37
    same value 123 "$out"
    lives 600 yang37
    expect 1 value set yang37 123 --nx --ttl 600
}

# The request that runs longer than its lock: with a lease that is not renewed
# a second one begins meanwhile.
test_fixed_lease_ends_before_its_work() {
    expect 0 value set yang37 1 --nx --ttl 30
    expect 1 value set yang37 2 --nx --ttl 30
    says '(integer) 1' PEXPIRE yang37 30 # 50 s of work, in short
    eventually 2 is_gone yang37
    expect 0 value set yang37 2 --nx --ttl 30
}

# tryLock(10 s) and a lease of 30 s that is renewed while the work lasts.
test_lease_is_renewed_while_its_work_lasts() {
    start run -w 10 yang37 -- sleep 60
    eventually 5 held yang37
    lives 30 yang37
    says '(integer) 1' PEXPIRE yang37 25000
    expect 1 run -n yang37 -- true
    kill "$pid"
    eventually 5 is_gone yang37
}

held() {
    ! is_gone "$1"
}

# The table of RLock: whether the caller waits, and whether it is renewed.

# takes FORM OPTION...: acquire it for this shell.
takes() {
    local form=$1 shell=$BASHPID
    shift

    lock=$("$HOLDFAST" lock acquire --keep-pid "$shell" "$@" yang37) ||
        fail "not acquired: $form"
    expect 1 lock acquire -n --keep-pid "$shell" yang37
}

gives_back() {
    expect 0 lock renew "$lock"
    expect 0 lock release "$lock"
    is_gone yang37 || fail 'it is held'
}

test_lock_and_try_lock_are_renewed() {
    takes 'lock()' --ttl "$(slowed 300)"
    sleep 0.6
    gives_back
    takes 'tryLock()' -n
    gives_back
    takes 'tryLock(time, unit)' -w 10
    gives_back
}

test_a_given_lease_is_not_renewed() {
    takes 'lock(leaseTime, unit)' --max-hold "$(slowed 700)" \
        --ttl "$(slowed 700)"
    eventually 10 is_gone_or_free
    takes 'tryLock(waitTime, leaseTime, unit)' -w 10 \
        --max-hold "$(slowed 700)" --ttl "$(slowed 700)"
    eventually 10 is_gone_or_free
}

is_gone_or_free() {
    "$HOLDFAST" run -n yang37 true
}

acquire="if (redis.call('exists', KEYS[1]) == 0) then \
redis.call('hincrby', KEYS[1], ARGV[2], 1); \
redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; \
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then \
redis.call('hincrby', KEYS[1], ARGV[2], 1); \
redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; \
return redis.call('pttl', KEYS[1]);"
renew="if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then \
redis.call('pexpire', KEYS[1], ARGV[1]); return 1; end; return 0;"
one=e0da9704-ebb4-4e9f-a6e4-ca490f176c42:76
two=017adcbf-08d9-449d-8c93-c82819799842:84

# redisson REPLY SCRIPT OWNER
redisson() {
    expect 0 script run --no-raw - yang37 -- 30000 "$3" <<<"$2"
    same reply "$1" "$out"
}

test_redisson_acquires_again_for_its_owner() {
    redisson '(nil)' "$acquire" $one
    says '"1"' HGET yang37 $one
    lives 30 yang37
    redisson '(nil)' "$acquire" $one
    says '"2"' HGET yang37 $one
    expect 0 script run --no-raw - yang37 -- 30000 $two <<<"$acquire"
    [ "${out#(integer) }" -gt 15000 ] || fail "not the time left: $out"
}

test_redisson_renews_for_its_owner() {
    redisson '(nil)' "$acquire" $one
    says '(integer) 1' PEXPIRE yang37 25000
    redisson '(integer) 0' "$renew" $two
    lives 25 yang37
    redisson '(integer) 1' "$renew" $one
    lives 30 yang37 25
}

# The article explains them one by one.
test_commands_of_redissons_scripts() {
    says '(integer) 0' EXISTS myKey
    says '(integer) -2' PTTL myKey
    says '(integer) 0' PEXPIRE myKey 60000
    says '(integer) 1' HINCRBY myHash myField 1
    says '(integer) 2' HINCRBY myHash myField 1
    says '(integer) 1' HEXISTS myHash myField
    says '(integer) 0' HEXISTS myHash other
    says '(integer) -1' PTTL myHash
    says '(integer) 1' PEXPIRE myHash 60000
    lives 60 myHash
}
