# SPDX-License-Identifier: Apache-2.0
#
# rank_test.sh - rank add, incr, get, page, around, count, remove, trim, expire.

add_players() {
    expect 0 rank add r ann 120
    expect 0 rank add r bob 0.1 --ttl 60
    expect 0 rank add r carol 1000000 --ttl 60
    same place $'0\t1000000' "$out"
}

test_members_are_ranked() {
    add_players
    expect 0 rank page r
    same page $'carol\t1000000\nann\t120\nbob\t0.1' "$out"
    expect 0 rank page r --ascending --offset 1 --limit 1
    same page $'ann\t120' "$out"
    expect 0 rank get r bob
    same place $'2\t0.1' "$out"
    expect 0 rank get r ann --json
    same answer \
        '{"key":"r","member":"ann","score":120,"rank":1,"count":3,"ttl_ms":-1}' \
        "$out"
    expect 0 rank around r carol --limit 1 --json
    same answer \
        '{"key":"r","members":[{"member":"carol","score":1000000,"rank":0,"ttl_ms":N},{"member":"ann","score":120,"rank":1,"ttl_ms":-1}]}' \
        "$(sed 's/"ttl_ms":[0-9][0-9]*/"ttl_ms":N/' out)"
    expect 1 rank around r none
    expect 0 rank count r --from 0.1 --to 120
    same count 2 "$out"
    expect 0 key type r
    same type rank "$out"
}

# Another program may store a score that is infinite, JSON has none.
test_infinite_score_is_null() {
    expect 0 rank add r ann 120
    expect 0 command ZADD r +inf top -inf low
    expect 0 rank page r --json
    same page \
        '{"key":"r","members":[{"member":"top","score":null,"rank":0,"ttl_ms":-1},{"member":"ann","score":120,"rank":1,"ttl_ms":-1},{"member":"low","score":null,"rank":2,"ttl_ms":-1}]}' \
        "$out"
    expect 0 rank get r top --json
    same place \
        '{"key":"r","member":"top","score":null,"rank":0,"count":3,"ttl_ms":-1}' \
        "$out"
    expect 0 rank page r
    same page $'top\tinf\nann\t120\nlow\t-inf' "$out"
}

test_help_of_trim() {
    expect 0 help rank trim
    contains "$(tr -s '[:space:]' ' ' <<<"$out")" \
        'those with the greatest scores'
}

test_incr() {
    expect 0 rank incr r ann
    same place $'0\t1' "$out"
    expect 0 rank incr r ann 1e300
    same place $'0\t1e+300' "$out"
    expect 0 rank incr r bob --json -- -0.3
    same answer \
        '{"key":"r","member":"bob","score":-0.3,"rank":1,"count":2}' "$out"
    expect 1 rank incr r ann 1 --nx
    expect 1 rank incr r none 1 --xx
}

test_only_greater_or_less() {
    expect 0 rank add r ann 5 --gt
    expect 1 rank add r ann 5 --gt
    expect 0 rank add r ann 7 --gt --xx
    expect 1 rank incr r ann 1 --lt
    expect 0 rank incr r ann --lt -- -1
    same place $'0\t6' "$out"
    expect 64 rank add r ann 7 --gt --lt
}

test_keepttl() {
    expect 0 rank add r ann 5 --ttl 1h --keepttl
    expect 0 rank add r ann 6 --ttl 10s --keepttl
    expect 0 rank get r ann --json
    [[ $out =~ \"ttl_ms\":35[0-9]{5} ]] || fail "$out"
}

test_refusals_name_the_member() {
    expect 0 rank add r ann 1e308
    expect 1 rank get r bob
    same error 'holdfast: rank get: no such member "bob"' "$err"
    expect 1 rank around r bob
    same error 'holdfast: rank around: no such member "bob"' "$err"
    expect 1 rank expire r bob --ttl 1m
    same error 'holdfast: rank expire: no such member "bob"' "$err"
    expect 64 rank incr r ann 1e308
    same error 'holdfast: rank incr: the score would be infinite' "$err"
}

test_remove_trim_and_expire() {
    add_players
    expect 0 rank trim r --keep 2
    same removed 1 "$out"
    expect 0 rank expire r ann --ttl 0.2
    sleep 0.5
    expect 1 rank get r ann
    expect 0 rank page r
    same page $'carol\t1000000' "$out"
    expect 1 rank expire r ann --ttl 60
    expect 0 rank expire r carol --persist --json
    same answer '{"key":"r","member":"carol","found":true}' "$out"
    expect 0 rank remove r carol ann
    same removed 1 "$out"
    expect 1 rank remove r carol
}

test_bad_command_lines() {
    expect 64 rank add r ann much
    contains "$err" '"much" is no number'
    expect 64 rank add r ann nan
    contains "$err" 'score is not a number'
    expect 64 rank count r --from x
    expect 64 rank expire r ann
    expect 0 value set v text
    expect 65 rank add v ann 1
}
