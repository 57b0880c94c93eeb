# SPDX-License-Identifier: Apache-2.0
#
# queue_test.sh - queue: jobs are put, listed and worked on; what becomes of one
# by the exit code of its command, a signal, and the death of its worker.

# counts READY TAKEN DELAYED BEHIND DEAD
counts() {
    out=$("$HOLDFAST" queue inspect q --json) || return 1
    case $out in
    *"\"ready\":$1,\"taken\":$2,\"delayed\":$3,\"behind\":$4,\"dead\":$5,"*) ;;
    *) return 1 ;;
    esac
}

expect_counts() {
    counts "$@" || fail "not $*: $out"
}

# work CODE OPTION... -- COMMAND: until no job is ready.
work() {
    expect "$1" queue work q -n "${@:2}"
}

test_jobs_are_put_listed_and_worked_on() {
    expect 0 queue put q one --id a
    same nothing '' "$out"
    expect 0 queue put q two --id b --priority 9 --json
    same answer '{"name":"q","id":"b","put":true}' "$out"
    expect 1 queue put q again --id a --json
    same answer '{"name":"q","id":"a","put":false}' "$out"
    expect 0 queue list q
    same list $'b\ttwo\na\tone' "$out"
    expect 0 queue list q --offset 1 --json
    json 'd["name"] == "q" and len(d["jobs"]) == 1'
    json '[d["jobs"][0][k] for k in ("id", "payload", "group", "attempt",
        "attempts", "priority")] == ["a", "one", "", 0, 0, 0]'
    expect 0 key type q
    same type queue "$out"
    work 0 -- sh -c 'echo "$HOLDFAST_JOB $HOLDFAST_ATTEMPT $HOLDFAST_NAME $(cat)"'
    same work $'b 1 q two\na 1 q one' "$out"
    expect_counts 0 0 0 0 0
    expect 1 key type q
    work 1 -- true
    contains "$err" 'no job of queue "q" is ready'
    expect 1 queue work q -w 0.05 --json -- true
    contains "$err" '"exit":1,"error":{"code":1,"name":"TIMEOUT"'
}

test_a_job_has_any_payload_of_up_to_a_mebibyte() {
    printf 'a\0b\n\377' >few
    head -c 1048576 /dev/urandom >most
    head -c 1048577 /dev/zero >more
    expect 0 queue put q --stdin --id few <few
    expect 0 queue put q --stdin --id most <most
    expect 64 queue put q --stdin --id more <more
    expect 0 queue put q '' --id none
    work 0 -- sh -c 'cat >"got.$HOLDFAST_JOB"'
    cmp few got.few || fail "another payload"
    cmp most got.most || fail "another payload"
    same size 0 "$(wc -c <got.none)"
}

test_the_exit_code_says_what_becomes_of_a_job() {
    expect 0 queue put q x --id a
    work 0 --verbose -- true
    contains "$err" 'job "a" of "q", attempt 1: exit code 0, done'
    expect 0 queue put q x --id a
    work 0 -- sh -c 'exit 65'
    contains "$err" 'exit code 65, a dead letter now'
    expect_counts 0 0 0 0 1
    expect 0 queue list q --state dead
    same list $'a\tx' "$out"
    expect 1 queue revive q none
    expect 0 queue revive q a
    same moved 1 "$out"
    expect 1 queue revive q --json
    same answer '{"name":"q","moved":0}' "$out"
    work 0 --backoff 60 --json -- sh -c 'exit 3'
    contains "$err" 'exit code 3, tried again in 60 s'
    contains "$err" '"jobs":{"done":0,"again":1,"deferred":0,"dead":0,"back":0,"lost":0,"unknown":0},"exit":0}'
    expect_counts 0 0 1 0 0
    expect 0 key delete q
    # A limit of the worker, and one of the job.
    expect 0 queue put q x --id a
    work 0 --backoff 0 --attempts 3 -- sh -c 'echo ran >>runs; exit 3'
    same runs 3 "$(grep -c ran runs)"
    expect_counts 0 0 0 0 1
    expect 0 queue revive q
    work 0 --backoff 0 -- true
    expect 0 queue put q x --id a --attempts 2
    work 0 --backoff 0 -- sh -c 'kill -KILL $$'
    contains "$err" 'attempt 2: exit code 137, a dead letter now'
    expect_counts 0 0 0 0 1
    expect 0 key delete q
    # It does not count.
    expect 0 queue put q x --attempts 1
    work 0 --backoff 0 --jobs 2 -- sh -c 'exit 75'
    expect_counts 1 0 0 0 0
    work 0 --backoff 60 -- sh -c 'exit 75'
    expect_counts 0 0 1 0 0
}

test_a_job_is_dropped_by_its_id() {
    local id

    expect 0 queue put q x
    id=$out
    [ "${#id}" = 32 ] || fail "id: $id"
    expect 0 queue put q y --id b
    same out '' "$out"
    expect 0 queue list q
    contains "$out" "$id"
    expect 0 queue drop q "$id"
    expect_counts 1 0 0 0 0
    expect 1 queue drop q "$id"
    contains "$err" "no such job \"$id\""
    expect 0 queue drop q b --json
    same answer '{"name":"q","dropped":true}' "$out"
    expect 1 queue drop q b --json
    same answer '{"name":"q","dropped":false}' "$out"
    expect 0 queue put q x --id a --json
    same answer '{"name":"q","id":"a","put":true}' "$out"
    work 0 -- sh -c '"$HOLDFAST" queue drop q a 2>told || echo "$?"'
    same code 1 "$out"
    contains "$(cat told)" 'a worker has the job'
}

test_backoff_doubles_up_to_a_limit() {
    expect 0 queue put q x
    expect 0 queue work q -w 5 --jobs 3 --backoff 0.1 --backoff-max 0.15 -- \
        sh -c 'exit 1'
    contains "$err" 'attempt 1: exit code 1, tried again in 0.1 s'
    contains "$err" 'attempt 3: exit code 1, tried again in 0.15 s'
}

test_a_command_that_cannot_run_costs_no_job() {
    expect 0 queue put q x --attempts 1
    work 127 -- ./no-such-command
    contains "$err" './no-such-command: command not found'
    : >file
    work 126 -- ./file
    expect_counts 1 0 0 0 0
    work 0 -- sh -c 'echo "$HOLDFAST_ATTEMPT"'
    same attempt 1 "$out"
}

test_a_delayed_job_waits_until_it_is_due() {
    local began

    began=$(now_ms)
    expect 0 queue put q later --delay 1.5
    work 1 -- true
    expect 0 queue list q --state delayed --limit 1
    contains "$out" later
    expect 0 queue work q --jobs 1 -- cat
    same payload later "$out"
    [ $(($(now_ms) - began)) -ge 1499 ] || fail "too early"
    within 4000 "$began"
}

test_an_id_may_be_remembered() {
    expect 0 queue put q x --id a --remember 60
    work 0 -- true
    expect 1 queue put q x --id a
    expect 0 queue inspect q
    contains "$out" 'remembered: 1'
}

test_one_job_of_a_group_is_worked_on_at_a_time() {
    for id in a b c; do
        expect 0 queue put q "$id" --group g
    done
    expect_counts 1 0 0 2 0
    expect 0 queue work q -w 1 --slots 3 -- sh -c '
        mkdir busy || echo two >>wrong; cat >>order; sleep 0.1; rmdir busy'
    same order abc "$(cat order)"
    [ ! -e wrong ] || fail "two at a time"
}

test_a_paused_queue_gives_nothing() {
    expect 0 queue put q x
    expect 0 queue pause q --json
    same answer '{"name":"q","paused":true}' "$out"
    work 1 -- true
    expect 0 queue inspect q
    contains "$out" 'paused: yes'
    start queue work q --jobs 1 -- sh -c 'cat >got'
    eventually 10 sh -c '"$HOLDFAST" queue inspect q | grep -q "waiters: 1"'
    expect 0 queue resume q
    ends 0 "$pid"
    same payload x "$(cat got)"
}

# How many scripts the server has run.
scripts_run() {
    redis-cli -s "$work/redis" info commandstats |
        sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\),.*/\1/p'
}

# The first take, for each job its end and the next take, and what an unknown
# script costs.
test_a_job_that_is_ready_costs_one_request() {
    local before after

    [ -n "$redis_pid" ] || return 0
    for i in $(seq 20); do
        expect 0 queue put q "$i"
    done
    before=$(scripts_run)
    work 0 -- sh -c 'exit $(($(cat) % 2 * 65))'
    after=$(scripts_run)
    expect_counts 0 0 0 0 10
    [ $((after - before)) -le 24 ] || fail "$((after - before)) for 20 jobs"
}

# Two workers with two slots each, and a waiting one.
test_each_job_is_given_to_one_worker() {
    local pids=()

    start queue work q -w 5 --jobs 40 -- sh -c 'cat >>done'
    pids+=("$pid")
    start queue work q -w 1 --slots 2 -- sh -c 'cat >>done'
    pids+=("$pid")
    for i in $(seq 40); do
        printf '%s\n' "$i" | "$HOLDFAST" queue put q --stdin --id "$i" ||
            fail "put $i"
    done
    ends 0 "${pids[1]}"
    ends 0 "${pids[0]}"
    same jobs "$(seq 40)" "$(sort -n done)"
    expect_counts 0 0 0 0 0
}

test_slots_work_at_the_same_time() {
    for i in 1 2 3; do
        expect 0 queue put q "$i" --id "$i"
    done
    # None ends before all have begun.
    expect 0 queue work q -n --slots 3 -- sh -c ': >began.$HOLDFAST_JOB
        until [ -e began.1 ] && [ -e began.2 ] && [ -e began.3 ]; do
            sleep 0.02; done'
    expect_counts 0 0 0 0 0
    expect 0 queue put q x
    expect 127 queue work q --slots 3 -- ./no-such-command
    expect_counts 1 0 0 0 0
}

test_a_killed_worker_gives_its_job_back() {
    local began ttl

    ttl=$(slowed 1000)
    expect 0 queue put q x --id a
    start queue work q --ttl "$ttl" -- sh -c 'echo $$ >leader; sleep 30'
    eventually 10 written leader
    kill -KILL "$pid"
    began=$(now_ms)
    ends 137 "$pid"
    eventually 5 group_is_gone "$(cat leader)"
    expect 0 queue work q --jobs 1 -- sh -c 'echo "$HOLDFAST_ATTEMPT $(cat)"'
    same job '2 x' "$out"
    within "$((10#${ttl/./} + 1500))" "$began"
}

test_attempts_of_killed_workers_count() {
    expect 0 queue put q x --id a
    start queue work q --ttl "$(slowed 300)" --attempts 1 -- \
        sh -c 'echo $$ >leader; sleep 30'
    eventually 10 written leader
    kill -KILL "$pid"
    ends 137 "$pid"
    expect 0 queue work q --jobs 1 --attempts 1 --json -- sh -c ': >ran'
    [ ! -e ran ] || fail "a second attempt"
    contains "$err" 'attempt 2: more than --attempts; not run, a dead letter'
    contains "$err" '"dead":1,'
    expect_counts 0 0 0 0 1
    # The worker takes the next one.
    expect 0 queue put q y --id b
    work 0 --attempts 1 -- cat
    same payload y "$out"
}

test_slots_end_with_who_started_them() {
    expect 0 queue put q x
    expect 0 queue put q y
    start queue work q --slots 2 -- sh -c 'echo $$ >"leader.$(cat)"; sleep 30'
    eventually 10 written leader.x
    eventually 10 written leader.y
    kill -KILL "$pid"
    ends 137 "$pid"
    eventually 10 group_is_gone "$(cat leader.x)"
    eventually 10 group_is_gone "$(cat leader.y)"
    eventually 10 counts 2 0 0 0 0
}

test_a_worker_that_is_asked_to_end_gives_its_job_back() {
    expect 0 queue put q x --attempts 1
    start queue work q -- sh -c 'echo $$ >leader; sleep 30'
    eventually 10 written leader
    kill -TERM "$pid"
    ends 143 "$pid"
    expect_counts 1 0 0 0 0
    rm leader
    start queue work q --slots 2 -- sh -c 'trap "exit 0" TERM; echo $$ >leader
        while :; do sleep 0.05; done'
    eventually 10 written leader
    kill -TERM "$pid"
    ends 143 "$pid"
    expect_counts 0 0 0 0 0 # it had ended with 0
    start queue work q -- true
    eventually 10 sh -c '"$HOLDFAST" queue inspect q | grep -q "waiters: 1"'
    kill -TERM "$pid"
    ends 143 "$pid"
    expect 0 queue inspect q
    contains "$out" 'waiters: 0'
}

test_a_hangup_is_no_attempt() {
    for slots in 1 2; do
        expect 0 queue put q x --attempts 1
        start queue work q --slots "$slots" --json -- \
            sh -c 'echo $$ >leader; sleep 30' 2>told
        eventually 10 written leader
        kill -HUP "$pid"
        ends 129 "$pid"
        contains "$(cat told)" '"back":1,"lost":0,"unknown":0},"exit":129}'
        expect_counts 1 0 0 0 0
        expect 0 key delete q
        rm leader
    done
}

waiters() {
    "$HOLDFAST" queue inspect q | grep -q "waiters: $1"
}

test_a_worker_that_waits_is_asked_to_end() {
    start queue work q --json -- true 2>told
    eventually 10 waiters 1
    kill -USR1 "$pid" # of commands
    expect 0 queue put q x
    eventually 10 counts 0 0 0 0 0
    eventually 10 waiters 1
    kill -TERM "$pid"
    ends 143 "$pid"
    same report '{"name":"q","jobs":{"done":1,"again":0,"deferred":0,"dead":0,"back":0,"lost":0,"unknown":0},"exit":143}' \
        "$(cat told)"
    expect 0 queue inspect q
    contains "$out" 'waiters: 0'
}

test_a_signal_for_commands_ends_no_slot() {
    expect 0 queue put q x
    start queue work q --slots 2 -- sh -c 'trap ": >got" USR1; echo $$ >leader
        until [ -e got ]; do sleep 0.02; done'
    eventually 10 written leader
    eventually 10 waiters 1
    kill -USR1 "$pid"
    eventually 10 counts 0 0 0 0 0
    expect 0 queue put q y
    eventually 10 counts 0 0 0 0 0
    kill -TERM "$pid"
    ends 143 "$pid"
}

test_the_lease_is_renewed_while_the_command_works() {
    local ttl

    ttl=$(slowed 400)
    expect 0 queue put q x
    start queue work q -n --ttl "$ttl" -- sleep 2
    eventually 10 counts 0 1 0 0 0
    expect 1 queue work q -w 1.2 -- sh -c 'echo twice >>wrong'
    ends 0 "$pid"
    expect_counts 0 0 0 0 0
}

test_a_worker_that_lost_its_job_ends_the_command_and_takes_the_next() {
    expect 0 queue put q x
    start queue work q --ttl 3 --jobs 2 -- sh -c 'echo $$ >"leader.$(cat)"
        [ -e leader.y ] || sleep 30' 2>told
    eventually 10 written leader.x
    expect 0 key delete q
    expect 0 queue put q y
    eventually 10 group_is_gone "$(cat leader.x)"
    ends 0 "$pid"
    contains "$(cat told)" 'a job of queue "q" lost'
    written leader.y || fail "it took no further job"
    expect_counts 0 0 0 0 0
}

test_an_attempt_beyond_max_hold_counts() {
    local ttl

    ttl=$(slowed 1000)
    expect 0 queue put q x --id a
    work 0 --ttl "$ttl" --max-hold 0.3 --backoff 60 -- sleep 30
    contains "$err" 'lost: --max-hold passed'
    contains "$err" 'attempt 1: exit code 143, tried again in 60 s'
    expect_counts 0 0 1 0 0
    expect 0 key delete q
    # Even if the command says that all is well.
    expect 0 queue put q x --id a --attempts 3
    work 0 --ttl "$ttl" --max-hold 0.3 --backoff 0 --attempts 2 -- sh -c '
        trap "exit 0" TERM; echo "$HOLDFAST_ATTEMPT" >>began
        while :; do sleep 0.02; done'
    same attempts $'1\n2' "$(cat began)"
    contains "$err" 'attempt 2: exit code 0, a dead letter now'
    expect_counts 0 0 0 0 1
    # One that continues, and ends by itself, is heard.
    expect 0 queue revive q
    work 0 --ttl "$ttl" --max-hold 0.3 --on-lost warn -- sleep 0.6
    expect_counts 0 0 0 0 0
}

test_an_end_that_is_not_stored_is_no_end() {
    expect 0 queue put q x --id a
    expect 0 queue put q y --id b
    work 65 --json -- sh -c 'echo ran >>runs
        "$HOLDFAST" key delete q >/dev/null; "$HOLDFAST" value set q text'
    contains "$err" 'exit code 0, outcome unknown'
    contains "$err" '"jobs":{"done":0,'
    contains "$err" '"lost":0,"unknown":1},"exit":65,"error":{"code":65,'
    same runs ran "$(cat runs)"
}

# Each write to such a socket is a packet of its own.
test_the_json_line_of_a_slot_is_one_write() {
    "${HF_TEST_PYTHON:-python3}" -S -c '
import json, os, socket, subprocess
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
work = subprocess.Popen([os.environ["HOLDFAST"], "queue", "work", "q", "-n",
    "--slots", "2", "--json", "--", "true"], stderr=theirs)
theirs.close()
packets = list(iter(lambda: ours.recv(65536), b""))
lines = [json.loads(p) for p in packets if p.startswith(b"{")]
assert work.wait() == 1 and [line["exit"] for line in lines] == [1, 1], packets
assert all(p.endswith(b"\n") for p in packets), packets' || fail "it is not"
}

start_own() {
    redis-server --port 0 --unixsocket "$PWD/own" --appendonly yes \
        --appendfsync always --dir "$PWD" </dev/null >own.log 2>&1 &
    own=$!
    eventually 10 redis-cli -s "$PWD/own" ping >/dev/null 2>&1
}

stop_own() {
    kill "$own"
    wait "$own"
}

test_a_worker_waits_for_a_store_that_is_away() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE=redis+unix://$PWD/own
    expect 69 queue work q -- true
    start_own
    start queue work q --ttl "$(slowed 10000)" -- sh -c ': >"began.$(cat)"
        until [ -e away ]; do sleep 0.02; done; : >ended' 2>told
    eventually 10 waiters 1
    stop_own # while it waits
    start_own
    expect 0 queue put q a
    eventually 10 test -e began.a
    stop_own # while it works
    : >away
    eventually 10 test -e ended
    start_own
    eventually 10 counts 0 0 0 0 0
    expect 0 queue put q b
    eventually 10 counts 0 0 0 0 0
    [ -e began.b ] || fail "it took no other job"
    kill -TERM "$pid"
    ends 143 "$pid"
    stop_own
    # The second soon after the first may be the same one.
    contains "$(head -n 1 told)" 'connection for'
    contains "$(cat told)" 'is back'
    [ "$(wc -l <told)" -le 4 ] || fail "$(cat told)"
}

# The job would be taken until its lease ends.
test_a_job_goes_back_when_the_store_is_there_again() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE=redis+unix://$PWD/own
    start_own
    expect 0 queue put q x
    start queue work q --ttl 60 -- sh -c ': >began
        until [ -e away ]; do sleep 0.02; done; : >ended; exit 127'
    eventually 10 test -e began
    stop_own
    : >away
    eventually 10 test -e ended
    sleep 0.3 # the first try fails
    start_own
    ends 127 "$pid"
    expect_counts 1 0 0 0 0
    stop_own
}

# Its own look at the queue, once a second, gets no reply.
test_a_wait_that_fails_makes_no_end_unknown() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE=redis+unix://$PWD/own
    start_own
    expect 0 queue put q x
    start queue work q --json -- true 2>told
    eventually 10 counts 0 0 0 0 0
    eventually 10 waiters 1
    kill -STOP "$own"
    sleep 1.5
    kill -TERM "$pid"
    ends 143 "$pid"
    kill -CONT "$own"
    contains "$(cat told)" '"done":1,'
    contains "$(cat told)" '"unknown":0},"exit":143}'
    stop_own
}

# Until the store answers, or for as long as one request takes.
test_an_end_that_is_being_stored_is_awaited() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE=redis+unix://$PWD/own
    start_own
    expect 0 queue put q x
    start queue work q --json -- sh -c ': >began
        until [ -e away ]; do sleep 0.02; done; : >ended' 2>told
    eventually 10 test -e began
    kill -STOP "$own"
    : >away
    eventually 10 test -e ended
    sleep 0.5
    kill -TERM "$pid"
    sleep 1
    kill -CONT "$own"
    ends 143 "$pid"
    contains "$(cat told)" '"done":1,'
    expect_counts 0 0 0 0 0
    stop_own
}

test_the_last_end_is_sent_until_the_store_answers() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE="redis+unix://$PWD/own?request_ms=500"
    start_own
    expect 0 queue put q x
    start queue work q --ttl "$(slowed 20000)" --jobs 1 -- sh -c ': >began
        until [ -e away ]; do sleep 0.02; done; : >ended' 2>told
    eventually 10 test -e began
    stop_own
    : >away
    eventually 10 test -e ended
    sleep 2
    start_own
    ends 0 "$pid"
    expect_counts 0 0 0 0 0
    # It can be asked to end meanwhile, and does not know then.
    rm began away ended
    expect 0 queue put q x
    start queue work q --jobs 1 -- sh -c ': >began
        until [ -e away ]; do sleep 0.02; done; : >ended' 2>told
    eventually 10 test -e began
    stop_own
    : >away
    eventually 10 test -e ended
    sleep 2
    kill -TERM "$pid"
    ends 69 "$pid"
    contains "$(cat told)" 'outcome unknown'
}

# The command is asked to end, and the job tried again.
test_a_job_whose_lease_ends_while_the_store_is_away_is_tried_again() {
    local own

    [ -n "$redis_pid" ] || return 0
    export HOLDFAST_STORE=redis+unix://$PWD/own
    start_own
    expect 0 queue put q x
    start queue work q --ttl 2 --backoff 0 -- sh -c '
        echo "$HOLDFAST_ATTEMPT" >>began; [ -e away ] || exec sleep 30' 2>told
    eventually 10 written began
    stop_own
    : >away
    eventually 10 grep -q 'could not be renewed in time' told
    eventually 10 grep -q 'tried again' told
    start_own
    eventually 10 counts 0 0 0 0 0
    same attempts $'1\n2' "$(cat began)"
    kill -TERM "$pid"
    ends 143 "$pid"
    stop_own
}

test_bad_command_lines() {
    expect 64 queue put q
    contains "$err" 'specify either PAYLOAD or --stdin'
    expect 64 queue put q x --stdin
    expect 64 queue put q x --priority 10
    expect 64 queue put q x --attempts 0
    expect 64 queue work q
    contains "$err" 'missing argument COMMAND'
    expect 64 queue work q --slots 0 -- true
    expect 64 queue work q --unknown -- true
    expect 64 queue list q --state other
    expect 64 queue frob q
    expect 64 queue revive q ''
    contains "$err" 'ID is empty'
    expect 64 queue drop q ''
    expect 64 queue drop q
    expect 0 value set v text
    expect 65 queue put v x
    expect 65 queue work v -- true
    contains "$err" 'holds a string'
    expect 65 queue inspect v
}
