# SPDX-License-Identifier: Apache-2.0
#
# txn_test.sh - txn.

test_commands_run_if_the_conditions_hold() {
    expect 0 value set a 10
    printf '%s\n' '# ten' 'if value a 10' 'if absent b' '' 'INCRBY a 5' \
        'SET b "x y" EXAT 4102444800 # a comment' "GET 'b'" 'HGETALL none' >t
    expect 0 txn t
    same replies '(integer) 15
OK
"x y"
(empty array)' "$out"
    expect 1 txn t
    same error 'holdfast: txn: line 2: condition 0: key "a" does not have the expected value' "$err"
    same output '' "$out"
    expect 1 txn t --json
    same json '{"applied":false,"line":2}' "$out"
    printf 'GET a\nGET none\nEXPIRETIME b' >t
    expect 0 txn t --json
    same json '{"applied":true,"replies":["15",null,4102444800]}' "$out"
    expect 0 txn - --raw <t
    same raw $'15\n\n4102444800' "$out"
}

test_every_condition_is_named_by_its_line() {
    expect 0 hash put h f 1
    for line in 'exists none' 'absent h' 'field h f 2' 'no-field h f' \
        "version a $(printf %040d 0)"; do
        printf 'if exists h\nif field h f 1\nif no-field h g\nif %s\nDEL h' \
            "$line" >t
        expect 1 txn t
        contains "$err" 'line 4: condition 3: '
    done
    expect 0 hash get h f
}

test_writes_need_the_token_of_the_holder() {
    local lock token

    lock=$("$HOLDFAST" lock acquire l) || fail 'not acquired'
    token=${lock%%:*}
    printf 'SET a 1\nif token l %s' "$token" >t
    expect 0 txn t
    expect 0 lock release "$lock"
    printf 'SET a 2\nif token l %s' "$token" >t
    expect 1 txn t
    contains "$err" "line 2: condition 0: \"l\" is not held with token $token"
    for token in 0 x -1 9007199254740992; do
        printf 'SET a 2\nif token l %s' "$token" >t
        expect 64 txn t
        contains "$err" 'line 2: token is '
    done
    expect 0 value set r 1 --token 7
    printf 'SET a 2\nif fence r 6' >t
    expect 1 txn t
    contains "$err" 'line 2: condition 0: a write of "r" with a higher fencing token than 6 came before'
    printf 'SET a 2\nif fence r 7' >t
    expect 0 txn t
    # shellcheck disable=SC2016 # the inner shell's
    expect 0 run l -- sh -c \
        'printf "if token %s %s\nSET a 3" "$HOLDFAST_NAME" "$HOLDFAST_TOKEN" |
        "$HOLDFAST" txn -'
    expect 0 value get a
    same value 3 "$out"
}

test_bytes_are_quoted_and_escaped() {
    printf '%s\n' 'SET "a\x00b" "\x41\n\"\\\xff"' "SET c 'it\\n'\\ \"is\"" \
        'GET "a\x00b"' 'DEL "a\x00b"' >t
    expect 0 txn t --json
    contains "$out" '{"base64":"QQoiXP8="}'
    expect 0 value get c
    same value 'it\n is' "$out"
}

test_bad_lines_are_named_and_nothing_is_done() {
    local line

    expect 0 value set a 1
    for line in 'SET "a' 'SET a \' 'SET a "\x4"' 'if' 'if equal a 1' \
        'if value a' 'if exists a b' 'if exists ""' '"" a'; do
        printf 'SET a 2\n\n%s\n' "$line" >t
        expect 64 txn t
        contains "$err" 'txn: line 3: '
    done
    for line in FLUSHALL 'NOSUCH a' 'BLPOP a 1' 'KEYS *' 'MULTI'; do
        printf 'SET a 2\n%s' "$line" >t
        expect 78 txn t
        contains "$err" 'txn: line 2: '
    done
    expect 66 txn ./missing
    expect 0 txn - </dev/null
    expect 0 value get a
    same value 1 "$out"
}

test_command_that_fails_undoes_the_others() {
    expect 0 value set a 1 --ttl 100
    printf 'INCR a\nSET b 1\nLPUSH a x\nSET c 1' >t
    expect 65 txn t
    contains "$err" 'line 3: operation 2 ("LPUSH"): '
    printf 'INCR a\nSET b x\nINCR b' >t
    expect 64 txn t
    contains "$err" 'line 3: operation 2 ("INCR"): '
    expect 0 value get a
    same value 1 "$out"
    expect 1 value get b
    expect 1 value get c
}
