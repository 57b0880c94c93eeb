# SPDX-License-Identifier: Apache-2.0
#
# replicas_test.sh - --replicas and --replicas-ms, on stores without replicas.

is_server() {
    case $HOLDFAST_STORE in
    redis* | valkey*) ;;
    *) return 1 ;;
    esac
}

test_write_that_no_replica_has() {
    if ! is_server; then
        expect 78 value set --replicas 1 key value
        contains "$err" 'replicas: this store has none'
        return
    fi
    expect 74 value set --replicas 1 --replicas-ms 50 key value
    contains "$err" '0 of 1 replicas acknowledged it within 50 ms'
    expect 0 value get key
    same value value "$out"
    expect 1 value set --nx --replicas 1 key other
    expect 1 value delete --replicas 1 none
}

test_lock_that_no_replica_has() {
    if ! is_server; then
        expect 78 run -n --replicas 1 lock -- touch ran
    else
        expect 69 run -n --replicas 1 --replicas-ms 50 lock -- touch ran
        contains "$err" '0 of 1 replicas'
        expect 69 run --replicas 1 --replicas-ms 50 lock -- touch ran
        contains "$err" '0 of 1 replicas'
        expect 69 run -w 0.3 --replicas 1 --replicas-ms 50 lock -- touch ran
    fi
    [ ! -e ran ] || fail 'the command ran'
    expect 1 lock inspect lock
}

test_url_and_option() {
    local mark='?'

    case $HOLDFAST_STORE in *\?*) mark='&' ;; esac
    expect 0 value set --replicas 0 --store \
        "$HOLDFAST_STORE${mark}replicas=1&replicas_ms=50" key value
    if is_server; then
        expect 74 value set --store \
            "$HOLDFAST_STORE${mark}replicas=1&replicas_ms=50" key value
    fi
}

test_range() {
    expect 64 value set --replicas 17 key value
    expect 64 value set --replicas -1 key value
    expect 64 value set --replicas-ms 0 key value
    expect 64 hash get --replicas 1 key field
}
