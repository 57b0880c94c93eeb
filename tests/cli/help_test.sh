# SPDX-License-Identifier: Apache-2.0
#
# help_test.sh - help, errors as JSON, and the examples.

test_every_command_with_every_wrong_line() {
    "${HF_TEST_PYTHON:-python3}" -B "$here/table.py" >table 2>&1 ||
        fail "$(cat table)"
}

test_topics() {
    expect 0 help stores
    contains "$out" 'redis+sentinel://'
    contains "$out" 'request_ms=MS'
    expect 0 help environment
    contains "$out" 'HOLDFAST_PREFIX'
    expect 0 help exit-codes
    contains "$out" '74   outcome unknown'
    expect 0 help help
    contains "$out" 'Maintenance'
    expect 64 help storez
    contains "$err" 'did you mean store'
}

# A command's exit code is not a failure of ours.
test_only_failures_are_objects() {
    expect 3 run --json job -- sh -c 'exit 3'
    lacks "$err" '"error"'
    same stdout '' "$out"
    expect 127 run job ./nothing --json
    lacks "$err" '"error"'
    expect 127 run --json job -- ./nothing
    contains "$err" '"error":{"code":127,"name":"NOT_FOUND"'
    expect 1 value get --json nothing
    same stdout '{"key":"nothing","value":null}' "$out"
    expect 0 command RPUSH l 1
    expect 65 value get --json l
    json 'd["error"]["name"] == "WRONG_TYPE" and d["error"]["culprit"] == "l"'
    json 'd["error"]["code"] == 65 and "holds a list" in d["error"]["message"]'
}

# Each example is typed as it stands, into one bash. What must differ is put
# aside: numbers, ids, who and where; a line "..." stands for what follows.
test_examples_print_what_they_say() {
    HF_EXAMPLES_SERVER=$redis_pid "${HF_TEST_PYTHON:-python3}" -B \
        "$here/examples.py" >examples 2>&1 || fail "$(cat examples)"
}

test_colour_is_for_terminals() {
    expect 0 help value
    lacks "$out" $'\033'
    TERM=xterm on_terminal help value
    contains "$out" $'\033[1msubcommands:\033[0m'
    TERM=xterm NO_COLOR=1 on_terminal help value
    lacks "$out" $'\033'
    TERM=dumb on_terminal help value
    lacks "$out" $'\033'
    expect 0 --store "volatile:$PWD/x" store diagnose
    lacks "$out" $'\033'
    TERM=xterm on_terminal --store "volatile:$PWD/x" store diagnose
    contains "$out" $'  \033[32mok     \033[0m  reachable: yes'
}
