# SPDX-License-Identifier: Apache-2.0
#
# signal_test.sh - run: signals sent to holdfast.

test_term_reaches_the_whole_group() {
    start run job -- sh -c 'sh -c "echo in >deep; sleep 20" & echo $$ >leader
        wait'
    eventually 5 written deep
    kill -TERM $pid
    ends 143 $pid
    eventually 1 group_is_gone "$(cat leader)"
    expect 1 lock inspect job
}

test_term_ends_a_command_that_is_stopped() {
    mkfifo gate
    start run job -- sh -c 'echo $$ >leader; read -r x <gate; exit 8'
    eventually 5 written leader
    kill -STOP "$(cat leader)"
    eventually 2 process_is T "$(cat leader)"
    kill -TERM $pid
    eventually 5 group_is_gone "$(cat leader)"
    ends 143 $pid
}

test_each_signal_is_passed_on() {
    local signal

    start run job -- sh -c 'for s in HUP INT QUIT USR1 USR2 WINCH; do
            trap "echo $s >>got" $s
        done
        echo ready >ready
        until [ -e stop ]; do sleep 0.02; done; exit 9'
    eventually 5 written ready
    for signal in HUP INT QUIT USR1 USR2 WINCH; do
        kill -$signal $pid
        eventually 2 grep -qsx $signal got
    done
    : >stop
    ends 9 $pid
}

test_exit_code_after_a_handled_signal_is_the_commands() {
    start run job -- sh -c 'trap "exit 12" TERM; echo ready >ready
        while :; do sleep 0.02; done'
    eventually 5 written ready
    kill -TERM $pid
    ends 12 $pid
}

stop_and_continue() {
    mkfifo gate
    # Nothing is forked here: a shell whose vfork()ed child was stopped would
    # sleep, not stop.
    start run job -- sh -c 'echo $$ >leader; read -r x <gate; exit 8'
    eventually 5 written leader
    kill -TSTP $pid
    eventually 2 process_is T "$(cat leader)"
    kill -CONT $pid
    echo go >gate
    ends 8 $pid
}

test_stop_and_continue_reach_the_command() {
    stop_and_continue
}

# Continued before it has seen that its command stopped.
test_continue_that_comes_before_the_stop_is_not_lost() {
    # ASan wants to be the first library.
    LD_PRELOAD=$LATE_LOOK ASAN_OPTIONS=verify_asan_link_order=0 \
        stop_and_continue
}

has_a_waiter() {
    "$HOLDFAST" lock inspect "$1" | grep -qx 'waiters: 1'
}

# code_of SIGNAL CODE: a waiter that gets SIGNAL ends with CODE, at once.
code_of() {
    local began waiter

    start run job -- touch ran
    waiter=$pid
    # Before it handles signals, it ignores SIGINT as its shell does.
    eventually 5 has_a_waiter job
    began=$(now_ms)
    kill -$1 $waiter
    ends $2 $waiter
    within 500 "$began"
}

test_signal_ends_the_wait_at_once_and_delays_no_other() {
    local holder next began

    start run job -- sh -c 'echo $$ >held; until [ -e go ]; do
        sleep 0.02; done'
    holder=$pid
    eventually 5 written held
    code_of TERM 143
    code_of INT 130
    code_of HUP 129
    code_of USR1 138
    start run job -- true
    next=$pid
    eventually 5 has_a_waiter job
    began=$(now_ms)
    : >go
    ends 0 $holder
    ends 0 $next
    within 1500 "$began"
    [ ! -e ran ] || fail 'a waiter ran its command'
}

test_ignored_signal_does_not_end_the_wait() {
    start run job -- sh -c 'echo $$ >held; until [ -e go ]; do
        sleep 0.02; done'
    holder=$pid
    eventually 5 written held
    trap '' HUP
    start run job -- sh -c 'echo ran >ran'
    eventually 5 has_a_waiter job
    kill -HUP $pid
    sleep 0.1
    : >go
    ends 0 $holder
    ends 0 $pid
    written ran || fail 'the command did not run'
}

test_signal_while_waiting_for_a_dead_server_ends_it() {
    local began server

    mkfifo gate
    # Accepts a connection and never replies.
    python3 - <<'PYTHON' >gate &
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("mute")
s.listen()
print("ready", flush=True)
peer = s.accept()[0]
print("connected", flush=True)
while peer.recv(100):
    pass
PYTHON
    server=$!
    exec 3<gate
    read -r _ <&3
    start --store "redis+unix://$PWD/mute" run job -- true
    read -r _ <&3
    began=$(now_ms)
    kill -TERM $pid
    ends 143 $pid
    within 500 "$began"
    wait $server
}

# The server has granted the lock, but its reply is not here yet: the name must
# not be blocked until the lease ends.
test_signal_gives_back_a_grant_that_is_on_its_way() {
    local server

    case $HOLDFAST_STORE in redis+unix://*) ;; *) return 0 ;; esac
    mkfifo gate
    # Holds back the server's output from the first mention of the lock on.
    python3 - "${HOLDFAST_STORE#redis+unix://}" <<'PYTHON' >gate &
import selectors, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind("proxy")
listener.listen()
print("ready", flush=True)
chooser = selectors.DefaultSelector()
chooser.register(listener, selectors.EVENT_READ, None)
muted = False
while True:
    for key, _ in chooser.select():
        if key.data is None:
            near = listener.accept()[0]
            far = socket.socket(socket.AF_UNIX)
            far.connect(sys.argv[1])
            chooser.register(near, selectors.EVENT_READ, (far, True))
            chooser.register(far, selectors.EVENT_READ, (near, False))
            continue
        to, asks = key.data
        data = key.fileobj.recv(65536)
        if not data:
            sys.exit(0)
        muted = muted or (asks and b"$3\r\njob\r\n" in data)
        if asks or not muted:
            to.sendall(data)
PYTHON
    server=$!
    read -r _ <gate
    start --store "redis+unix://$PWD/proxy" run job -- touch ran
    eventually 5 is_held job
    kill -TERM $pid
    ends 143 $pid
    eventually 1 is_free job
    wait $server
    [ ! -e ran ] || fail 'the command ran'
}

is_held() {
    "$HOLDFAST" lock inspect "$1" >/dev/null 2>&1
}

is_free() {
    ! is_held "$1"
}
