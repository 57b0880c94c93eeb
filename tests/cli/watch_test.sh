# SPDX-License-Identifier: Apache-2.0
#
# watch_test.sh - watch: its lines, and when it ends.

# Write KEY until the file has the line.
appears() {
    expect 0 value set "$1" 1
    grep -qxF "$3" "$2"
}

watch_in_background() {
    env --default-signal=INT "$HOLDFAST" watch "$@" >changes 2>err &
    pid=$!
}

test_changes_are_lines() {
    watch_in_background 'user:*' one
    eventually 10 appears user:1 changes $'written\tuser:1'
    eventually 10 appears one changes $'written\tone'
    expect 0 value set other 1
    expect 0 value delete user:1
    eventually 10 grep -qxF $'deleted\tuser:1' changes
    ! grep -q other changes || fail 'a key that does not match'
    kill -TERM "$pid"
    ends 143 "$pid"
    same stderr '' "$(cat err)"
}

test_json_and_special_names() {
    local name=$'a\tb\\'

    watch_in_background --json --count 1 '*'
    until ! kill -0 "$pid" 2>/dev/null; do
        expect 0 value set "$name" 1
    done
    ends 0 "$pid"
    same line '{"change":"written","key":"a\tb\\"}' "$(cat changes)"
    watch_in_background --count 1 '*'
    until ! kill -0 "$pid" 2>/dev/null; do
        expect 0 value set "$name" 1
    done
    same line $'written\ta\\tb\\\\' "$(cat changes)"
}

test_it_ends_in_time() {
    expect 1 watch --wait 0.05 key
    same output '' "$out"
    contains "$err" 'watch: timed out'
    expect 64 watch
    expect 64 watch ''
    expect 64 watch --count 0 key
}
