#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# reproducible.sh - build the commit that is checked out twice, in folders whose
# paths differ in length and with build folders inside and outside, at another
# time, and in another locale and time zone; install both below DESTDIR; and
# compare all that was installed, byte for byte, debug information included.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# Whatever a cache has was compiled in one folder.
export CCACHE_DISABLE=1

# build SOURCES BUILD RESULT
build()
{
    mkdir -p "$1"
    git archive HEAD | tar -C "$1" -xf -
    cmake -G Ninja -S "$1" -B "$2" -DHF_TESTS=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr/local >/dev/null
    cmake --build "$2" ${JOBS:+-j"$JOBS"} >"$work/log" ||
        { cat "$work/log"; exit 1; }
    DESTDIR=$3 cmake --install "$2" >/dev/null
}

build "$work/a" "$work/a/build" "$work/first"
LC_ALL=C TZ=Pacific/Auckland build "$work/another folder/b" "$work/elsewhere" \
    "$work/second"

files=$(cd "$work/first" && find . -type f | wc -l)
[ "$files" -gt 20 ] || { echo "reproducible.sh: $files files" >&2; exit 1; }
diff -r --no-dereference "$work/first" "$work/second"
echo "reproducible.sh: $files files are the same"
