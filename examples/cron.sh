#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cron.sh - a nightly job that never runs twice at a time, for crontab(5):
#
#     0 3 * * *  HOLDFAST_STORE=file:/var/lib/nightly /usr/local/bin/cron.sh
#
# It holds the lock by a handle, so the steps between acquire and release are
# plain shell. If this shell dies, the lock is free at once.
set -eu

lock=$(holdfast lock acquire -n nightly) || {
    echo "nightly runs already" >&2
    exit 1
}
trap 'holdfast lock release "$lock"' EXIT

for step in dump compress upload; do
    # Not held any more: another host may have begun. Stop before it is noticed.
    holdfast lock renew "$lock" || exit
    echo "$step"
    sleep "${STEP_S:-1}"
done

# Refused if a later run has written it: up to the colon it is the token.
holdfast value set nightly:last done --token "${lock%%:*}"
