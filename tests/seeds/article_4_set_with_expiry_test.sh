# SPDX-License-Identifier: Apache-2.0
#
# article_4_set_with_expiry_test.sh - the fourth article by command: EX and PX,
# its cache, its lock, and ours.

. "$(dirname "${BASH_SOURCE[0]}")/articles.sh"

test_set_then_expire() {
    says OK SET key value
    lasts key # here a client can die
    says '(integer) 1' EXPIRE key 5
    lives 5 key
    says OK SET key value
    says '(integer) 1' PEXPIRE key 5000
    lives 5 key
}

test_set_with_ex() {
    says OK SET key value EX 5
    lives 5 key
    expect 0 value set key value --ex 5
    lives 5 key
}

test_set_with_px() {
    says OK SET key value PX 5000
    lives 5 key
    expect 0 value set key value --px 5000
    lives 5 key
}

test_volatile_cache() {
    expect 1 value get key
    expect 0 value set key old --ttl 60
    expect 0 value set key data --ttl 5
    expect 0 value get key
    same value data "$out"
    lives 5 key
    expect 0 value set key data --px 30
    eventually 2 is_gone key
    expect 1 value get key
}

test_timing_lock() {
    says OK SET test-lock locking EX 5 NX
    says '(nil)' SET test-lock locking EX 5 NX
    says '(integer) 1' PEXPIRE test-lock 30
    eventually 2 is_gone test-lock
    says OK SET test-lock locking EX 5 NX
    says '(integer) 1' DEL test-lock
    says '(integer) 0' DEL test-lock
}

# Until its holder dies, and then until its lease ends.
test_timing_lock_by_run() {
    local holder

    start run --ttl 5 test-lock -- sleep 60
    holder=$pid
    eventually 5 written_lock test-lock
    expect 1 run -n test-lock -- true
    kill -KILL "$holder"
    says '(integer) 1' PEXPIRE test-lock 30
    expect 0 run -w 60 --ttl 5 test-lock -- true
    is_gone test-lock || fail 'the lock is left'
}

written_lock() {
    ! is_gone "$1"
}
