#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lint.sh - run every check of tools/lint/ and fail if one fails. Each prints
# its findings as file:line: what.
set -u
cd "$(dirname "$0")/lint" || exit 2
export PYTHONDONTWRITEBYTECODE=1
failed=

# It takes as long as all others together.
selftest=$(mktemp)
trap 'rm -f "$selftest"' EXIT
./selftest.sh >"$selftest" 2>&1 &

for check in ./format.sh ./limits.py ./layers.py ./calls.py ./header.py \
    ./scripts.py ./text.py ./names.py ./map.py ./tested.py ./version.py \
    ./reuse.sh; do
    $check || failed="$failed ${check#./}"
done
wait $! || failed="$failed selftest.sh"
cat "$selftest"

if [ -n "$failed" ]; then
    echo "lint: failed:$failed"
    exit 1
fi
echo "lint: passed"
