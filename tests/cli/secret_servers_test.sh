# SPDX-License-Identifier: Apache-2.0
#
# secret_servers_test.sh - a password is never shown, on stores of several
# servers and over TLS, where more can go wrong.

. "$here/secret.sh"

# Put "user:password@" into a URL, for every server of a quorum.
with_user() {
    echo "${1//:\/\//://$2@}"
}

test_tls() {
    local secret key wrong

    start_topology tls-clients $SECRET
    ask_everything --store "$(with_user "$url" ":$SECRET")" # no certificate
    echo $SECRET >key_password
    openssl pkcs8 -topk8 -in "$files/client.key" -out locked.key \
        -passout file:key_password 2>openssl.log || fail "$(cat openssl.log)"
    key="tls_cert=$files/client.pem&tls_key=$PWD/locked.key"
    secret=$(with_user "$url" ":$SECRET")
    expect 0 --store \
        "$secret&$key&tls_key_password_file=$PWD/key_password" value set a 1
    ask_everything --store \
        "$secret&$key&tls_key_password_file=$PWD/key_password"
    ask_everything --store "$secret&$key"
    echo not-$SECRET >wrong
    for wrong in wrong none /dev/null .; do
        hushed --store "$secret&$key&tls_key_password_file=$wrong" \
            store diagnose
        [ "$code" = 64 ] || fail "exit code $code with $wrong"
    done
    # The content of a file that is not a certificate, or not a key.
    for wrong in "tls_ca=$PWD/key_password" "tls_ca=/&tls_verify=none" \
        "tls_cert=$PWD/key_password&tls_key=$PWD/key_password" \
        "tls_cert=$files/client.pem&tls_key=$PWD/key_password"; do
        hushed --store "rediss://:$SECRET@127.0.0.1:$tls_port?$wrong" \
            store diagnose
    done
}

test_tls_that_fails() {
    local secret

    start_topology tls $SECRET
    secret="//user:$SECRET@127.0.0.1:$tls_port"
    ask_everything --store "rediss:$secret" # an unknown authority
    ask_everything --store "redis:$secret"  # plain on a port for TLS
    hushed --store "rediss:$secret?tls_ca=$files/ca.pem" \
        store diagnose # wrong user
    tell "show expired"
    hushed --store "rediss:$secret?tls_ca=$files/ca.pem" store diagnose --json
    tell "show other"
    hushed --store "rediss:$secret?tls_ca=$files/ca.pem" value get a
    tell "kill 0"
    hushed --store "rediss:$secret?tls_ca=$files/ca.pem" store diagnose
}

test_sentinel() {
    local both wrong

    start_topology sentinel data-$SECRET watch-$SECRET
    both="$(with_user "$url" ":data-$SECRET")"
    ask_everything --store "$both?sentinel_password=watch-$SECRET"
    expect 0 --store "$both?sentinel_password=watch-$SECRET" value set a 1
    ask_everything --store "$both?sentinel_password=wrong-$SECRET"
    ask_everything --store "$(with_user "$url" \
        ":wrong-$SECRET")?sentinel_password=watch-$SECRET"
    for wrong in "$both?sentinel_username=$SECRET" \
        "$both?sentinel_password=$SECRET&sentinel_password=$SECRET" \
        "$both?sentinel_password=$SECRET&what=$SECRET" \
        "$both?sentinel_password=$SECRET&sentinel_password_file=x" \
        "$both?sentinel_password=$SECRET&password_file=x" \
        "$both/9999999999?sentinel_password=watch-$SECRET" \
        "${both%/*}/unknown?sentinel_password=watch-$SECRET" \
        "${both%/*}?sentinel_password=watch-$SECRET" \
        "redis+sentinel://:$SECRET@127.0.0.1:1/x?sentinel_password=$SECRET"; do
        hushed --store "$wrong" value get a
        hushed --store "$wrong" store diagnose --json
    done
    start --store "$both?sentinel_password=watch-$SECRET" run job -- \
        sh -c 'echo r >ready; until [ -e go ]; do sleep 0.02; done'
    eventually 5 written ready
    for process in "$pid" $(pgrep -P "$pid"); do
        ! tr '\0' ' ' <"/proc/$process/cmdline" | grep -qa $SECRET ||
            fail "in the list of processes"
    done
    : >go
    ends 0 $pid
    tell "kill 0"
    hushed --store "$both?sentinel_password=watch-$SECRET" \
        store diagnose --wait 3
}

# Keys of all nodes, so that each is logged in to; a wrong slot map, so that
# requests are redirected; and nodes that hang or are gone.
test_cluster() {
    local secret i

    start_topology cluster
    tell "all CONFIG SET masterauth $SECRET"
    tell "all CONFIG SET requirepass $SECRET"
    secret=$(with_user "$url" ":$SECRET")
    ask_everything --store "$secret"
    ask_everything --store "$(with_user "$url" ":not$SECRET")"
    for i in 1 2 3 4 5 6; do
        expect 0 --store "$secret" value set "key$i" "$i"
        hushed --store "$secret" hash get-all "key$i" # of another type
    done
    echo 'return redis.call("get", KEYS[1]) .. redis.call("get", KEYS[2])' \
        >two.lua
    hushed --store "$secret" script run two.lua key1 key2 # of two slots
    hushed --store "${secret%%,*}" value get key3         # found by one node
    hushed --store "redis://:$SECRET@${secret##*,}" value get key1 # MOVED
    hushed --store "redis://:$SECRET@${secret##*,}" value get key2
    hushed --store "$secret/1" value get a
    hushed --store "$secret?db=$SECRET" value get a
    tell "pause 1"
    for i in 1 2 3 4 5 6; do
        hushed --store "$secret" value get "key$i"
    done
    hushed --store "$secret" store diagnose --wait 3
    tell "kill 2"
    hushed --store "$secret" store diagnose --json --wait 3
}

test_quorum() {
    local secret

    start_topology quorum $SECRET
    secret=$(with_user "$url" ":$SECRET")
    ask_everything --store "$secret"
    expect 0 --store "$secret" run job true
    ask_everything --store "$(with_user "$url" ":not$SECRET")"
    ask_everything --store "${secret/$SECRET/other}" # one refuses it
    tell "kill 0"
    tell "kill 1"
    hushed --store "$secret" run job true
    tell "kill 2"
    hushed --store "$secret" run -n job true
    hushed --store "$secret" store diagnose --json
    # Each from its own file.
    echo $SECRET >password
    url="${url//,/?password_file=password,}?password_file=password"
    tell "restart 0"
    tell "restart 1"
    tell "restart 2"
    expect 0 --store "${url/redlock:/redlock:quarantine=0,}" run job true
    ask_everything --store "$url"
}
