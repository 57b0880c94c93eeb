#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# selftest.sh - pages that are wrong fail: run_page.py and check_links.py see it.
#
# usage: selftest.sh BUILD
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/docs"
page=$work/docs/README.md

# LANGUAGE LINE...: a page with this block.
block() {
    echo '# A page'
    printf '\n```%s\n' "$1"
    shift
    printf '%s\n' "$@" '```'
}

# WHAT COMMAND...: it fails, and prints WHAT.
fails() {
    what=$1
    shift
    if "$@" >"$work/out" 2>&1 || ! grep -q "$what" "$work/out"; then
        echo "selftest.sh: no failure with \"$what\":" "$@" >&2
        cat "$page" "$work/out" >&2
        exit 1
    fi
}

run="python3 -B $here/run_page.py $page $build"
block console '$ echo one' 'one' '$ echo "two 7 s three"' 'two 1 s ...' \
    '$ false' '$ echo $?' '1' >"$page"
$run
block console '$ echo one' 'two' >"$page"
fails 'but should print' $run
block console '$ echo one' >"$page"
fails 'but should print' $run
block console '$ true' '$ false' '$ true' >"$page"
fails 'ended with 1' $run
block c 'status = hf_value_get(client, 7);' >"$page"
fails 'too few arguments\|incompatible' $run
block c 'exit(3);' >"$page"
fails 'ended with 3' $run

links="python3 -B $here/check_links.py $work"
printf '# A page\n\n[a](#a-page)\n' >"$page"
$links
printf '# A page\n\n[a](#b)\n' >"$page"
fails 'no such heading' $links
printf '# A page\n\n[a](b.md)\n' >"$page"
fails 'no such file' $links
mkdir "$work/docs/howto"
printf '# A page\n' >"$page"
printf '# B\n\n```\nx\n```\n' >"$work/docs/howto/b.md"
fails 'no page leads here' $links
fails 'without a language' $links
