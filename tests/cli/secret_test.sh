# SPDX-License-Identifier: Apache-2.0
#
# secret_test.sh - a password is never shown: whatever the command, whatever goes
# wrong, and wherever the password came from.

. "$here/secret.sh"

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
    HOLDFAST_STORE=redis+unix://:$SECRET@$socket hushed store diagnose
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
    expect 1 store diagnose -N 3
    contains "$out" "warning  password file: mode 644"
    chmod 600 password
    expect 0 store diagnose -N 3
    contains "$out" "ok       password file: readable only by its owner"
    forget_password $SECRET
}

# An unusable file is named in the error, and does not cause a login without a
# password.
test_password_file_that_is_none() {
    local file

    needs_server other || return 0
    : >empty
    printf '\n%s\n' $SECRET >second_line
    printf '%s\0x\n' $SECRET >nul
    head -c 5000 /dev/zero | tr '\0' x >long
    mkdir directory
    for file in none empty second_line nul long directory none/below; do
        HOLDFAST_PASSWORD_FILE=$file expect 64 value get works
        contains "$err" "HOLDFAST_PASSWORD_FILE: "
        contains "$err" "\"$file\""
        HOLDFAST_PASSWORD_FILE=$file hushed store diagnose
        expect 64 --store "redis+unix://$socket?password_file=$file" value get a
        contains "$err" "password_file: "
        hushed --store "redis+unix://$socket?password_file=$file" \
            store diagnose --json
    done
    printf 'other' >no_newline
    printf 'other\r\nsecond line' >windows
    for file in no_newline windows; do
        expect 1 --store "redis+unix://$socket?password_file=$file" value get a
        HOLDFAST_PASSWORD_FILE=$file expect 1 value get a
    done
    HOLDFAST_PASSWORD_FILE=<(echo other) expect 1 value get a
    expect 64 --store "redis+unix://:$SECRET@$socket?password_file=windows" \
        value get a
    hushed --store "redis+unix://:$SECRET@$socket?password_file=windows" \
        store diagnose
    # The URL overrides the environment.
    echo $SECRET >refused
    HOLDFAST_PASSWORD_FILE=none expect 1 \
        --store "redis+unix://$socket?password_file=windows" value get a
    HOLDFAST_PASSWORD_FILE=windows expect 77 \
        --store "redis+unix://$socket?password_file=refused" value get a
    HOLDFAST_PASSWORD_FILE=refused ask_everything
    chmod 000 windows
    chmod 644 no_newline
    expect 1 --store "redis+unix://$socket?password_file=no_newline" \
        store diagnose -N 1
    contains "$out" "warning  password file: mode 644"
    forget_password other
}

test_name_of_the_client() {
    needs_server '' || return 0
    url=redis+unix://$socket
    start --store "$url?client_name=me" run job -- \
        sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    eventually 5 written ready
    redis-cli -s "$socket" client list | grep -q ' name=me ' ||
        fail "$(redis-cli -s "$socket" client list)"
    : >go
    ends 0 $pid
    for name in '' 'a%20b' 'a%0ab' 'a%00' "$(printf '%065d' 1)" '%c3%a9'; do
        expect 64 --store "$url?client_name=$name" value get a
    done
    hushed --store "$url?client_name=$SECRET%20x" value get a
}

test_refused_password() {
    needs_server other || return 0
    ask_everything --store "redis+unix://:$SECRET@$socket"
    expect 77 --store "redis+unix://user:$SECRET@$socket" value get a
    expect 77 --store "redis+unix://:$SECRET@$socket" store diagnose
    forget_password other
    # None is needed.
    ask_everything --store "redis+unix://:$SECRET@$socket"
}

test_unreachable_server() {
    local url

    for url in "redis://:$SECRET@127.0.0.1:1" \
        "redis://user:$SECRET@127.0.0.1:1/3" \
        "rediss://user:$SECRET@127.0.0.1:1" \
        "redis+unix://:$SECRET@/nonexistent/socket" \
        "redis+cluster://:$SECRET@127.0.0.1:1,127.0.0.1:2" \
        "redis+sentinel://:$SECRET@127.0.0.1:1/main" \
        "redlock:redis://:$SECRET@127.0.0.1:1,redis://:$SECRET@127.0.0.1:2"; do
        hushed --store "$url" value get a
        hushed --store "$url" store diagnose
        hushed --store "$url" store diagnose --json
        hushed --store="$url" store info
    done
}

# Passwords that were not encoded split the URL in the wrong place.
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
        HOLDFAST_STORE=$url hushed store diagnose
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
