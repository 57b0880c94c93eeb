/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill_check.c - what must be true of the store after a kill.
 *
 * The number of the last operation of each kind is read back from a dead
 * writer's own keys. It is the acknowledged one, or the next one if that was in
 * flight; anything else is a violation. Shared data is read in one script,
 * while the survivors keep working.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded_kill.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"

/* What a check reads, and its message. */
typedef struct seen {
    hf_client *client;
    char key[64];
    uint64_t n; /* the operation the store shows */
    char *say;
} seen;

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

static bool refused(seen *at, hf_status status, const hf_error *err)
{
    return tell(at->say, "%s: %s: %.250s", at->key, hf_status_name(status),
                err->message);
}

/* The key's value; `data` NULL if there is none. */
static bool get(seen *at, hf_buffer *value)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_value_get(at->client, hf_str(at->key), value, &err);

    return status == HF_OK || status == HF_NOT_FOUND ||
           refused(at, status, &err);
}

/* ------------------------------------------------------- own keys, by kind */

static bool see_number(seen *at)
{
    hf_buffer value = HF_BUFFER_INIT;

    if (!get(at, &value))
        return false;
    at->n = value.data == NULL ? 0 : strtoull(value.data, NULL, 10);
    hf_buffer_free(&value);
    return true;
}

static bool see_value(seen *at)
{
    hf_buffer value = HF_BUFFER_INIT;
    char text[4096];
    size_t size;
    bool same;

    if (!get(at, &value))
        return false;
    at->n = value.data == NULL ? 0 : strtoull(value.data, NULL, 10);
    size = value_text(text, at->n);
    same = value.data == NULL ||
           (value.size == size && memcmp(value.data, text, size) == 0);
    hf_buffer_free(&value);
    return same || tell(at->say, "%s: differs from what was written", at->key);
}

static bool see_big(seen *at)
{
    hf_buffer value = HF_BUFFER_INIT;
    unsigned char *wanted;
    bool same = true;

    if (!get(at, &value))
        return false;
    at->n = 0;
    if (value.data != NULL) {
        if (value.size >= sizeof(at->n))
            memcpy(&at->n, value.data, sizeof(at->n));
        wanted = malloc(value.size);
        same = wanted != NULL && value.size == big_size(at->n);
        if (same) {
            big_fill(wanted, value.size, at->n);
            same = memcmp(value.data, wanted, value.size) == 0;
        }
        free(wanted);
    }
    hf_buffer_free(&value);
    return same || tell(at->say, "%s: differs from what was written", at->key);
}

static bool see_part(seen *at)
{
    unsigned char *wanted = malloc(PART_MAX);
    hf_buffer value = HF_BUFFER_INIT;
    char number[17] = "";
    bool same;

    if (wanted == NULL || !get(at, &value)) {
        free(wanted);
        return false;
    }
    if (value.size >= 16)
        memcpy(number, value.data, 16);
    at->n = strtoull(number, NULL, 10);
    same = at->n == 0 ? value.data == NULL
                      : value.size == part_fill(wanted, at->n) &&
                            memcmp(value.data, wanted, value.size) == 0;
    free(wanted);
    hf_buffer_free(&value);
    return same || tell(at->say, "%s: differs from what was written", at->key);
}

static bool judge_hash(seen *at, const hf_fields *fields)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;
    int64_t ttl_ms;

    at->n = strtoull(fields->items[0].value.data, NULL, 10);
    for (size_t i = 1; i < fields->count; i++) {
        if (strtoull(fields->items[i].value.data, NULL, 10) != at->n)
            return tell(at->say, "%s: fields of two operations", at->key);
    }
    if (fields->count != hash_count(at->n))
        return tell(at->say, "%s: %zu fields", at->key, fields->count);
    status = hf_key_ttl(at->client, hf_str(at->key), &ttl_ms, &err);
    if (status != HF_OK)
        return refused(at, status, &err);
    if (at->n % 2 == 1 ? ttl_ms != -1 : ttl_ms <= 0 || ttl_ms > 3600000)
        return tell(at->say, "%s: lives %lld ms after operation %llu", at->key,
                    (long long)ttl_ms, (unsigned long long)at->n);
    return true;
}

static bool see_hash(seen *at)
{
    hf_fields fields = HF_FIELDS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_hash_get_all(at->client, hf_str(at->key), &fields, &err);
    bool fine;

    at->n = 0;
    if (status == HF_NOT_FOUND)
        return true;
    if (status != HF_OK)
        return refused(at, status, &err);
    fine = judge_hash(at, &fields);
    hf_fields_free(&fields);
    return fine;
}

static bool ask(seen *at, const char *source, int64_t *answer)
{
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply;
    hf_status status = run_once(at->client, source, at->key, &reply, &err);

    if (status != HF_OK)
        return refused(at, status, &err);
    *answer = hf_reply_integer(reply);
    hf_reply_free(reply);
    return true;
}

/* -1: its length and its counter differ; else the last element. */
static bool see_list(seen *at)
{
    int64_t last;

    if (!ask(at,
             "local list = KEYS[1]\n"
             "local counter = list:gsub('list', 'length')\n"
             "local length = redis.call('llen', list)\n"
             "if length ~= tonumber(redis.call('get', counter) or 0) then\n"
             "  return -1\n"
             "end\n"
             "return tonumber(redis.call('lindex', list, -1) or 0)",
             &last))
        return false;
    at->n = (uint64_t)last;
    return last >= 0 || tell(at->say, "%s: length and counter differ", at->key);
}

/* The count of its elements, walked and counted; -1: the two differ. */
static bool see_collection(seen *at, uint64_t acked)
{
    int64_t count;

    if (!ask(at,
             "local key, call = KEYS[1], redis.call\n"
             "local kind = call('type', key).ok\n"
             "local walked, counted = 0, 0\n"
             "if kind == 'zset' then\n"
             "  walked = #call('zrange', key, 0, -1)\n"
             "  counted = call('zcard', key)\n"
             "elseif kind == 'hash' then\n"
             "  walked = #call('hkeys', key)\n"
             "  counted = call('hlen', key)\n"
             "elseif kind == 'list' then\n"
             "  walked = #call('lrange', key, 0, -1)\n"
             "  counted = call('llen', key)\n"
             "elseif kind == 'set' then\n"
             "  walked = #call('smembers', key)\n"
             "  counted = call('scard', key)\n"
             "end\n"
             "return walked == counted and walked or -1",
             &count))
        return false;
    at->n = acked;
    if (count >= 0 && (uint32_t)count == collection_count(acked))
        return true;
    at->n = acked + 1;
    return (count >= 0 && (uint32_t)count == collection_count(acked + 1)) ||
           tell(at->say, "%s: %lld elements after operation %llu", at->key,
                (long long)count, (unsigned long long)acked);
}

/* Kinds whose state a key shows. WORK_BRIEF is not among them. */
static const struct {
    work kind;
    const char *name;
    bool (*look)(seen *at); /* NULL: see_collection() */
} kinds[] = {
    {WORK_COUNT, "count", see_number},
    {WORK_VALUE, "value", see_value},
    {WORK_CAS, "cas", see_number},
    {WORK_BIG, "big", see_big},
    {WORK_HASH, "hash", see_hash},
    {WORK_COLLECTION, "collection", NULL},
    {WORK_PART, "part", see_part},
    {WORK_LIST, "list", see_list},
    {WORK_TRANSFER, "transfer", see_number},
    {WORK_AGREE, "agree", see_number},
    {WORK_LOCK, "fenced", see_number},
};

/* A commit that is on disk, but whose writer was killed before it published the
 * commit's number, is not read until the next writer publishes it. */
static bool settle(seen *at)
{
    int64_t count;

    (void)snprintf(at->key, sizeof(at->key), "settled");
    return ask(at, "return redis.call('incr', KEYS[1])", &count);
}

bool check_own(hf_client *client, journal *all, uint32_t index,
               char say[TEXT_SIZE])
{
    slot *own = &all->slots[index];
    uint32_t in_flight = load(own->in_flight);
    seen at = {0};

    at.client = client;
    at.say = say;
    if (!settle(&at))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        uint64_t acked = load(own->acked[kinds[i].kind]);
        bool open = in_flight == 1 + (uint32_t)kinds[i].kind;

        own_key(at.key, index, kinds[i].name);
        if (kinds[i].look == NULL ? !see_collection(&at, acked)
                                  : !kinds[i].look(&at))
            return false;
        if (at.n < acked)
            return tell(say, "acknowledged write lost: %s is at %llu, not %llu",
                        at.key, (unsigned long long)at.n,
                        (unsigned long long)acked);
        if (at.n > acked + (open ? 1 : 0))
            return tell(say, "%s is at %llu, %llu was acknowledged", at.key,
                        (unsigned long long)at.n, (unsigned long long)acked);
        store(own->acked[kinds[i].kind], at.n);
    }
    return true;
}

/* --------------------------------------------------------- what all share */

bool check_begin(hf_client *client, char say[TEXT_SIZE])
{
    seen at = {.client = client, .say = say};
    int64_t count;
    char source[160];

    (void)snprintf(source, sizeof(source),
                   "for i = 0, %d do redis.call('set', 'account:' .. i, %d) "
                   "end return 1",
                   ACCOUNT_COUNT - 1, ACCOUNT_START);
    (void)snprintf(at.key, sizeof(at.key), "account:0");
    return ask(&at, source, &count);
}

bool check_shared(hf_client *client, char say[TEXT_SIZE])
{
    seen at = {.client = client, .say = say};
    int64_t answer;

    (void)snprintf(at.key, sizeof(at.key), "account:0");
    if (!ask(&at,
             "local sum = 0\n"
             "for i = 0, 99 do\n"
             "  sum = sum + redis.call('get', 'account:' .. i)\n"
             "end\n"
             "return sum",
             &answer))
        return false;
    if (answer != (int64_t)ACCOUNT_COUNT * ACCOUNT_START)
        return tell(say, "invariant broken: the accounts hold %lld",
                    (long long)answer);
    if (!ask(&at,
             "local board = redis.call('zrange', 'board', 0, -1, "
             "'withscores')\n"
             "if #board ~= 2 * redis.call('hlen', 'points') or\n"
             "    #board ~= 2 * redis.call('zcard', 'board') then\n"
             "  return #board\n"
             "end\n"
             "for i = 1, #board, 2 do\n"
             "  local points = redis.call('hget', 'points', board[i])\n"
             "  if points ~= board[i + 1] then return i end\n"
             "end\n"
             "for i = 1, #board, 14 do\n"
             "  local rank = redis.call('zrank', 'board', board[i])\n"
             "  if rank ~= (i - 1) / 2 then return i end\n"
             "end\n"
             "return 0",
             &answer))
        return false;
    return answer == 0 ||
           tell(say, "invariant broken: board, points or ranks differ at %lld",
                (long long)answer);
}

bool check_expired(hf_client *client, char say[TEXT_SIZE])
{
    seen at = {.client = client, .say = say};
    int64_t count;

    (void)snprintf(at.key, sizeof(at.key), "brief");
    if (!ask(&at, "return #redis.call('keys', KEYS[1] .. ':*')", &count))
        return false;
    return count == 0 ||
           tell(say, "%lld keys outlived their expiry", (long long)count);
}

/* -------------------------------------------------------------------- file */

static void note_finding(void *user, const char *finding)
{
    char *say = user;

    if (say[0] == '\0')
        (void)tell(say, "check: %.300s", finding);
}

bool check_file(const char *url, char say[TEXT_SIZE])
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    say[0] = '\0';
    status = hf_store_check(url, NULL, note_finding, say, &err);
    if (status == HF_OK)
        return true;
    return say[0] != '\0' ? false
                          : tell(say, "check: %s: %.250s",
                                 hf_status_name(status), err.message);
}

/* ------------------------------------------------------------------- locks */

/* Longer than any lease and the queue before us, shorter than a lock that never
 * ends. */
#define LOCK_WAIT_MS 5000

static bool check_lock(hf_client *client, journal *all, uint32_t which,
                       char say[TEXT_SIZE])
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    uint64_t before = load(all->token[which]);
    char name[16];
    hf_status status = HF_INDETERMINATE;
    hf_lock *lock;
    bool fine = true;

    opts.ttl_ms = LEASE_MS;
    opts.flags = HF_LOCK_NO_RENEW;
    (void)snprintf(name, sizeof(name), "lock%u", (unsigned)which);
    if (hf_lock_new(client, hf_str(name), &opts, &lock, &err) != HF_OK)
        return tell(say, "%s: %.250s", name, err.message);
    /* Unknown: its lease was over before this process was scheduled again. */
    for (int i = 0; i < 5 && status == HF_INDETERMINATE; i++)
        status = hf_lock_acquire(lock, LOCK_WAIT_MS, &err);
    if (status != HF_OK)
        fine = tell(say, "%s is not free after its lease: %s: %.250s", name,
                    hf_status_name(status), err.message);
    else if (hf_lock_token(lock) <= before)
        fine = tell(say, "%s: token %llu after token %llu", name,
                    (unsigned long long)hf_lock_token(lock),
                    (unsigned long long)before);
    hf_lock_free(lock);
    return fine;
}

bool check_locks(hf_client *client, journal *all, char say[TEXT_SIZE])
{
    for (uint32_t i = 0; i < LOCK_COUNT; i++) {
        if (!check_lock(client, all, i, say))
            return false;
    }
    return true;
}
