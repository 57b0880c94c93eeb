# SPDX-License-Identifier: Apache-2.0
#
# child_test.sh - run: the command has the environment that it would have without
# holdfast, and its exit code is returned.

test_exit_code_is_the_commands() {
    local code

    for code in 0 1 3 76 255; do
        expect $code run job -- sh -c "exit $code"
    done
}

test_exit_code_tells_the_signal_that_ended_the_command() {
    expect 137 run job -- sh -c 'kill -KILL $$'
    expect 143 run job -- sh -c 'kill -TERM $$'
    expect 130 run job -- sh -c 'kill -INT $$'
}

test_missing_command_is_127_and_not_executable_126() {
    expect 127 run job -- no-such-command
    same stderr 'holdfast: run: no-such-command: command not found' "$err"
    expect 126 run job -- /
    contains "$err" 'holdfast: run: /: '
    : >plain
    expect 126 run job -- ./plain
    expect 1 lock inspect job
}

test_stdin_and_stdout_pass_through() {
    printf 'a\0b\377' >in
    "$HOLDFAST" run job -- cat <in | cmp - in || fail 'stdin was changed'
    printf 'one\ntwo\n' | "$HOLDFAST" run job -- sh -c 'read -r x; echo "$x"' \
        >out
    same 'first line' one "$(cat out)"
}

test_environment_tells_the_lock() {
    expect 0 run job -- env
    contains "$out" HOLDFAST_NAME=job
    contains "$out" "HOLDFAST_STORE=$HOLDFAST_STORE"
    [[ $out =~ HOLDFAST_TOKEN=[1-9][0-9]*$'\n' ]] || fail "no token: $out"
    [[ $out =~ HOLDFAST_OWNER=[0-9a-f]{16}-[0-9a-f]{15} ]] || fail "no owner: $out"
}

test_environment_of_an_inner_run_is_the_inner_locks() {
    # No shell in between: it would drop a duplicate entry.
    expect 0 run outer -- "$HOLDFAST" run inner -- env
    same 'count of variables' 4 "$(grep -c ^HOLDFAST_ out)"
    contains "$out" HOLDFAST_NAME=inner
    expect 0 run outer -- sh -c '"$0" run inner -- printenv HOLDFAST_TOKEN
        printenv HOLDFAST_TOKEN' "$HOLDFAST"
    [ "${out%$'\n'*}" != "${out#*$'\n'}" ] || fail 'inner token is the outer'
}

test_store_option_reaches_the_command() {
    local store=$HOLDFAST_STORE

    unset HOLDFAST_STORE
    expect 0 --store "$store" run job -- printenv HOLDFAST_STORE
    same HOLDFAST_STORE "$store" "$out"
}

test_token_grows() {
    local first

    expect 0 run job -- printenv HOLDFAST_TOKEN
    first=$out
    expect 0 run job -- printenv HOLDFAST_TOKEN
    [ "$out" -gt "$first" ] || fail "token $out after $first"
}

test_shell_string_and_bare_command_as_in_flock() {
    expect 5 run job -c 'exit 5'
    expect 6 run -c 'exit 6' job
    expect 0 run job printf '%s,' -n -w 3 --json --
    same 'arguments of the command' '-n,-w,3,--json,--,' "$out"
    expect 0 run -- job -- echo -n x
    same 'words behind the second --' x "$out"
    expect 0 run -xon job true
}

test_descriptors_are_those_of_the_caller() {
    exec 9</dev/null
    same 'list of descriptors' "$(ls /proc/self/fd)" \
        "$("$HOLDFAST" run job -- ls /proc/self/fd)"
}

test_closed_descriptors_stay_closed_and_harm_nothing() {
    "$HOLDFAST" run --verbose job -- sh -c 'true >&2 && exit 1; exit 2' 2>&-
    same 'exit code with stderr closed' 2 $?
    "$HOLDFAST" run job -- sh -c 'exit 4' <&- >&- 2>&-
    same 'exit code' 4 $?
}

# Signal masks of a process, without signals 32 and 33, which the C library uses
# itself in every program with threads.
masks() {
    grep -E '^Sig(Blk|Ign)' | while read -r name mask; do
        printf '%s %x\n' "$name" $((0x$mask & ~0x180000000))
    done
}

test_signal_mask_and_ignored_signals_are_those_of_the_caller() {
    trap '' HUP
    same 'signals of the command' "$(cat /proc/self/status | masks)" \
        "$("$HOLDFAST" run job -- cat /proc/self/status | masks)"
}

test_command_leads_its_own_group() {
    expect 0 run job -- sh -c 'read -r line </proc/self/stat; echo $$ $line'
    set -- $out
    same 'process group' "$1" "$6"
}

test_lock_is_released_when_the_command_ends_not_its_background() {
    expect 0 run job -- sh -c 'sleep 5 >&- 2>&- & echo $!'
    kill -0 "$out" || fail 'the background process was killed'
    kill "$out"
    expect 1 lock inspect job
}

test_report_is_one_json_object_on_stderr() {
    expect 3 run --json job -- sh -c 'echo mine; exit 3'
    same stdout mine "$out"
    [[ $err =~ ^'{"name":"job","acquired":true,"waited_ms":'[0-9]+',"token":'[0-9]+',"lost":null,"exit":3}'$ ]] ||
        fail "report: $err"
}
