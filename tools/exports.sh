#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# exports.sh LIBRARY.so LIBRARY.a MAP - does the shared library export exactly
# what the map lists, and does the static one define only our names?
# (That the map lists what the headers declare is checked by the lint.)
set -eu
listed=$(sed -n 's/^ *\(hf_[a-z0-9_]*\);.*/\1/p' "$3" | sort)
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' |
    sed 's/@.*//' | sort)
foreign=$(nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }' |
    grep -Ev '^(hf_|__odr_asan)' || true)

if [ "$exported" != "$listed" ]; then
    echo "Exported only: $(echo "$exported" | grep -vxF "$listed" || true)"
    echo "Listed only: $(echo "$listed" | grep -vxF "$exported" || true)"
    exit 1
fi
if [ -n "$foreign" ]; then
    echo "Foreign names visible in $2: $foreign"
    exit 1
fi
echo "$(echo "$listed" | wc -l) symbols"
