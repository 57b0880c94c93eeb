# SPDX-License-Identifier: Apache-2.0
#
# config_test.sh - named stores, and stores that are named wrongly.

# configure LINE...: the user's configuration.
configure() {
    export XDG_CONFIG_HOME=$PWD/config
    mkdir -p config/holdfast
    printf '%s\n' "$@" >config/holdfast/config
}

test_store_has_a_name() {
    configure '# stores of this test' '' "backup = $HOLDFAST_STORE" \
        "  other=volatile:$PWD/other  "
    url=$HOLDFAST_STORE
    unset HOLDFAST_STORE
    expect 0 value set k there --store backup
    expect 0 value set k elsewhere --store=other
    expect 0 --store "$url" value get k
    same value there "$out"
    expect 0 --store "volatile:$PWD/other" value get k
    same value elsewhere "$out"
    expect 0 run --store backup job -- sh -c 'echo "$HOLDFAST_STORE"'
    same 'store of the command' "$url" "$out"
}

test_default_is_the_last_resort() {
    configure "default = volatile:$PWD/default"
    expect 0 value set k here --store "volatile:$PWD/default"
    expect 1 value get k
    url=$HOLDFAST_STORE
    unset HOLDFAST_STORE
    expect 0 value get k
    same value here "$out"
    HOLDFAST_STORE= expect 0 value get k
    same value here "$out"
    unset XDG_CONFIG_HOME
    mkdir -p home/.config && cp -r config/holdfast home/.config/
    HOME=$PWD/home expect 0 value get k
    same value here "$out"
}

test_bad_lines_are_named_by_file_and_line() {
    local line

    for line in 'backup' 'back up = file:x' '= file:x' '[store]' \
        'backup = /var/lib/x'; do
        configure '# first' "$line" "good = volatile:$PWD/good"
        expect 64 --store good value get k
        contains "$err" "holdfast: $PWD/config/holdfast/config:2: "
    done
    expect 64 --store good --json value get k
    json 'd["error"]["code"] == 64 and "config:2" in d["error"]["message"]'
    # It is not read for a URL.
    expect 1 value get k
}

test_unknown_names_say_where_they_would_be() {
    configure 'a = volatile:a'
    expect 64 --store b value get k
    contains "$err" "no store \"b\" in $PWD/config/holdfast/config or \
/etc/holdfast.conf; a URL has a scheme, such as file:b"
    expect 64 --store b --json value get k
    json 'd["error"]["culprit"] == "b"'
}

# In a mount namespace with an /etc of its own, which the kernel refuses in a
# chroot and in most containers, to root as well.
test_file_of_the_system() {
    unshare -rm true 2>/dev/null || {
        echo 'left out: no namespaces here' && return 0
    }
    configure "a = volatile:$PWD/user"
    unset HOLDFAST_STORE
    cat >inside <<'EOF'
mount -t tmpfs none /etc || exit 99
printf '%s\n' "a = volatile:$PWD/system" "b = volatile:$PWD/system" \
    >/etc/holdfast.conf
"$HOLDFAST" --store b value set k system
"$HOLDFAST" --store a value set k user
"$HOLDFAST" --store b value get k
echo 'c d' >/etc/holdfast.conf
"$HOLDFAST" --store a value get k
EOF
    out=$(unshare -rm sh inside 2>err)
    same output system "$out"
    contains "$(cat err)" '/etc/holdfast.conf:1: expected NAME = URL'
}

test_url_without_a_scheme_is_suggested() {
    HOLDFAST_STORE=/var/lib/x expect 64 value get k
    contains "$err" \
        'HOLDFAST_STORE: the URL has no scheme; a store on disk is file:/var/lib/x'
    HOLDFAST_STORE=localhost:6379 expect 64 value get k
    contains "$err" \
        'HOLDFAST_STORE: the URL has no scheme; a server is redis://localhost:6379'
    expect 64 --store localhost:6379 value get k
    contains "$err" 'value get: the URL has no scheme; a server is redis://'
}

test_times_in_the_url() {
    local began mark='?'

    [[ $HOLDFAST_STORE != *\?* ]] || mark='&'
    expect 0 --store "$HOLDFAST_STORE${mark}request_ms=3000&connect_ms=500" \
        value set k v
    expect 64 --store "$HOLDFAST_STORE${mark}request_ms=0" value get k
    contains "$err" 'request_ms'
    expect 64 --store "$HOLDFAST_STORE${mark}connect_ms=x" value get k
    contains "$err" 'connect_ms'
    [ -n "$redis_pid" ] || return 0
    kill -STOP "$redis_pid"
    began=$(now_ms)
    "$HOLDFAST" --store "$HOLDFAST_STORE${mark}connect_ms=300" value get k 2>err
    code=$?
    kill -CONT "$redis_pid"
    same 'exit code' 69 $code
    within 1500 "$began"
}
