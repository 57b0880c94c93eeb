/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_group_test.c - requests of one client that wait for one key of a store
 * of records: they are one commit, and each has its own reply and deadline.
 */
#include "record_memory.h"

EACH_TEST_WITH(set_up, tear_down);

#define CROWD 300

/* Requests that come at once. */
typedef struct crowd {
    hf__task task;
    setting *self;
    size_t count;
    hf__request requests[CROWD];
    hf_bytes words[CROWD][WORD_MAX];
    int64_t within_ms[CROWD]; /* 0: long */
    size_t done;
    long fail_after; /* allocations, once all have come */
} crowd;

static void count_one(hf__request *request)
{
    crowd *all = request->user;

    __atomic_add_fetch(&all->done, 1, __ATOMIC_RELEASE);
}

static void submit_all(hf__task *task)
{
    crowd *all = (crowd *)task;

    for (size_t i = 0; i < all->count; i++) {
        hf__request *one = &all->requests[i];

        one->on_done = count_one;
        one->user = all;
        one->began_ms = hf__clock_boot_ms();
        one->deadline_ms =
            one->began_ms + (all->within_ms[i] != 0 ? all->within_ms[i]
                                                    : INT64_C(60000) * SLOWER);
        hf__record_store_submit(&all->self->records, one);
    }
}

static void await_done(const crowd *all, size_t count)
{
    while (__atomic_load_n(&all->done, __ATOMIC_ACQUIRE) < count)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
}

static void add_line(crowd *all, const char *words, bool repeatable)
{
    hf_bytes *list = all->words[all->count];

    hf__request_command(&all->requests[all->count++], list, split(words, list),
                        repeatable);
}

static crowd *new_crowd(setting *self, size_t count, const char *words,
                        bool repeatable)
{
    static crowd all;

    /* The first has to read, and meanwhile the others come. */
    memset(&all, 0, sizeof(all));
    all.self = self;
    /* However slow the machine is. */
    self->records.group_us = self->store->patient_us = INT64_C(60000000);
    hf__kept_done(&self->records.kept);
    all.task.run = submit_all;
    for (size_t i = 0; i < count; i++)
        add_line(&all, words, repeatable);
    return &all;
}

static void run_crowd(crowd *all)
{
    hf__loop_call(all->self->loop, &all->task);
    await_done(all, all->count);
}

/* Each of these was answered by what it has added to. */
static void want_sums(crowd *all, size_t from, size_t to, int64_t sum)
{
    for (size_t i = from; i < to; i++) {
        assert_int_equal(all->requests[i].status, HF_OK);
        assert_int_equal(all->requests[i].reply.integer, ++sum);
        hf__request_done(&all->requests[i]);
    }
}

static void want_value(setting *self, const char *expected)
{
    char text[TEXT_SIZE];

    hf__kept_done(&self->records.kept);
    assert_int_equal(line(self, "get a", true, text), HF_OK);
    assert_string_equal(text, expected);
}

TEST(record_group_is_one_commit)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 100, "incr a", false);

    run_crowd(all);
    want_calls(self, 1, 1);
    want_sums(all, 0, 100, 0);
    want_value(self, "s:100");
    /* But so many at most. */
    self->store->reads = 0;
    all = new_crowd(self, CROWD, "incr a", false);
    run_crowd(all);
    want_calls(self, 1, 2);
    want_sums(all, 0, CROWD, 100);
}

/* Eight of a size each; three fit, as those that grow a value are only counted
 * afterwards. */
static void want_bounded(setting *self, const char *words, size_t size,
                         size_t commits)
{
    static char text[400000];
    char offset[16];
    crowd *all = new_crowd(self, 8, words, false);

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < 8; i++) {
        hf_bytes *last = &all->words[i][all->requests[i].word_count - 1];

        *last = hf_view(text, size);
        if (all->requests[i].word_count < 4)
            continue;
        (void)snprintf(offset, sizeof(offset), "%zu", (i + 1) * sizeof(text));
        all->words[i][2] = hf_view(strdup(offset), strlen(offset));
    }
    run_crowd(all);
    assert_int_equal(self->store->commits, commits);
    self->store->reads = self->store->commits = 0;
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(all->requests[i].status, HF_OK);
        if (all->requests[i].word_count >= 4)
            free((void *)(uintptr_t)all->words[i][2].data);
        hf__request_done(&all->requests[i]);
    }
}

TEST(record_group_is_bounded_in_bytes)
{
    want_bounded(*state, "append a x", 400000, 4);
    /* Of which only the last is a word. */
    want_bounded(*state, "setrange b 0 x", 1, 2);
}

/* As of an operation that leaves a key by which it is known. */
TEST(record_group_reads_all_keys_at_once)
{
    setting *self = *state;
    static char keys[100][8];
    crowd *all = new_crowd(self, 100, "mset a 1 k 1", true);

    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
        all->words[i][3] = hf_str(keys[i]);
    }
    run_crowd(all);
    /* The first does not know yet who comes behind it. */
    want_calls(self, 2, 2);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(all->requests[i].status, HF_OK);
        assert_true(stored_of(self->store, hf_str(keys[i]))->version != 0);
    }
}

TEST(record_group_overtakes_no_one)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 0, "", false);

    add_line(all, "incr b", false);
    add_line(all, "incr a", false);
    add_line(all, "mset a 5 b 5", true);
    add_line(all, "incr a", false);
    run_crowd(all);
    want_sums(all, 0, 1, 0);
    want_sums(all, 1, 2, 0);
    want_sums(all, 3, 4, 5);
    want_value(self, "s:6");
}

TEST(record_group_continues_without_one_that_fails)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 3, "incr a", false);

    add_line(all, "lpush a x", false);
    for (int i = 0; i < 3; i++)
        add_line(all, "incr a", false);
    run_crowd(all);
    want_calls(self, 1, 3);
    want_sums(all, 0, 3, 0);
    assert_int_not_equal(all->requests[3].status, HF_OK);
    want_sums(all, 4, 7, 3);
}

/* What it has written is not in their commit, but in its own. */
TEST(record_group_is_rid_of_what_a_failed_one_wrote)
{
    static const char *const fails[] = {
        "eval redis.call('incrby',KEYS[1],100)error('x') 1 a",
        /* By another key, which is not known, the whole is undone. */
        "eval redis.call('incrby',KEYS[1],100)redis.call('lpush',KEYS[1]..'b',"
        "1)error('x') 1 a"};
    setting *self = *state;

    for (size_t i = 0; i < 2; i++) {
        crowd *all = new_crowd(self, 3, "incr a", false);

        add_line(all, fails[i], false);
        for (int j = 0; j < 3; j++)
            add_line(all, "incr a", false);
        run_crowd(all);
        want_calls(self, 1 + i, 3);
        want_sums(all, 0, 3, i == 0 ? 0 : 106);
        assert_int_not_equal(all->requests[3].status, HF_OK);
        want_sums(all, 4, 7, i == 0 ? 103 : 209);
    }
}

/* What only reads sees a lease that looks over; what acquires does not. */
TEST(record_group_has_one_view_of_a_lease)
{
    setting *self = *state;
    char text[TEXT_SIZE];
    crowd *all;

    (void)line(self, "set a 1 px 100", true, text);
    stored_of(self->store, hf_str("a"))->expire_ms *= -1;
    hf__clock_sleep_until(hf__clock_boot_ms() + 200);
    self->store->reads = self->store->commits = 0;
    all = new_crowd(self, 1, "incr a", false);
    add_line(all, "get a", true);
    add_line(all, "get a", true);
    run_crowd(all);
    want_sums(all, 0, 1, 1);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(all->requests[i].status, HF_OK);
        hf__request_done(&all->requests[i]);
    }
    want_calls(self, 1, 2);
}

TEST(record_group_unanswered_is_recognised)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 10, "incr a", false);

    self->store->next = UNANSWERED;
    run_crowd(all);
    want_calls(self, 2, 1);
    want_sums(all, 0, 10, 0);
    want_value(self, "s:10");
}

TEST(record_group_lost_is_repeated_only_if_it_may_be)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 5, "incr a", false);

    add_line(all, "set a 1", true);
    add_line(all, "get a", true);
    self->store->next = LOST;
    run_crowd(all);
    want_calls(self, 2, 2);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(all->requests[i].status, HF_INDETERMINATE);
    assert_int_equal(all->requests[5].status, HF_OK);
    assert_int_equal(all->requests[6].status, HF_OK);
    assert_memory_equal(all->requests[6].reply.bytes.data, "1", 1);
    hf__request_done(&all->requests[5]);
    hf__request_done(&all->requests[6]);
    want_value(self, "s:1");
}

static void lose_silent(hf__task *task)
{
    memory *store = ((crowd *)task)->self->store;
    hf__backend_call *call = store->silent;

    store->silent = NULL;
    store->next = ANSWERED;
    call->outcome = HF__BACKEND_UNKNOWN;
    call->done(call);
}

/* Whichever of them has to go, first or not. */
TEST(record_group_each_has_its_own_deadline)
{
    setting *self = *state;

    for (size_t late = 0; late < 3; late++) {
        crowd *all = new_crowd(self, 2, "set a 1", true);

        add_line(all, "set a 2", true);
        all->within_ms[late] = 100;
        self->store->next = SILENT;
        hf__loop_call(self->loop, &all->task);
        await_done(all, 1);
        assert_int_equal(all->requests[late].status, HF_INDETERMINATE);
        all->task.run = lose_silent;
        hf__loop_call(self->loop, &all->task);
        await_done(all, 3);
        for (size_t i = 0; i < 3; i++) {
            if (i != late)
                assert_int_equal(all->requests[i].status, HF_OK);
            hf__request_done(&all->requests[i]);
        }
        want_value(self, late == 2 ? "s:1" : "s:2");
    }
}

/* Then each finds out by itself. */
TEST(record_group_outlives_the_first)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 3, "incr a", false);

    all->within_ms[0] = 100;
    self->store->next = SILENT;
    hf__loop_call(self->loop, &all->task);
    await_done(all, 1);
    all->task.run = lose_silent;
    run_crowd(all);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(all->requests[i].status, HF_INDETERMINATE);
    want_value(self, "nil");
}

static void do_silent(hf__task *task)
{
    memory *store = ((crowd *)task)->self->store;

    store->holds = true;
    write_all(store, store->silent);
    lose_silent(task);
}

static void answer_held(hf__task *task)
{
    memory *store = ((crowd *)task)->self->store;

    /* The last first: what it finds out is not for the one that is over. */
    store->holds = false;
    for (size_t i = store->held_count; i-- > 0;) {
        hf__backend_call *call = store->held[i];

        call->outcome = HF__BACKEND_DONE;
        call->store_us = clock_us(store);
        read_all(store, call);
        call->done(call);
    }
    store->held_count = 0;
}

/* The first is over, and so is one of those that find out by themselves, whose
 * read is not answered yet. */
TEST(record_group_outlives_one_that_reads)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 0, "", true);

    add_line(all, "mset a 1 b 1", true);
    add_line(all, "incr a", false);
    add_line(all, "incr b", false);
    all->within_ms[0] = 100;
    all->within_ms[1] = 500 * SLOWER;
    self->store->next = SILENT;
    hf__loop_call(self->loop, &all->task);
    await_done(all, 1);
    all->task.run = do_silent;
    hf__loop_call(self->loop, &all->task);
    await_done(all, 2);
    assert_int_equal(all->requests[1].status, HF_INDETERMINATE);
    all->task.run = answer_held;
    hf__loop_call(self->loop, &all->task);
    await_done(all, 3);
    want_sums(all, 2, 3, 1);
    want_value(self, "s:2");
}

TEST(record_group_that_is_too_much_is_taken_apart)
{
    setting *self = *state;
    crowd *all = new_crowd(self, 5, "incr a", false);

    self->store->next = TOO_MUCH;
    run_crowd(all);
    want_calls(self, 1, 3);
    want_sums(all, 0, 5, 0);
}

static void submit_failing(hf__task *task)
{
    submit_all(task);
    (void)hf__alloc_fail_after(((crowd *)task)->fail_after);
}

/* Whichever allocation fails, as of the keys of the others, which the first
 * takes. */
TEST(record_group_survives_no_memory)
{
    setting *self = *state;
    static char keys[40][12];
    bool failed = true;

    for (long after = 0; failed; after++) {
        crowd *all = new_crowd(self, 40, "mset a 1 k 1", true);

        for (size_t i = 0; i < 40; i++) {
            (void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
            all->words[i][3] = hf_str(keys[i]);
        }
        all->fail_after = after;
        all->task.run = submit_failing;
        hf__loop_call(self->loop, &all->task);
        await_done(all, 40);
        failed = hf__alloc_fail_after(-1) < 0;
        for (size_t i = 0; i < 40; i++) {
            assert_true(all->requests[i].status == HF_OK ||
                        all->requests[i].status == HF_NO_MEMORY);
            hf__request_done(&all->requests[i]);
        }
    }
}
