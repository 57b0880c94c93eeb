# SPDX-License-Identifier: Apache-2.0
#
# lead_test.sh - lead, and election: who leads, when its command runs, and how
# it ends.

leads() {
    expect_any election inspect --raw e
    [ "$out" = "$1" ]
}

expect_any() {
    out=$("$HOLDFAST" "$@" 2>err)
}

no_one_leads() {
    "$HOLDFAST" election inspect e >/dev/null
    [ $? = 1 ]
}

waits() {
    expect_any election inspect --json e
    case $out in *'"candidates":'"$1"'}') ;; *) return 1 ;; esac
}

# Lose the lead of "e", as if the store had lost the lease.
take_away() {
    expect 0 command DEL e
}

test_its_command_runs_while_it_leads() {
    expect 0 lead --text me e -- sh -c 'echo "$HOLDFAST_NAME $HOLDFAST_TOKEN"'
    [[ "$out" =~ ^e\ [1-9][0-9]+$ ]] || fail "environment: $out"
    expect 7 lead e -- sh -c 'exit 7'
    expect 127 lead e -- ./no-such-command
    no_one_leads || fail 'it still leads'
    expect 1 election inspect e
    same output 'candidates: 0' "$out"
}

# A client registers once it has led for 100 ms.
is_named() {
    expect 0 election inspect e
    case $out in *'leader: sleep (pid'*) ;; *) return 1 ;; esac
}

test_the_next_candidate_leads() {
    start lead --text one e -- sleep 60
    one=$pid
    eventually 10 leads one
    start lead --text 'two, or so' e -- sleep 60
    two=$pid
    eventually 10 waits 1
    expect 1 lead -n e -- true
    expect 5 lead -w 0.05 -E 5 --verbose e -- true
    contains "$err" 'lead: timed out after 0.05 s waiting for lead of "e"'
    expect 0 election inspect e
    contains "$out" 'text: one'
    eventually 10 is_named
    kill -TERM "$one"
    ends 143 "$one"
    eventually 10 leads 'two, or so'
    kill -INT "$two"
    ends 130 "$two"
    no_one_leads || fail 'it still leads'
}

test_it_runs_the_command_again_when_it_leads_again() {
    start lead --ttl "$(slowed 300)" e -- \
        sh -c 'echo "$HOLDFAST_TOKEN" >>terms; exec sleep 60' 2>err
    eventually 10 written terms
    take_away
    eventually 20 has_lines 2 terms
    [ "$(head -1 terms)" -lt "$(tail -1 terms)" ] || fail "$(cat terms)"
    contains "$(cat err)" \
        'lead: lead of "e" lost: lease expired, or broken by another user (holdfast lock break); ending the command'
    kill "$pid"
    ends 143 "$pid"
    same terms 2 "$(wc -l <terms)"
}

has_lines() {
    [ "$(wc -l <"$2")" = "$1" ]
}

test_once_it_ends_when_the_lead_is_lost() {
    start lead --once --ttl "$(slowed 300)" e -- sh -c 'echo >ran; sleep 60' \
        2>err
    eventually 10 written ran
    take_away
    ends 76 "$pid"
}

# Asked to end, its command takes long, and the lead is lost meanwhile.
test_it_does_not_campaign_again_after_it_was_asked_to_end() {
    start lead --ttl "$(slowed 300)" e -- \
        sh -c 'trap "echo >told" TERM; echo >ran; while :; do sleep 0.05; done' \
        2>err
    eventually 10 written ran
    kill "$pid"
    eventually 10 written told
    take_away
    ends 76 "$pid"
}

test_a_signal_ends_the_wait() {
    start run --ttl 60 other -- sleep 60
    holder=$pid
    start lead --text first e -- sleep 60
    leader=$pid
    eventually 10 leads first
    start lead e -- echo never
    eventually 10 waits 1
    kill -TERM "$pid"
    ends 143 "$pid"
    eventually 10 waits 0
    kill "$leader" "$holder"
    ends 143 "$leader"
    ends 143 "$holder"
}

# Killed, its command is killed before another one leads.
test_kill_of_the_leader() {
    start lead --ttl "$(slowed 400)" e -- sh -c 'echo $$ >child; exec sleep 60'
    eventually 10 written child
    leader=$pid
    start lead --text next e -- sh -c "
        case \$(cut -d' ' -f3 /proc/$(cat child)/stat 2>/dev/null) in
        [RSD]) echo >two ;;
        esac"
    next=$pid
    kill -KILL "$leader"
    ends 137 "$leader"
    ends 0 "$next"
    [ ! -e two ] || fail 'two commands ran at the same time'
}

test_observe_prints_each_change() {
    env --default-signal=INT "$HOLDFAST" election observe e >lines 2>err &
    observer=$!
    eventually 10 written lines
    same 'first line' 0 "$(cat lines)"
    start lead --text $'a\tb' e -- sleep 60
    eventually 10 has_lines 2 lines
    [[ "$(tail -1 lines)" =~ ^[1-9][0-9]+$'\t'a\\tb$ ]] || fail "$(cat lines)"
    kill "$pid"
    ends 143 "$pid"
    eventually 10 has_lines 3 lines
    same 'last line' 0 "$(tail -1 lines)"
    kill -INT "$observer"
    ends 130 "$observer"
    same stderr '' "$(cat err)"
    expect 0 election observe --json --count 1 e
    same line '{"name":"e","term":0,"candidates":0}' "$out"
}

test_bad_lines() {
    expect 64 lead e
    expect 64 lead --permits 2 e -- true
    expect 64 lead --text "$(head -c 2000 /dev/zero | tr '\0' x)" e -- true
    contains "$err" 'text has 2000 bytes; allowed are up to 1024'
    expect 64 election inspect
    expect 0 lock list
    expect 0 value set v 1
    expect 65 election inspect v
    expect 65 lead v -- true
    contains "$err" 'key "v"'
}
