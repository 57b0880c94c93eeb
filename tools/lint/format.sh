#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# format.sh [--fix] [root] - are all C and C++ files laid out as .clang-format says?
set -eu
mode="--dry-run -Werror"
if [ "${1:-}" = --fix ]; then
    mode=-i
    shift
fi
command -v clang-format >/dev/null || {
    echo "format.sh: no clang-format; install it with tools/deps.sh lint" >&2
    exit 1
}
lint=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$lint/../..}"
files=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$lint python3 -c '
import source, pathlib
print("\n".join(map(str, source.files(pathlib.Path.cwd(), "*.c", "*.h",
                             "*.cpp", "*.hpp"))))')
# One line a file: where it begins to differ, and how often it does.
# shellcheck disable=SC2086 # $mode is two words
if ! found=$(echo "$files" | xargs clang-format $mode 2>&1); then
    echo "$found" | sed -nE 's/^([^: ]+):([0-9]+):[0-9]+: .*/\1 \2/p' |
        sort -k1,1 -k2,2n | awk '
            $1 != file { if (file) print line " (" count " places)"; count = 0
                         file = $1; line = file ":" $2 ": not as" \
                                          " clang-format lays it out" }
            { count++ }
            END { if (file) print line " (" count " places)" }'
    exit 1
fi
