# SPDX-License-Identifier: Apache-2.0
#
# cache_test.sh - cache get, put, delete, invalidate, fill.

test_put_get_delete() {
    expect 0 cache put key value --ttl 60
    same output '' "$out$err"
    expect 0 cache get key
    same value value "$out"
    expect 0 value get key
    same 'plain value' value "$out"
    expect 0 cache get key --json
    same answer '{"key":"key","value":"value"}' "$out"
    expect 0 cache delete key --json
    same answer '{"key":"key","deleted":true}' "$out"
    expect 1 cache get key
    contains "$err" 'holdfast: cache get: '
    expect 1 cache delete key
    expect 0 cache put key --stdin --ttl 60 < <(printf 'a\0b')
    same size 3 "$("$HOLDFAST" cache get --raw key | wc -c)"
}

test_tags_invalidate() {
    expect 0 cache put '{s}1' one --ttl 60 --tags '{s}a,{s}b'
    expect 0 cache put '{s}2' two --ttl 60 --tags '{s}b'
    expect 0 cache invalidate '{s}a'
    expect 1 cache get '{s}1'
    expect 0 cache get '{s}2'
    expect 1 cache invalidate '{s}a'
    expect 64 cache put x y --ttl 60 --tags a,
}

test_bad_options() {
    expect 64 cache put key value
    contains "$err" '--ttl is required'
    expect 64 cache put key value --ttl 0
    expect 64 cache put key value --ttl 60 --jitter 101
    expect 64 cache put key --ttl 60
    expect 64 cache fill key --ttl 60
    expect 64 cache fill key -- true
    expect 1 cache get key
}

test_fill_runs_the_command_once() {
    expect 0 cache fill key --ttl 60 -- sh -c 'echo run >>runs; printf out'
    same output out "$out"
    expect 0 cache fill key --ttl 60 -- sh -c 'echo run >>runs; printf other'
    same output out "$out"
    same runs 1 "$(wc -l <runs)"
    expect 0 cache get key
    same value out "$out"
}

test_many_readers_one_run() {
    local i pids=()

    for i in 1 2 3 4 5 6 7 8; do
        "$HOLDFAST" cache fill key --ttl 60 -- \
            sh -c 'echo run >>runs; sleep 0.2; echo text' >out.$i &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        ends 0 "$i"
    done
    same runs 1 "$(wc -l <runs)"
    for i in 1 2 3 4 5 6 7 8; do
        same "output $i" text "$(cat out.$i)"
    done
}

test_failed_command_stores_nothing() {
    expect 7 cache fill key --ttl 60 -- sh -c 'echo half; exit 7'
    same output half "$out"
    expect 1 cache get key
    expect 127 cache fill key --ttl 60 -- ./no-such-command
    expect 143 cache fill key --ttl 60 -- sh -c 'kill $$'
    expect 0 cache fill key --ttl 60 -- echo whole
    same output whole "$out"
}

test_old_value_after_an_error() {
    expect 0 cache put key old --ttl 0.001 --stale-error 60
    sleep 0.01
    expect 1 cache get key
    expect 0 cache get key --allow-stale
    same value old "$out"
    expect 0 cache fill key --ttl 60 -- sh -c 'exit 3'
    same output old "$out"
    contains "$err" 'exit code 3'
}

test_fill_says_that_it_waits() {
    "$HOLDFAST" cache fill k --ttl 60 -- \
        sh -c 'echo >began; until [ -e end ]; do sleep 0.01; done; echo v' >first &
    eventually 10 test -e began
    "$HOLDFAST" cache fill k --ttl 60 --verbose -- echo other >out 2>told &
    eventually 10 grep -q 'waiting for "k": another fill is under way' told
    echo >end
    wait
    same value v "$(cat out)"
    expect 0 cache fill k --ttl 60 --verbose -- echo other
    same stderr '' "$err"
}

fill_of() {
    exec env --default-signal=INT,QUIT "$HOLDFAST" cache fill "$@"
}

test_killed_filler_is_replaced_within_its_lease() {
    local began

    fill_of key --ttl 60 --lease 1 -- sh -c 'echo $$ >begun; exec sleep 60' &
    pid=$!
    eventually 5 written begun
    kill -9 "$pid" 2>/dev/null
    began=$(now_ms)
    expect 0 cache fill key --ttl 60 -- echo taken over
    same output 'taken over' "$out"
    within 1500 "$began"
    kill "$(cat begun)"
    ends 137 "$pid"
}

test_lease_is_renewed() {
    local lease

    lease=$(slowed 300)
    expect 0 cache fill key --ttl 60 --lease "$lease" -- sh -c \
        'sleep "$1"; echo slow' fill "$(awk "BEGIN { print 3.3 * $lease }")"
    expect 0 cache get key
    same value slow "$out"
}

test_lease_is_renewed_while_the_command_prints() {
    local lease step

    lease=$(slowed 300)
    step=$(awk "BEGIN { print $lease / 6 }")
    expect 0 cache fill key --ttl 60 --lease "$lease" -- sh -c '
        for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j; do
            echo $i
            sleep "$1"
        done' fill "$step"
    expect 0 cache get key
}

test_signals_end_the_command() {
    fill_of key --ttl 60 -- sh -c 'echo $$ >begun; exec sleep 60' &
    pid=$!
    eventually 5 written begun
    expect 1 cache fill key -n --ttl 60 -- echo no
    expect 1 cache fill key -w 0.05 --ttl 60 -- echo no
    kill -TERM "$pid"
    ends 143 "$pid"
    expect 0 cache fill key -n --ttl 60 -- echo next
    same output next "$out"
}
