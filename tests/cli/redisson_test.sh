# SPDX-License-Identifier: Apache-2.0
#
# redisson_test.sh - run --redisson, and layout=redisson.

# Where no Redisson can be, each kind is refused.
here_is_redisson() {
    local one

    [ "$kind" = embedded ] || return 0
    for one in lock fenced fair read write permit; do
        expect 78 run --redisson $one a -- true
        contains "$err" 'not on this store'
    done
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
    expect 0 run a -- "$HOLDFAST" command HLEN a
    same fields '(integer) 1' "$out"
    expect 1 run --redisson lock a -- "$HOLDFAST" run -n a -- true
    expect 78 run -s a -- true
    contains "$err" 'holdfast/redisson.h'
}

test_wrong_kinds_are_named() {
    expect 64 run --redisson spin a -- true
    contains "$err" 'lock, fenced, fair, read, write or permit, not "spin"'
    expect 64 run --redisson lock -s a -- true
}
