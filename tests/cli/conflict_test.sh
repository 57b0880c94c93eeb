# SPDX-License-Identifier: Apache-2.0
#
# conflict_test.sh - run: only one holder at a time.

# Hold the lock `job` until the test removes the file `hold`.
hold() {
    : >hold
    start "$@" run job -- sh -c 'echo $$ >held; while [ -e hold ]; do
        sleep 0.02; done'
    eventually 5 written held
}

test_nonblock_fails_at_once_and_says_who_holds_it() {
    local began

    hold
    began=$(now_ms)
    expect 1 run -n job -- touch ran
    within 1000 "$began"
    contains "$err" 'holdfast: run: lock "job" is held by '
    same 'lines of stderr' 1 "$(wc -l <err)"
    expect 1 run -n -q job -- touch ran
    same output '' "$out$err"
    [ ! -e ran ] || fail 'the command ran'
    rm hold
    ends 0 $pid
}

test_permits_run_so_many_at_a_time() {
    hold
    expect 65 run -n --permits 2 job -- true
    rm hold
    ends 0 $pid
    : >one
    start run --permits 2 pool -- sh -c 'echo >held1; while [ -e one ]; do
        sleep 0.02; done'
    eventually 5 written held1
    expect 0 run -n --permits 2 pool -- true
    expect 1 run -n --permits 1 pool -- touch ran
    [ ! -e ran ] || fail 'the command ran'
    rm one
    ends 0 $pid
    expect 0 run -n --permits 1 pool -- touch ran
}

test_minimum_hold_outlasts_the_command() {
    local began

    expect 0 run -n --min-hold 60 hour -- true
    expect 1 run -n --min-hold 60 hour -- touch ran
    [ ! -e ran ] || fail 'the command ran'
    began=$(now_ms)
    expect 0 run -n --min-hold 0.5 period -- true
    expect 0 run --delay 5 period -- true
    [ $(($(now_ms) - began)) -ge 500 ] || fail 'the minimum was too short'
    expect 0 run -n --delay 5 period -- true
}

test_shared_locks_exclude_only_exclusive_ones() {
    : >one
    start run -s job -- sh -c 'echo >held1; while [ -e one ]; do
        sleep 0.02; done'
    eventually 5 written held1
    expect 0 run -s -n job -- true
    expect 1 run -n job -- touch ran
    [ ! -e ran ] || fail 'the command ran'
    expect 0 lock inspect job
    contains "$out" 'mode: shared'
    expect 0 lock holders job
    contains "$out" 'held by'
    rm one
    ends 0 $pid
    hold
    expect 1 run --shared --nonblock job -- touch ran
    expect 64 run -s -x job -- true
    rm hold
    ends 0 $pid
}

test_slots_are_resized_while_in_use() {
    : >one
    start run --slots 1 pool -- sh -c 'echo >held1; while [ -e one ]; do
        sleep 0.02; done'
    eventually 5 written held1
    expect 1 run -n --slots 1 pool -- touch ran
    expect 0 semaphore resize pool 2
    expect 0 run -n --slots 1 pool -- true
    expect 0 semaphore inspect pool
    same inspect 'permits: 2, stored
available: 1
held: 1, by 1
waiters: 0' "$out"
    expect 64 semaphore resize pool many
    expect 0 semaphore resize pool 0
    expect 1 semaphore resize pool 0
    expect 0 semaphore inspect pool --slots 3 --json
    contains "$out" '"available":2'
    rm one
    ends 0 $pid
}

test_all_of_several_are_held_or_none() {
    hold
    expect 1 run --all -n a job b -- touch ran
    expect 0 run -n a -- true
    expect 1 run --all -w 0.1 --verbose b a job -- touch ran
    contains "$err" 'waiting for lock "job"'
    [ ! -e ran ] || fail 'the command ran'
    rm hold
    ends 0 $pid
    expect 0 run --all b job a -- sh -c '
        for name in a b job; do
            "$0" run -n $name -- true && exit 1
        done
        echo "$HOLDFAST_NAME $(echo $HOLDFAST_TOKEN $HOLDFAST_OWNER | wc -w)"
        ' "$HOLDFAST"
    same output 'b job a 6' "$out"
    expect 0 run --all -n -c 'echo "$HOLDFAST_NAME"' a b
    same output 'a b' "$out"
    expect 0 run --all -n a -- echo -- c
    same output '-- c' "$out"
    expect 64 run --all a b c
    contains "$err" 'missing -- before COMMAND'
    expect 64 run --all a b --
    expect 64 run --all -n a b a -- touch ran
    contains "$err" 'lock "a" is given twice'
    expect 0 run --all -n --json a b -- true
    contains "$err" '"tokens":{"a":'
}

test_conflict_exit_code_is_chosen() {
    hold
    expect 42 run -n -E 42 job -- true
    expect 0 run -nE0 job -- true
    expect 43 run -w 0.05 --conflict-exit-code=43 job -- true
    rm hold
    ends 0 $pid
}

test_wait_ends_after_its_time() {
    local began

    hold
    began=$(now_ms)
    expect 1 run -w 0.3 job -- true
    [ $(($(now_ms) - began)) -ge 300 ] || fail 'waited too short'
    within 2500 "$began"
    rm hold
    ends 0 $pid
}

test_wait_of_zero_is_nonblock() {
    hold
    expect 1 run --timeout 0 job -- true
    rm hold
    ends 0 $pid
}

test_waiter_runs_after_the_holder() {
    hold
    holder=$pid
    start run -w 10 job -- sh -c 'test ! -e hold && echo done >waited'
    waiter=$pid
    sleep 0.2
    [ ! -e waited ] || fail 'two held the lock'
    rm hold
    ends 0 $holder
    ends 0 $waiter
    written waited || fail 'the waiter did not run'
}

test_without_options_it_waits() {
    hold
    holder=$pid
    start run job true
    waiter=$pid
    sleep 0.2
    kill -0 $waiter || fail 'did not wait'
    rm hold
    ends 0 $holder
    ends 0 $waiter
}

test_verbose_says_what_happened() {
    expect 0 run --verbose job -- true
    [[ $err =~ ^'holdfast: run: lock "job" acquired after 0'[.0-9]*' s, token '[0-9]+$'\n'\
'holdfast: run: lock "job" released'$ ]] || fail "$err"
    hold
    expect 1 run --verbose -n job -- true
    contains "$err" 'holdfast: run: lock "job" is held by '
    expect 1 run --verbose -w 0.1 job -- true
    contains "$err" \
        'holdfast: run: timed out after 0.1 s waiting for lock "job"; held by '
    expect 1 run --json -n job -- true
    contains "$err" '{"name":"job","acquired":false,'
    contains "$err" '"exit":1,"error":{"code":1,"name":"TIMEOUT",'
    rm hold
    ends 0 $pid
}

test_other_names_and_prefixes_do_not_hinder() {
    hold
    expect 0 run -n other -- true
    expect 0 run -n --prefix app: job -- true
    rm hold
    ends 0 $pid
}

test_six_contenders_never_overlap() {
    local i pids=

    echo 0 >count
    for i in 1 2 3 4 5 6; do
        start run job -- sh -c 'mkdir inside || echo overlap >bad
            read -r n <count; sleep 0.03; echo $((n + 1)) >count; rmdir inside'
        pids="$pids $pid"
    done
    for i in $pids; do
        ends 0 "$i"
    done
    [ ! -e bad ] || fail 'two ran at once'
    same count 6 "$(cat count)"
}
