# SPDX-License-Identifier: Apache-2.0
"""What check.py runs: the model, its -D, and what is expected: that all
properties hold, or a part of the one that is violated."""

ONE_HOLDER = "client[0].until"
ONE_BELIEVES = "client[0].age"
TOKENS_GROW = "last[master]>highest"
NO_OLDER_WRITE = ">=fence_grant"
HOLDS = "holds"
CYCLE = "cycle"  # it never happens
LATE_GRANT = "owner==(c+1)"
LONGER_THAN_LEASE = "valid<=left"

LEASE = [
    ("lease.pml", "", HOLDS),
    ("lease.pml", "RESTART_WITH_DATA HORIZON=3", HOLDS),
    ("lease.pml", "NO_MARGIN", ONE_HOLDER),
    ("lease.pml", "VALID_FROM_REPLY", ONE_HOLDER),
    ("lease.pml", "KEEP_LEASE_ON_REENTRY", ONE_HOLDER),
    ("lease.pml", "RENEW_ANY_OWNER", ONE_HOLDER),
    ("lease.pml", "RELEASE_ANY_OWNER", ONE_HOLDER),
    ("lease.pml", "REUSE_OWNER_ID", ONE_HOLDER),
    ("lease.pml", "RESTART_EMPTY", ONE_HOLDER),
    ("lease.pml", "FAILOVER", ONE_HOLDER),
]

# What each way of issuing tokens survives.
TOKEN = [
    ("token.pml", "", HOLDS),
    ("token.pml", "NO_FENCE", NO_OLDER_WRITE),
    ("token.pml", "COUNTER_DELETED", HOLDS),
    ("token.pml", "NO_CLOCK COUNTER_DELETED", TOKENS_GROW),
    ("token.pml", "RESTARTED_EMPTY", HOLDS),
    ("token.pml", "RESTARTED_OLD", HOLDS),
    ("token.pml", "NO_CLOCK RESTARTED_OLD", TOKENS_GROW),
    ("token.pml", "FAILOVER", HOLDS),
    ("token.pml", "NO_CLOCK FAILOVER", TOKENS_GROW),
    ("token.pml", "FAILBACK", HOLDS),
    ("token.pml", "NO_COUNTER", TOKENS_GROW),
    ("token.pml", "SET_BACK=2", HOLDS),
    ("token.pml", "SET_BACK=2 RESTARTED_WITH_ALL", HOLDS),
    ("token.pml", "SET_BACK=2 COUNTER_DELETED", TOKENS_GROW),
    ("token.pml", "SET_BACK=2 COUNTER_DELETED ONLY_FENCE", NO_OLDER_WRITE),
    ("token.pml", "FAILOVER REPLICA_BEHIND=1 OUTAGE=2", HOLDS),
    ("token.pml", "FAILOVER REPLICA_BEHIND=1", TOKENS_GROW),
    ("token.pml", "CONNECTION COUNTER_DELETED", HOLDS),
    ("token.pml", "CONNECTION RESTARTED_EMPTY PROXY", HOLDS),
    ("token.pml", "CONNECTION RESTARTED_OLD", HOLDS),
    ("token.pml", "CONNECTION RESTARTED_OLD PROXY", TOKENS_GROW),
    ("token.pml", "CONNECTION FAILOVER", HOLDS),
    ("token.pml", "CONNECTION FAILOVER PROXY", TOKENS_GROW),
    ("token.pml", "CONNECTION FAILBACK", TOKENS_GROW),
    ("token.pml", "CONNECTION SET_BACK=2 RESTARTED_WITH_ALL", HOLDS),
    ("token.pml", "WINDOW COUNTER_DELETED WINDOW_TICKS=2", HOLDS),
    ("token.pml", "WINDOW RESTARTED_EMPTY WINDOW_TICKS=2", HOLDS),
    ("token.pml", "WINDOW RESTARTED_OLD WINDOW_TICKS=2 OUTAGE=2", HOLDS),
    ("token.pml", "WINDOW RESTARTED_OLD WINDOW_TICKS=2", TOKENS_GROW),
    ("token.pml", "WINDOW FAILOVER WINDOW_TICKS=2 OUTAGE=2", HOLDS),
    ("token.pml", "WINDOW FAILOVER WINDOW_TICKS=2", TOKENS_GROW),
    ("token.pml", "WINDOW FAILBACK WINDOW_TICKS=2 OUTAGE=2", HOLDS),
    ("token.pml", "WINDOW SET_BACK=2 RESTARTED_WITH_ALL WINDOW_TICKS=2", HOLDS),
    ("token.pml", "WINDOW FAILOVER REPLICA_BEHIND=1 OUTAGE=3", HOLDS),
    ("token.pml", "WINDOW FAILOVER REPLICA_BEHIND=1", TOKENS_GROW),
]

STARVES = "LTL=no_waiter_starves DELAY=0"
GRANTED = "LTL=it_is_granted DELAY=0"
PASSED = "LTL=a_dead_waiter_is_passed DELAY=0"

HANDOVER = [
    ("handover.pml", "", HOLDS),
    ("handover.pml", "TWO_CLIENTS DELAY=2 LOSSES=2", HOLDS),
    ("handover.pml", "GRANT_FROM_READ", LONGER_THAN_LEASE),
    ("handover.pml", "IGNORE_REFUSAL", LATE_GRANT),
    ("handover.pml", STARVES, HOLDS),
    ("handover.pml", f"{STARVES} BARGE", CYCLE),
    ("handover.pml", GRANTED, HOLDS),
    ("handover.pml", f"{GRANTED} NO_POLL", CYCLE),
    ("handover.pml", PASSED, HOLDS),
    ("handover.pml", f"{PASSED} GRANT_WITHOUT_END", CYCLE),
]

TOKENS_OF_CALLS_GROW = "client[c].token>highest"

QUORUM = [
    ("quorum.pml", "", HOLDS),
    ("quorum.pml", "QUARANTINE=0", ONE_BELIEVES),
    ("quorum.pml", "QUARANTINE=1", ONE_BELIEVES),
    ("quorum.pml", "NO_CONFIRM NO_RESTART", TOKENS_OF_CALLS_GROW),
    ("quorum.pml", "SET_BACK NO_RESTART", HOLDS),
    ("quorum.pml", "SET_BACK", TOKENS_OF_CALLS_GROW),
]

NO_MORE_PASS = "passes[client[c].about]<=2"

BARRIER = [
    ("barrier.pml", "", HOLDS),
    ("barrier.pml", "UNCOUNTED", NO_MORE_PASS),
]

FINISHED = "job[k].finished"
ENDED_BY_OTHER = "worker[i].has!=k"
END_APPLIED = "job[worker[c].old].state=="
ONE_WORKER = "worker[i].has!=worker[c].has"
ALL_DONE = "LTL=all_jobs_are_done COPIES=0 IN_TIME"

QUEUE = [
    ("queue.pml", "", HOLDS),
    ("queue.pml", "VALID_FROM_REPLY", ONE_WORKER),
    ("queue.pml", "END_BY_JOB", ENDED_BY_OTHER),
    ("queue.pml", "END_BY_OWNER", FINISHED),
    ("queue.pml", "NEXT LOSSES=0", HOLDS),
    ("queue.pml", "NEXT SURE LOSSES=0", END_APPLIED),
    ("queue.pml", ALL_DONE, HOLDS),
    ("queue.pml", f"{ALL_DONE} NO_POLL", CYCLE),
    ("queue.pml", f"{ALL_DONE} KEPT_WITHOUT_END", CYCLE),
]

NOT_TWO = "client[0].valid"
NOT_DEAD = "client[(1-c)].state"
RECORD_GRANTED = "LTL=it_is_granted"
ONLY_BREAKS = f"{RECORD_GRANTED} NO_DEATH NO_POLL LOSSES=0"

RECORDS = [
    ("records.pml", "", HOLDS),
    ("records.pml", "DRIFT LEASE=3", HOLDS),
    ("records.pml", "AHEAD=3", HOLDS),
    ("records.pml", "BACK=2", HOLDS),
    ("records.pml", "AHEAD=1 SHORTER_AGAIN", NOT_TWO),
    ("records.pml", "AHEAD=1 FROM_GRANT", NOT_TWO),
    ("records.pml", "AHEAD=1 BACK=1", HOLDS),
    ("records.pml", "NO_GUARD", HOLDS),
    ("records.pml", "NO_GUARD AHEAD=2", NOT_TWO),
    ("records.pml", "NO_VERSIONS DELAY=1", NOT_TWO),
    ("records.pml", "FROM_REPLY DELAY=1", NOT_TWO),
    ("records.pml", "FROM_RUN NO_GUARD DELAY=1", NOT_TWO),
    ("records.pml", "NO_MARGIN DRIFT LEASE=3", NOT_TWO),
    ("records.pml", "LATE_BELIEVED", NOT_TWO),
    ("records.pml", "EARLY_TAKE", NOT_TWO),
    ("records.pml", "TIME_GOES_BACK BACK=2", NOT_TWO),
    ("records.pml", "NO_PRESENCE DELAY=1", NOT_DEAD),
    ("records.pml", RECORD_GRANTED, HOLDS),
    ("records.pml", f"{RECORD_GRANTED} NO_DEATH NO_POLL", CYCLE),
    ("records.pml", ONLY_BREAKS, HOLDS),
    ("records.pml", f"{ONLY_BREAKS} NO_GAP", CYCLE),
]

ONCE = "applied[client[c].second]==1"

COMMITS = [
    ("commits.pml", "", HOLDS),
    ("commits.pml", "NO_VERSIONS", "value>value"),
    ("commits.pml", "REPEAT_BLINDLY", ONCE),
    ("commits.pml", "REPEAT_UNSEEN", ONCE),
    ("commits.pml", "FORGET_GROUP", ONCE),
    ("commits.pml", "UNCHECKED", "client[c].least"),
]

CONFIGURATIONS = LEASE + TOKEN + HANDOVER + QUORUM + BARRIER + QUEUE + \
    RECORDS + COMMITS
SHORT = [
    ("lease.pml", "VALID_FROM_REPLY", ONE_HOLDER),
    ("token.pml", "RESTARTED_EMPTY", HOLDS),
    ("token.pml", "NO_CLOCK FAILOVER", TOKENS_GROW),
]
