# SPDX-License-Identifier: Apache-2.0
#
# id_test.sh - id.

test_ids_grow() {
    local last=0

    for i in 1 2 3; do
        expect 0 id order
        [ "$out" -gt "$last" ] || fail "$out after $last"
        last=$out
    done
    expect 0 id order 500
    same count 500 "$(echo "$out" | sort -n -u | wc -l)"
    [ "$(echo "$out" | head -1)" -gt "$last" ] || fail "$out after $last"
}

test_dense_ids_begin_at_1() {
    expect 0 id row --dense
    same first 1 "$out"
    expect 0 id row 3 --dense --json
    same answer '{"name":"row","ids":[2,3,4]}' "$out"
}

test_ids_end_below_2_to_63() {
    expect 0 value set row 9223372036854775805
    expect 0 id row 2 --dense
    same last $'9223372036854775806\n9223372036854775807' "$out"
    expect 1 id row --dense
    contains "$err" 'no ids are left'
    expect 0 value set row x
    expect 65 id row
}

test_wrong_counts_are_named() {
    local count

    for count in 0 -1 x 1000001 ''; do
        expect 64 id -- row "$count"
        contains "$err" "COUNT is 1 to 1000000, not \"$count\""
    done
}
