#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# first_steps.sh - type README's last commands into this checkout, in their
# order, up to `make check`, as a newcomer would: none may need what a later one
# builds or installs. What is installed goes to a temporary folder, and README's
# program is compiled against that.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export PREFIX="$work/prefix"
export HOLDFAST_STORE="volatile:$work/store"

# Those that begin with this word.
commands()
{
    sed -n '/^<!-- run: first_steps -->/,$s/^\$ \([^#]*\).*/\1/p' "$root/README.md" |
        grep "^$1 "
}

enter()
{
    printf '\n$ %s\n' "$1"
    began=$(date +%s)
    sh -ec "$1" </dev/null
    echo "-- $(($(date +%s) - began)) s: $1"
}

cd "$root"
commands make | grep -v '^make test' >"$work/commands"
while read -r line; do
    enter "$line"
done <"$work/commands"

pc=$(find "$PREFIX" -name holdfast.pc)
export PKG_CONFIG_PATH="${pc%/*}"
cd "$work"
"$root/tools/readme_block.sh" c >app.c
enter "$(commands cc)"
enter "LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/*} ./app"

{
    echo 'cmake_minimum_required(VERSION 3.25)'
    echo 'project(app C)'
    echo 'add_executable(app app.c)'
    "$root/tools/readme_block.sh" cmake
} >CMakeLists.txt
enter "cmake -S . -B build -DCMAKE_PREFIX_PATH=$PREFIX"
enter "cmake --build build"
enter "build/app"

cd "$root"
enter "make uninstall"
# Not even a link, nor a folder but for those that every prefix has.
left=$(find "$PREFIX" -mindepth 1 ! \( -type d \
    \( -path "$PREFIX/share/man" -o ! -path "$PREFIX/*/*" \) \))
[ -z "$left" ] || {
    echo "first_steps.sh: make uninstall left $left" >&2
    exit 1
}
