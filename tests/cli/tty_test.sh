# SPDX-License-Identifier: Apache-2.0
#
# tty_test.sh - run: who has the terminal. script(1) is the terminal; what is
# typed waits for a file that the command writes.

# Without script(1), or where no terminal is available (a bare chroot).
script -qec true /dev/null >/dev/null 2>&1 || exit 77

# terminal LINES [TYPING]: run LINES in bash on a terminal of its own, while the
# shell commands TYPING type; leaves what was shown in $out.
terminal() {
    printf '%s\n' "$1" >lines
    (eval "${2:-}") | timeout 20 script -qec 'bash lines' typescript >/dev/null
    [ "${PIPESTATUS[1]}" != 124 ] || fail "hung: $(cat -v typescript)"
    out=$(tr -d '\r' <typescript)
}

# when FILE TEXT: type TEXT once FILE is there.
when() {
    eventually 10 written "$1"
    sleep 0.1
    printf "$2"
}

test_command_is_in_the_foreground_and_the_shell_gets_it_back() {
    terminal 'set -m
        "$HOLDFAST" run job -- sh -c "ps -o pgid= -o tpgid= -p \$\$"
        ps -o pgid= -o tpgid= -p $$
        sh -c "ps -o pgid= -o tpgid= -p \$\$"'
    set -- $(grep -E '^ *[0-9]+ +[0-9]+$' <<<"$out")
    same 'foreground group while the command runs' "$1" "$2"
    same 'foreground group of the next command' "$5" "$6"
}

test_script_without_job_control_has_the_terminal_again() {
    terminal '"$HOLDFAST" run job -- true
        sh -c "ps -o pgid= -o tpgid= -p \$\$"'
    set -- $(grep -E '^ *[0-9]+ +[0-9]+$' <<<"$out")
    same 'foreground group of the next command' "$1" "$2"
}

test_terminal_input_reaches_the_command() {
    terminal '"$HOLDFAST" run job -- sh -c "echo r >ready; read -r x
        echo got:\$x"' 'when ready "typed\n"'
    contains "$out" got:typed
}

test_command_in_a_pipe_gets_the_terminal_when_it_reads() {
    terminal '"$HOLDFAST" run job -- sh -c "echo r >ready; read -r x
        echo got:\$x" | sed s/got/passed/' 'when ready "typed\n"'
    contains "$out" passed:typed
}

test_ctrl_z_stops_both_and_fg_resumes_both() {
    terminal 'set -m
        "$HOLDFAST" run job -- sh -c "echo r >ready; read -r x; echo got:\$x
            exit 9"
        echo "first:$?"; echo s >stopped
        fg; echo "second:$?"' 'when ready "\032"; when stopped "typed\n"'
    contains "$out" first:148
    contains "$out" got:typed
    contains "$out" second:9
}

# Stopped between two renewals: in one it would hold the store as well.
test_ctrl_z_for_longer_than_the_lease_loses_the_lock() {
    terminal 'set -m
        "$HOLDFAST" run --ttl 1.5 job -- sh -c "sleep 0.2; echo r >ready
            sleep 20"
        echo "first:$?"
        "$HOLDFAST" run -w 5 job -- echo second:taken
        fg; echo "third:$?"' 'when ready "\032"'
    contains "$out" first:148
    contains "$out" second:taken
    contains "$out" third:76
}

test_ctrl_c_ends_the_command_and_the_shells_script() {
    terminal '"$HOLDFAST" run job -- sh -c "echo r >ready; sleep 20"
        echo continued' 'when ready "\003"'
    case $out in
    *continued*) fail 'the script continued' ;;
    esac
    expect 1 lock inspect job
}

test_ctrl_c_that_the_command_handles_is_its_own_affair() {
    terminal '"$HOLDFAST" run job -- sh -c "trap \"exit 5\" INT
            echo r >ready; while :; do sleep 0.02; done"
        echo code:$?' 'when ready "\003"'
    contains "$out" code:5
}

# holdfast has to know, so that half of the work is not stored.
test_ctrl_c_leaves_work_that_is_done_once_in_doubt() {
    local code

    for code in 0 130; do
        rm -f ready
        terminal "\"\$HOLDFAST\" once --ttl 1 k$code -- sh -c 'trap \"exit $code\" INT
                echo r >ready; while :; do sleep 0.02; done'
            echo code:\$?" 'when ready "\003"'
        contains "$out" "code:$((code == 0 ? 74 : code))"
        contains "$out" 'asked to end'
        expect 74 once k$code -- true
    done
}

test_what_is_done_once_reads_nothing_from_the_terminal() {
    terminal '"$HOLDFAST" once k -- sh -c "cat; echo end"'
    contains "$out" end
}

# It would stop again whenever it is continued.
test_what_is_done_once_does_not_get_the_terminal() {
    terminal '"$HOLDFAST" once --ttl 1 k -- sh -c "read -r x </dev/tty; echo got"
        echo code:$?'
    contains "$out" 'needs the terminal'
    contains "$out" code:143
    expect 74 once k -- true
}

test_command_that_will_not_end_without_the_terminal_is_killed() {
    terminal '"$HOLDFAST" once --ttl 1 k -- sh -c "trap \"\" TERM; cat </dev/tty"
        echo code:$?'
    contains "$out" code:137
    same messages 2 "$(grep -c 'needs the terminal' <<<"$out")"
}

test_job_whose_command_needs_the_terminal_goes_back() {
    expect 0 queue put q one --id a
    terminal '"$HOLDFAST" queue work q -- sh -c "read -r x </dev/tty"
        echo code:$?'
    contains "$out" 'needs the terminal'
    contains "$out" code:143
    expect 0 queue list q
    same list $'a\tone' "$out"
}

test_job_in_the_background_does_not_take_the_terminal() {
    terminal 'set -m
        "$HOLDFAST" run job -- sh -c "echo r >ready; sleep 0.3" &
        until [ -s ready ]; do sleep 0.02; done
        ps -o tpgid= -p $(cat leader 2>/dev/null || echo $$) | tr -d " " >seen
        pgrep -P $! >children
        wait'
    ! grep -qx "$(cat seen)" children || fail 'it took the terminal'
}
