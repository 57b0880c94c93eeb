/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_store_test.c - requests on a store of records in memory: how many
 * calls of the store they cost, and what becomes of those that are not
 * answered. Interleavings are in tests/sim.
 */
#include "record_memory.h"
#include "util/sha1.h"

#define OWNER "0123456789abcdef-fedcba987654321"
#define OTHER "0123456789abcdef-fedcba987654322"

EACH_TEST_WITH(set_up, tear_down);

/* ----------------------------------------------------------------- requests */

static hf_status lock_for(setting *self, hf__script_id id, const char *owner,
                          const char *ttl, char text[TEXT_SIZE])
{
    hf_bytes words[] = {hf_str("L"), hf_str("hf:token"), hf_str("hf:wait"),
                        hf_str(owner), hf_str(ttl)};
    hf__request request;

    hf__request_script(&request, &hf__scripts[id], words,
                       id == HF__SCRIPT_LOCK_ACQUIRE ? 5 : 4, 3);
    return finish(self, &request, 20000 * SLOWER, text);
}

static hf_status lock(setting *self, hf__script_id id, const char *owner,
                      char text[TEXT_SIZE])
{
    return lock_for(self, id, owner, "15000", text);
}

TEST(record_store_pair_costs_two_calls)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    for (int i = 0; i < 3; i++) {
        assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text),
                         HF_OK);
        assert_int_equal(lock(self, HF__SCRIPT_LOCK_RELEASE, OWNER, text),
                         HF_OK);
        assert_string_equal(text, "i:1");
        /* The first reads what it does not know. */
        want_calls(self, i == 0, 2);
    }
}

TEST(record_store_refusal_checks_what_was_kept)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    want_calls(self, 1, 1);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OTHER, text), HF_OK);
    assert_non_null(strstr(text, OWNER));
    want_calls(self, 0, 1);
    /* Another client has released it. */
    stored_of(self->store, hf_str("L"))->version = 0;
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OTHER, text), HF_OK);
    assert_null(strstr(text, OWNER));
    want_calls(self, 0, 2);
}

TEST(record_store_failure_checks_what_was_kept)
{
    setting *self = *state;
    hf__backend_record damaged = {
        .key = hf_str("a"), .payload = hf_str("damaged"), .version = 7};
    hf__backend_record *stored = stored_of(self->store, hf_str("b"));
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    hf__kept_put(&self->records.kept, &damaged);
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_string_equal(text, "s:5");
    /* What is in the store, it reports. */
    stored->payload = copy_of(damaged.payload);
    stored->version = 8;
    assert_int_equal(line(self, "get b", true, text), HF_CORRUPT);
}

TEST(record_store_keeps_so_many_bytes)
{
    static char payload[HF__KEPT_PAYLOAD_MAX];
    hf__kept_table table = {.count = 0};
    char key[8];
    hf__backend_record record = {.payload = hf_view(payload, sizeof(payload)),
                                 .version = 1};

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        record.key = hf_str(key);
        hf__kept_put(&table, &record);
        assert_non_null(hf__kept_find(&table, record.key));
    }
    assert_in_range(table.count, 100, 128);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        hf__kept_drop(&table, hf_str(key));
    }
    assert_int_equal(table.count, 0);
    assert_int_equal(table.bytes, 0);
}

TEST(record_store_learns_from_messages)
{
    setting *self = *state;
    hf__backend_record removed = {.key = hf_str("L")};
    char text[TEXT_SIZE];

    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    stored_of(self->store, hf_str("L"))->version = 0;
    hf__record_store_learn(&self->records, &removed);
    self->store->reads = self->store->commits = 0;
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OTHER, text), HF_OK);
    want_calls(self, 0, 1);
}

/* A new process tries to acquire it. false: it is held. */
static bool try_newly(setting *self)
{
    char text[TEXT_SIZE];

    hf__kept_done(&self->records.kept);
    hf__guard_free(self->records.guard);
    self->records.guard = hf__guard_new();
    assert_int_equal(
        lock_for(self, HF__SCRIPT_LOCK_ACQUIRE, OTHER, "15000", text), HF_OK);
    return strstr(text, OWNER) == NULL;
}

/* None of them sees the lease for as long as it was. */
TEST(record_store_newcomers_are_granted_what_a_dead_process_held)
{
    setting *self = *state;
    char text[TEXT_SIZE];
    int64_t began_ms = hf__clock_boot_ms();

    assert_int_equal(
        lock_for(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, "300", text), HF_OK);
    while (!try_newly(self)) {
        assert_true(hf__clock_boot_ms() - began_ms < 5000 * SLOWER);
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
    /* One has watched it from its end on. */
    assert_true(hf__clock_boot_ms() - began_ms >= 600);
}

TEST(record_store_lease_outlives_a_clock_that_is_set_forward)
{
    setting *self = *state;
    char text[TEXT_SIZE];
    int64_t began_ms;

    assert_int_equal(
        lock_for(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, "1000", text), HF_OK);
    began_ms = hf__clock_boot_ms();
    self->store->ahead_us = INT64_C(10000000000);
    /* A commit, after which what has ended for hours is gone. */
    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    while (!try_newly(self)) {
        assert_true(hf__clock_boot_ms() - began_ms < 9000 * SLOWER);
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
    assert_true(hf__clock_boot_ms() - began_ms >= 1000);
}

/* false: it has not what it wants. */
static bool run_words(setting *self, hf__script_id id, const char *const *list)
{
    size_t keys = id == HF__SCRIPT_LOCK_ACQUIRE_ALL ? 5 : 3;
    hf_bytes words[WORD_MAX];
    hf__request request;
    char text[TEXT_SIZE];
    size_t count = 0;

    for (; list[count] != NULL; count++)
        words[count] = hf_str(list[count]);
    hf__request_script(&request, &hf__scripts[id], words, count, keys);
    assert_int_equal(finish(self, &request, 20000 * SLOWER, text), HF_OK);
    return strstr(text, OWNER) == NULL && strstr(text, ", i:0]") == NULL;
}

/* A new process each time. */
static void take_newly(setting *self, hf__script_id id, const char *const *list)
{
    int64_t began_ms = hf__clock_boot_ms();

    while (!run_words(self, id, list)) {
        hf__kept_done(&self->records.kept);
        hf__guard_free(self->records.guard);
        self->records.guard = hf__guard_new();
        assert_true(hf__clock_boot_ms() - began_ms < 20000 * SLOWER);
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
}

#define LEASED(key, owner) key, "hf:token", "hf:wait" key, owner, "500"
#define WANTED(key) LEASED(key, OTHER), "", "0", "0"

/* The record says whether it is a lease, not the script that looks at it. */
TEST(record_store_leases_of_all_kinds_outlive_a_clock_set_forward)
{
    static const char *const held[] = {LEASED("L", OWNER), NULL};
    static const char *const second[] = {LEASED("M", OWNER), NULL};
    static const char *const leader[] = {
        LEASED("L", OWNER), "", "0", "0", "%a", NULL};
    static const char *const candidate[] = {WANTED("L"), "%b", NULL};
    static const char *const reader[] = {WANTED("L"), NULL};
    static const char *const together[] = {"hf:token", "L",   "M",   "hf:waitL",
                                           "hf:waitM", "1",   OTHER, "500",
                                           OTHER,      "500", NULL};
    static const struct {
        hf__script_id holds;
        const char *const *what;
        hf__script_id wants;
        const char *const *words;
    } all[] = {
        {HF__SCRIPT_ELECTION_ACQUIRE, leader, HF__SCRIPT_ELECTION_ACQUIRE,
         candidate},
        {HF__SCRIPT_LOCK_ACQUIRE, held, HF__SCRIPT_RWLOCK_ACQUIRE, reader},
        {HF__SCRIPT_LOCK_ACQUIRE, held, HF__SCRIPT_LOCK_ACQUIRE_ALL, together}};
    setting *self = *state;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int64_t began_ms = hf__clock_boot_ms();

        stored_of(self->store, hf_str("L"))->version = 0;
        hf__kept_done(&self->records.kept);
        (void)run_words(self, all[i].holds, all[i].what);
        if (all[i].words == together)
            (void)run_words(self, all[i].holds, second);
        self->store->ahead_us += INT64_C(10000000000);
        /* A commit, after which what has ended for hours is gone. */
        assert_int_equal(line(self, "set a 5", true, text), HF_OK);
        take_newly(self, all[i].wants, all[i].words);
        assert_true(hf__clock_boot_ms() - began_ms >= 500);
    }
}

TEST(record_store_read_is_one_call)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_string_equal(text, "nil");
    want_calls(self, 1, 0);
    assert_int_equal(line(self, "dbsize", true, text), HF_UNSUPPORTED);
}

/* What belongs to the key is not in KEYS. */
TEST(record_store_reads_keys_that_a_script_makes_up)
{
    setting *self = *state;
    hf_bytes word = hf_str("a");
    hf__request request;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    want_calls(self, 1, 1);
    hf__request_script(&request, &hf__scripts[HF__SCRIPT_KEY_DELETE], &word, 1,
                       1);
    assert_int_equal(finish(self, &request, 20000 * SLOWER, text), HF_OK);
    assert_string_equal(text, "i:1");
    /* One more read for each key that it has met. */
    assert_true(self->store->reads > 0);
    assert_int_equal(self->store->commits, 1);
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_string_equal(text, "nil");
}

static hf_status user_script(setting *self, const char *source, char *text)
{
    char sha1[HF__SHA1_HEX_SIZE];
    hf__script script = HF__USER_SCRIPT(source, strlen(source), sha1);
    hf_bytes word = hf_str("a");
    hf__request request;

    hf__sha1_hex(source, strlen(source), sha1);
    hf__request_script(&request, &script, &word, 1, 1);
    return finish(self, &request, 20000 * SLOWER, text);
}

TEST(record_store_other_databases_cost_no_reads)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    self->store->reads = 0;
    assert_int_not_equal(line(self, "move a 1", false, text), HF_OK);
    assert_int_not_equal(line(self, "copy a b db 1", false, text), HF_OK);
    assert_in_range(self->store->reads, 0, 1);
}

/* Nothing of an earlier read is then used, nor does a key that was not read
 * count as absent. */
TEST(record_store_read_of_a_key_that_is_made_up_may_fail)
{
    setting *self = *state;
    char text[TEXT_SIZE];
    char big[6000];

    memset(big, 'v', sizeof(big) - 1);
    memcpy(big, "set a ", 6);
    big[sizeof(big) - 1] = '\0';
    assert_int_equal(line(self, big, true, text), HF_OK);
    assert_int_equal(line(self, "set ax made-up", true, text), HF_OK);
    hf__kept_done(&self->records.kept);
    self->store->reads = self->store->commits = 0;
    self->store->bad_read = 2;
    assert_int_equal(user_script(self,
                                 "return redis.call('strlen', KEYS[1]) .. "
                                 "redis.call('get', KEYS[1] .. 'x')",
                                 text),
                     HF_OK);
    assert_string_equal(text, "s:5993made-up");
    want_calls(self, 3, 0);
}

TEST(record_store_unanswered_commit_is_recognised)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    self->store->next = UNANSWERED;
    assert_int_equal(line(self, "incr a", false, text), HF_OK);
    assert_string_equal(text, "i:1");
    want_calls(self, 2, 1);
    assert_int_equal(line(self, "incr a", false, text), HF_OK);
    assert_string_equal(text, "i:2");
}

TEST(record_store_may_be_far_away)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    self->store->trip_ms = 400;
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_RELEASE, OWNER, text), HF_OK);
    assert_string_equal(text, "i:1");
    want_calls(self, 1, 2);
}

#define FLOOD 200

typedef struct flood {
    hf__request requests[FLOOD];
    hf_bytes words[FLOOD][3];
    char keys[FLOOD][8];
    size_t done;
} flood;

static void count_done(hf__request *request)
{
    flood *all = request->user;

    assert_int_equal(request->status, HF_OK);
    __atomic_add_fetch(&all->done, 1, __ATOMIC_RELEASE);
}

/* Each begins when the store can take it, and a release goes first. */
TEST(record_store_many_requests_wait_for_their_turn)
{
    static flood all;
    setting *self = *state;
    char text[TEXT_SIZE];

    self->store->base.calls_max = 1;
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    self->store->trip_ms = 2;
    self->store->commits = 0;
    for (size_t i = 0; i < FLOOD; i++) {
        (void)snprintf(all.keys[i], sizeof(all.keys[i]), "k%zu", i);
        all.words[i][0] = hf_str("set");
        all.words[i][1] = hf_str(all.keys[i]);
        all.words[i][2] = hf_str("v");
        hf__request_command(&all.requests[i], all.words[i], 3, true);
        all.requests[i].on_done = count_done;
        all.requests[i].user = &all;
        all.requests[i].began_ms = hf__clock_boot_ms();
        all.requests[i].deadline_ms = all.requests[i].began_ms + 60000 * SLOWER;
        hf__record_store_submit(&self->records, &all.requests[i]);
    }
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_RELEASE, OWNER, text), HF_OK);
    assert_true(__atomic_load_n(&all.done, __ATOMIC_ACQUIRE) < FLOOD / 2);
    while (__atomic_load_n(&all.done, __ATOMIC_ACQUIRE) < FLOOD)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    /* None was refused as too old. */
    assert_int_equal(self->store->commits, FLOOD + 1);
    for (size_t i = 0; i < FLOOD; i++)
        hf__request_done(&all.requests[i]);
}

/* Nothing says any more that it was not done. */
TEST(record_store_failure_after_a_lost_commit_leaves_it_unknown)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "get a", true, text), HF_OK);
    self->store->next = REFUSED_LATER;
    assert_int_equal(line(self, "set a 5", true, text), HF_INDETERMINATE);
    assert_string_equal(text, "it is away");
}

TEST(record_store_waits_for_a_store_that_is_away)
{
    setting *self = *state;
    hf_bytes words[] = {hf_str("get"), hf_str("a")};
    int64_t began_ms = hf__clock_boot_ms();
    char text[TEXT_SIZE];
    hf__request request;

    self->store->refusal = HF_UNAVAILABLE;
    self->store->refusals = 3;
    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    self->store->refusals = 1000000;
    hf__request_command(&request, words, 2, true);
    began_ms = hf__clock_boot_ms();
    /* A read, as what is kept is checked. */
    hf__kept_done(&self->records.kept);
    assert_int_equal(finish(self, &request, 200, text), HF_UNAVAILABLE);
    assert_true(hf__clock_boot_ms() - began_ms >= 200);
    assert_string_equal(text, "it is away");
    self->store->refusals = 0;
}

typedef struct cancelled {
    hf__task task;
    hf__record_store *records;
    hf__request request;
    bool done;
} cancelled;

static void take_cancelled(hf__request *request)
{
    cancelled *self = request->user;

    __atomic_store_n(&self->done, true, __ATOMIC_RELEASE);
}

static void submit_and_cancel(hf__task *task)
{
    cancelled *self = (cancelled *)task;

    hf__record_store_submit(self->records, &self->request);
    hf__record_store_cancel(self->records, &self->request);
}

TEST(record_store_cancels_what_is_still_to_begin)
{
    setting *self = *state;
    hf_bytes words[] = {hf_str("get"), hf_str("a")};
    cancelled of = {.task = {submit_and_cancel, NULL},
                    .records = &self->records};
    int64_t began_ms = hf__clock_boot_ms();

    self->store->refusals = 1000000;
    self->store->refusal = HF_UNAVAILABLE;
    hf__request_command(&of.request, words, 2, true);
    of.request.on_done = take_cancelled;
    of.request.user = &of;
    of.request.deadline_ms = began_ms + INT64_C(60000) * SLOWER;
    hf__loop_call(self->loop, &of.task);
    while (!__atomic_load_n(&of.done, __ATOMIC_ACQUIRE))
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    assert_int_equal(of.request.status, HF_UNAVAILABLE);
    assert_true(hf__clock_boot_ms() - began_ms < INT64_C(30000) * SLOWER);
    hf__request_done(&of.request);
}

TEST(record_store_release_works_after_the_clock_was_set_back)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    self->store->commits = 0;
    self->store->ahead_us = -INT64_C(10000000000);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_RELEASE, OWNER, text), HF_OK);
    assert_string_equal(text, "i:1");
    assert_true(self->store->commits <= 3);
}

TEST(record_store_lease_ends_although_the_clock_was_set_back)
{
    setting *self = *state;
    char text[TEXT_SIZE];
    int64_t began_ms = hf__clock_boot_ms();

    assert_int_equal(
        lock_for(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, "300", text), HF_OK);
    self->store->ahead_us = -INT64_C(10000000000);
    while (!try_newly(self)) {
        assert_true(hf__clock_boot_ms() - began_ms < 5000 * SLOWER);
        hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    }
    assert_true(hf__clock_boot_ms() - began_ms >= 300);
}

static hf_status enter_queue(setting *self, char *text)
{
    hf_bytes words[] = {hf_str("L"),   hf_str("hf:token"), hf_str("hf:wait"),
                        hf_str(OTHER), hf_str("15000"),    hf_str("entry"),
                        hf_str("0"),   hf_str("0")};
    hf__request request;

    hf__request_script(&request, &hf__scripts[HF__SCRIPT_LOCK_ACQUIRE], words,
                       8, 3);
    return finish(self, &request, 20000 * SLOWER, text);
}

/* TIME is then older than what the waiter has seen of the lease. */
TEST(record_store_lease_keeps_its_end_when_a_waiter_enters)
{
    setting *self = *state;
    hf__backend_record *lease = stored_of(self->store, hf_str("L"));
    uint64_t version;
    int64_t end_ms;
    char text[TEXT_SIZE];

    self->store->back_ms = 400;
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    self->store->back_ms = 0;
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OTHER, text), HF_OK);
    end_ms = hf__backend_end(lease->expire_ms);
    version = lease->version;
    self->store->back_ms = 400;
    assert_int_equal(line(self, "get b", true, text), HF_OK);
    assert_int_equal(enter_queue(self, text), HF_OK);
    assert_true(lease->version != version);
    assert_in_range(hf__backend_end(lease->expire_ms), end_ms, end_ms + 200);
}

/* ... after the clock was set forward: they see how long it is from then on. */
TEST(record_store_lease_is_as_long_for_who_sees_it_later)
{
    setting *self = *state;
    hf__backend_record *lease = stored_of(self->store, hf_str("L"));
    uint64_t version;
    char text[TEXT_SIZE];

    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    version = lease->version;
    self->store->ahead_us += 10000000;
    hf__clock_sleep_until(hf__clock_boot_ms() + 20);
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_int_equal(enter_queue(self, text), HF_OK);
    assert_true(lease->version != version);
    /* Less is what it took until then; the clock was set by 10000. */
    assert_true(hf__backend_end(lease->expire_ms) >=
                lease->at_us / 1000 + 15000 - 5000);
}

/* Become the leader, or say so again. */
static void lead(setting *self, bool again)
{
    hf_bytes first[] = {hf_str("L"),   hf_str("hf:token"), hf_str("hf:wait"),
                        hf_str(OWNER), hf_str("15000"),    hf_str(""),
                        hf_str("0"),   hf_str("0"),        hf_str("%")};
    hf_bytes proclaim[] = {hf_str("L"), hf_str(OWNER), hf_str("text")};
    hf__request request;
    char text[TEXT_SIZE];

    if (again)
        hf__request_script(&request, &hf__scripts[HF__SCRIPT_ELECTION_PROCLAIM],
                           proclaim, 3, 1);
    else
        hf__request_script(&request, &hf__scripts[HF__SCRIPT_ELECTION_ACQUIRE],
                           first, 9, 3);
    assert_int_equal(finish(self, &request, 20000 * SLOWER, text), HF_OK);
    assert_true(!again || strcmp(text, "i:1") == 0);
}

static int64_t length_of(const hf__backend_record *lease)
{
    return hf__backend_end(lease->expire_ms) - lease->at_us / 1000;
}

/* Who leads says so again and again; the lease is renewed much less often. */
TEST(record_store_lease_does_not_grow_with_each_write)
{
    setting *self = *state;
    hf__backend_record *lease = stored_of(self->store, hf_str("L"));
    int64_t began_ms = hf__clock_boot_ms();
    uint64_t version = 0;

    lead(self, false);
    for (int i = 0; i < 100; i++) {
        lead(self, true);
        assert_true(lease->version != version);
        version = lease->version;
        assert_in_range(length_of(lease),
                        15000 - (hf__clock_boot_ms() - began_ms) - 1, 15001);
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + 300);
    lead(self, true);
    assert_true(length_of(lease) < 14750);
}

/* ... nor by the time that it takes, each as soon as the one before is done. */
TEST(record_store_lease_does_not_grow_by_the_trips_of_its_writes)
{
    setting *self = *state;
    hf__backend_record *lease = stored_of(self->store, hf_str("L"));

    lead(self, false);
    self->store->trip_ms = 40;
    for (int i = 0; i < 11; i++)
        lead(self, true);
    assert_true(length_of(lease) < 14750);
}

TEST(record_store_refuses_too_many_keys)
{
    setting *self = *state;
    static hf_bytes words[1 + 100000];
    static char keys[100000][8];
    hf__request request;
    char text[TEXT_SIZE];

    words[0] = hf_str("del");
    for (size_t i = 0; i < 100000; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
        words[1 + i] = hf_str(keys[i]);
    }
    hf__request_command(&request, words, 100001, true);
    assert_int_equal(finish(self, &request, 20000 * SLOWER, text), HF_INVALID);
    assert_string_equal(text, "more than 496 keys in one request");
    want_calls(self, 0, 0);
}

/* It may be done later. */
TEST(record_store_lost_commit_is_repeated_only_if_it_may_be)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    self->store->next = LOST;
    assert_int_equal(line(self, "incr a", false, text), HF_INDETERMINATE);
    self->store->next = LOST;
    assert_int_equal(line(self, "set a 5", true, text), HF_OK);
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_string_equal(text, "s:5");
}

TEST(record_store_turn_is_on_what_others_contend_for)
{
    setting *self = *state;
    hf_bytes words[] = {hf_str("record"), hf_str("a"),    hf_str("1"),
                        hf_str("1"),      hf_str("2"),    hf_str("0"),
                        hf_str("1"),      hf_str("60000")};
    hf__request request;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "incr a", true, text), HF_OK);
    self->store->first_key[0] = '\0';
    hf__request_script(&request, &hf__scripts[HF__SCRIPT_VALUE_CAS_ONCE], words,
                       8, 2);
    assert_int_equal(finish(self, &request, 20000 * SLOWER, text), HF_OK);
    assert_string_equal(self->store->first_key, "a");
}

TEST(record_store_says_who_may_soon_commit)
{
    setting *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(line(self, "incr a", true, text), HF_OK);
    assert_false(self->store->grants);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    assert_true(self->store->grants);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_ACQUIRE, OWNER, text), HF_OK);
    assert_false(self->store->grants);
    assert_int_equal(lock(self, HF__SCRIPT_LOCK_RELEASE, OWNER, text), HF_OK);
    assert_false(self->store->grants);
}

TEST(record_store_returns_by_the_deadline)
{
    setting *self = *state;
    hf_bytes words[] = {hf_str("set"), hf_str("a"), hf_str("1")};
    int64_t wait_ms = slowed_ms(200); /* enough to be sent */
    int64_t began_ms = hf__clock_boot_ms();
    char text[TEXT_SIZE];
    hf__request request;

    self->store->next = SILENT;
    hf__request_command(&request, words, 3, true);
    assert_int_equal(finish(self, &request, wait_ms, text), HF_INDETERMINATE);
    assert_in_time(hf__clock_boot_ms() - began_ms, wait_ms + 2000 * SLOWER);
    /* One on the same key waits for it, and has not been sent. */
    hf__request_command(&request, words, 3, true);
    assert_int_equal(finish(self, &request, 50, text), HF_UNAVAILABLE);
}
