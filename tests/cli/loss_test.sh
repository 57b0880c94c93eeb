# SPDX-License-Identifier: Apache-2.0
#
# loss_test.sh - run: the lock is lost while the command runs. Real time and real
# signals: a whole process group must be gone in time.
#
# The command of most tests leaves a child that ignores TERM, so that only KILL
# to the group ends it.

stubborn='trap "" TERM; sleep 30 & echo $$ >leader; wait; sleep 30'

# Another `run` gets the lock, and at that instant the group has ended.
taken_over_after_the_group() {
    expect 0 run -w 60 job -- bash -c '. "$0"
        group_is_gone "$1" && exit
        began=$(now_ms)
        eventually 5 group_is_gone "$1"
        fail "the group ended $(($(now_ms) - began)) ms too late"' \
        "$here/harness.sh" "$(cat leader)"
}

test_killed_holder_takes_its_group_with_it() {
    local ttl began

    ttl=$(slowed 1000)
    start run --ttl "$ttl" job -- sh -c "$stubborn"
    eventually 5 written leader
    kill -KILL $pid
    began=$(now_ms)
    ends 137 $pid
    eventually 1 group_is_gone "$(cat leader)"
    within 500 "$began"
    expect 1 run -n job -- true
    expect 0 run -w 60 job -- true
    within "$((10#${ttl/./} + 1000))" "$began"
}

test_killed_holder_kills_even_what_its_dead_leader_left() {
    start run --ttl 1 job -- sh -c 'sleep 30 & echo $! >left; echo $$ >leader
        wait'
    eventually 5 written leader
    kill -STOP $pid
    kill -KILL "$(cat leader)"
    kill -KILL $pid
    ends 137 $pid
    eventually 1 group_is_gone "$(cat leader)"
}

# Of a lease of 1 s there are 62 ms left when the guard kills the group.
test_stopped_holder_loses_group_first_and_says_lost() {
    start run --ttl "$(slowed 1500)" job -- sh -c "$stubborn"
    holder=$pid
    eventually 5 written leader
    kill -STOP $holder
    taken_over_after_the_group
    kill -CONT $holder
    ends 76 $holder
}

test_stopped_holder_that_wakes_in_time_keeps_the_lock() {
    start run --ttl "$(slowed 2000)" job -- \
        sh -c 'echo $$ >leader; sleep 1.5; exit 7'
    eventually 5 written leader
    kill -STOP $pid
    sleep 0.6
    kill -CONT $pid
    ends 7 $pid
}

test_lock_is_renewed_for_as_long_as_the_command_runs() {
    local ttl

    ttl=$(slowed 300)
    start run --ttl "$ttl" job -- sh -c \
        'echo $$ >leader; until [ -e enough ]; do sleep 0.02; done; exit 7'
    eventually 5 written leader
    sleep "$ttl"
    sleep "$ttl"
    expect 1 run -n job -- true
    touch enough
    ends 7 $pid
}

test_broken_lock_ends_the_command_with_term() {
    start run --ttl "$(slowed 1000)" job -- sh -c 'trap "echo TERM >got; exit 0" TERM
        echo $$ >leader; while :; do sleep 0.02; done' 2>told
    eventually 5 written leader
    expect 0 lock break job
    ends 76 $pid
    same signal TERM "$(cat got)"
    contains "$(cat told)" 'holdfast: run: lock "job" lost: '
}

# It is held up by a full pipe, before it starts the command.
test_lock_lost_before_the_command_began_is_acquired_again() {
    local ttl

    ttl=$(slowed 300)
    mkfifo told
    exec 9<>told
    head -c 65536 /dev/zero >&9
    "$HOLDFAST" run --verbose --ttl "$ttl" job -- sh -c 'echo ran >ran' 2>told &
    pid=$!
    eventually 10 "$HOLDFAST" lock inspect job >inspected
    expect 0 lock break job
    expect 0 run -n --on-lost warn job -- sleep "$ttl"
    [ ! -e ran ] || fail 'it ran early'
    cat <&9 >/dev/null &
    ends 0 $pid
    kill $!
    exec 9<&-
    written ran || fail 'it did not run'
}

test_on_lost_kill_gives_no_grace() {
    local began

    start run --ttl 3 --on-lost kill job -- sh -c \
        'trap "echo TERM >got" TERM; echo $$ >leader; sleep 30; sleep 30' 2>told
    eventually 5 written leader
    began=$(now_ms)
    expect 0 lock break job
    ends 76 $pid
    # Found at the next renewal, after a third of the lease.
    within 1900 "$began"
    [ ! -e got ] || fail 'TERM was sent'
    group_is_gone "$(cat leader)" || fail 'the group lives'
}

test_on_lost_warn_lets_the_command_end() {
    start run --ttl 0.5 --on-lost warn job -- sh -c \
        'echo $$ >leader; sleep 0.8; echo end >end; exit 0' 2>told
    eventually 5 written leader
    expect 0 lock break job
    ends 76 $pid
    written end || fail 'the command was ended'
    contains "$(cat told)" 'the command continues'
}

test_on_lost_warn_leaves_the_command_of_a_killed_holder_alone() {
    start run --ttl 0.5 --on-lost warn job -- sh -c \
        'echo $$ >leader; sleep 0.5; echo end >end'
    eventually 5 written leader
    kill -KILL $pid
    eventually 2 written end
}

test_max_hold_ends_a_command_that_ignores_term() {
    local began

    began=$(now_ms)
    expect 76 run --ttl "$(slowed 1000)" --max-hold 0.5 job -- sh -c "$stubborn"
    within 1500 "$began"
    contains "$err" '--max-hold passed'
    eventually 1 group_is_gone "$(cat leader)"
    expect 0 run -n job -- true
}

test_term_leaves_grace_to_clean_up() {
    expect 76 run --ttl "$(slowed 2000)" --max-hold "$(slowed 300)" job -- sh -c \
        'trap "sleep 0.1; echo clean >clean; exit 0" TERM; sleep 30 & wait'
    written clean || fail 'no time to clean up'
}

test_report_names_the_reason() {
    expect 76 run --json --max-hold 0.2 job -- sleep 30
    contains "$err" '"lost":"TIMEOUT","exit":76,"error":{"code":76,"name":"LOST",'
}

test_loss_found_at_release_is_reported() {
    expect 76 run job -- "$HOLDFAST" lock break job
    contains "$err" 'lost while the command ran'
}

test_mute_server_ends_the_group_before_the_lease() {
    [ -n "$redis_pid" ] || return 0
    start run --ttl 1 job -- sh -c "$stubborn" 2>told
    holder=$pid
    eventually 5 written leader
    kill -STOP "$redis_pid"
    sleep 1.05
    group_is_gone "$(cat leader)" || fail 'the group outlived the lease'
    ends 76 $holder
    kill -CONT "$redis_pid"
    contains "$(cat told)" 'could not be renewed in time'
}

# The guard is the child of holdfast that is not the command.
guard_of() {
    local stat line

    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        stat=${stat#/proc/}
        set -- "$1" "$2" "${stat%/stat}" ${line##*) }
        if [ "$5" = "$1" ] && [ "$3" != "$2" ]; then
            echo "$3"
        fi
    done
}

test_guard_is_out_of_reach_of_signals_and_leaves_nothing_behind() {
    local guard signal

    mkfifo go
    start run job -- sh -c 'echo $$ >leader; read _ <go; exit 7'
    eventually 5 written leader
    guard=$(guard_of $pid "$(cat leader)")
    [ -n "$guard" ] || fail 'there is no guard'
    for signal in HUP INT QUIT TERM USR1; do
        kill -$signal "$guard"
    done
    sleep 0.1
    kill -0 "$guard" || fail 'the guard ended'
    same 'name of the guard' hf-guard "$(cat "/proc/$guard/comm")"
    # Its socket, its timer, and the command.
    same 'descriptors of the guard' 3 "$(ls "/proc/$guard/fd" | wc -l)"
    : >go
    ends 7 $pid
    ! kill -0 "$guard" 2>/dev/null || fail 'the guard is left behind'
}

test_messages_to_a_closed_stderr_do_not_reach_the_guard() {
    mkfifo go
    "$HOLDFAST" run --verbose job -- sh -c 'echo $$ >leader; read _ <go
        exit 7' >&- 2>&- &
    pid=$!
    eventually 5 written leader
    [ -n "$(guard_of $pid "$(cat leader)")" ] || fail 'there is no guard'
    # It may be about to read; one that has ended stays a zombie.
    eventually 5 process_is S "$(guard_of $pid "$(cat leader)")"
    : >go
    ends 7 $pid
}

test_killed_guard_is_reported() {
    mkfifo go
    start run job -- sh -c 'echo $$ >leader; read _ <go; exit 7' 2>told
    eventually 5 written leader
    kill -KILL "$(guard_of $pid "$(cat leader)")"
    eventually 5 grep -q 'the guard process was killed' told
    : >go
    ends 7 $pid
}

test_log_of_the_client_is_printed() {
    export HOLDFAST_LOG=error
    start run --ttl 3 --on-lost kill job -- sh -c 'echo $$ >leader; sleep 30' \
        2>told
    eventually 5 written leader
    expect 0 lock break job
    ends 76 $pid
    contains "$(cat told)" 'holdfast: lost the lease of "job": it has expired'
    HOLDFAST_LOG=none expect 0 value set k v
    HOLDFAST_LOG=loud expect 64 value set k v
    contains "$err" 'HOLDFAST_LOG is "loud"'
}

# Its first act is to kill us.
test_guard_knows_the_command_before_it_runs() {
    local round

    for ((round = 0; round < 5; round++)); do
        rm -f child
        start run --ttl 60 "job $round" -- \
            sh -c 'echo $$ >child; kill -KILL $PPID; exec sleep 60'
        eventually 10 written child
        eventually 10 group_is_gone "$(cat child)"
        ends 137 "$pid"
    done
}
