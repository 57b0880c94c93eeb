# SPDX-License-Identifier: Apache-2.0
#
# barrier_test.sh - barrier wait and reset.

# is_waiting BARRIER [PARTIES]
is_waiting() {
    "$HOLDFAST" command ZCARD "$1" | grep -q "${2:-1}"
}

test_parties_pass_together() {
    expect 0 barrier wait alone 1
    same generation '1 last' "$out"
    expect 0 barrier wait alone 1 --json
    same answer '{"name":"alone","generation":2,"last":true}' "$out"
    start barrier wait three 3
    first=$pid
    start barrier wait three 3
    second=$pid
    expect 0 barrier wait three 3
    contains "$out" 1
    ends 0 "$first"
    ends 0 "$second"
}

test_broken_barrier_is_reset() {
    expect 1 barrier wait b 2 -w 0.05
    contains "$err" 'timed out after 50 ms waiting for the other parties'
    expect 1 barrier wait b 2
    contains "$err" 'the barrier is broken'
    expect 0 barrier reset b
    same generation 2 "$out"
    expect 0 barrier wait b 1
    same generation '2 last' "$out"
    expect 1 barrier reset none
    contains "$err" 'no such barrier'
}

test_killed_party_breaks_the_barrier() {
    local killed

    start barrier wait b 3 --ttl "$(slowed 500)"
    killed=$pid
    eventually 5 is_waiting b
    # Before the kill: a barrier at which no party was left is a new one.
    start barrier wait b 3 --ttl "$(slowed 2000)" 2>err
    eventually 5 is_waiting b 2
    kill -KILL "$killed"
    ends 1 "$pid"
    contains "$(cat err)" 'the barrier is broken'
}

test_slow_party_has_passed_although_a_later_generation_is_broken() {
    start barrier wait b 2
    eventually 5 is_waiting b
    sleep 0.1
    kill -STOP "$pid"
    expect 0 barrier wait b 2
    expect 1 barrier wait b 2 -w 0.05
    kill -CONT "$pid"
    ends 0 "$pid"
}

test_signal_breaks_the_barrier() {
    start barrier wait b 2
    eventually 5 is_waiting b
    kill -TERM "$pid"
    ends 143 "$pid"
    expect 1 barrier wait b 2
    contains "$err" 'the barrier is broken'
}

test_wrong_barriers_are_named() {
    expect 64 barrier wait b 0
    contains "$err" 'PARTIES is 1 to 100000, not "0"'
    expect 64 barrier wait b x
    expect 0 value set v 1
    expect 65 barrier wait v 1
}
