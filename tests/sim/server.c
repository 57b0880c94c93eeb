/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the server: an embedded store, which runs the real scripts by the
 * store's clock, and whose messages go to net.c. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "holdfast/lock.h"
#include "sim.h"
#include "store/drivers.h"
#include "util/clock.h"
#include "util/url.h"

#define KEYS 6

static const char *const keys[KEYS] = {NAME,
                                       "hf:token",
                                       "hf:wait:{" NAME "}",
                                       "hf:barrier:{" NAME "}",
                                       "hf:passed:{" NAME "}",
                                       "hf:items:{" NAME "}"};

/* A key of the replica: words of the command that writes it. */
typedef struct saved {
    hf__request reply; /* owns the value; the kind of another reply: none */
    int64_t until_ms;  /* store's clock */
    bool sorted;
} saved;

static hf__store *store;
static hf__loop *loop;
static char url[64];
static saved copies[KEYS];
static bool has_copies;

void server_open(void)
{
    hf__store_config config = {.connect_ms = 1000};
    hf_error err = HF_ERROR_INIT;
    hf__url parsed;

    snprintf(url, sizeof(url), "volatile:sim-%ld", (long)getpid());
    loop = hf__loop_new();
    config.loop = loop;
    config.url = &parsed;
    if (hf__url_parse(url, &parsed, &err) != HF_OK ||
        hf__embedded_store_ops.open(&config, &store, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(2);
    }
    hf__url_done(&parsed);
}

static void free_copies(void)
{
    for (size_t i = 0; has_copies && i < KEYS; i++)
        hf__request_done(&copies[i].reply);
    has_copies = false;
}

void server_close(void)
{
    char command[128];

    free_copies();
    records_close();
    store->ops->close(store);
    hf__loop_free(loop);
    snprintf(command, sizeof(command), "rm -rf /dev/shm/holdfast-%u/%s",
             (unsigned)geteuid(), strchr(url, ':') + 1);
    if (system(command) != 0)
        perror(command);
}

void server_run(hf__request *request)
{
    long fail_after = hf__alloc_fail_after(-1);

    if (sim_records) {
        records_run(request);
        (void)hf__alloc_fail_after(fail_after);
        return;
    }
    sim_at_store = true;
    request->deadline_ms = INT64_MAX;
    store->ops->perform(store, request);
    sim_at_store = false;
    (void)hf__alloc_fail_after(fail_after);
}

static hf__request *command(hf__request *request, hf_bytes *words, size_t count)
{
    hf__request_command(request, words, count, false);
    server_run(request);
    return request;
}

static int64_t number_of(const char *name, const char *key)
{
    hf_bytes words[] = {hf_str(name), hf_str(key)};
    hf__request request;
    int64_t number;

    command(&request, words, 2);
    number = request.status == HF_OK && request.reply.kind == HF_REPLY_INTEGER
                 ? request.reply.integer
                 : -1;
    hf__request_done(&request);
    return number;
}

void server_clear(void)
{
    for (size_t i = 0; i < KEYS; i++)
        (void)number_of("del", keys[i]);
}

void server_free(void)
{
    (void)number_of("del", NAME);
}

void server_holder(char owner[HF_OWNER_SIZE], int64_t *pttl_ms)
{
    hf_bytes words[] = {hf_str("get"), hf_str(NAME)};
    hf__request request;

    owner[0] = '\0';
    *pttl_ms = 0;
    command(&request, words, 2);
    if (request.status == HF_OK && request.reply.kind == HF_REPLY_STRING) {
        snprintf(owner, HF_OWNER_SIZE, "%.*s", HF_OWNER_SIZE - 1,
                 request.reply.bytes.data);
        *pttl_ms = number_of("pttl", NAME);
    }
    hf__request_done(&request);
}

int64_t server_waiters(void)
{
    return number_of("zcard", keys[2]);
}

/* ----------------------------------------------------------------- replica */

static void save_key(const char *key, saved *copy)
{
    hf_bytes range[] = {hf_str("zrange"), hf_str(key), hf_str("0"),
                        hf_str("-1"), hf_str("withscores")};
    hf_bytes get[] = {hf_str("get"), hf_str(key)};
    int64_t pttl_ms = number_of("pttl", key);

    sim_at_store = true;
    copy->until_ms = hf__clock_boot_ms() + pttl_ms;
    sim_at_store = false;
    copy->sorted = number_of("zcard", key) > 0;
    if (copy->sorted)
        command(&copy->reply, range, 5);
    else
        command(&copy->reply, get, 2);
}

void server_save(void)
{
    free_copies();
    for (size_t i = 0; i < KEYS; i++)
        save_key(keys[i], &copies[i]);
    has_copies = true;
}

static void run_words(hf_bytes *words, size_t count)
{
    hf__request request;

    command(&request, words, count);
    hf__request_done(&request);
}

static void restore_key(const char *key, const saved *copy, int64_t left_ms)
{
    const hf_reply *value = &copy->reply.reply;
    char text[HF__NUMBER_SIZE];
    hf_bytes left = hf__number(text, left_ms);

    if (copy->reply.status != HF_OK || left_ms <= 0)
        return;
    if (!copy->sorted && value->kind == HF_REPLY_STRING) {
        hf_bytes set[] = {hf_str("set"), hf_str(key),
                          hf_view(value->bytes.data, value->bytes.size),
                          hf_str("px"), left};

        run_words(set, 5);
    }
    for (size_t i = 0; copy->sorted && i + 1 < value->array.count; i += 2) {
        const hf_reply *item = &value->array.items[i];
        hf_bytes add[] = {hf_str("zadd"), hf_str(key),
                          hf_view(item[1].bytes.data, item[1].bytes.size),
                          hf_view(item[0].bytes.data, item[0].bytes.size)};
        hf_bytes expire[] = {hf_str("pexpire"), hf_str(key), left};

        run_words(add, 4);
        run_words(expire, 3);
    }
}

void server_restore(void)
{
    int64_t now_ms;

    server_clear();
    sim_at_store = true;
    now_ms = hf__clock_boot_ms();
    sim_at_store = false;
    for (size_t i = 0; has_copies && i < KEYS; i++)
        restore_key(keys[i], &copies[i], copies[i].until_ms - now_ms);
}

/* ---------------------------------------------------------------- messages */

/* The linker puts these in place of the store's own (--wrap). */
struct hf__tx;
int64_t __wrap_hf__wake_publish(struct hf__tx *tx, hf_bytes channel,
                                hf_bytes text, hf_bytes topic);
struct hf__env;
bool __wrap_hf__wake_listens(struct hf__env *env, hf_bytes channel,
                             uint32_t *index);

int64_t __wrap_hf__wake_publish(struct hf__tx *tx, hf_bytes channel,
                                hf_bytes text, hf_bytes topic)
{
    (void)tx;
    return net_publish(channel, text, topic);
}

bool __wrap_hf__wake_listens(struct hf__env *env, hf_bytes channel,
                             uint32_t *index)
{
    (void)env;
    (void)index;
    return net_listens(channel);
}
