# SPDX-License-Identifier: Apache-2.0
#
# limit_test.sh - limit.

test_limit_takes_units_until_none_is_left() {
    expect 0 limit mail --rate 2/d
    same remaining 1 "$out"
    expect 0 limit mail --rate 2/d
    same remaining 0 "$out"
    expect 1 limit mail --rate 2/d
    same stdout '' "$out"
    contains "$err" 'holdfast: limit: the limit of 2 in 86400000 ms is reached; retry in 43'
    expect 1 limit mail --rate 2/d --json
    json 'd["name"] == "mail" and not d["taken"] and d["remaining"] == 0'
    json '43000000 < d["retry_ms"] <= 43200000 < d["full_ms"] <= 86400000'
    expect 0 limit mail --rate 2/d --cost 0
    same remaining 0 "$out"
}

test_limit_has_a_burst_and_a_cost() {
    expect 0 limit api --rate 1/h --burst 10 --cost 7
    same remaining 3 "$out"
    expect 1 limit api --rate 1/h --burst 10 --cost 4
    expect 0 limit api --rate 1/h --burst 10 --cost 3
}

test_limit_runs_a_command() {
    expect 0 limit job --rate 1/d -- echo 'it runs'
    same stdout 'it runs' "$out"
    expect 1 limit job --rate 1/d -- echo 'it runs'
    same stdout '' "$out"
    expect 7 limit other --rate 1/d -- sh -c 'exit 7'
    expect 127 limit third --rate 1/d -- ./none
    contains "$err" 'holdfast: limit: ./none: No such file'
    "$HOLDFAST" limit fourth --rate 1/d -- ./none 2>&-
    same 'exit code' 127 "$?"
}

test_limit_waits() {
    expect 0 limit slow --rate 1/100ms
    expect 0 limit slow --rate 1/100ms --wait 20
    expect 0 limit slow --rate 1/100ms -w 20 -- echo later
    same stdout later "$out"
}

test_limit_says_that_it_waits() {
    expect 0 limit slow --rate 1/3s --verbose -w 10
    same stderr '' "$err"
    expect 1 limit slow --rate 1/3s --verbose -w 0.001
    contains "$err" 'retry in'
    expect 0 limit slow --rate 1/3s --verbose -w 10
    contains "$err" ' s for limiter "slow": 0 units remain'
}

test_wrong_rates_are_named() {
    local rate

    for rate in '' 10 /s 10/ 10/x 1.5/s -1/s 10/-1s 10/0s 1/31d 10/s/s \
        99999999999999999999/s 1/99999999999999999999s; do
        expect 64 limit a --rate "$rate"
        contains "$err" "--rate takes COUNT/TIME"
    done
    expect 64 limit a
    contains "$err" 'missing --rate'
    expect 64 limit a --rate 0/s
    contains "$err" 'limit: --rate: the count must be 1 to 1000000000, not "0"'
    expect 64 limit a --rate 5/s --cost 6
    contains "$err" 'cost of a limiter is 6'
}
