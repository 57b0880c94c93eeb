# SPDX-License-Identifier: Apache-2.0
#
# set_test.sh - set add, remove, has, count, members, expire.

test_members_are_added_found_and_removed() {
    expect 0 set add s a b --ttl 60
    same added 2 "$out"
    expect 0 set add s b c
    same added 1 "$out"
    expect 0 set has s a
    same nothing '' "$out"
    expect 1 set has s none
    expect 0 set has s c --json
    same answer '{"key":"s","member":"c","found":true,"ttl_ms":-1}' "$out"
    expect 1 set has s none --json
    same answer '{"key":"s","member":"none","found":false,"ttl_ms":-2}' "$out"
    expect 0 set count s --json
    same answer '{"key":"s","count":3}' "$out"
    expect 0 set members s
    same members $'a\nb\nc' "$(sort out)"
    expect 0 set remove s a b --json
    same answer '{"key":"s","removed":2}' "$out"
    expect 1 set remove s a b
    expect 0 set members s --json
    same answer '{"key":"s","members":[{"member":"c","ttl_ms":-1}]}' "$out"
    expect 0 key type s
    same type set "$out"
}

test_flags_and_ttl() {
    expect 0 set add s a --xx --ttl 60
    same added 0 "$out"
    expect 0 set add s a --nx
    same added 1 "$out"
    expect 0 set expire s a none --ttl 0.2
    same found 1 "$out"
    expect 1 set expire s none --persist
    sleep 0.5
    expect 1 set has s a
    same error 'holdfast: set has: no such member "a"' "$err"
    expect 0 set count s
    same count 0 "$out"
    expect 0 set add s a --ttl 1h
    expect 0 set add s a --ttl 10s --keepttl
    expect 0 set has s a --json
    [[ $out =~ \"ttl_ms\":35[0-9]{5} ]] || fail "$out"
}

test_bad_command_lines() {
    expect 64 set add s
    expect 64 set expire s a
    contains "$err" '--ttl or --persist is missing'
    expect 0 value set v text
    expect 65 set add v a
    contains "$err" 'key "v" holds a string'
}
