# SPDX-License-Identifier: Apache-2.0
#
# store_test.sh - store info, check, compact and setup.

is_embedded() {
    case $HOLDFAST_STORE in
    redis*) return 1 ;;
    esac
}

# A separate store in a directory that we may damage.
own_store() {
    export HOLDFAST_STORE=file:$PWD/own
    "$HOLDFAST" value set kept 'a value' || fail "no store of our own"
}

test_info_tells_what_the_store_is() {
    expect 0 store info
    if is_embedded; then
        contains "$out" "store: embedded"
        contains "$out" "open handles: 1"
    else
        contains "$out" "store: "
    fi
    expect 0 store info --json
    contains "$out" '{"store":"'
    expect 64 store info operand
}

test_info_counts_keys() {
    is_embedded || return 0
    own_store
    expect 0 store info --json
    contains "$out" '"keys":1,'
    contains "$out" '"keys_with_expiry":0,'
    expect 0 value set going 1 --ttl 100
    expect 0 store info
    contains "$out" $'keys: 2\nkeys with expiry: 1\n'
}

test_check_and_compact_are_not_for_servers() {
    is_embedded && return 0
    expect 78 store check
    contains "$err" "check works on embedded stores only"
    expect 78 store compact
}

test_check_of_a_whole_store() {
    is_embedded || return 0
    expect 0 value set a 1
    expect 0 store check
    same answer "no errors found" "$out"
    expect 0 store check --json
    same answer '{"faults":[],"ok":true,"status":"OK"}' "$out"
    expect 0 store check --wait 60
}

test_check_of_nothing() {
    is_embedded || return 0
    export HOLDFAST_STORE=file:$PWD/none
    expect 1 store check
    contains "$err" "there is no store at"
    [ ! -e none ] || fail "a check made a store"
    expect 1 store compact
    [ ! -e none ] || fail "a compaction made a store"
    expect 64 --store file: store check
}

test_check_tells_what_is_damaged() {
    is_embedded || return 0
    own_store
    sed -i 's/a value/b value/' own/data.mdb
    expect 65 store check
    contains "$out" 'key "kept": wrong checksum'
    contains "$err" "the store is damaged"
    expect 65 store check --json
    contains "$out" '{"faults":["key \"kept\": wrong checksum'
    contains "$out" '"ok":false,"status":"CORRUPT","error":{"code":65,'
    expect 65 value get kept
    contains "$err" 'key "kept"'
    expect 65 store compact
}

test_salvage_copies_what_is_intact() {
    is_embedded || return 0
    own_store
    expect 0 value set other "b value"
    sed -i 's/a value/c value/g' own/data.mdb
    expect 65 store check
    expect 65 store salvage own new
    contains "$out" 'key "kept": wrong checksum'
    contains "$out" 'keys copied: 1'
    contains "$err" '1 keys were copied, 1 were not'
    HOLDFAST_STORE=file:$PWD/new
    expect 0 store check
    expect 0 value get other
    same answer "b value" "$out"
    expect 1 value get kept
    expect 0 store salvage --json new "file:$PWD/newer"
    same answer '{"lost":[],"keys":1,"complete":true,"status":"OK"}' "$out"
    expect 1 store salvage new newer
    contains "$err" "not empty"
    expect 64 store salvage new
}

test_check_of_a_short_and_of_a_foreign_file() {
    is_embedded || return 0
    own_store
    truncate -s 9000 own/data.mdb
    expect 65 store check
    contains "$out" "the data file was truncated"
    printf 'no store at all, but a text of some length' >own/data.mdb
    expect 64 store check
    contains "$err" "not an LMDB file"
}

test_compact_shrinks_the_file() {
    is_embedded || return 0
    own_store
    printf '%s' 'for i = 1, 9000 do
        redis.call("set", "k" .. i, string.rep("x", 200), "px", 1) end' >s.lua
    for i in 1 2; do
        expect 0 script run s.lua
    done
    before=$(stat -c %s own/data.mdb)
    expect 0 store compact
    contains "$out" "rewritten: yes"
    contains "$out" "bytes at most: 1073741824"
    after=$(stat -c %s own/data.mdb)
    [ "$after" -lt "$before" ] || fail "$after bytes, not fewer than $before"
    contains "$out" "bytes after: $after"
    expect 0 store compact --max-size 64M
    contains "$out" "bytes at most: 67108864"
    expect 64 store compact --max-size 64X
    contains "$err" '--max-size takes bytes, or with K, M, G, not "64X"'
    expect 64 store compact --max-size 1K
    expect 0 value get kept
    same answer "a value" "$out"
    expect 0 store check
}

test_compact_leaves_a_store_in_use_in_its_file() {
    is_embedded || return 0
    own_store
    start run job -- sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    eventually 5 written ready
    expect 0 store compact
    contains "$out" "rewritten: no, the store is open elsewhere"
    expect 0 store compact --max-size 2M --json
    contains "$out" '"bytes_at_most":1073741824,"rewritten":false,"in_use":true}'
    : >go
    ends 0 $pid
    expect 0 store compact --json
    contains "$out" '"rewritten":true,"in_use":false}'
}

test_setup_is_for_databases() {
    expect 78 store setup
    contains "$err" "nothing to set up"
}

# Empty: the command is linked statically.
shared_library() {
    ldd "$HOLDFAST" |
        sed -n 's/.*libholdfast\.so[^ ]* => \([^ ]*\) .*/\1/p'
}

# The library alone, as where the module's package is not installed.
test_missing_module_is_named() {
    local library

    library=$(shared_library)
    [ -n "$library" ] || return 0
    # One that is installed is found, too.
    for folder in /usr/lib* /usr/lib/*-linux-* /usr/local/lib* \
        /usr/local/lib/*-linux-*; do
        [ ! -e "$folder/libholdfast-postgres.so" ] || return 0
    done
    mkdir alone
    cp "$library" alone/
    LD_LIBRARY_PATH=$PWD/alone expect 78 --store postgres://db/ value get a
    contains "$err" "libholdfast-postgres, which is not in $PWD/alone or /"
}

# It would run as the user of the store.
test_module_that_others_can_change_is_refused() {
    local library

    library=$(shared_library)
    [ -n "$library" ] || return 0
    mkdir open
    cp "$library" open/
    : >open/libholdfast-postgres.so
    chmod 777 open
    LD_LIBRARY_PATH=$PWD/open expect 71 --store postgres://db/ value get a
    contains "$err" "/open can be written to by everyone"
    chmod 755 open
    chmod 666 open/libholdfast-postgres.so
    LD_LIBRARY_PATH=$PWD/open expect 71 --store postgres://db/ value get a
    contains "$err" "libholdfast-postgres.so can be written to by everyone"
    chmod 644 open/libholdfast-postgres.so
    LD_LIBRARY_PATH=$PWD/open expect 71 --store postgres://db/ value get a
    contains "$err" "cannot load"
    [ "$(id -u)" = 0 ] || return 0
    # The owner of the library that is loaded may own it.
    chown -R 12345 open
    LD_LIBRARY_PATH=$PWD/open expect 71 --store postgres://db/ value get a
    contains "$err" "cannot load"
    chown 12346 open/libholdfast-postgres.so
    LD_LIBRARY_PATH=$PWD/open expect 71 --store postgres://db/ value get a
    contains "$err" "libholdfast-postgres.so is owned by another user"
}
