# SPDX-License-Identifier: Apache-2.0
#
# diagnose_servers_test.sh - holdfast doctor on stores of several servers and over
# TLS: each is looked at, and what is wrong with one is told of that one.

# expect_doctor CODE ARGUMENT...: as text and as JSON, which must agree.
expect_doctor() {
    local code=$1
    shift

    expect "$code" --store "$url" doctor -N 3 "$@" --json
    json 'set(d) == {"remarks", "errors", "warnings", "notes"}
          and all(set(r) >= {"node", "name", "level", "value"}
                  and ("status" in r) == (r["level"] == "error")
                  for r in d["remarks"])
          and all(d[n + "s"] == sum(r["level"] == n for r in d["remarks"])
                  for n in ["error", "warning", "note"])
          and len(set((r["node"], r["name"]) for r in d["remarks"]))
              == len(d["remarks"])'
    told=$out
    expect "$code" --store "$url" doctor -N 3 "$@"
}

# count_told NAME LEVEL PART: how many such remarks there are.
count_told() {
    grep -o '{"node"[^}]*}' <<<"$told" | grep -F "\"name\":\"$1\"" |
        grep -F "\"level\":\"$2\"" | grep -cF -e "$3"
}

# told COUNT NAME LEVEL PART: that many such remarks.
told() {
    [ "$(count_told "$2" "$3" "$4")" = "$1" ] ||
        fail "not $1 times $3 $2: $4: $told"
}

# will_tell COUNT NAME LEVEL PART: within some seconds.
will_tell() {
    local began=$(now_ms)

    told='{"remarks":[]}'
    until [ "$(count_told "$2" "$3" "$4")" = "$1" ]; do
        told=$("$HOLDFAST" --store "$url" doctor -N 3 --json)
        within 20000 "$began"
        sleep 0.1
    done
}

test_tls() {
    start_topology tls
    expect_doctor 0
    told 1 encryption ok "TLSv1.3"
    told 1 encryption ok "the certificate's chain and name are verified"
    told 1 certificate ok "it ends in "
    url="rediss://localhost:$tls_port?tls_verify=none"
    expect_doctor 1
    told 1 encryption warning "is not verified"
    tell "show soon"
    url="rediss://localhost:$tls_port?tls_ca=$files/ca.pem"
    expect_doctor 1
    told 1 certificate warning "it ends in "
    contains "$out" "-> renew the server's certificate"
}

test_tls_that_fails() {
    start_topology tls
    url="rediss://localhost:$tls_port?tls_ca=$files/alone.pem"
    expect_doctor 77
    told 1 reachable error "its certificate is not trusted"
    tell "show expired"
    url="rediss://localhost:$tls_port?tls_ca=$files/ca.pem"
    expect_doctor 77
    told 1 reachable error "certificate has expired"
    tell "show other"
    expect_doctor 77
    told 1 reachable error "hostname mismatch"
    url="redis://localhost:$tls_port"
    expect_doctor 69
    told 1 reachable error "is it a port for TLS?"
}

test_tls_with_our_certificate() {
    local ours

    start_topology tls-clients
    expect_doctor 77
    told 1 reachable error "certificate required"
    ours="tls_cert=$files/client.pem&tls_key=$files/client.key"
    url="$url&$ours"
    chmod 644 "$files/client.key"
    expect_doctor 1
    told 1 "key file" warning "mode 644"
    chmod 600 "$files/client.key"
    expect_doctor 0
    told 1 "key file" ok "only its owner"
}

test_master_with_a_replica() {
    start_topology replica
    will_tell 1 "replica 1" ok "state=online"
    expect_doctor 0
    told 1 replication note "a master with 1 replicas"
    told 1 "good replicas" note "none are asked for"
    tell "on 0 CONFIG SET min-replicas-to-write 1"
    expect_doctor 0
    told 1 "good replicas" ok "1 of 1"
    tell "on 0 CONFIG SET min-replicas-to-write 0"
    tell "pause 1" # it is there, but says nothing
    will_tell 1 "replica 1" warning "state=online"
    expect_doctor 1
    told 1 failover note "not known: no login: no answer from"
    tell "kill 1"
    tell "on 0 CONFIG SET min-replicas-to-write 1"
    will_tell 1 "good replicas" error "0, but 1 are asked for"
    expect_doctor 69
    told 1 replication ok "without replicas"
}

# Access lists are every server's own.
test_replica_that_would_refuse_us() {
    local make='ACL SETUSER app on >pw ~* &* +@all'

    start_topology replica
    will_tell 1 "replica 1" ok "state=online"
    told 1 failover ok allowed
    tell "on 0 $make"
    url=${url/:\/\//://app:pw@}
    expect_doctor 1
    told 1 failover warning "it would refuse us: the server refused the password"
    contains "$out" "-> access lists are not replicated"
    tell "on 1 $make -zadd"
    expect_doctor 1
    told 1 failover warning "refused: ZADD on hf:wait:*"
    tell "on 1 $make -acl"
    expect_doctor 0
    told 1 failover ok allowed
}

test_sentinel() {
    start_topology sentinel
    expect_doctor 0
    told 3 sentinel ok answers
    told 1 replication note "a master with 2 replicas"
    told 1 wake-ups ok "a message came back"
    told 1 reachable ok yes
    told 2 failover ok allowed
    tell "on 1 CONFIG SET requirepass other"
    expect_doctor 1
    told 1 failover warning "the server asks for a password"
    told 1 failover ok allowed
    url=${url/:\/\//://:other@}
    expect_doctor 77
    tell "on 0 CONFIG SET requirepass other"
    tell "kill-sentinel 2"
    expect_doctor 1
    told 2 sentinel ok answers
    told 1 sentinel warning "cannot connect"
    tell "kill-sentinel 1"
    tell "kill-sentinel 0"
    expect_doctor 69 --wait 5
    told 1 reachable error "no sentinel answers"
}

test_sentinel_with_passwords() {
    local plain

    start_topology sentinel data-secret watch-secret
    plain=$url
    expect_doctor 77
    told 1 reachable error "asks for a password"
    url="$plain?sentinel_password=watch-secret"
    expect_doctor 77
    url="${plain/:\/\//://:data-secret@}"
    expect_doctor 77
    url="${plain/:\/\//://:data-secret@}?sentinel_password=watch-secret"
    expect_doctor 0
    lacks "$told$out$err" secret
    echo watch-secret >watch
    echo data-secret >data
    chmod 600 watch data
    url="$plain?password_file=$PWD/data&sentinel_password_file=$PWD/watch"
    expect_doctor 0
    told 1 "password file" ok "only its owner"
    told 1 password ok given
    url="$plain?password_file=$PWD/watch&sentinel_password_file=$PWD/data"
    expect_doctor 77
    lacks "$told$out$err" secret
}

test_cluster() {
    start_topology cluster
    expect_doctor 0
    told 1 slots ok "all 16384, on 3 masters"
    told 3 reachable ok yes
    told 3 wake-ups ok "a message came back"
    told 3 "cluster state" ok ok
    told 3 "cluster replicas" ok "1, all there"
    told 3 "rights for a cluster" ok allowed
    told 3 "can publish in shards" ok yes
    told 3 failover ok allowed
    # One of them only.
    tell "on 1 CONFIG SET maxmemory 100mb"
    tell "on 1 CONFIG SET maxmemory-policy volatile-ttl"
    expect_doctor 1
    told 1 eviction warning "volatile-ttl: THE SERVER MAY DROP LOCKS"
    told 2 eviction ok noeviction
    tell "on 1 CONFIG SET maxmemory 0"
    tell "on 2 ACL SETUSER default -zadd"
    expect_doctor 77
    told 1 "rights for locks" error "refused: ZADD on hf:wait:*"
    told 2 "rights for locks" ok allowed
    tell "on 2 ACL SETUSER default +zadd resetchannels &other"
    expect_doctor 77
    told 1 wake-ups warning "none: NOPERM"
    told 2 wake-ups ok "a message came back"
    tell "on 2 ACL SETUSER default allchannels"
    tell "kill 3"
    will_tell 1 "cluster replicas" warning "1 of 1 do not answer this master"
    expect_doctor 1
    told 2 "cluster replicas" ok "1, all there"
}

test_quorum() {
    start_topology quorum
    expect_doctor 0
    told 1 quorum ok "5 of 5 servers may vote; 3 are needed"
    told 5 reachable ok yes
    told 5 wake-ups ok "a message came back"
    tell "on 2 CONFIG SET maxmemory 100mb"
    tell "on 2 CONFIG SET maxmemory-policy allkeys-lru"
    expect_doctor 1
    told 1 eviction warning "allkeys-lru: THE SERVER MAY DROP LOCKS"
    told 4 eviction ok noeviction
    tell "kill 0"
    tell "kill 4"
    expect_doctor 69
    told 2 reachable error "cannot connect to 127.0.0.1"
    told 3 reachable ok yes
    told 1 quorum warning "3 of 5 servers may vote"
    tell "kill 1"
    expect_doctor 69
    told 1 reachable error "2 of 5 servers answered; 3 are needed"
}

# What hangs is told of, and the others are looked at in spite of it.
test_server_that_hangs() {
    local began

    start_topology quorum
    tell "pause 1"
    began=$(now_ms)
    expect 69 --store "$url" doctor -N 3 --json
    within 12000 "$began"
    told=$out
    told 1 reachable error "no: "
    told 4 reachable ok yes
    told 1 quorum warning "4 of 5"
    tell "resume 1"
}

test_cluster_node_that_hangs() {
    local began

    start_topology cluster
    tell "all CONFIG SET cluster-node-timeout 60000"
    tell "pause 1"
    began=$(now_ms)
    expect 69 --store "$url" doctor -N 3 --json
    within 12000 "$began"
    told=$out
    told 1 reachable error "no: "
    told 2 reachable ok yes
    tell "resume 1"
}
