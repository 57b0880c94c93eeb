# SPDX-License-Identifier: Apache-2.0
#
# top_screen_test.sh - top on a terminal, which is one of tmux.

command -v tmux >/dev/null || exit 77

terminal() {
    LC_ALL=C.UTF-8 tmux -u -f /dev/null -S "$PWD/tmux" "$@"
}

# However the test ends.
clean_up() {
    terminal kill-server
    kill $(jobs -p)
} 2>/dev/null

# screen COLUMNS LINES ARGUMENT...: run top there; then its exit code is shown.
screen() {
    local columns=$1 lines=$2
    shift 2

    trap clean_up EXIT
    terminal new-session -d -x "$columns" -y "$lines" \
        sh -c 'trap : INT; "$@"; echo "code $?"; sleep 60' sh \
        ${before:-} "$HOLDFAST" top --interval 0.1 "$@"
}

keys() {
    terminal send-keys "$@"
}

shows() {
    seen=$(terminal capture-pane -p)
    case $seen in
    *"$1"*) return 0 ;;
    esac
    return 1
}

# The screen comes to have each of these texts.
shown() {
    local text

    for text; do
        eventually 10 shows "$text"
    done
}

shows_not() {
    ! shows "$1"
}

is_blank() {
    [ -z "$(terminal capture-pane -p)" ]
}

# The first lock of the list has this name.
first_is() {
    terminal capture-pane -p | grep -A 1 HELD | tail -n 1 | grep -q " $1  "
}

# hold NAME [OPTION...]: in the background, until the test ends.
hold() {
    local name=$1
    shift

    trap clean_up EXIT
    start run --ttl 60 "$@" "$name" -- sleep 60
    sleep 0.12 # a holder registers after 0.1 s
    eventually 10 is_known "$name"
}

is_known() {
    "$HOLDFAST" lock inspect --json "$1" | grep -q '"pid"'
}

# has_holders NAME COUNT
has_holders() {
    "$HOLDFAST" lock inspect --json "$1" | grep -q "\"holders\":$2,"
}

waits() {
    "$HOLDFAST" lock inspect --json "$1" | grep -q "\"waiters\":$2}"
}

test_locks_are_sorted_and_filtered_by_keys() {
    screen 90 20
    hold old
    hold b-new
    start run b-new -- sleep 60
    shown 'locks 2  waiters 1' 'held by sleep (pid '
    eventually 10 first_is old
    keys s
    shown 'by waiters'
    eventually 10 first_is b-new
    keys / new
    shown 'filter: new'
    eventually 10 shows_not ' old '
    keys Enter
    shown '1 with new'
    keys Escape s
    shown 'by name' ' old '
    keys p
    shown paused
    keys p +
    shown 'every 0.2s'
    keys q
    shown 'code 0'
}

test_help_is_shown_until_a_key() {
    hold mine
    screen 90 30
    shown 'locks 1' '? help'
    keys '?'
    shown 'order: time held, waiters, name' 'clients in the queue' 'any other key: back'
    eventually 10 shows_not 'held by sleep'
    keys x
    shown 'held by sleep (pid '
    keys h
    shown 'any other key: back'
    terminal resize-window -x 20 -y 3
    eventually 10 shows_not 'any other key: back'
    terminal resize-window -x 90 -y 30
    keys q
    shown 'code 0'
}

test_the_first_sample_has_figures_of_the_store() {
    "$HOLDFAST" value set a 1
    "$HOLDFAST" value set b 1
    screen 100 20 --interval 60
    shown 'locks 0' 'keys ' 'used '
    eventually 10 has_keys
    if [ -n "$redis_pid" ]; then
        shown 'commands ' 'clients '
    else
        shown ' of 1.0 GiB ('
    fi
    keys q
    shown 'code 0'
}

has_keys() {
    terminal capture-pane -p | sed -n 2p | grep -q '^keys [1-9][0-9]*  used [1-9]'
}

test_break_names_lock_and_holder_and_asks() {
    hold mine
    hold other
    screen 90 20 --sort name
    shown 'locks 2'
    keys b
    shown 'Break lock: mine' 'held by sleep (pid ' 'any other key: leave it'
    keys x
    shown 'not broken'
    expect 0 lock inspect mine
    keys b
    shown 'Break lock: mine'
    keys y
    shown 'broken: mine' 'locks 1'
    expect 1 lock inspect mine
    expect 0 lock inspect other
}

test_break_takes_a_lock_from_all_its_readers() {
    hold papers -s
    hold papers -s
    screen 90 20
    shown '2 readers'
    keys b
    shown 'Break lock: papers'
    start run --ttl 70 -s papers -- sleep 60
    eventually 10 has_holders papers 3
    keys y
    shown 'broken: papers' 'locks 0'
}

test_lock_with_another_owner_is_not_broken() {
    hold turns
    screen 90 20
    shown 'locks 1'
    keys b
    shown 'Break lock: turns'
    kill "$pid"
    wait "$pid"
    hold turns
    keys y
    shown 'not broken: another owner holds it now'
    expect 0 lock inspect turns
}

test_screen_may_have_any_size() {
    hold "$(printf 'long%0300d' 1)"
    hold $'\xff\xc3\xa4'
    screen 90 20
    shown '\xffä' 'long0000' HOLDER
    terminal resize-window -x 40 -y 5
    eventually 10 shows_not HOLDER
    shown '\xffä'
    keys b
    shown 'Break lock: ' 'held by sleep'
    terminal resize-window -x 5 -y 1
    eventually 10 is_blank
    keys y
    terminal resize-window -x 120 -y 30
    shown 'locks 2' HOLDER
    keys q
    shown 'code 0'
}

test_store_without_reply_is_reported_and_tried_again() {
    [ -n "$redis_pid" ] || return 0
    hold a
    screen 90 20
    shown 'locks 1'
    kill -STOP "$redis_pid"
    shown 'no reply for'
    kill -CONT "$redis_pid"
    eventually 10 shows_not 'no reply'
    kill -STOP "$redis_pid"
    keys q
    shown 'code 0'
    kill -CONT "$redis_pid"
}

test_server_that_restarts_is_found_again() {
    [ -n "$redis_pid" ] || return 0
    serve
    export HOLDFAST_STORE=redis+unix://$PWD/server
    hold a
    screen 90 20
    shown 'locks 1'
    kill -9 "$server"
    shown 'cannot connect'
    serve
    shown 'locks 0'
}

serve() {
    rm -f server
    redis-server --port 0 --unixsocket "$PWD/server" --save '' >server.log &
    server=$!
    eventually 10 test -S server
}

test_terminal_that_cannot_is_refused() {
    expect 64 top
    contains "$err" 'use --once or --json'
    before='env TERM=dumb' screen 90 20
    shown 'type "dumb"' '--once'
    shown 'code 64'
}

test_signal_ends_it() {
    screen 90 20
    shown 'locks 0'
    keys C-c
    shown 'code 130'
}
