# SPDX-License-Identifier: Apache-2.0
#
# secret.sh - shared by the tests that look for a password where none must be.

SECRET=Zq7passw0rd

# Run holdfast with any result; neither stdout nor stderr has the secret.
hushed() {
    "$HOLDFAST" "$@" </dev/null >out 2>err
    code=$?
    ! grep -qa "$SECRET" out err ||
        fail "told with exit code $code: $*: $(cat out err)"
    [ "$code" -lt 128 ] || fail "exit code $code: $*"
}

# All commands on a store, and the errors that a command line can have.
ask_everything() {
    echo "return redis.call('nonsense')" >bad.lua
    hushed "$@" store diagnose -N 3
    hushed "$@" store diagnose -N 3 --json
    hushed "$@" store info
    hushed "$@" store info --json
    hushed "$@" store check
    hushed "$@" store compact
    hushed "$@" store dump -o /nonexistent/dump
    hushed "$@" value set taken 1 --nx --get
    hushed "$@" value get nothing
    hushed "$@" hash put taken f v
    hushed "$@" hash get-all taken --json
    hushed "$@" script run bad.lua
    hushed "$@" lock inspect unused --json
    hushed "$@" run --verbose job true
    hushed "$@" run -n job /nonexistent/command
    hushed "$@" value get
    hushed "$@" value nonsense
    hushed "$@" --nonsense
    hushed "$@" store diagnose --wait nonsense
}
