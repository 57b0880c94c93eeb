#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# linearizable_test.sh - build the checker, or record a history and check it.
#
#     linearizable_test.sh build CHECKER
#     linearizable_test.sh check CHECKER HISTORY [OPTION]...
#
# With an option --cheat the history must be refused. Exit status 77: there is
# no Go, or its module cannot be fetched.
set -u

skip()
{
    echo "skipped: $*"
    exit 77
}

build()
{
    command -v go >/dev/null || skip "go is missing (tools/deps.sh go)"
    rm -f "$1"
    cd "$(dirname "$0")/checker" || exit 1
    go mod download || skip "porcupine cannot be fetched"
    exec go build -o "$1" .
}

check()
{
    checker=$1
    shift
    [ -x "$checker" ] || skip "there is no checker"
    history=$(mktemp) || exit 1
    trap 'rm -f "$history"' EXIT
    "$@" >"$history" || exit 1
    "$checker" <"$history" >"$history.out"
    status=$?
    tail -n 80 "$history.out"
    rm -f "$history.out"
    case " $* " in
    *" --cheat "*) [ $status = 1 ] ;;
    *) [ $status = 0 ] ;;
    esac
}

"$@"
