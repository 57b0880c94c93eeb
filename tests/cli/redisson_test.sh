# SPDX-License-Identifier: Apache-2.0
#
# redisson_test.sh - run, latch and semaphore --redisson, and layout=redisson.

# Where no Redisson can be, each kind is refused.
here_is_redisson() {
    local one

    [ "$kind" = embedded ] || return 0
    for one in lock fenced fair read write permit; do
        expect 78 run --redisson $one a -- true
        contains "$err" 'not on this store'
    done
    expect 78 latch inspect a --redisson
    contains "$err" 'not on this store'
    expect 78 semaphore acquire a --redisson
    contains "$err" 'not on this store'
    return 1
}

test_each_kind_excludes_itself() {
    local one

    here_is_redisson || return 0
    expect 0 value set permit 1
    for one in lock fenced fair write permit; do
        expect 1 run --redisson $one $one -- \
            "$HOLDFAST" run -n --redisson $one $one -- true
        expect 0 run -w 10 --redisson $one $one -- true
    done
}

test_readers_share_and_exclude_writers() {
    here_is_redisson || return 0
    expect 0 run --redisson read a -- \
        "$HOLDFAST" run -n --redisson read a -- true
    expect 1 run --redisson read a -- \
        "$HOLDFAST" run -n --redisson write a -- true
    expect 65 run --redisson read a -- \
        "$HOLDFAST" run -n --redisson lock a -- true
}

test_layout_of_the_store() {
    here_is_redisson || return 0
    HOLDFAST_STORE="$HOLDFAST_STORE?layout=redisson"
    expect 0 run a -- "$HOLDFAST" command --no-raw HLEN a
    same fields '(integer) 1' "$out"
    expect 1 run --redisson lock a -- "$HOLDFAST" run -n a -- true
    expect 78 run -s a -- true
    contains "$err" 'holdfast/redisson.h'
}

test_latch_of_redisson_opens() {
    here_is_redisson || return 0
    expect 0 latch inspect job --redisson
    same 'never set' 0 "$out"
    expect 0 latch await job --redisson
    expect 1 latch arrive job --redisson
    contains "$err" 'no such latch: it is open, or was never set'
    expect 0 latch set job 2 --redisson --json
    same answer '{"name":"job","set":true}' "$out"
    expect 1 latch set job 3 --redisson
    contains "$err" 'latch set: "job" has been set already'
    expect 0 command --no-raw GET job
    same 'as Redisson stores it' '"2"' "$out"
    expect 0 latch arrive job --redisson
    expect 0 latch inspect job --redisson
    same left 1 "$out"
    expect 1 latch await job -w 0.05 --redisson
    contains "$err" 'timed out after 50 ms waiting for the latch to open'
    start latch await job --redisson
    expect 0 latch arrive job --redisson --json
    same answer '{"name":"job","arrived":true}' "$out"
    ends 0 "$pid"
}

test_semaphore_of_redisson_has_permits() {
    here_is_redisson || return 0
    expect 1 semaphore acquire mails -n --redisson
    contains "$err" 'timed out after 0 ms waiting for free permits'
    expect 0 semaphore set mails 3 --redisson
    expect 1 semaphore set mails 5 --redisson --json
    same answer '{"name":"mails","set":false}' "$out"
    contains "$err" 'semaphore set: "mails" has been set already'
    expect 0 semaphore acquire mails 2 --redisson
    expect 1 semaphore acquire mails 2 -w 0.05 --redisson --json --verbose
    same answer '{"name":"mails","acquired":false}' "$out"
    contains "$err" 'waiting for permits of "mails": 2 wanted, 1 available'
    expect 0 semaphore inspect mails --redisson
    same free 'available: 1' "$out"
    start semaphore acquire mails 2 --redisson
    expect 0 semaphore release mails --redisson
    ends 0 "$pid"
    expect 0 semaphore release mails --redisson -- -4
    expect 0 semaphore inspect mails --redisson --json
    same free '{"name":"mails","available":-4}' "$out"
    expect 0 hash put other f v
    expect 65 semaphore acquire other --redisson
    expect 65 latch inspect other --redisson
}

test_wrong_counts_are_named() {
    expect 64 latch set a 1 --redisson --ttl 5
    contains "$err" 'with --redisson a latch has no --ttl'
    expect 64 latch set a 0 --redisson
    contains "$err" 'COUNT is 1 to 2147483647, not "0"'
    expect 64 latch arrive a worker --redisson
    contains "$err" 'with --redisson an arrival has no ID'
    expect 64 semaphore acquire a x --redisson
    contains "$err" 'PERMITS is 1 to 2147483647, not "x"'
    expect 64 semaphore acquire a
    contains "$err" 'missing --redisson; permits of other semaphores are held'
    expect 64 semaphore inspect a --slots 2 --redisson
    contains "$err" '--slots excludes --redisson'
}

test_wrong_kinds_are_named() {
    expect 64 run --redisson spin a -- true
    contains "$err" 'lock, fenced, fair, read, write or permit, not "spin"'
    expect 64 run --redisson lock -s a -- true
}
