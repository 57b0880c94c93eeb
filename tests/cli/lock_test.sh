# SPDX-License-Identifier: Apache-2.0
#
# lock_test.sh - lock inspect and break; and locks of other programs.

test_inspect_a_free_lock() {
    expect 1 lock inspect free
    contains "$out" $'held: no\nlast token: ' $'\nwaiters: 0'
    expect 1 lock inspect free --json
    json 'd["name"] == "free" and not d["held"] and d["waiters"] == 0'
}

test_inspect_a_held_lock() {
    expect 0 run --ttl 20 job -- sh -c 'echo $HOLDFAST_TOKEN $HOLDFAST_OWNER
        "$HOLDFAST" lock inspect job && "$HOLDFAST" lock inspect job --json'
    set -- $out
    contains "$out" "held: yes
owner: $2
"
    contains "$out" "expires: in 1"
    contains "$out" $'\ntoken: '"$1"$'\nlast token: '"$1"
    contains "$out" '{"name":"job","held":true,"owner":"'"$2"'","remaining_ms":1'
    contains "$out" ',"token":'"$1"','
    contains "$out" ',"last_token":'"$1"',"waiters":0}'
}

# As soon as the holder has registered itself.
test_holder_is_shown() {
    start run job -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 5 sh -c '"$HOLDFAST" lock inspect job | grep -q "^holder: "'
    expect 0 lock inspect job
    contains "$out" "holder: sh (pid $holder, "
    contains "$out" "held for: "
    expect 0 lock inspect job --json
    json 'd["pid"] == '"$holder"' and d["program"] == "holdfast"'
    json 'd["description"] == "sh" and d["held_ms"] >= 0 and d["host"]'
    expect 1 run -n --verbose job -- true
    contains "$err" "held by sh (pid $holder, "
    contains "$err" " s left"
    expect 1 run -w 0.01 --verbose job -- true
    contains "$err" "held by sh (pid $holder, "
    : >go
    ends 0 $holder
}

test_list_tells_held_locks_and_holders() {
    start run job -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 5 sh -c '"$HOLDFAST" lock list | grep -q "^job: held by sh (pid "'
    expect 0 value set other 5d0b7d2c1a3e4f60918273645546372f --ttl 60
    expect 0 lock list
    contains "$out" "job: held by sh (pid $holder, "
    lacks "$out" other
    expect 0 lock list 'j*' --json
    json 'd["name"] == "job" and d["pid"] == '"$holder"
    expect 0 lock list 'x*'
    same list '' "$out"
    : >go
    ends 0 $holder
}

test_list_has_every_holder() {
    local i

    for i in 1 2; do
        start run -s books -- sh -c 'echo r >>ready; until [ -e go ]; do sleep 0.02; done'
        start run --slots 3 pool -- sh -c 'echo r >>ready; until [ -e go ]; do sleep 0.02; done'
    done
    eventually 5 sh -c '[ "$(wc -l <ready)" = 4 ]'
    expect 0 lock list
    same readers 2 "$(grep -c '^books: held by ' <<<"$out")"
    same permits 2 "$(grep -c '^pool: held by ' <<<"$out")"
    expect 0 top --once --json
    json 'd["locks_held"] == 2 and d["locks"][0]["holders"] == 2'
    : >go
    wait
}

test_other_librarys_holder_is_shown() {
    expect 0 value set job 5d0b7d2c1a3e4f60918273645546372f --ttl 60
    expect 1 run -n --verbose job -- true
    contains "$err" "held by 5d0b7d2c1a3e4f60918273645546372f (like redis-py's)"
}

test_wait_says_for_whom() {
    start run --ttl 30 job -- sh -c 'echo r >ready
        until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 5 written ready
    start run --verbose -w 20 job -- true 2>told
    eventually 10 grep -q 'waiting for lock "job": held by sh (pid' told
    : >go
    ends 0 $holder
    ends 0 $pid
    [ "$(grep -c "waiting for" told)" -le 2 ] || fail "said too often"
}

test_value_that_never_expires_is_named_with_the_way_out() {
    expect 0 value set job 1
    expect 1 run --verbose -w 0.5 job -- true
    contains "$err" 'run: waiting for lock "job": held by 1, never expires'
    contains "$err" '(`holdfast lock break job` frees it)'
    expect 1 run -w 0.5 job -- true
    lacks "$err" 'run: waiting for'
    contains "$err" 'held by 1, never expires'
    expect 1 run -q -w 0.5 job -- true
    same stderr '' "$err"
}

test_inspect_counts_waiters() {
    start run job -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 5 written ready
    start run job -- true
    eventually 5 sh -c '"$HOLDFAST" lock inspect job | grep -qx "waiters: 1"'
    : >go
    ends 0 $holder
    ends 0 $pid
}

test_break_frees_the_lock_for_a_waiter() {
    local first

    start run --on-lost warn job -- sh -c 'echo $HOLDFAST_TOKEN >first
        until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 5 written first
    start run job -- sh -c 'echo $HOLDFAST_TOKEN >second'
    sleep 0.1
    expect 0 lock break job --json
    same answer '{"name":"job","broken":true}' "$out"
    ends 0 $pid
    [ "$(cat second)" -gt "$(cat first)" ] || fail 'the token did not grow'
    : >go
    ends 76 $holder
}

test_break_of_an_owner() {
    local lock owner shell=$BASHPID

    lock=$("$HOLDFAST" lock acquire --keep-pid "$shell" job) || fail 'not acquired'
    expect 1 lock break job --owner another
    owner=$("$HOLDFAST" lock inspect job --json | sed 's/.*"owner":"\([^"]*\)".*/\1/')
    expect 0 lock break job --owner "$owner"
    expect 1 lock inspect job
    expect 76 lock release "$lock"
}

# The first of two holders of permits; the other keeps its own.
test_break_of_one_holder_of_several() {
    local one two owners shell=$BASHPID

    one=$("$HOLDFAST" lock acquire --slots 2 --keep-pid "$shell" s) || fail 'not acquired'
    expect 0 lock holders s --json
    owners=$(sed 's/.*"owner":"\([^"]*\)".*/\1/' <<<"$out")
    two=$("$HOLDFAST" lock acquire --slots 2 --keep-pid "$shell" s) || fail 'not acquired'
    expect 0 lock break s --owner "$owners"
    expect 1 lock break s --owner "$owners"
    expect 76 lock release "$one"
    expect 0 lock release "$two"
}

test_token_of_a_holder_is_shown_and_broken() {
    local lock token shell=$BASHPID

    lock=$("$HOLDFAST" lock acquire --keep-pid "$shell" job) || fail 'not acquired'
    token=${lock%%:*}
    expect 0 lock holders job
    contains "$out" ", token $token"
    expect 0 lock holders job --json
    json 'd["token"] == '"$token"
    expect 0 lock list
    contains "$out" ", token $token"
    expect 0 lock list --json
    json 'd["token"] == '"$token"
    expect 0 top --once --json
    json 'd["locks"][0]["token"] == '"$token"
    expect 64 lock break job --token "$token" --owner x
    expect 1 lock break job --token "$((token + 1))"
    contains "$err" "not held with token $((token + 1))"
    expect 0 lock inspect job
    expect 0 lock break job --token "$token"
    expect 1 lock break job --token "$token"
    expect 76 lock release "$lock"
}

test_break_of_a_free_lock_is_exit_code_1() {
    expect 1 lock break free
    expect 1 lock break free --json
    same answer '{"name":"free","broken":false}' "$out"
}

test_wrong_type_is_exit_code_65() {
    expect 0 hash put table f v
    expect 65 lock inspect table
    expect 65 run -n table -- touch ran
    [ ! -e ran ] || fail 'the command ran'
}

test_wrong_type_is_named() {
    local command

    expect 0 hash put table f v
    expect 0 value set text v
    for command in 'run -n table' 'run -w 5 table' 'run -s -n table' \
        'run --permits 2 -w 5 table' 'run --all free table'; do
        expect 65 $command -- touch ran
        contains "$err" 'key "table" holds a hash'
    done
    expect 65 lock acquire table
    contains "$err" 'key "table" holds a hash'
    expect 65 lead text -- touch ran
    contains "$err" 'key "text" holds a string'
    expect 65 lead table -- touch ran
    contains "$err" 'the hash is not of an election'
    [ ! -e ran ] || fail 'the command ran'
    expect 0 run -n free -- true
}

test_set_nx_px_of_others_is_refused_while_we_hold() {
    [ -n "$redis_pid" ] || return 0
    start run job -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    eventually 5 written ready
    same 'reply to SET NX' '' \
        "$(redis-cli -s "$work/redis" set job x nx px 10000)"
    : >go
    ends 0 $pid
    same 'reply to SET NX' OK \
        "$(redis-cli -s "$work/redis" set job x nx px 10000)"
}

test_we_are_refused_while_others_hold() {
    [ -n "$redis_pid" ] || return 0
    redis-cli -s "$work/redis" set job someone nx px \
        $((500 * $(slowness))) >/dev/null
    expect 1 run -n job -- true
    expect 0 lock inspect job
    contains "$out" 'owner: someone'
    expect 0 run -w 60 job -- true
    redis-cli -s "$work/redis" set job someone >/dev/null
    expect 0 lock inspect job
    contains "$out" 'expires: never'
    expect 0 lock inspect job --json
    contains "$out" '"remaining_ms":null'
    redis-cli -s "$work/redis" del job >/dev/null
}
