# SPDX-License-Identifier: Apache-2.0
#
# handover_servers_test.sh - how `run` passes the store on: a holdfast
# that the command starts uses the same one, and no password is in its
# environment.

. "$here/secret.sh"

# Put "user:password@" into a URL, for every server of a quorum.
with_user() {
    echo "${1//:\/\//://$2@}"
}

# hands_over ARGUMENT...: the command sees that the lock is held, from a shell
# that keeps no descriptor.
hands_over() {
    expect 0 "$@" run job -- sh -c '
        tr "\0" "\n" </proc/self/environ >environment
        exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
        cd / && "$0" lock inspect job --json' "$HOLDFAST"
    contains "$out" "\"held\":true"
    ! grep -a "$SECRET" environment || fail "a password is handed on"
    grep -q ^HOLDFAST_STORE= environment || fail "no store is handed on"
}

test_server() {
    start_topology tls $SECRET
    hands_over --store "$(with_user "$url" ":$SECRET")"
    hands_over --store "$(with_user "$url" "default:$SECRET")"
    hands_over --store "$(with_user "$url" ":%5Aq7passw0rd")"
}

test_password_of_the_environment() {
    start_topology tls $SECRET
    export HOLDFAST_PASSWORD=$SECRET
    hands_over --store "$url"
    expect 0 --store "$url" run job -- "$HOLDFAST" run other -- \
        "$HOLDFAST" value set a 1
    unset HOLDFAST_PASSWORD
    export HOLDFAST_STORE
    HOLDFAST_STORE=$(with_user "$url" ":$SECRET")
    hands_over
    # A password file is passed on unchanged.
    echo $SECRET >file
    HOLDFAST_STORE=$url HOLDFAST_PASSWORD=wrong \
        HOLDFAST_PASSWORD_FILE=$PWD/file hands_over
    grep -qx "HOLDFAST_PASSWORD_FILE=$PWD/file" environment ||
        fail "$(cat environment)"
}

test_sentinel() {
    start_topology sentinel data-$SECRET watch-$SECRET
    hands_over --store \
        "$(with_user "$url" ":data-$SECRET")?sentinel_password=watch-$SECRET"
}

test_quorum() {
    start_topology quorum $SECRET
    hands_over --store "$(with_user "$url" ":$SECRET")"
}

test_embedded_path_is_absolute() {
    mkdir 'a folder%' && cd 'a folder%' || fail "no folder"
    hands_over --store 'file:locks?max_size=2M'
    grep -q '^HOLDFAST_STORE=file:/.*/a%20folder%25/locks?max_size=2M$' \
        environment || fail "$(grep STORE environment)"
}
