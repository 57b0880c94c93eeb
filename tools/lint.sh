#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lint.sh - run every check of tools/lint/ and fail if one fails. Each prints
# its findings as file:line: what.
set -u
cd "$(dirname "$0")/lint" || exit 2
export PYTHONDONTWRITEBYTECODE=1
failed=

for check in ./format.sh ./limits.py ./layers.py ./calls.py ./header.py \
    ./scripts.py ./text.py ./map.py ./tested.py ./selftest.sh; do
    $check || failed="$failed ${check#./}"
done

if [ -n "$failed" ]; then
    echo "lint: failed:$failed"
    exit 1
fi
echo "lint: passed"
