# SPDX-License-Identifier: Apache-2.0
#
# usage_test.sh - invalid command lines, help, options of every command.

# wrong MESSAGE ARGUMENT...: exit code 64, and exactly that line on stderr.
wrong() {
    local message=$1
    shift

    expect 64 "$@"
    same stdout '' "$out"
    same stderr "holdfast: $message" "$err"
}

test_wrong_times_name_the_option() {
    local value range='0.1 to 86400 seconds (or 250ms, 5m, 1h, 1d)'

    for value in 0 -1 0.05 86400.001 86401 1e3 abc '' ' 5' 5x 25h 50ms s 0x10 \
        inf 99999999999999999999; do
        wrong "run: --ttl takes $range, not \"$value\"" \
            run --ttl "$value" job -- true
    done
    wrong 'run: --wait takes 0 to 3155760000 seconds (or 250ms, 5m, 1h, 1d), not "-1"' \
        run -w -1 job -- true
    wrong 'run: --wait takes 0 to 3155760000 seconds (or 250ms, 5m, 1h, 1d), not "."' \
        run -w. job -- true
    wrong 'run: --max-hold takes 0.1 to 3155760000 seconds (or 250ms, 5m, 1h, 1d), not "0"' \
        run --max-hold 0 job -- true
    wrong 'value set: --ttl takes 0.001 to 3155760000 seconds (or 250ms, 5m, 1h, 1d), not "0"' \
        value set k v --ttl 0
    wrong 'value set: --px takes 1 to 3155760000000, not "1.5"' \
        value set k v --px 1.5
    wrong 'value set: --exat takes 1 to 253402300799, not "-3"' \
        value set k v --exat -3
}

test_decimal_times_are_exact() {
    expect 0 value set k v --ttl 0.0001
    expect 0 run --ttl 86400 job -- true
    expect 0 run --ttl .1 job -- true
    expect 0 run --ttl 100.50 --max-hold 0100 job -- true
}

test_wrong_options_are_named() {
    wrong 'run: --conflict-exit-code takes 0 to 255, not "256"' \
        run -E 256 job -- true
    wrong 'run: --on-lost takes term|kill|warn, not "hup"' \
        run --on-lost=hup job -- true
    wrong 'run: unknown option --nonblok; did you mean --nonblock?' \
        run --nonblok job -- true
    wrong 'run: unknown option --nosuch' run --nosuch job -- true
    wrong 'run: unknown option -Z' run -Z job -- true
    wrong 'run: --wait requires an argument SEC' run job -w
    wrong 'run: --nonblock takes no argument' run --nonblock=1 job -- true
    wrong 'run: --nonblock and --wait are mutually exclusive' \
        run -n -w 1 job -- true
    wrong 'value set: --nx and --xx are mutually exclusive' \
        value set k v --nx --xx
    wrong 'value set: --keepttl and --ex are mutually exclusive' \
        value set k v --keepttl --ex 5
    wrong 'value delete: unknown option --nx' value delete --nx k
}

test_wrong_words_are_named() {
    wrong 'unknown command "rum"; did you mean run?' rum job
    wrong 'unknown command "frobnicate"; see holdfast help' frobnicate
    wrong 'value: unknown subcommand "sett"; did you mean set?' \
        value sett k v
    wrong 'value: missing subcommand: set, get, changes, append, delete, cas, expire, incr' value
    wrong 'run: missing argument NAME' run
    wrong 'value get: missing argument KEY' value get
    wrong 'hash put: missing argument VALUE' hash put k f
    wrong 'script run: missing argument FILE' script run
    wrong 'expected a command, found a URL; is --store missing?' redis://h/
    wrong 'run: missing argument COMMAND' run job
    wrong 'run: missing argument COMMAND' run job --
    wrong 'run: specify either -c or a command' run job -c true true
    wrong 'value get: unexpected argument "l"' value get k l
    wrong 'value set: specify either VALUE or --stdin' value set k
    wrong 'value set: specify either VALUE or --stdin' value set k v --stdin
    wrong 'value cas: specify KEY EXPECTED NEW, or --absent KEY NEW' \
        value cas k v
    wrong 'hash put: the last FIELD has no VALUE' hash put k f v g
    expect 64
    contains "$err" 'usage: holdfast'
}

test_times_have_units() {
    local value began left

    for value in 90 90s 1.5m 0.025h 90000ms 89999.1ms; do
        began=$(now_ms)
        expect 0 value set k v --ttl "$value"
        expect 0 key ttl k
        left=$(awk -v seconds="$out" 'BEGIN { printf "%d", seconds * 1000 }')
        [ "$left" -le 90000 ] && [ "$left" -ge $((89999 + began - $(now_ms))) ] ||
            fail "$value is $out s"
    done
    expect 0 value set k v --ttl 2d
    expect 0 key ttl k
    [ "${out%.*}" -ge 172799 ] || fail "2d is $out s"
}

test_message_is_one_line_whatever_the_input() {
    expect 64 run --ttl $'1\n2\033[0m' job -- true
    same 'lines of stderr' 1 "$(wc -l <err)"
    same stderr "holdfast: run: --ttl takes 0.1 to 86400 seconds (or 250ms, 5m, 1h, 1d), not \
\"1?2?[0m\"" "$err"
}

test_wrong_stores_are_usage_and_missing_ones_unavailable() {
    expect 64 --store nothing:here value get k
    same 'lines of stderr' 1 "$(wc -l <err)"
    expect 64 --store nothing:here run job -- touch ran
    expect 64 --store /var/lib/x value get k
    contains "$err" 'the URL has no scheme; a store on disk is file:/var/lib/x'
    HOLDFAST_STORE=./x expect 64 value get k
    contains "$err" 'HOLDFAST_STORE: the URL has no scheme; a store on disk is file:./x'
    expect 69 --store redis+unix:///nowhere/socket value get k
    expect 69 --store redis+unix:///nowhere/socket run job -- touch ran
    [ ! -e ran ] || fail 'the command ran without a store'
}

test_password_is_not_in_the_list_of_processes() {
    [ -n "$redis_pid" ] || return 0
    redis-cli -s "$work/redis" acl setuser tester on '>hush-hush' '~*' '&*' \
        +@all >/dev/null
    start --store "redis+unix://tester:hush-hush@$work/redis" run job -- \
        sh -c 'echo r >ready; sleep 0.3'
    eventually 5 written ready
    ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep hush ||
        fail 'the password can be seen'
    ends 0 $pid
    expect 77 --store "redis+unix://tester:wrong@$work/redis" value get k
    ! grep wrong err || fail 'the password is in the message'
}

test_options_may_stand_anywhere() {
    expect 0 --json value set k v --ttl 5
    same stdout '{"key":"k","set":true}' "$out"
    expect 0 value get k --json
    same stdout '{"key":"k","value":"v"}' "$out"
}

test_dashes_end_options() {
    expect 0 value set k -- --json
    expect 0 value get k
    same value --json "$out"
    expect 0 value set k -5
    expect 0 value get k
    same value -5 "$out"
}

test_help_of_a_noun_lists_its_subcommands() {
    expect 0 help value
    contains "$out" '  cas '
    cp out first
    expect 0 value --help
    cmp first out || fail 'value --help differs'
    expect 0 --help value
    cmp first out || fail '--help value differs'
    expect 0 value -h
    expect 64 help valu
    expect 0 help run
    contains "$out" 'SEC: seconds, or with a unit'
}

test_help_and_version() {
    local command

    expect 0 --version
    [[ $out =~ ^'holdfast '[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$out"
    expect 0 --help
    contains "$out" 'value '
    contains "$out" 'help exit-codes'
    expect 0 help
    for command in run 'value set' 'value get' 'value delete' 'value cas' \
        'hash put' 'hash get' 'hash get-all' 'hash cas' 'hash delete' \
        'hash delete-fields' 'lock inspect' 'lock holders' 'lock list' \
        'lock break' 'semaphore inspect' 'semaphore resize' \
        'script run' 'store info' 'store diagnose' 'store check' \
        'store compact' 'store salvage' 'store dump' 'store load' watch lead \
        'election observe' 'latch arrive' 'barrier wait' limit id; do
        expect 0 help $command
        contains "$out" "usage: holdfast $command [OPTION...]"
        ! grep -E '.{81}' out || fail "help of $command is too wide"
        cp out first
        expect 0 $command --help
        cmp first out || fail 'help and --help differ'
    done
    expect 0 lead --help
    contains "$out" 'fail at once if another leads'
    expect 64 help nothing
}

test_full_or_closed_stdout_is_reported() {
    expect 0 value set k v
    "$HOLDFAST" value get k >/dev/full 2>err
    same 'exit code' 71 $?
    contains "$(cat err)" 'holdfast: standard output: '
    "$HOLDFAST" value get k >&- 2>err
    same 'exit code' 71 $?
    "$HOLDFAST" --version >/dev/full 2>err
    same 'exit code' 71 $?
}
