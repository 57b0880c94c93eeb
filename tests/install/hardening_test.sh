#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# hardening_test.sh - do the library and the command have their protections?
#
# usage: hardening_test.sh LIBRARY.so LIBRARY.a COMMAND FORTIFIED (yes or no)
set -eu

so=$1
static=$2
command=$3
fortified=$4

# FILE TEXT OPTION...: readelf with these options says TEXT of the file.
has() {
    file=$1
    text=$2
    shift 2
    readelf -W "$@" "$file" 2>/dev/null | grep -q -- "$text" && return
    echo "hardening_test: $file: readelf $* has no \"$text\"" >&2
    failed=1
}

failed=0
for file in "$so" "$command"; do
    has "$file" GNU_RELRO -l
    has "$file" 'GNU_STACK.* RW ' -l
    has "$file" 'BIND_NOW\|FLAGS_1.*NOW' -d
    if [ "$(uname -m)" = x86_64 ]; then
        has "$file" SHSTK -n
    fi
    # An empty entry is the current folder.
    if readelf -dW "$file" | grep 'PATH)' | grep -q '\[:\|::\|:\]'; then
        echo "hardening_test: $file: the current folder is searched" >&2
        failed=1
    fi
done
has "$command" 'FLAGS_1.*PIE' -d
for file in "$so" "$static" "$command"; do
    has "$file" __stack_chk_fail -s
    if [ "$fortified" = yes ]; then
        has "$file" '__[a-z]*\(cpy\|set\|printf\|read\|recv\|poll\)_chk' -s
    fi
done
if [ "$(uname -m)" = x86_64 ]; then
    members=$(ar t "$static" | wc -l)
    marked=$(readelf -nW "$static" | grep -c 'IBT, SHSTK') || true
    if [ "$members" != "$marked" ]; then
        echo "hardening_test: $static: $marked of $members objects are" \
            "marked for CET" >&2
        failed=1
    fi
fi
exit $failed
