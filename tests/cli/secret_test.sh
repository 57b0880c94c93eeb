# SPDX-License-Identifier: Apache-2.0
#
# secret_test.sh - a password is never told: whatever is asked, whatever goes
# wrong, and by whatever way the password came.

SECRET=Zq7passw0rd

# Run holdfast whatever comes of it; neither stdout nor stderr has the secret.
hushed() {
    "$HOLDFAST" "$@" </dev/null >out 2>err
    code=$?
    ! grep -qa "$SECRET" out err ||
        fail "told with exit code $code: $*: $(cat out err)"
    [ "$code" -lt 128 ] || fail "exit code $code: $*"
}

# All that is asked of a store, and the faults that a command can make.
ask_everything() {
    echo "return redis.call('nonsense')" >bad.lua
    hushed "$@" doctor -N 3
    hushed "$@" doctor -N 3 --json
    hushed "$@" store info
    hushed "$@" store info --json
    hushed "$@" store check
    hushed "$@" store compact
    hushed "$@" store dump -o /nonexistent/dump
    hushed "$@" value set taken 1 --nx --get
    hushed "$@" value get nothing
    hushed "$@" hash put taken f v
    hushed "$@" hash get taken --json
    hushed "$@" script run bad.lua
    hushed "$@" lock inspect nobody --json
    hushed "$@" run --verbose job true
    hushed "$@" run -n job /nonexistent/command
    hushed "$@" value get
    hushed "$@" value nonsense
    hushed "$@" --nonsense
    hushed "$@" doctor --wait nonsense
}

needs_server() {
    case $HOLDFAST_STORE in
    redis*) ;;
    *) return 1 ;;
    esac
    socket=${HOLDFAST_STORE#redis+unix://}
    redis-cli -s "$socket" config set requirepass "$1" >/dev/null ||
        fail "no password could be set"
}

forget_password() {
    redis-cli -s "$socket" -a "$1" config set requirepass '' >/dev/null 2>&1
}

test_password_in_the_url() {
    needs_server $SECRET || return 0
    ask_everything --store "redis+unix://:$SECRET@$socket"
    expect 0 --store "redis+unix://:$SECRET@$socket" value set works 1
    HOLDFAST_STORE=redis+unix://:$SECRET@$socket hushed doctor
    forget_password $SECRET
}

test_password_in_the_environment() {
    needs_server $SECRET || return 0
    export HOLDFAST_PASSWORD=$SECRET
    expect 0 value set works 1
    ask_everything
    forget_password $SECRET
}

test_password_in_a_file() {
    needs_server $SECRET || return 0
    echo $SECRET >password
    export HOLDFAST_PASSWORD_FILE=$PWD/password
    chmod 644 password
    expect 0 value set works 1
    ask_everything
    expect 1 doctor -N 3
    contains "$out" "warning  password file: mode 644"
    chmod 600 password
    expect 0 doctor -N 3
    contains "$out" "ok       password file: only its owner"
    export HOLDFAST_PASSWORD_FILE=$PWD/none
    hushed value get works
    forget_password $SECRET
}

test_refused_password() {
    needs_server other || return 0
    ask_everything --store "redis+unix://:$SECRET@$socket"
    expect 77 --store "redis+unix://user:$SECRET@$socket" value get a
    expect 77 --store "redis+unix://:$SECRET@$socket" doctor
    forget_password other
    # None is asked for.
    ask_everything --store "redis+unix://:$SECRET@$socket"
}

test_nobody_there() {
    local url

    for url in "redis://:$SECRET@127.0.0.1:1" \
        "redis://user:$SECRET@127.0.0.1:1/3" \
        "rediss://user:$SECRET@127.0.0.1:1" \
        "redis+unix://:$SECRET@/nonexistent/socket" \
        "redis+cluster://:$SECRET@127.0.0.1:1,127.0.0.1:2" \
        "redis+sentinel://:$SECRET@127.0.0.1:1/main" \
        "redlock:redis://:$SECRET@127.0.0.1:1,redis://:$SECRET@127.0.0.1:2"; do
        hushed --store "$url" value get a
        hushed --store "$url" doctor
        hushed --store "$url" doctor --json
        hushed --store="$url" store info
    done
}

# Passwords that somebody forgot to encode cut the URL in the wrong place.
test_urls_that_are_wrong() {
    local url

    for url in "rdis://:$SECRET@h" "redis://:$SECRET@" "redis:$SECRET@h" \
        "redis://:$SECRET@h:notaport" "redis://:$SECRET@h:99999" \
        "redis://:$SECRET@h/nodb" "redis://:$SECRET@h/1?what=1" \
        "redis://:$SECRET/x@h" "redis://:/$SECRET@h" "redis://:#$SECRET@h" \
        "redis://:a@$SECRET@h" "redis://:$SECRET@x@h" "redis://u:1:$SECRET@h" \
        "redis://:x?$SECRET@h" "redis://:%zz$SECRET@h" "redis://:$SECRET%@h" \
        "redis://:$SECRET%00@h" "redis://:[$SECRET]@h" \
        "redis://u:$SECRET@[::1" "redis://u:$SECRET@h?tls_ca=1" \
        "rediss://u:$SECRET@h?tls_ca=/nonexistent" "file://u:$SECRET@/x" \
        "volatile://u:$SECRET@h/x" "file:u:$SECRET@x?max_size=0" \
        "redlock:redis://:$SECRET@h" "redlock:rdis://:$SECRET@h,redis://i" \
        "redlock:redis://:$SECRET@h,redis://:$SECRET@h:x,redis://i" \
        "redis+cluster://:$SECRET@h:x" "redis+sentinel://:$SECRET@h" \
        "redis+unix://:$SECRET@" "redis+unix://:$SECRET@x?db=q"; do
        hushed --store "$url" value get a
        HOLDFAST_STORE=$url hushed doctor
    done
    hushed --stroe "redis://:$SECRET@h" value get a
    hushed "--stroe=redis://:$SECRET@h" value get a
    hushed "redis://:$SECRET@h" value get a
    hushed --store "redis://:$SECRET@h" --store "redis://:$SECRET@h" value x
}

test_nothing_in_the_list_of_processes() {
    needs_server $SECRET || return 0
    start --store "redis+unix://:$SECRET@$socket" run job -- \
        sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    eventually 5 written ready
    # The command, its guard and its child.
    for process in "$pid" $(pgrep -P "$pid"); do
        ! tr '\0' ' ' <"/proc/$process/cmdline" | grep -qa $SECRET ||
            fail "in the list of processes"
    done
    ! redis-cli -s "$socket" -a $SECRET client list 2>/dev/null |
        grep -qa $SECRET || fail "in CLIENT LIST"
    ! redis-cli -s "$socket" -a $SECRET --scan 2>/dev/null |
        grep -qa $SECRET || fail "in a key"
    ! redis-cli -s "$socket" -a $SECRET pubsub channels 2>/dev/null |
        grep -qa $SECRET || fail "in a channel"
    : >go
    ends 0 $pid
    forget_password $SECRET
}
