# SPDX-License-Identifier: Apache-2.0
#
# output_test.sh - store dump -o PATH: the kind of file at PATH is kept.

# The store of this test holds one value, which a load of the dump restores.
fill() {
    expect 0 value set greeting hello
}

# loads FILE: it is a complete dump.
loads() {
    local there=volatile:$PWD/there

    rm -rf there
    "$HOLDFAST" --store "$there" store load "$1" 2>err || fail "load $1: $(cat err)"
    same greeting hello "$("$HOLDFAST" --store "$there" value get greeting)"
}

test_dump_writes_into_a_fifo() {
    local reader

    fill
    mkfifo pipe
    cat pipe >got &
    reader=$!
    expect 0 store dump -o pipe
    wait "$reader"
    [ -p pipe ] || fail "the FIFO is gone: $(ls -l)"
    loads got
}

# Root might damage the machine's own device; it creates another.
test_dump_writes_into_a_device() {
    local device=/dev/null

    fill
    if [ "$(id -u)" = 0 ]; then
        device=null
        mknod null c 1 3 2>/dev/null || {
            echo "left out: no device can be made here"
            return 0
        }
    fi
    expect 0 store dump -o "$device"
    [ -c "$device" ] || fail "the device is gone: $(ls -l)"
}

test_dump_writes_to_standard_output_by_name() {
    fill
    "$HOLDFAST" store dump -o /dev/stdout 2>err | cat >got
    loads got
    "$HOLDFAST" store dump -o /dev/stdout >got2 2>err || fail "$(cat err)"
    loads got2
}

test_dump_follows_links() {
    fill
    mkdir here there2
    echo old >there2/file
    ln -s ../there2/file here/link
    ln -s "$PWD/here/link" chain
    expect 0 store dump -o chain
    [ -L chain ] && [ -L here/link ] || fail "a link was replaced: $(ls -lR)"
    loads there2/file
    same "files next to it" file "$(ls there2)"
}

test_dump_makes_what_a_link_names() {
    fill
    ln -s new link
    expect 0 store dump -o link
    [ -L link ] || fail "the link was replaced"
    loads new
    ln -s loop loop
    expect 71 store dump -o loop
}

test_dump_leaves_a_directory_alone() {
    fill
    mkdir folder
    expect 71 store dump -o folder
    same "what is in it" "" "$(ls folder)"
    expect 71 store dump -o folder/
    same "files left" "" "$(ls folder; ls | grep 'folder\.' || true)"
}

# As the kernel does for open() with fs.protected_symlinks.
test_dump_follows_no_link_of_others_in_a_folder_for_all() {
    [ "$(id -u)" = 0 ] || return 0
    fill
    mkdir -m 1777 all
    ln -s "$PWD/victim" all/link
    chown -h 64001:64001 all/link
    expect 71 store dump -o all/link
    [ ! -e victim ] || fail "it was followed"
    chown -h 0:0 all/link
    expect 0 store dump -o all/link
    loads victim
}
