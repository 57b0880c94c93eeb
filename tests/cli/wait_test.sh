# SPDX-License-Identifier: Apache-2.0
#
# wait_test.sh - waiting says for whom; --dry-run changes nothing.

# hold NAME: another command holds it until the file `go` is there.
hold() {
    start run "$1" -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    holder=$pid
    eventually 10 written ready
    # Others know its process once it has held it for 100 ms.
    eventually 10 sh -c '"$HOLDFAST" lock inspect "$1" | grep -q holder' - "$1"
}

let_go() {
    : >go
    ends 0 $holder
}

test_run_says_for_whom_it_waits() {
    hold job
    expect 1 run --verbose -w 0.6 job -- true
    contains "$err" 'holdfast: run: waiting for lock "job": held by sh (pid '
    contains "$err" ' s left'
    expect 1 run -w 0.6 job -- true
    lacks "$err" 'run: waiting'
    expect 64 run --verbose -q job -- true
    contains "$err" 'mutually exclusive'
    let_go
}

test_run_says_it_on_a_terminal() {
    hold job
    out=$(script -qec "$(printf '%q ' "$HOLDFAST" run -w 0.6 job -- true)" \
        /dev/null </dev/null)
    contains "$out" 'waiting for lock "job": held by sh (pid '
    let_go
}

test_run_says_it_again_after_ten_seconds() {
    hold job
    expect 1 run --verbose -w 11 job -- true
    same 'times' 2 "$(grep -c 'waiting for lock "job": held by' err)"
    let_go
}

test_lock_acquire_says_it_too() {
    hold job
    expect 1 lock acquire --keep-pid $BASHPID --verbose -w 0.6 job
    contains "$err" 'holdfast: lock acquire: waiting for lock "job": held by sh'
    expect 1 lock acquire --keep-pid $BASHPID -q -w 0.6 job
    same stderr '' "$err"
    let_go
}

test_latches_and_barriers_say_what_is_missing() {
    expect 0 latch set gate 3 --ttl 60
    expect 0 latch arrive gate
    expect 1 latch await --verbose -w 0.6 gate
    contains "$err" 'waiting for latch "gate": 2 arrivals missing'
    expect 1 latch await -w 0.6 gate
    lacks "$err" 'missing'
    expect 1 latch await --verbose --early -w 0.6 none
    contains "$err" 'waiting for latch "none": it is not set yet'
    expect 1 barrier wait --verbose -w 0.6 step 2
    contains "$err" 'waiting at barrier "step" for 2 parties'
}

# A wait in parts ends as a whole one.
test_latch_that_opens_while_it_is_awaited() {
    expect 0 latch set gate 1 --ttl 60
    (sleep 0.5 && "$HOLDFAST" latch arrive gate >/dev/null) &
    expect 0 latch await --verbose -w 30 gate
    wait
}

test_run_dry() {
    expect 0 run --dry-run job -- touch ran
    contains "$out" 'would run: touch ran'
    contains "$out" 'lock "job" is free'
    hold job
    expect 1 run --dry-run job -- touch ran
    contains "$out" 'lock "job" is held by sh (pid '
    expect 9 run --dry-run --json -E 9 --all job free -- touch ran
    same stdout '{"locks":[{"name":"job","free":false},{"name":"free","free":true}]}' \
        "$out"
    let_go
    rm ready go
    start run --slots 2 pool -- sh -c 'echo r >ready; until [ -e go ]; do
        sleep 0.02; done'
    holder=$pid
    eventually 10 written ready
    expect 0 run --dry-run --slots 2 pool -- touch ran
    contains "$out" 'lock "pool" is free'
    expect 1 run --dry-run --slots 1 pool -- touch ran
    let_go
    [ ! -e ran ] || fail 'the command ran'
}

test_load_dry() {
    local there=volatile:$PWD/there

    expect 0 value set a 1
    expect 0 value set b 2
    expect 0 store dump -o dump
    expect 0 --store "$there" store load --dry-run dump
    contains "$err" 'store load: would load 2 keys, '
    expect 1 --store "$there" value get a
    expect 0 --store "$there" value set a old
    expect 1 --store "$there" store load --dry-run dump
    contains "$err" 'refused: a (exists already)'
    contains "$err" 'would load 1 keys, '
    expect 0 --store "$there" store load --dry-run --skip dump
    contains "$err" 'would load 1 keys, '
    expect 0 --store "$there" store load --dry-run --replace dump
    contains "$err" 'would load 2 keys, '
    expect 0 --store "$there" value get a
    same value old "$out"
    expect 1 --store "$there" value get b
    head -c 60 dump >cut
    expect 65 --store "$there" store load --dry-run cut
}
