# SPDX-License-Identifier: Apache-2.0
#
# harness.sh - functions for the tests of the command.

# End the test.
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

now_ms() {
    local seconds=$EPOCHREALTIME

    echo $((${seconds/[.,]/} / 1000))
}

# start ARGUMENT...: holdfast in the background; its id in $pid. A shell without
# job control ignores SIGINT and SIGQUIT there; undo that. Its stdout is a file,
# so that processes left by a failed test keep no pipe open.
start() {
    env --default-signal=INT,QUIT "$HOLDFAST" "$@" >>started &
    pid=$!
}

# ends CODE PID: the process that `start` started.
ends() {
    local code

    wait "$2"
    code=$?
    [ "$code" = "$1" ] || fail "process ended with $code, not $1"
}

# expect CODE ARGUMENT...: run holdfast; leaves stdout in $out, stderr in $err.
expect() {
    local wanted=$1 code
    shift

    "$HOLDFAST" "$@" >out 2>err
    code=$?
    out=$(cat out)
    err=$(cat err)
    [ "$code" = "$wanted" ] ||
        fail "exit code $code, not $wanted: holdfast $*; stderr: $err;" \
            "stdout: $out"
}

# on_terminal ARGUMENT...: run holdfast on a terminal of its own, which it must
# do with success; leaves what was shown in $out.
on_terminal() {
    local code

    out=$(script -qec "$(printf '%q ' "$HOLDFAST" "$@")" /dev/null </dev/null)
    code=$?
    out=${out//$'\r'/}
    [ "$code" = 0 ] || fail "exit code $code: holdfast $*; shown: $out"
}

# same WHAT WANTED GOT
same() {
    [ "$2" = "$3" ] || fail "$1 is '$3', not '$2'"
}

# contains TEXT PART
contains() {
    case $1 in
    *"$2"*) ;;
    *) fail "'$2' is not in '$1'" ;;
    esac
}

# How much slower a sanitizer makes everything, and leases that must last.
slower=1
longer=1
if grep -qE '__[at]san_init' "$HOLDFAST"; then
    slower=20
    longer=4
fi

# How many times longer than on an idle machine leases must last, at least 1:
# measured by some work, and by the load of the last minute.
slowness() {
    local run wait run_then=0 wait_then=0 load i slow

    read -r run_then wait_then _ <"/proc/$BASHPID/schedstat"
    for ((i = 0; i < 10000; i++)); do
        :
    done
    read -r run wait _ <"/proc/$BASHPID/schedstat"
    read -r load _ </proc/loadavg
    slow=$(((wait - wait_then) / (run - run_then + 1) + 1))
    load=$((${load%.*} / $(nproc)))
    echo $(((load > slow ? load : slow) * longer))
}

# slowed MS: that long, scaled to the present load, in seconds: for leases that
# must last.
slowed() {
    local slow

    slow=$(slowness)
    slow=$(($1 * (slow < 5 * longer ? slow : 5 * longer)))
    printf '%d.%03d\n' $((slow / 1000)) $((slow % 1000))
}

# within MS BEGAN_MS: not more time has passed, scaled to the present load.
within() {
    local took=$(($(now_ms) - $2)) limit=$1

    [ "$took" -gt "$limit" ] || return 0
    limit=$((limit * 2 * slower * $(slowness) / longer))
    [ "$took" -le "$limit" ] || fail "took $took ms, not at most $1 ($limit now)"
}

# eventually SECONDS COMMAND...: until it succeeds; tried less often after a
# while.
eventually() {
    local limit=$(($1 * 1000)) began=$(now_ms) tries=0
    shift

    until "$@"; do
        (within "$limit" "$began") || fail "never came true: $*"
        sleep "0.0$((++tries < 10 ? 1 : 7))"
    done
}

# The state of each live process of group $1, zombies left out; false if none.
group_lives() {
    local stat line

    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        set -- "$1" ${line##*) }
        if [ "$4" = "$1" ] && [ "$2" != Z ] && [ "$2" != X ]; then
            echo "$2"
            return 0
        fi
    done
    return 1
}

group_is_gone() {
    ! group_lives "$1" >/dev/null
}

# process_is STATE PID
process_is() {
    local line

    { read -r line <"/proc/$2/stat"; } 2>/dev/null || return 1
    line=${line##*) }
    [ "${line%% *}" = "$1" ]
}

# A file with one line, written by a command under test.
written() {
    [ -s "$1" ]
}

# start_topology KIND [PASSWORD [PASSWORD-OF-SENTINELS]]: servers for this test,
# which end with it. Leaves $url, and with TLS $tls_port and $files.
start_topology() {
    local line

    coproc TOPOLOGY_RUN { exec "$TOPOLOGY" "$@" 2>topology.log; }
    while read -r line <&"${TOPOLOGY_RUN[0]}"; do
        case $line in
        url=*) url=${line#*=} ;;
        tls_port=*) tls_port=${line#*=} ;;
        files=*) files=${line#*=} ;;
        ready) return ;;
        esac
    done
    fail "no topology $1: $(cat topology.log)"
}

# tell LINE: a command for topology.c; the server's reply is in $answer.
tell() {
    echo "$1" >&"${TOPOLOGY_RUN[1]}"
    read -r answer <&"${TOPOLOGY_RUN[0]}" || fail "the servers are gone: $1"
    [ "${answer%% *}" = "done" ] || fail "$1: $answer"
    answer=${answer#* }
}

# json EXPRESSION: $out is one JSON document, d, of which this is true.
json() {
    "${HF_TEST_PYTHON:-python3}" -S -c 'import json, sys
d = json.load(sys.stdin)
assert eval("(" + sys.argv[1] + ")")' "$1" <<<"$out" ||
        fail "not so: $1 in $out"
}

# lacks TEXT PART
lacks() {
    case $1 in
    *"$2"*) fail "'$2' is in '$1'" ;;
    esac
}
