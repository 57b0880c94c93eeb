/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill_work.c - the operations that writers do, and what is in the
 * store after the n-th of each.
 *
 * An operation that finds something impossible (a counter that has changed, a
 * token that does not grow, two holders of a lock) reports it; the parent
 * checks the rest.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded_kill.h"
#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"

static const char *const sources[WORK_KINDS] = {
    [WORK_COUNT] = "return redis.call('incr', KEYS[1])",
    /* Sorted set, hash, list and set in turn, of some hundred elements. */
    [WORK_COLLECTION] =
        "local key, n, count = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])\n"
        "local there = redis.call('exists', key)\n"
        "if n % 2 == 0 then\n"
        "  if there == 0 then return redis.error_reply('ERR gone') end\n"
        "  return redis.call('del', key)\n"
        "end\n"
        "if there == 1 then return redis.error_reply('ERR not gone') end\n"
        "local kind = (n - 1) / 2 % 4\n"
        "for i = 1, count do\n"
        "  if kind == 0 then redis.call('zadd', key, i, 'member' .. i)\n"
        "  elseif kind == 1 then redis.call('hset', key, 'field' .. i, n)\n"
        "  elseif kind == 2 then redis.call('rpush', key, 'element' .. i)\n"
        "  else redis.call('sadd', key, 'member' .. i) end\n"
        "end\n"
        "return 1",
    [WORK_PART] = "local n = redis.call('getrange', KEYS[1], 0, 15)\n"
                  "n = (tonumber(n) or 0) + 1\n"
                  "redis.call('setrange', KEYS[1], ARGV[1], ARGV[2])\n"
                  "redis.call('setrange', KEYS[1], 0,\n"
                  "           string.format('%016d', n))\n"
                  "return n",
    [WORK_LIST] = "redis.call('rpush', KEYS[1], ARGV[1])\n"
                  "local length = redis.call('incr', KEYS[2])\n"
                  "if length > 200 then\n"
                  "  redis.call('ltrim', KEYS[1], 50, -1)\n"
                  "  redis.call('decrby', KEYS[2], 50)\n"
                  "end\n"
                  "return 1",
    [WORK_TRANSFER] = "redis.call('decrby', KEYS[2], ARGV[1])\n"
                      "redis.call('incrby', KEYS[3], ARGV[1])\n"
                      "return redis.call('incr', KEYS[1])",
    [WORK_AGREE] = "if ARGV[2] == '0' then\n"
                   "  redis.call('zrem', KEYS[2], ARGV[1])\n"
                   "  redis.call('hdel', KEYS[3], ARGV[1])\n"
                   "else\n"
                   "  redis.call('zincrby', KEYS[2], ARGV[2], ARGV[1])\n"
                   "  redis.call('hincrby', KEYS[3], ARGV[1], ARGV[2])\n"
                   "end\n"
                   "return redis.call('incr', KEYS[1])",
    /* A write that a higher token has overtaken is refused. */
    [WORK_LOCK] = "local seen = redis.call('get', KEYS[2])\n"
                  "if seen and tonumber(seen) > tonumber(ARGV[1]) then\n"
                  "  return 0\n"
                  "end\n"
                  "redis.call('set', KEYS[2], ARGV[1])\n"
                  "return redis.call('incr', KEYS[1])",
};

static bool tell(char say[TEXT_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool tell(char say[TEXT_SIZE], const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vsnprintf(say, TEXT_SIZE, format, list);
    va_end(list);
    return false;
}

static bool refused(char say[TEXT_SIZE], const char *what, hf_status status,
                    const hf_error *err)
{
    return tell(say, "%s: %s: %.250s", what, hf_status_name(status),
                err->message);
}

/* -------------------------------------------------- what the store must hold
 */

void own_key(char key[64], uint32_t index, const char *name)
{
    (void)snprintf(key, 64, "w%u:%s", (unsigned)index, name);
}

size_t value_text(char text[4096], uint64_t n)
{
    int head = snprintf(text, 4096, "%llu:", (unsigned long long)n);
    size_t size = (size_t)head + (size_t)(n * 37 % 3000);

    memset(text + head, 'a' + (int)(n % 26), size - (size_t)head);
    return size;
}

size_t big_size(uint64_t n)
{
    return 5000 + (size_t)(n * 7919 % 150000);
}

void big_fill(unsigned char *data, size_t size, uint64_t n)
{
    dice die = {n};

    memcpy(data, &n, sizeof(n));
    for (size_t i = sizeof(n); i < size; i++) {
        if (i % 512 == 0)
            (void)dice_roll(&die, 2);
        data[i] = (unsigned char)(die.state + i);
    }
}

/* Where the n-th part is. Its bytes are all the same. */
static size_t part_at(uint64_t n, size_t *size)
{
    *size = 1 + (size_t)(n * 101 % 9000);
    return 16 + (size_t)(n * 7919 % 200000);
}

static int part_byte(uint64_t n)
{
    return (int)(n % 255) + 1;
}

size_t part_fill(unsigned char data[PART_MAX], uint64_t n)
{
    char number[24];
    size_t size, whole = 0;

    memset(data, 0, PART_MAX);
    for (uint64_t i = 1; i <= n; i++) {
        size_t at = part_at(i, &size);

        memset(data + at, part_byte(i), size);
        if (at + size > whole)
            whole = at + size;
    }
    (void)snprintf(number, sizeof(number), "%016llu", (unsigned long long)n);
    memcpy(data, number, 16);
    return whole;
}

uint32_t hash_count(uint64_t n)
{
    return 1 + (uint32_t)(n * 31 % 60);
}

uint32_t collection_count(uint64_t n)
{
    return n % 2 == 0 ? 0 : 200 + (uint32_t)(n * 101 % 900);
}

/* ----------------------------------------------------------------- scripts */

hf_status run_once(hf_client *client, const char *source, const char *key,
                   hf_reply **reply, hf_error *err)
{
    hf_bytes name = hf_str(key);
    hf_script *script;
    hf_status status = hf_script_load(client, hf_str(source), &script, err);

    if (status != HF_OK)
        return status;
    status =
        hf_script_run(script, &name, key == NULL ? 0 : 1, NULL, 0, reply, err);
    hf_script_free(script);
    return status;
}

/* Run a kind's script, which must return `want`. */
static bool run(worker *self, work kind, const hf_bytes *keys, size_t key_count,
                const hf_bytes *args, size_t arg_count, uint64_t want,
                char say[TEXT_SIZE])
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply;
    hf_status status = hf_script_run(self->scripts[kind], keys, key_count, args,
                                     arg_count, &reply, &err);
    int64_t got;

    if (status != HF_OK)
        return refused(say, "script", status, &err);
    got = hf_reply_integer(reply);
    hf_reply_free(reply);
    if (got == (int64_t)want)
        return true;
    return tell(say, "kind %d: operation %llu returned %lld", (int)kind,
                (unsigned long long)want, (long long)got);
}

/* --------------------------------------------------------------- operations */

static bool do_count(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64];
    hf_bytes view;

    own_key(key, self->index, "count");
    view = hf_str(key);
    return run(self, WORK_COUNT, &view, 1, NULL, 0, n, say);
}

static bool do_value(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64], text[4096], before[4096];
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    hf_buffer previous = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    size_t size = value_text(text, n);
    size_t before_size = value_text(before, n - 1);
    hf_status status;
    bool same;

    own_key(key, self->index, "value");
    opts.flags = HF_SET_GET;
    status = hf_value_set(self->client, hf_str(key), hf_view(text, size), &opts,
                          &previous, &err);
    if (status != HF_OK)
        return refused(say, "value", status, &err);
    same = n == 1 ? previous.data == NULL
                  : previous.size == before_size &&
                        memcmp(previous.data, before, before_size) == 0;
    hf_buffer_free(&previous);
    return same || tell(say, "value %llu does not follow its predecessor",
                        (unsigned long long)n);
}

static bool do_cas(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64], old[32], new[32];
    hf_error err = HF_ERROR_INIT;
    hf_bytes expected;
    hf_status status;

    own_key(key, self->index, "cas");
    (void)snprintf(old, sizeof(old), "%llu", (unsigned long long)(n - 1));
    (void)snprintf(new, sizeof(new), "%llu", (unsigned long long)n);
    expected = hf_str(old);
    status = hf_value_cas(self->client, hf_str(key), n == 1 ? NULL : &expected,
                          hf_str(new), NULL, NULL, &err);
    return status == HF_OK || refused(say, "cas", status, &err);
}

static bool do_big(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64];
    hf_error err = HF_ERROR_INIT;
    size_t size = big_size(n);
    unsigned char *data = malloc(size);
    hf_status status;

    if (data == NULL)
        return tell(say, "out of memory");
    own_key(key, self->index, "big");
    big_fill(data, size, n);
    status = hf_value_set(self->client, hf_str(key), hf_view(data, size), NULL,
                          NULL, &err);
    free(data);
    return status == HF_OK || refused(say, "big", status, &err);
}

static bool do_part(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64], at[24], bytes[9000];
    hf_bytes view, args[2];
    size_t size, offset = part_at(n, &size);

    own_key(key, self->index, "part");
    view = hf_str(key);
    (void)snprintf(at, sizeof(at), "%zu", offset);
    memset(bytes, part_byte(n), size);
    args[0] = hf_str(at);
    args[1] = hf_view(bytes, size);
    return run(self, WORK_PART, &view, 1, args, 2, n, say);
}

static bool do_hash(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64], names[64][16], value[32];
    hf_field fields[64];
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    uint32_t count = hash_count(n);
    hf_status status;

    own_key(key, self->index, "hash");
    (void)snprintf(value, sizeof(value), "%llu", (unsigned long long)n);
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "f%u", (unsigned)i);
        fields[i].name = hf_str(names[i]);
        fields[i].value = hf_str(value);
    }
    opts.flags = HF_HASH_REPLACE | (n % 2 == 1 ? HF_HASH_PERSIST : 0u);
    opts.ttl_ms = n % 2 == 1 ? 0 : 3600000;
    status = hf_hash_put(self->client, hf_str(key), fields, count, &opts, &err);
    return status == HF_OK || refused(say, "hash", status, &err);
}

static bool do_collection(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64], number[32], count[32];
    hf_bytes view, args[2];

    own_key(key, self->index, "collection");
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
    (void)snprintf(count, sizeof(count), "%u", (unsigned)collection_count(n));
    view = hf_str(key);
    args[0] = hf_str(number);
    args[1] = hf_str(count);
    return run(self, WORK_COLLECTION, &view, 1, args, 2, 1, say);
}

static bool do_list(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char keys[2][64], number[32];
    hf_bytes views[2], arg;

    own_key(keys[0], self->index, "list");
    own_key(keys[1], self->index, "length");
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
    views[0] = hf_str(keys[0]);
    views[1] = hf_str(keys[1]);
    arg = hf_str(number);
    return run(self, WORK_LIST, views, 2, &arg, 1, 1, say);
}

/* The fault: money is taken in one step and added in another. */
static bool tear_transfer(worker *self, const char *from, char say[TEXT_SIZE])
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply;
    hf_status status =
        run_once(self->client, "return redis.call('decrby', KEYS[1], 5)", from,
                 &reply, &err);

    if (status != HF_OK)
        return refused(say, "torn transfer", status, &err);
    hf_reply_free(reply);
    rest_us(500);
    status = run_once(self->client, "return redis.call('incrby', KEYS[1], 5)",
                      from, &reply, &err);
    if (status != HF_OK)
        return refused(say, "torn transfer", status, &err);
    hf_reply_free(reply);
    return true;
}

static bool do_transfer(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char keys[3][64], amount[32];
    hf_bytes views[3], arg;

    own_key(keys[0], self->index, "transfer");
    for (int i = 1; i < 3; i++)
        (void)snprintf(keys[i], sizeof(keys[i]), "account:%u",
                       (unsigned)dice_roll(&self->die, ACCOUNT_COUNT));
    (void)snprintf(amount, sizeof(amount), "%u",
                   (unsigned)dice_roll(&self->die, 1000));
    for (int i = 0; i < 3; i++)
        views[i] = hf_str(keys[i]);
    arg = hf_str(amount);
    if (self->journal->fault == FAULT_TORN &&
        !tear_transfer(self, keys[1], say))
        return false;
    return run(self, WORK_TRANSFER, views, 3, &arg, 1, n, say);
}

static bool do_agree(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char own[64], member[32], amount[32];
    hf_bytes keys[3], args[2];

    own_key(own, self->index, "agree");
    (void)snprintf(member, sizeof(member), "m%u",
                   (unsigned)dice_roll(&self->die, BOARD_SIZE));
    /* In turn most are added, and most removed. */
    (void)snprintf(amount, sizeof(amount), "%u",
                   (unsigned)dice_roll(&self->die, n / 400 % 2 == 0 ? 5 : 2));
    keys[0] = hf_str(own);
    keys[1] = hf_str("board");
    keys[2] = hf_str("points");
    args[0] = hf_str(member);
    args[1] = hf_str(amount);
    return run(self, WORK_AGREE, keys, 3, args, 2, n, say);
}

static bool do_brief(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    char key[64];
    hf_field fields[2] = {{{"a", 1}, {"1", 1}}, {{"b", 1}, {"2", 1}}};
    hf_hash_put_options hash_opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    opts.ttl_ms = hash_opts.ttl_ms = 10 + (int64_t)dice_roll(&self->die, 50);
    (void)snprintf(key, sizeof(key), "brief:%u:%u", (unsigned)self->index,
                   (unsigned)(n % 64));
    if (n % 2 == 0)
        status =
            hf_hash_put(self->client, hf_str(key), fields, 2, &hash_opts, &err);
    else
        status = hf_value_set(self->client, hf_str(key), hf_str("brief"), &opts,
                              NULL, &err);
    return status == HF_OK || refused(say, "brief", status, &err);
}

/* ------------------------------------------------------------------- locks */

/* Is another's recorded validity still running while ours is? It is recorded
 * after the grant and withdrawn before the release, so what is there is true;
 * ours is read last, so that it held at the instant of the comparison. */
static bool alone(worker *self, uint32_t which, char say[TEXT_SIZE])
{
    int64_t at_ms = boot_ms();

    for (uint32_t i = 0; i < WRITER_MAX; i++) {
        int64_t until_ms = load(self->journal->slots[i].lease_until_ms[which]);

        if (until_ms > at_ms && hf_lock_is_held(self->locks[which]))
            return tell(say,
                        "lock %u: granted to writer %u while writer %u holds "
                        "it for %lld ms more",
                        (unsigned)which, (unsigned)self->index, (unsigned)i,
                        (long long)(until_ms - at_ms));
    }
    return true;
}

/* From an instant before the request: never too long. */
static void note_lease(worker *self, uint32_t which)
{
    int64_t at_ms = boot_ms();

    store(self->own->lease_until_ms[which],
          at_ms + hf_lock_remaining_ms(self->locks[which]));
}

static bool note_token(worker *self, uint32_t which, uint64_t before,
                       char say[TEXT_SIZE])
{
    uint64_t *highest = &self->journal->token[which];
    uint64_t mine = hf_lock_token(self->locks[which]);
    uint64_t seen = load(*highest);

    if (mine <= before)
        return tell(say, "lock %u: token %llu after token %llu",
                    (unsigned)which, (unsigned long long)mine,
                    (unsigned long long)before);
    while (seen < mine &&
           !__atomic_compare_exchange_n(highest, &seen, mine, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        continue;
    return true;
}

/* The fault: the store loses its tokens after one far ahead. */
static void lose_tokens(worker *self, uint64_t n)
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply;
    const char *source =
        n % 2 == 1 ? "return redis.call('set', KEYS[1], '9000000000000000')"
                   : "return redis.call('del', KEYS[1])";

    if (run_once(self->client, source, "hf:token", &reply, &err) == HF_OK)
        hf_reply_free(reply);
}

/* A write under the lock. A refusal is right only if the lock is no longer
 * held. */
static bool write_fenced(worker *self, uint32_t which, uint64_t n,
                         char say[TEXT_SIZE])
{
    char own[64], fence[64], token[32];
    hf_lock *lock = self->locks[which];
    hf_bytes keys[2], arg;

    own_key(own, self->index, "fenced");
    (void)snprintf(fence, sizeof(fence), "fence:%u", (unsigned)which);
    (void)snprintf(token, sizeof(token), "%llu",
                   (unsigned long long)hf_lock_token(lock));
    keys[0] = hf_str(own);
    keys[1] = hf_str(fence);
    arg = hf_str(token);
    if (run(self, WORK_LOCK, keys, 2, &arg, 1, n, say))
        return true;
    if (strstr(say, "returned 0") == NULL)
        return false;
    if (hf_lock_is_held(lock))
        return tell(say,
                    "lock %u: token %s is overtaken while the lock is held",
                    (unsigned)which, token);
    say[0] = '\0';
    return false;
}

static bool do_lock(worker *self, uint64_t n, char say[TEXT_SIZE])
{
    uint32_t which = (uint32_t)dice_roll(&self->die, LOCK_COUNT);
    hf_lock *lock = self->locks[which];
    uint64_t before = load(self->journal->token[which]);
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_lock_acquire(lock, (int64_t)dice_roll(&self->die, 6), &err);
    bool done;

    /* Another process holds it; or we did, but were not scheduled until it was
     * over. */
    if (status == HF_TIMEOUT || status == HF_INDETERMINATE)
        return tell(say, "%s", "");
    if (status != HF_OK)
        return refused(say, "acquire", status, &err);
    done = alone(self, which, say) && note_token(self, which, before, say);
    note_lease(self, which);
    if (self->journal->fault == FAULT_TOKEN && which == 0)
        lose_tokens(self, n);
    done = done && write_fenced(self, which, n, say);
    if (dice_roll(&self->die, 8) == 0)
        rest_us((int64_t)dice_roll(&self->die, 3000));
    store(self->own->lease_until_ms[which], 0);
    status = hf_lock_release(lock, &err);
    if (status != HF_OK && status != HF_LOST && status != HF_EXPIRED)
        return refused(say, "release", status, &err);
    return done;
}

static bool (*const operations[WORK_KINDS])(worker *, uint64_t, char *) = {
    [WORK_COUNT] = do_count, [WORK_VALUE] = do_value,
    [WORK_CAS] = do_cas,     [WORK_BIG] = do_big,
    [WORK_PART] = do_part,   [WORK_HASH] = do_hash,
    [WORK_LIST] = do_list,   [WORK_COLLECTION] = do_collection,
    [WORK_AGREE] = do_agree, [WORK_TRANSFER] = do_transfer,
    [WORK_BRIEF] = do_brief, [WORK_LOCK] = do_lock,
};

bool worker_do(worker *self, work kind, uint64_t n, char say[TEXT_SIZE])
{
    return operations[kind](self, n, say);
}

bool worker_begin(worker *self, hf_error *err)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    char name[16];

    opts.ttl_ms = LEASE_MS;
    opts.flags = HF_LOCK_NO_RENEW;
    for (int i = 0; i < WORK_KINDS; i++) {
        if (sources[i] != NULL &&
            hf_script_load(self->client, hf_str(sources[i]), &self->scripts[i],
                           err) != HF_OK)
            return false;
    }
    for (uint32_t i = 0; i < LOCK_COUNT; i++) {
        (void)snprintf(name, sizeof(name), "lock%u", (unsigned)i);
        if (hf_lock_new(self->client, hf_str(name), &opts, &self->locks[i],
                        err) != HF_OK)
            return false;
    }
    return true;
}
