#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# abi.sh [--against COMMIT] [BUILD] - has the ABI of the libraries in BUILD
# (default build) changed since COMMIT (default: the newest tag vX.Y.Z)?
#
# COMMIT is built, and both are compared by abidiff, as far as the public headers
# show types. If the number of the ABI (docs/adr/0096) is the same, additions are
# listed, and anything else is a failure; if it is not, all is listed. Without a
# tag and --against there is nothing to compare with, and the check passes.
set -eu
cd "$(dirname "$0")/.."

fail()
{
    echo "abi.sh: $*" >&2
    exit 1
}

against=
if [ "${1-}" = --against ]; then
    against=$(git rev-parse --verify "$2^{commit}")
    shift 2
fi
build=${1:-build}
[ -n "$against" ] ||
    against=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || {
    echo "abi.sh: no release to compare with"
    exit 0
}
command -v abidiff >/dev/null || tools/deps.sh abi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/old"
git archive "$against" | tar -C "$work/old" -xf -
cmake -G Ninja -S "$work/old" -B "$work/build" -DHF_TESTS=OFF \
    -DCMAKE_BUILD_TYPE=Debug >/dev/null
cmake --build "$work/build" ${JOBS:+-j"$JOBS"} \
    --target holdfast holdfast_serve >"$work/log" ||
    { cat "$work/log"; fail "$against does not build"; }

# The name by which a program finds the library.
name_of()
{
    readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'
}

failed=
for library in libholdfast.so libholdfast-serve.so; do
    old=$(name_of "$work/build/$library")
    new=$(name_of "$build/$library")
    [ -n "$old" ] && [ -n "$new" ] || fail "there is no $library"
    # 4: they differ, 8: and no old program works; 1 and 2: it did not run.
    rc=0
    abidiff --drop-private-types --no-show-locs \
        --headers-dir1 "$work/old/include" --headers-dir2 include \
        --suppressions tools/abi.suppressions \
        "$work/build/$library" "$build/$library" >"$work/diff" || rc=$?
    [ $((rc & 3)) = 0 ] || { cat "$work/diff"; fail "abidiff failed: $rc"; }
    echo "$library: $old, now $new"
    cat "$work/diff"
    if [ "$old" = "$new" ] &&
        grep -Eq '[1-9][0-9]* (Removed|Changed)' "$work/diff"; then
        failed="$failed $library"
    fi
done
[ -z "$failed" ] || fail "changed, but the number of the ABI did not:$failed"
