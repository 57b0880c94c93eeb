/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch_test.c - requests on records that their caller keeps: what they
 * reply, change and publish is what they would in a store.
 */
#include "embedded_store.h"

#include <malloc.h>

#include "support/prng.h"
#include "util/mem.h"

#define KEYS 8
#define NOW_US INT64_C(1700000000123456)
#define OWNER "0123456789abcdef-fedcba987654321"
#define OTHER "abcdef0123456789-0123456789abcde"
#define INBOX "hf:inbox:abcdef0123456789"
#define ENTRY "5000 hf:inbox:" OTHER

/* What a store of records would have. */
typedef struct kept_record {
    char *key;
    char *payload;
    size_t size;
    int64_t expire_ms;
} kept_record;

typedef struct records {
    hf__scratch *scratch;
    kept_record kept[KEYS];
    hf__scratch_call call; /* the last */
    hf__arena arena;       /* of them */
    hf__scratch_record given[KEYS];
    int64_t now_us;
    const char *present; /* the channel on which a client listens */
} records;

static int set_up(void **state)
{
    records *self = hf__calloc(1, sizeof(*self));

    assert_non_null(self);
    self->now_us = NOW_US;
    hf__arena_init(&self->arena);
    assert_int_equal(hf__scratch_open(&self->scratch, NULL), HF_OK);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    records *self = *state;

    hf__scratch_close(self->scratch);
    hf__arena_free(&self->arena);
    for (size_t i = 0; i < KEYS; i++) {
        free(self->kept[i].key);
        free(self->kept[i].payload);
    }
    hf__free(self);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* The record of a key, made if there is none. */
static kept_record *kept_of(records *self, hf_bytes key)
{
    size_t i = 0;

    while (self->kept[i].key != NULL &&
           (strlen(self->kept[i].key) != key.size ||
            memcmp(self->kept[i].key, key.data, key.size) != 0))
        i++;
    assert_true(i < KEYS);
    if (self->kept[i].key == NULL)
        self->kept[i].key = strndup(key.data, key.size);
    return &self->kept[i];
}

static void keep_changes(records *self)
{
    for (size_t i = 0; i < self->call.changed_count; i++) {
        const hf__scratch_record *from = &self->call.changed[i];
        kept_record *to = kept_of(self, from->key);

        free(to->payload);
        to->payload = NULL;
        to->size = from->payload.size;
        to->expire_ms = from->expire_ms;
        if (to->size > 0)
            to->payload =
                memcpy(malloc(to->size), from->payload.data, to->size);
    }
}

static bool is_present(void *user, hf_bytes channel)
{
    const records *self = user;

    return self->present != NULL && strlen(self->present) == channel.size &&
           memcmp(self->present, channel.data, channel.size) == 0;
}

static void run_alone(records *self, hf__request *request,
                      hf__scratch_call *call)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status;

    call->arena = &self->arena;
    hf__scratch_begin(self->scratch, call);
    hf__scratch_next(self->scratch, request, call);
    status = hf__scratch_end(self->scratch, call, &error);
    if (status == HF_OK)
        return;
    hf__request_done(request);
    hf__request_fail(request, status, "%s", error.message);
}

/* Run a request on what is kept, keep what it changes, and show the reply. */
static hf_status run(records *self, const hf__script *script,
                     const hf_bytes *words, size_t count, const hf_bytes *keys,
                     size_t key_count, char text[TEXT_SIZE])
{
    hf__scratch_record *given = self->given;
    hf__request request;
    hf_status status;

    for (size_t i = 0; i < key_count; i++) {
        const kept_record *from = kept_of(self, keys[i]);

        given[i] =
            (hf__scratch_record){.key = keys[i],
                                 .payload = hf_view(from->payload, from->size),
                                 .expire_ms = from->expire_ms};
    }
    self->call = (hf__scratch_call){.records = given,
                                    .record_count = key_count,
                                    .now_us = self->now_us,
                                    .budget_ms = 5000,
                                    .listens = is_present,
                                    .user = self};
    hf__request_init(&request);
    request.script = script;
    request.words = words;
    request.word_count = count;
    request.key_count = script != NULL ? key_count : 0;
    request.deadline_ms = hf__clock_boot_ms() + INT64_C(60000) * SLOWER;
    run_alone(self, &request, &self->call);
    keep_changes(self);
    text[0] = '\0';
    if (request.status == HF_OK)
        show(text, &request.reply);
    else
        (void)snprintf(text, TEXT_SIZE, "%s", request.error.message);
    status = request.status;
    hf__request_done(&request);
    return status;
}

static hf_status run_own(records *self, hf__script_id id, size_t key_count,
                         const hf_bytes *words, size_t count,
                         char text[TEXT_SIZE])
{
    return run(self, &hf__scripts[id], words, count, words, key_count, text);
}

/* A user's script, its keys and arguments split at spaces. */
static hf_status run_text(records *self, const char *source, size_t key_count,
                          const char *line, char text[TEXT_SIZE])
{
    char sha1[HF__SHA1_HEX_SIZE];
    hf_bytes words[WORD_MAX];
    hf__script script = HF__USER_SCRIPT(source, strlen(source), sha1);
    size_t count = split(line, words);

    hf__sha1_hex(source, strlen(source), sha1);
    return run(self, &script, words, count, words, key_count, text);
}

/* A command whose keys are the words after the first, `key_count` of them. */
static hf_status run_line(records *self, size_t key_count, const char *line,
                          char text[TEXT_SIZE])
{
    hf_bytes words[WORD_MAX];
    size_t count = split(line, words);

    return run(self, NULL, words, count, words + 1, key_count, text);
}

static void want(const char *text, const char *wanted)
{
    if (strcmp(text, wanted) != 0)
        fail_msg("got %s, want %s", text, wanted);
}

static const hf__scratch_record *changed(const records *self, const char *key)
{
    for (size_t i = 0; i < self->call.changed_count; i++) {
        if (self->call.changed[i].key.size == strlen(key) &&
            memcmp(self->call.changed[i].key.data, key, strlen(key)) == 0)
            return &self->call.changed[i];
    }
    return NULL;
}

static hf_status acquire(records *self, const char *owner, const char *entry,
                         char text[TEXT_SIZE])
{
    hf_bytes words[] = {hf_str("L"),   hf_str("hf:token"), hf_str("hf:wait"),
                        hf_str(owner), hf_str("15000"),    hf_str(entry),
                        hf_str("0"),   hf_str("0")};

    return run_own(self, HF__SCRIPT_LOCK_ACQUIRE, 3, words, 8, text);
}

static hf_status release(records *self, const char *owner, char text[TEXT_SIZE])
{
    hf_bytes words[] = {hf_str("L"), hf_str("hf:token"), hf_str("hf:wait"),
                        hf_str(owner)};

    return run_own(self, HF__SCRIPT_LOCK_RELEASE, 3, words, 4, text);
}

/* ------------------------------------------------------------------ locks */

TEST(scratch_acquire_changes_lock_and_token)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(acquire(self, OWNER, "", text), HF_OK);
    want(text, "i:1700000000123456");
    assert_int_equal(self->call.changed_count, 2);
    assert_non_null(changed(self, "L"));
    assert_true(changed(self, "L")->expire_ms == NOW_US / 1000 + 15000);
    assert_non_null(changed(self, "hf:token"));
    assert_int_equal(self->call.message_count, 0);
}

TEST(scratch_held_is_refused_with_the_rest_of_the_lease)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(acquire(self, OWNER, "", text), HF_OK);
    self->now_us += 4000 * 1000;
    assert_int_equal(acquire(self, OTHER, ENTRY, text), HF_OK);
    want(text, "[i:11000, s:" OWNER ", i:1700000004123456, i:0]");
    assert_null(changed(self, "hf:token"));
    assert_non_null(changed(self, "hf:wait"));
    self->now_us += 11000 * 1000;
    assert_int_equal(acquire(self, OTHER, "", text), HF_OK);
    want(text, "i:1700000015123456");
}

TEST(scratch_release_publishes_to_who_is_present)
{
    records *self = *state;
    char text[TEXT_SIZE];

    for (int present = 0; present < 2; present++) {
        self->present = present ? INBOX : NULL;
        assert_int_equal(acquire(self, OWNER, "", text), HF_OK);
        assert_int_equal(acquire(self, OTHER, ENTRY, text), HF_OK);
        assert_int_equal(release(self, OWNER, text), HF_OK);
        want(text, "i:1");
        assert_int_equal(self->call.message_count, present);
        /* Granted, or free as no one waits. */
        assert_non_null(changed(self, "L"));
        assert_int_equal(changed(self, "L")->payload.size > 0, present);
    }
    assert_memory_equal(self->call.messages[0].text.data, OTHER, 32);
    assert_int_equal(self->call.messages[0].channel.size, strlen(INBOX));
    assert_memory_equal(self->call.messages[0].channel.data, INBOX,
                        strlen(INBOX));
}

/* ---------------------------------------------------------------- records */

TEST(scratch_reports_only_what_changed)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(run_line(self, 1, "set a 1", text), HF_OK);
    assert_int_equal(self->call.changed_count, 1);
    assert_int_equal(run_line(self, 1, "get a", text), HF_OK);
    want(text, "s:1");
    assert_int_equal(self->call.changed_count, 0);
    assert_int_equal(run_text(self,
                              "redis.call('set', KEYS[2], 1) "
                              "redis.call('del', KEYS[2]) "
                              "return redis.call('del', KEYS[1])",
                              2, "a b", text),
                     HF_OK);
    want(text, "i:1");
    assert_int_equal(self->call.changed_count, 1);
    assert_int_equal(changed(self, "a")->payload.size, 0);
}

TEST(scratch_says_which_records_matter)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(acquire(self, OWNER, "", text), HF_OK);
    assert_true(self->given[0].used && self->given[1].used &&
                self->given[2].used);
    assert_int_equal(release(self, OWNER, text), HF_OK);
    assert_true(self->given[0].used && !self->given[1].used &&
                !self->given[2].used);
}

TEST(scratch_keeps_what_a_failed_script_has_written)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(run_text(self,
                              "redis.call('set', KEYS[1], 1) "
                              "redis.call('publish', KEYS[1], 'x') "
                              "return redis.call('incr')",
                              1, "a", text),
                     HF_SCRIPT);
    assert_non_null(changed(self, "a"));
}

TEST(scratch_refuses_a_key_that_is_not_named)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(run_text(self,
                              "redis.call('set', KEYS[1], 1) "
                              "return redis.pcall('get', 'b')",
                              1, "a", text),
                     HF_INVALID);
    want(text, "a script of this store may use no key that is not in KEYS, "
               "such as \"b\"");
    assert_int_equal(self->call.changed_count, 0);
    assert_int_equal(run_line(self, 1, "get a", text), HF_OK);
    want(text, "nil");
}

TEST(scratch_refuses_commands_about_all_keys)
{
    static const char *const lines[] = {"dbsize", "scan 0", "keys *",
                                        "randomkey", "flushall"};
    records *self = *state;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(run_line(self, 0, lines[i], text), HF_UNSUPPORTED);
        assert_int_equal(self->call.changed_count, 0);
    }
    assert_int_equal(run_line(self, 0, "nosuch", text), HF_UNSUPPORTED);
}

TEST(scratch_refuses_a_damaged_record)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(run_line(self, 1, "set a 1", text), HF_OK);
    for (size_t i = 0; i < kept_of(self, hf_str("a"))->size; i++) {
        kept_of(self, hf_str("a"))->payload[i] ^= 1;
        assert_int_equal(run_line(self, 1, "get a", text), HF_CORRUPT);
        kept_of(self, hf_str("a"))->payload[i] ^= 1;
    }
    want(text, "the record of key \"a\" is damaged");
    assert_int_equal(run_line(self, 1, "get a", text), HF_OK);
}

TEST(scratch_refuses_too_many_keys)
{
    records *self = *state;
    hf__scratch_record given[HF__SCRATCH_KEYS + 1];
    hf__scratch_call call = {.records = given, .now_us = NOW_US};
    hf_bytes words[] = {hf_str("ping")};
    char names[HF__SCRATCH_KEYS + 1][8];
    hf__request request;

    for (size_t i = 0; i <= HF__SCRATCH_KEYS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "k%zu", i);
        given[i] = (hf__scratch_record){.key = hf_str(names[i])};
    }
    for (size_t more = 0; more < 2; more++) {
        hf__request_command(&request, words, 1, false);
        call.record_count = HF__SCRATCH_KEYS + more;
        run_alone(self, &request, &call);
        assert_int_equal(request.status, more ? HF_INVALID : HF_OK);
        hf__request_done(&request);
    }
}

TEST(scratch_time_is_what_the_caller_says)
{
    records *self = *state;
    char text[TEXT_SIZE];

    assert_int_equal(run_line(self, 0, "time", text), HF_OK);
    want(text, "[s:1700000000, s:123456]");
    assert_int_equal(run_line(self, 1, "set a 1 pxat 1700000000124", text),
                     HF_OK);
    assert_true(changed(self, "a")->expire_ms == INT64_C(1700000000124));
    assert_int_equal(run_line(self, 1, "pttl a", text), HF_OK);
    want(text, "i:1");
    self->now_us += 1000;
    assert_int_equal(run_line(self, 1, "exists a", text), HF_OK);
    want(text, "i:0");
    assert_int_equal(self->call.changed_count, 0);
}

TEST(scratch_fails_without_memory_and_works_again)
{
    records *self = *state;
    char text[TEXT_SIZE];
    long after = 0;
    hf_status status;

    do {
        long was = hf__alloc_fail_after(after++);

        status = acquire(self, OWNER, "", text);
        (void)hf__alloc_fail_after(was);
        assert_true(status == HF_OK || status == HF_NO_MEMORY);
        assert_int_equal(self->call.changed_count, status == HF_OK ? 2 : 0);
    } while (status != HF_OK);
    assert_true(after > 1);
    assert_int_equal(release(self, OWNER, text), HF_OK);
    want(text, "i:1");
}

/* ------------------------------------------------- the same as in a store */

static const char *const verbs[] = {"set %s %zu",
                                    "append %s 0123456789%zu",
                                    "get %s",
                                    "incrby %s %zu",
                                    "del %s",
                                    "exists %s",
                                    "type %s",
                                    "rpush %s a%zu b c",
                                    "lpop %s",
                                    "lset %s 1 z%zu",
                                    "lrange %s 0 -1",
                                    "sadd %s m%zu n",
                                    "srem %s m%zu",
                                    "scard %s",
                                    "hset %s f%zu v",
                                    "hset %s f1 w%zu",
                                    "hdel %s f%zu",
                                    "hgetall %s",
                                    "zadd %s 1.5 m%zu",
                                    "zadd %s %zu m1",
                                    "zrange %s 0 -1 withscores",
                                    "zpopmin %s",
                                    "setrange %s 900 x%zu",
                                    "expire %s 1000",
                                    "persist %s",
                                    "hexpire %s 1000 fields 1 f1",
                                    "hpersist %s fields 1 f1",
                                    "rename %s other",
                                    "strlen %s"};

/* Fill a key, so that its elements are records of their own. */
static void fill(char line[TEXT_SIZE], const char *verb, const char *key)
{
    int used = snprintf(line, TEXT_SIZE, "%s %s", verb, key);

    for (int i = 0; i < 20; i++)
        used += snprintf(line + used, TEXT_SIZE - (size_t)used, " %d%s", i,
                         verb[0] == 'z' || verb[0] == 'h'
                             ? " 01234567890123456789012345678901234567"
                             : "01234567890123456789012345678901234567");
}

static void next_line(prng *random, char line[TEXT_SIZE])
{
    static const char *const fills[] = {"rpush", "sadd", "hset", "zadd"};
    const char *key = prng_chance(random, 50) ? "a" : "b";
    char format[64];

    if (prng_chance(random, 10)) {
        fill(line, fills[prng_below(random, 4)], key);
        return;
    }
    (void)snprintf(format, sizeof(format), "%s",
                   verbs[prng_below(random, sizeof(verbs) / sizeof(*verbs))]);
    (void)snprintf(line, TEXT_SIZE, format, key, prng_below(random, 5));
}

TEST(scratch_replies_as_a_store)
{
    records *self = *state;
    char line[TEXT_SIZE], text[TEXT_SIZE], wanted[TEXT_SIZE], copy[TEXT_SIZE];
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    for (uint64_t seed = 0; seed < 40; seed++) {
        prng random = prng_of(seed, 0, 0);

        for (int i = 0; i < 200; i++) {
            const hf_bytes keys[] = {hf_str("a"), hf_str("b"), hf_str("other")};
            hf_bytes words[WORD_MAX];

            next_line(&random, line);
            (void)command(at.store, line, wanted);
            (void)snprintf(copy, sizeof(copy), "%s", line);
            (void)run(self, NULL, words, split(copy, words), keys, 3, text);
            if (strcmp(text, wanted) != 0)
                fail_msg("seed %d, %d: %s: got %s, want %s", (int)seed, i, line,
                         text, wanted);
        }
    }
    remove_place(&at);
}

static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    (void)malloc_trim(0);
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    (void)fclose(file);
    return pages * 4096;
}

/* What a run has put into its pages, LMDB keeps until it is closed. */
/* ---------------------------------------------------------- several requests
 */

typedef struct several {
    hf__scratch_record given[4];
    hf__scratch_call call;
    hf__request requests[4];
    hf_bytes words[4][WORD_MAX];
} several;

static several *begin_several(records *self)
{
    static several of;

    of = (several){.given = {{.key = hf_str("a")},
                             {.key = hf_str("b")},
                             {.key = hf_str("c")}},
                   .call = {.record_count = 1,
                            .now_us = self->now_us,
                            .budget_ms = 5000,
                            .listens = is_present,
                            .user = self}};
    of.call.records = of.given;
    of.call.arena = &self->arena;
    hf__scratch_begin(self->scratch, &of.call);
    return &of;
}

static hf_status run_next(records *self, several *of, size_t i,
                          const char *line, char text[TEXT_SIZE])
{
    hf__request *request = &of->requests[i];

    hf__request_command(request, of->words[i], split(line, of->words[i]), true);
    hf__scratch_next(self->scratch, request, &of->call);
    text[0] = '\0';
    if (request->status == HF_OK)
        show(text, &request->reply);
    hf__request_done(request);
    return request->status;
}

TEST(scratch_several_share_a_transaction)
{
    records *self = *state;
    several *of = begin_several(self);
    char text[TEXT_SIZE];

    assert_int_equal(run_next(self, of, 0, "set a 5", text), HF_OK);
    assert_true(of->call.wrote);
    /* A key more. What the first has written is there. */
    of->call.record_count = 3;
    assert_int_equal(run_next(self, of, 1, "mget a b", text), HF_OK);
    want(text, "[s:5, nil]");
    assert_false(of->call.wrote);
    assert_int_equal(run_next(self, of, 2, "incr a", text), HF_OK);
    want(text, "i:6");
    assert_int_equal(of->call.changed_bytes, 1);
    assert_int_equal(hf__scratch_end(self->scratch, &of->call, NULL), HF_OK);
    self->call = of->call;
    assert_int_equal(of->call.changed_count, 1);
    assert_ptr_equal(changed(self, "a")->by, &of->requests[2]);
    assert_true(of->given[0].used);
    assert_true(of->given[1].used);
    assert_false(of->given[2].used);
    keep_changes(self);
    (void)run_line(self, 1, "get a", text);
    want(text, "s:6");
}

TEST(scratch_several_are_undone_by_one)
{
    records *self = *state;
    several *of = begin_several(self);
    char text[TEXT_SIZE];

    assert_int_equal(run_next(self, of, 0, "set a 5", text), HF_OK);
    assert_int_equal(run_next(self, of, 1, "lpush a 1", text), HF_WRONG_TYPE);
    assert_false(of->call.wrote);
    assert_false(of->call.undone);
    /* Whose key is not there. */
    assert_int_equal(run_next(self, of, 2, "set d 1", text), HF_INVALID);
    assert_true(of->call.undone);
    assert_memory_equal(of->call.missing.data, "d", 1);
    assert_int_equal(hf__scratch_end(self->scratch, &of->call, NULL), HF_OK);
    assert_int_equal(of->call.changed_count, 0);
    assert_true(of->given[0].used);
    /* One that has not ended is gone when another begins. */
    of = begin_several(self);
    assert_int_equal(run_next(self, of, 0, "set a 5", text), HF_OK);
    of = begin_several(self);
    assert_int_equal(run_next(self, of, 0, "get a", text), HF_OK);
    want(text, "nil");
    assert_int_equal(hf__scratch_end(self->scratch, &of->call, NULL), HF_OK);
    assert_int_equal(of->call.changed_count, 0);
}

TEST(scratch_large_run_leaves_no_memory)
{
    static const char *const sources[] = {
        "for i = 1, 30000 do redis.call('hset', KEYS[1], i, "
        "string.rep('x', 1500)) end return redis.call('del', KEYS[1])",
        /* More than there is. */
        "for i = 1, 300000 do redis.call('hset', KEYS[1], i, "
        "string.rep('x', 1500)) end return 1"};
    static const hf_status wanted[] = {HF_OK, HF_FULL};
    records *self = *state;
    char text[TEXT_SIZE];
    long before;

    (void)run_line(self, 1, "set a 5", text);
    before = resident_bytes();
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(run_text(self, sources[i], 1, "b", text), wanted[i]);
        /* A sanitizer keeps what was freed. */
        if (SLOWER == 1)
            assert_in_range(resident_bytes(), 0, before + (16 << 20));
        assert_int_equal(run_line(self, 1, "get a", text), HF_OK);
        assert_string_equal(text, "s:5");
    }
}
