#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# subproject_test.sh - another project has the sources of holdfast as a part of
# its own: by add_subdirectory(), or by FetchContent, which unpacks an archive.
# Its programs link with the libraries and run. It builds no command and no
# test, and installs nothing of ours.
#
# usage: subproject_test.sh added|fetched ROOT CMAKE CC [LAUNCHER]
set -eu

way=$1
root=$2
cmake=$3
cc=$4
launcher=${5:-}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

fail() {
    echo "subproject_test: $*" >&2
    exit 1
}

# As a released archive: without what this machine has built in the folder.
archive() {
    tar -C "$root" -czf "$1" --transform 's|^|holdfast/|' \
        CMakeLists.txt cmake include scripts src tools
}

if [ "$way" = fetched ]; then
    archive "$work/holdfast.tar.gz"
    from=-DHOLDFAST_ARCHIVE=$work/holdfast.tar.gz
else
    from=-DHOLDFAST_SOURCE=$root
fi
"$cmake" -G Ninja -S "$root/tests/install/subproject/$way" -B "$work/build" \
    "$from" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_C_COMPILER_LAUNCHER=$launcher" \
    "-DCMAKE_INSTALL_PREFIX=$work/prefix" ||
    fail "cannot be configured"
"$cmake" --build "$work/build" || fail "does not build"

for program in "$work"/build/*_shared "$work"/build/*_static; do
    echo "-- running $(basename "$program")"
    case $program in
    */server_*) set -- "unix:$work/socket" ;;
    *) set -- ;;
    esac
    "$program" "file:$work/store?max_size=4M" "$@" || fail "$program failed"
    rm -rf "$work/store"
done

(cd "$work/build" && ctest -N) | grep -q '^Total Tests: 0$' ||
    fail "it has tests of ours"
"$cmake" --install "$work/build" >"$work/log" || fail "cannot be installed"
installed=$(cd "$work/prefix" && find . -type f)
[ "$installed" = ./bin/consumer_static ] ||
    fail "installed too: $installed"
[ ! -e "$work/build/holdfast/holdfast" ] || fail "it has built the command"
