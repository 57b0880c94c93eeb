#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# exports.sh LIBRARY.so LIBRARY.a MAP [USER.so] - does the shared library export
# exactly what the map lists, each name under its version; does USER.so use all
# names of the private version; and does the static library define only our
# names? Those of probes (src/util/probe.h) are not ours to choose. (That the maps
# list what the headers declare is checked by the lint.)
set -eu
listed=$(awk '$2 == "{" { version = $1 } /^ +hf_[a-z0-9_]*;/ {
    sub(";.*", ""); print $1 "@@" version }' "$3" | sort)
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort)
foreign=$(nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }' |
    grep -Ev '^(hf_|__odr_asan|_\.stapsdt\.base$|holdfast_[a-z_]+_semaphore$)' ||
    true)

if [ "$exported" != "$listed" ]; then
    echo "Exported only: $(echo "$exported" | grep -vxF "$listed" || true)"
    echo "Listed only: $(echo "$listed" | grep -vxF "$exported" || true)"
    exit 1
fi
if [ -n "${4-}" ]; then
    private=$(echo "$listed" | sed -n 's/@@HOLDFAST_PRIVATE.*//p')
    used=$(nm -D --undefined-only "$4" | awk '{ print $2 }' | sed 's/@.*//')
    unused=$(echo "$private" | grep -vxF "$used" || true)
    if [ -n "$unused" ]; then
        echo "Exported to $4, which does not use it: $unused"
        exit 1
    fi
fi
if [ -n "$foreign" ]; then
    echo "Foreign names visible in $2: $foreign"
    exit 1
fi
echo "$(echo "$listed" | wc -l) symbols"
