# SPDX-License-Identifier: Apache-2.0
#
# diagnose_test.sh - holdfast store diagnose: diagnostics and exit codes.

is_server() {
    case $HOLDFAST_STORE in
    redis*) ;;
    *) return 1 ;;
    esac
    socket=${HOLDFAST_STORE#redis+unix://}
}

cli() {
    redis-cli -s "$socket" "$@" >/dev/null || fail "redis-cli $*"
}

test_healthy_store() {
    expect 0 store diagnose -N 20
    contains "$out" "ok       reachable: yes"
    contains "$out" " round trip: p50 " # a note on a busy machine
    contains "$out" "of 20"
    contains "$out" "0 errors, 0 warnings"
    expect 0 store diagnose -N 20 --json
    contains "$out" '{"diagnostics":[{"node":"'
    contains "$out" '"name":"reachable","level":"ok","value":"yes"}'
    contains "$out" '"errors":0,"warnings":0,'
    json 'd["errors"] == 0 and len(d["diagnostics"]) > 3'
    expect 64 store diagnose operand
    expect 64 store diagnose -N 0
}

test_nothing_is_changed() {
    is_server || return 0
    cli set kept 1
    expect 0 store diagnose -N 5
    [ "$(redis-cli -s "$socket" dbsize)" = 1 ] || fail "keys were left"
    [ "$(redis-cli -s "$socket" get kept)" = 1 ] || fail "a key was changed"
}

test_unreachable_server() {
    expect 69 --store redis://127.0.0.1:1 store diagnose
    contains "$out" "error    reachable: cannot connect to 127.0.0.1:1"
    expect 69 --store redis://127.0.0.1:1 store diagnose --json
    contains "$out" '"status":"UNAVAILABLE"'
    expect 64 --store nonsense:x store diagnose
    contains "$err" "nonsense"
}

test_server_that_hangs() {
    local began

    is_server || return 0
    kill -STOP "$redis_pid"
    began=$(now_ms)
    expect 69 store diagnose
    contains "$out" "error    reachable: "
    within 4000 "$began"
    kill -CONT "$redis_pid"
}

test_limit_of_time() {
    local began=$(now_ms)

    expect 1 store diagnose -N 100000 --wait 0.01
    contains "$err" "was not examined as a whole in 10 ms"
    within 3000 "$began"
}

test_eviction_is_reported_loudly() {
    is_server || return 0
    for policy in volatile-lru volatile-ttl allkeys-lru allkeys-random; do
        cli config set maxmemory-policy $policy
        expect 0 store diagnose -N 3
        contains "$out" "note     eviction: $policy, without effect"
        cli config set maxmemory 1gb
        expect 1 store diagnose -N 3
        contains "$out" "warning  eviction: $policy: THE SERVER MAY EVICT LOCKS"
        cli config set maxmemory 0
    done
    cli config set maxmemory-policy noeviction
    cli config set maxmemory 2mb
    expect 0 store diagnose -N 3
    contains "$out" "ok       eviction: noeviction"
    cli config set maxmemory 1mb
    expect 1 store diagnose -N 3
    contains "$out" "warning  memory: "
    cli config set maxmemory 0
}

test_persistence() {
    is_server || return 0
    expect 0 store diagnose -N 3
    contains "$out" "persistence: none: a restart"
    cli config set save "3600 1"
    expect 0 store diagnose -N 3
    contains "$out" "persistence: snapshots only (save 3600 1)"
    cli config set save ""
    cli config set appendonly yes
    cli config set appendfsync always
    expect 0 store diagnose -N 3
    contains "$out" "ok       persistence: append-only file, synced before"
    cli config set appendfsync everysec
    expect 0 store diagnose -N 3
    contains "$out" "appendfsync everysec: a power cut loses the last second"
    cli config set appendonly no
}

test_fencing_tokens() {
    local now=$(date +%s)

    "$HOLDFAST" command DEL hf:token >/dev/null
    expect 0 store diagnose -N 3
    contains "$out" "ok       fencing tokens: no counter"
    expect 0 run lock true
    expect 0 store diagnose -N 3
    contains "$out" "ok       fencing tokens: the last one is not ahead of"
    expect 0 value set hf:token $((now + 30))000000
    expect 0 store diagnose -N 3
    contains "$out" "note     fencing tokens: the last one is "
    expect 0 value set hf:token $((now + 7200))000000
    expect 1 store diagnose -N 3
    contains "$out" "s ahead of the clock, which was set back: THEY REPEAT IF"
    expect 0 value set hf:token 9007199254740991
    expect 65 store diagnose -N 3
    contains "$out" "error    fencing tokens: 9007199254740991 is the largest"
    for each in 0 -5 1e5 nonsense 9007199254740992; do
        expect 0 value set -- hf:token $each
        expect 1 store diagnose -N 3
        contains "$out" "warning  fencing tokens: hf:token is not a token"
    done
    expect 0 value delete hf:token
    expect 0 hash put hf:token a 1
    expect 1 store diagnose -N 3
    contains "$out" "warning  fencing tokens: hf:token is not a token"
    "$HOLDFAST" command DEL hf:token >/dev/null
}

test_replica_is_an_error() {
    is_server || return 0
    cli replicaof 127.0.0.1 1
    expect 69 store diagnose -N 3
    contains "$out" "error    replication: it is a replica"
    cli replicaof no one
}

test_missing_rights() {
    is_server || return 0
    cli acl setuser low on '>pw' resetkeys '~hf:*' resetchannels '&hf:*' \
        -@all +get +eval +time
    export HOLDFAST_PASSWORD=pw
    expect 77 --store "redis+unix://low@$socket" store diagnose -N 3
    contains "$out" "error    rights for locks: refused: EVALSHA"
    contains "$out" "ZADD on hf:wait:*"
    contains "$out" "note     info: unknown: NOPERM"
    contains "$out" "warning  wake-ups"
    # The same with ACL DRYRUN, and with all rights but one.
    cli acl setuser low +acl +info
    expect 77 --store "redis+unix://low@$socket" store diagnose -N 3
    contains "$out" "ok       user: low"
    contains "$out" "SUBSCRIBE on hf:inbox:*"
    cli acl setuser low '~*' +@all -zpopmin
    expect 77 --store "redis+unix://low@$socket" store diagnose -N 3
    contains "$out" "rights for locks: refused: ZPOPMIN on hf:wait:*"
    contains "$out" "ok       rights for dump and load: allowed"
    cli acl deluser low
}

# Each command, and each pattern of keys and channels, is named.
test_all_that_is_missing_is_named() {
    local each

    is_server || return 0
    cli acl setuser none on '>pw' resetkeys resetchannels -@all
    export HOLDFAST_PASSWORD=pw
    expect 77 --store "redis+unix://none@$socket" store diagnose -N 3
    contains "$out" "error    reachable: yes, but: NOPERM"
    for each in EVALSHA EVAL 'SCRIPT LOAD' TIME PING GET SET DEL PEXPIRE PTTL \
        'SET on hf:token*' 'GET on hf:token*' 'ZADD on hf:wait:*' \
        'ZREM on hf:wait:*' 'ZPOPMIN on hf:wait:*' 'ZCARD on hf:wait:*' \
        'ZRANK on hf:wait:*' 'EXISTS on hf:wait:*' 'PEXPIRE on hf:wait:*' \
        'PUBLISH on hf:inbox:*'; do
        contains "${out#*rights for locks: refused: }" "$each"
    done
    contains "$out" "warning  wake-ups: none: NOPERM"
    # The commands, but neither keys nor channels.
    cli acl setuser none +@all -acl
    expect 77 --store "redis+unix://none@$socket" --prefix app: \
        store diagnose -N 3
    for each in 'GET on app:*' 'ZADD on app:hf:wait:*' \
        'SET on app:hf:token*' 'PUBLISH on app:hf:inbox:*' \
        'HGETALL on app:*'; do
        contains "$out" "$each"
    done
    lacks "$out" "EVALSHA"
    cli acl deluser none
}

test_wrong_password() {
    is_server || return 0
    cli acl setuser app on '>right' '~*' '&*' +@all
    expect 77 --store "redis+unix://app:mistaken@$socket" store diagnose
    contains "$out" "error    reachable: the server refused the password"
    lacks "$out$err" mistaken
    expect 77 --store "redis+unix://app:mistaken@$socket" store diagnose --json
    json 'd["diagnostics"][0]["status"] == "DENIED" and d["errors"] == 1'
    lacks "$out$err" mistaken
    expect 0 --store "redis+unix://app:right@$socket" store diagnose -N 3
    lacks "$out$err" right@
    cli acl deluser app
}

test_rights_follow_the_prefix() {
    is_server || return 0
    cli acl setuser app on '>pw' '~app:*' '&app:*' +@all
    export HOLDFAST_PASSWORD=pw
    expect 77 --store "redis+unix://app@$socket" store diagnose -N 3
    contains "$out" "rights for locks: refused: GET on *, SET on *, DEL on *"
    expect 77 --store "redis+unix://app@$socket" --prefix ap store diagnose -N 3
    contains "$out" "refused: GET on ap*, SET on ap*, DEL on ap*, PEXPIRE on ap"
    expect 0 --store "redis+unix://app@$socket" --prefix app: \
        store diagnose -N 3
    HOLDFAST_PREFIX=app: expect 0 --store "redis+unix://app@$socket" \
        store diagnose -N 3
    cli acl deluser app
}

test_embedded_store() {
    is_server && return 0
    expect 0 store diagnose
    contains "$out" "ok       durability: volatile"
    contains "$out" "ok       open handles: 1 of 4096"
    export HOLDFAST_STORE=file:$PWD/own
    expect 1 store diagnose # the tests' directory is in memory
    contains "$out" "warning  file system: tmpfs"
    chmod 755 own
    expect 1 store diagnose
    contains "$out" "note     permissions: mode 755"
}

test_embedded_store_that_is_nearly_full() {
    is_server && return 0
    export HOLDFAST_STORE="volatile:$PWD/small?max_size=2M"
    printf 'redis.call("set", KEYS[1], string.rep("x", 90000))' >fill.lua
    for ((i = 1; i <= 2000; i++)); do
        "$HOLDFAST" script run fill.lua "k$i" >/dev/null 2>&1 || break
    done
    [ $i -gt 3 ] && [ $i -lt 100 ] || fail "filled by $i keys"
    expect 1 store diagnose
    contains "$out" "warning  room: "
}
