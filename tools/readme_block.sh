#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# readme_block.sh LANGUAGE - print README's first block of code in LANGUAGE (c,
# cmake). That there is none is an error: who compiles the block would compile
# an empty file.
set -eu
readme=$(dirname "$0")/../README.md
block=$(sed -n "/^\`\`\`$1\( .*\)\?\$/,/^\`\`\`\$/p" "$readme" |
    sed '1d;/^```$/,$d')
[ -n "$block" ] || {
    echo "readme_block.sh: README.md has no block of $1" >&2
    exit 1
}
printf '%s\n' "$block"
