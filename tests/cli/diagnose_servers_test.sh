# SPDX-License-Identifier: Apache-2.0
#
# diagnose_servers_test.sh - holdfast store diagnose on stores of several
# servers and over TLS: a fault is reported for the server that has it.

# diagnosed CODE ARGUMENT...: as text and as JSON, which must agree.
diagnosed() {
    local code=$1
    shift

    expect "$code" --store "$url" store diagnose -N 3 "$@" --json
    json 'set(d) == {"diagnostics", "errors", "warnings", "notes"}
          and all(set(r) >= {"node", "name", "level", "value"}
                  and ("status" in r) == (r["level"] == "error")
                  for r in d["diagnostics"])
          and all(d[n + "s"] == sum(r["level"] == n for r in d["diagnostics"])
                  for n in ["error", "warning", "note"])
          and len(set((r["node"], r["name"]) for r in d["diagnostics"]))
              == len(d["diagnostics"])'
    told=$out
    expect "$code" --store "$url" store diagnose -N 3 "$@"
}

# count_told NAME LEVEL PART: how many such diagnostics there are.
count_told() {
    grep -o '{"node"[^}]*}' <<<"$told" | grep -F "\"name\":\"$1\"" |
        grep -F "\"level\":\"$2\"" | grep -cF -e "$3"
}

# told COUNT NAME LEVEL PART: that many such diagnostics.
told() {
    [ "$(count_told "$2" "$3" "$4")" = "$1" ] ||
        fail "not $1 times $3 $2: $4: $told"
}

# will_tell COUNT NAME LEVEL PART: within some seconds.
will_tell() {
    local began=$(now_ms)

    told='{"diagnostics":[]}'
    until [ "$(count_told "$2" "$3" "$4")" = "$1" ]; do
        told=$("$HOLDFAST" --store "$url" store diagnose -N 3 --json)
        within 20000 "$began"
        sleep 0.1
    done
}

test_tls() {
    start_topology tls
    url="$url&connect_ms=30000"
    diagnosed 0
    told 1 encryption ok "TLSv1.3"
    told 1 encryption ok "the certificate's chain and name are verified"
    told 1 certificate ok "it expires in "
    url="rediss://localhost:$tls_port?tls_verify=none&connect_ms=30000"
    diagnosed 1
    told 1 encryption warning "is not verified"
    tell "show soon"
    url="rediss://localhost:$tls_port?tls_ca=$files/ca.pem&connect_ms=30000"
    diagnosed 1
    told 1 certificate warning "it expires in "
    contains "$out" "-> renew the server's certificate"
}

test_tls_that_fails() {
    start_topology tls
    url="rediss://localhost:$tls_port?tls_ca=$files/alone.pem"
    diagnosed 77
    told 1 reachable error "its certificate is not trusted"
    tell "show expired"
    url="rediss://localhost:$tls_port?tls_ca=$files/ca.pem"
    diagnosed 77
    told 1 reachable error "certificate has expired"
    tell "show other"
    diagnosed 77
    told 1 reachable error "hostname mismatch"
    url="redis://localhost:$tls_port"
    diagnosed 69
    told 1 reachable error "is it a port for TLS?"
}

test_tls_with_our_certificate() {
    local ours

    start_topology tls-clients
    diagnosed 77
    told 1 reachable error "certificate required"
    ours="tls_cert=$files/client.pem&tls_key=$files/client.key"
    url="$url&$ours"
    chmod 644 "$files/client.key"
    diagnosed 1
    told 1 "key file" warning "mode 644"
    chmod 600 "$files/client.key"
    diagnosed 0
    told 1 "key file" ok "readable only by its owner"
}

test_master_with_a_replica() {
    start_topology replica
    will_tell 1 "replica 1" ok "state=online"
    diagnosed 0
    told 1 replication note "a master with 1 replicas"
    told 1 "good replicas" note "none required"
    tell "on 0 CONFIG SET min-replicas-to-write 1"
    diagnosed 0
    told 1 "good replicas" ok "1 of 1"
    tell "on 0 CONFIG SET min-replicas-to-write 0"
    tell "pause 1" # it is there, but says nothing
    will_tell 1 "replica 1" warning "state=online"
    diagnosed 1
    told 1 failover note "unknown: no login: no reply from"
    tell "kill 1"
    tell "on 0 CONFIG SET min-replicas-to-write 1"
    will_tell 1 "good replicas" error "0, but 1 required"
    diagnosed 69
    told 1 replication ok "without replicas"
}

# Each server has its own access lists.
test_replica_that_would_refuse_us() {
    local make='ACL SETUSER app on >pw ~* &* +@all'

    start_topology replica
    will_tell 1 "replica 1" ok "state=online"
    told 1 failover ok allowed
    tell "on 0 $make"
    url=${url/:\/\//://app:pw@}
    diagnosed 1
    told 1 failover warning "it would refuse this client: the server refused the password"
    contains "$out" "-> access lists are not replicated"
    tell "on 1 $make -zadd"
    diagnosed 1
    told 1 failover warning "refused: ZADD on hf:wait:*"
    tell "on 1 $make -acl"
    diagnosed 0
    told 1 failover ok allowed
}

test_sentinel() {
    start_topology sentinel
    diagnosed 0
    told 3 sentinel ok answers
    told 1 replication note "a master with 2 replicas"
    told 1 wake-ups ok "a message came back"
    told 1 reachable ok yes
    told 2 failover ok allowed
    tell "on 1 CONFIG SET requirepass other"
    diagnosed 1
    told 1 failover warning "the server requires a password"
    told 1 failover ok allowed
    url=${url/:\/\//://:other@}
    diagnosed 77
    tell "on 0 CONFIG SET requirepass other"
    tell "kill-sentinel 2"
    diagnosed 1
    told 2 sentinel ok answers
    told 1 sentinel warning "cannot connect"
    tell "kill-sentinel 1"
    tell "kill-sentinel 0"
    diagnosed 69 --wait 5
    told 1 reachable error "no sentinel replies"
}

test_sentinel_with_passwords() {
    local plain

    start_topology sentinel data-secret watch-secret
    plain=$url
    diagnosed 77
    told 1 reachable error "requires a password"
    url="$plain?sentinel_password=watch-secret"
    diagnosed 77
    url="${plain/:\/\//://:data-secret@}"
    diagnosed 77
    url="${plain/:\/\//://:data-secret@}?sentinel_password=watch-secret"
    diagnosed 0
    lacks "$told$out$err" secret
    echo watch-secret >watch
    echo data-secret >data
    chmod 600 watch data
    url="$plain?password_file=$PWD/data&sentinel_password_file=$PWD/watch"
    diagnosed 0
    told 1 "password file" ok "readable only by its owner"
    told 1 password ok given
    url="$plain?password_file=$PWD/watch&sentinel_password_file=$PWD/data"
    diagnosed 77
    lacks "$told$out$err" secret
}

test_cluster() {
    local began port

    start_topology cluster
    diagnosed 0
    told 1 slots ok "all 16384, on 3 masters"
    told 3 reachable ok yes
    told 3 wake-ups ok "a message came back"
    told 3 "cluster state" ok ok
    told 3 "cluster replicas" ok "1, all connected"
    told 3 "rights for a cluster" ok allowed
    told 3 "can publish in shards" ok yes
    told 3 failover ok allowed
    # One of them only.
    tell "on 1 CONFIG SET maxmemory 100mb"
    tell "on 1 CONFIG SET maxmemory-policy volatile-ttl"
    diagnosed 1
    told 1 eviction warning "volatile-ttl: THE SERVER MAY EVICT LOCKS"
    told 2 eviction ok noeviction
    tell "on 1 CONFIG SET maxmemory 0"
    tell "on 2 ACL SETUSER default -zadd"
    diagnosed 77
    told 1 "rights for locks" error "refused: ZADD on hf:wait:*"
    told 2 "rights for locks" ok allowed
    tell "on 2 ACL SETUSER default +zadd resetchannels &other"
    diagnosed 77
    told 1 wake-ups warning "none: NOPERM"
    told 2 wake-ups ok "a message came back"
    tell "on 2 ACL SETUSER default allchannels"
    tell "kill 3"
    # While a master connects again to the one that is gone, it shows it as
    # connected, until it has given it up.
    began=$(now_ms)
    port=${url#*//*:}
    until redis-cli -p "${port%%,*}" cluster nodes | grep -q "slave,fail "; do
        within 20000 "$began"
        sleep 0.1
    done
    will_tell 1 "cluster replicas" warning "1 of 1 do not answer this master"
    diagnosed 1
    told 2 "cluster replicas" ok "1, all connected"
}

test_quorum() {
    start_topology quorum
    diagnosed 0
    told 1 quorum ok "5 of 5 servers may vote; 3 are needed"
    told 5 reachable ok yes
    told 5 wake-ups ok "a message came back"
    tell "on 2 CONFIG SET maxmemory 100mb"
    tell "on 2 CONFIG SET maxmemory-policy allkeys-lru"
    diagnosed 1
    told 1 eviction warning "allkeys-lru: THE SERVER MAY EVICT LOCKS"
    told 4 eviction ok noeviction
    tell "kill 0"
    tell "kill 4"
    diagnosed 69
    told 2 reachable error "cannot connect to 127.0.0.1"
    told 3 reachable ok yes
    told 1 quorum warning "3 of 5 servers may vote"
    tell "kill 1"
    diagnosed 69
    told 1 reachable error "2 of 5 servers answered; 3 are needed"
}

# A server that hangs is reported, and the others are still diagnosed.
test_server_that_hangs() {
    local began

    start_topology quorum
    tell "pause 1"
    began=$(now_ms)
    expect 69 --store "$url" store diagnose -N 3 --json
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
    expect 69 --store "$url" store diagnose -N 3 --json
    within 12000 "$began"
    told=$out
    told 1 reachable error "no: "
    told 2 reachable ok yes
    tell "resume 1"
}
