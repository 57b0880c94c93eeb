#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# reuse.sh [ROOT] - does every file name its licence and the holder of its
# copyright, as REUSE.toml and reuse.software say? Uses `reuse` of PATH, or one
# that is installed for this once, from PyPI, into build/reuse-VERSION.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
root=${1:-$here}
version=6.2.0 # the first with REUSE.toml is 4.0
tool=$here/build/reuse-$version

fetch()
{
    mkdir -p "$here/build"
    exec 9>"$tool.lock"
    flock 9 # the checks run side by side
    [ -x "$tool/bin/reuse" ] || {
        python3 -m venv "$tool.new" &&
            "$tool.new/bin/python3" -m pip -q --disable-pip-version-check \
                install "reuse==$version" &&
            rm -rf "$tool" && mv "$tool.new" "$tool"
    } || {
        echo "tools/lint/reuse.sh:1: reuse $version cannot be installed" >&2
        exit 1
    }
    exec 9>&-
}

if command -v reuse >/dev/null && reuse --root "$root" lint --help 2>/dev/null |
    grep -q -- --lines; then
    set -- reuse
else
    fetch
    # Not bin/reuse, which names the folder that it was installed in.
    set -- "$tool/bin/python3" -c 'from reuse.cli.main import main; main()'
fi
"$@" --root "$root" lint --lines | sed "s|^$root/||; s|^\([^:]*\): |\1:1: |" >&2
"$@" --root "$root" lint --quiet
