#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# readme_block.sh LANGUAGE - print README's program (c), or the lines by which
# CMake builds it (cmake), from the page on installing. That there are none is an
# error: who compiles the block would compile an empty file.
set -eu
page=README.md
[ "$1" != cmake ] || page=docs/howto/install.md
block=$(sed -n "/^\`\`\`$1\( .*\)\?\$/,/^\`\`\`\$/p" \
    "$(dirname "$0")/../$page" |
    sed '1d;/^```$/,$d')
[ -n "$block" ] || {
    echo "readme_block.sh: $page has no block of $1" >&2
    exit 1
}
printf '%s\n' "$block"
