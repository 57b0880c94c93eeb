# SPDX-License-Identifier: Apache-2.0
#
# latch_test.sh - latch set, arrive, await, get, delete.

test_latch_opens_when_all_have_arrived() {
    expect 0 latch set job 2 --ttl 60
    expect 0 latch inspect job
    same left 2 "$out"
    expect 0 latch arrive job worker-1
    same left 1 "$out"
    expect 0 latch arrive job worker-1
    same 'left, a second time' 1 "$out"
    expect 1 latch await job -w 0.05
    contains "$err" 'timed out after 50 ms waiting for the latch to open'
    start latch await job
    expect 0 latch arrive job
    same left 0 "$out"
    ends 0 "$pid"
    expect 0 latch await job --json
    same answer '{"name":"job","open":true}' "$out"
}

test_latch_awaited_before_it_is_set() {
    expect 1 latch await later --early -w 0.05
    contains "$err" 'timed out after 50 ms waiting for the latch to open'
    start latch await later --early -w 10
    sleep 0.1
    expect 0 latch set later 1 --ttl 60
    expect 0 latch arrive later
    ends 0 "$pid"
    expect 64 latch await later --early --redisson
}

test_latch_is_set_once() {
    expect 0 latch set once 2 --ttl 60 --json
    same answer '{"name":"once","set":true}' "$out"
    expect 1 latch set once 3 --ttl 60
    contains "$err" 'there is a latch; its count is 2'
    expect 0 latch delete once
    expect 1 latch delete once
    expect 1 latch await once
    contains "$err" 'no such latch'
    expect 1 latch inspect once --json
    same answer '{"name":"once","left":null}' "$out"
}

test_wrong_latches_are_named() {
    expect 64 latch set a 1
    contains "$err" 'missing --ttl SEC'
    expect 64 latch set a x --ttl 1
    contains "$err" 'COUNT is 1 to 1000000, not "x"'
    expect 64 latch set a 0 --ttl 1
    contains "$err" 'COUNT is 1 to 1000000, not "0"'
    expect 64 latch arrive a ''
    contains "$err" 'ID is empty'
    expect 0 hash put h f v
    expect 65 latch inspect h
}
