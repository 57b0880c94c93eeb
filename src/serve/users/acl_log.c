/* SPDX-License-Identifier: Apache-2.0 */
/* acl_log.c - see acl_log.h. */
#include "serve/users/acl_log.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/client_line.h"
#include "serve/commands/config.h"
#include "serve/commands/multi.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/mem.h"

#define MOST 128
#define MOST_MAX 100000

/* Within this time the same is counted, ms. */
#define SAME_MS 60000
/* Kept of a name, and of what describes the client, bytes. */
#define NAME_KEPT 256
#define CLIENT_KEPT (16u * 1024)

static const char *const reasons[] = {"command", "key", "channel", "auth"};

typedef struct hf__acl_entry {
    struct hf__acl_entry *older;
    uint64_t count;
    hf__acl_reason reason;
    const char *context;
    int64_t last_ms;
    hf__buf object, user, client;
} hf__acl_entry;

void hf__acl_log_init(hf__acl_log *log)
{
    *log = (hf__acl_log){.most = MOST};
}

static void free_entry(hf__acl_entry *entry)
{
    hf__buf_done(&entry->object);
    hf__buf_done(&entry->user);
    hf__buf_done(&entry->client);
    hf__free(entry);
}

/* Keep so many. */
static void trim_log(hf__acl_log *log, size_t most)
{
    hf__acl_entry **at = &log->newest;

    for (size_t i = 0; *at != NULL && i < most; i++)
        at = &(*at)->older;
    while (*at != NULL) {
        hf__acl_entry *entry = *at;

        *at = entry->older;
        free_entry(entry);
    }
}

void hf__acl_log_clear(hf__acl_log *log)
{
    trim_log(log, 0);
}

static hf_bytes cut_name(hf_bytes name)
{
    return hf_view(name.data, name.size < NAME_KEPT ? name.size : NAME_KEPT);
}

static bool has_text(const hf__buf *buf, hf_bytes text)
{
    text = cut_name(text);
    return hf__buf_size(buf) == text.size &&
           (text.size == 0 ||
            memcmp(hf__buf_front(buf), text.data, text.size) == 0);
}

static void keep_name(hf__buf *to, hf_bytes name)
{
    hf__buf_init(to, NAME_KEPT);
    name = cut_name(name);
    (void)hf__buf_append(to, name.data, name.size);
}

/* Take the entry that is the same out of the log; NULL: there is none. */
static hf__acl_entry *take_same(hf__acl_log *log, const hf__acl_entry *like,
                                hf_bytes object, hf_bytes user)
{
    for (hf__acl_entry **at = &log->newest; *at != NULL; at = &(*at)->older) {
        hf__acl_entry *entry = *at;

        if (entry->reason != like->reason || entry->context != like->context ||
            like->last_ms - entry->last_ms > SAME_MS ||
            !has_text(&entry->object, object) || !has_text(&entry->user, user))
            continue;
        *at = entry->older;
        return entry;
    }
    return NULL;
}

static const char *context_of(const hf__conn *conn, bool in_script)
{
    if (in_script)
        return "lua";
    return hf__multi_is_open(conn) ? "multi" : "toplevel";
}

void hf__acl_log_add(hf__conn *conn, hf__acl_reason reason, hf_bytes object,
                     hf_bytes user, bool in_script)
{
    hf__acl_log *log = &conn->server->acl_log;
    const hf__acl_entry like = {.reason = reason,
                                .context = context_of(conn, in_script),
                                .last_ms = hf__clock_boot_ms()};
    hf__acl_entry *entry = take_same(log, &like, object, user);

    if (entry == NULL) {
        entry = hf__alloc(sizeof(*entry));
        if (entry == NULL)
            return;
        *entry = like;
        keep_name(&entry->object, object);
        keep_name(&entry->user, user);
        hf__buf_init(&entry->client, CLIENT_KEPT);
    }
    entry->count++;
    entry->last_ms = like.last_ms;
    hf__buf_clear(&entry->client);
    hf__client_describe(conn, &entry->client);
    entry->older = log->newest;
    log->newest = entry;
    trim_log(log, (size_t)log->most);
}

/* ----------------------------------------------------------------- command */

static void put_text(hf__answer *answer, const char *name, const hf__buf *text)
{
    hf__answer_text(answer, name);
    hf__answer_bytes(answer, hf_view(hf__buf_front(text), hf__buf_size(text)));
}

static void put_entry(hf__answer *answer, const hf__acl_entry *entry)
{
    double age_s = (double)(hf__clock_boot_ms() - entry->last_ms) / 1000;
    char age[32];

    (void)snprintf(age, sizeof(age), "%.3f", age_s);
    hf__answer_map(answer, 7);
    hf__answer_text(answer, "count");
    hf__answer_integer(answer, (int64_t)entry->count);
    hf__answer_text(answer, "reason");
    hf__answer_text(answer, reasons[entry->reason]);
    hf__answer_text(answer, "context");
    hf__answer_text(answer, entry->context);
    put_text(answer, "object", &entry->object);
    put_text(answer, "username", &entry->user);
    hf__answer_text(answer, "age-seconds");
    hf__answer_text(answer, age);
    put_text(answer, "client-info", &entry->client);
}

void hf__acl_log_command(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf__acl_log *log = &conn->server->acl_log;
    const hf__acl_entry *entry = log->newest;
    size_t size = 0;
    int64_t wanted = 10;

    if (count > 3) {
        hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
        return;
    }
    if (count == 3 && hf__arg_is(words[2], "reset")) {
        hf__acl_log_clear(log);
        hf__answer_line(&conn->answer, "OK");
        return;
    }
    if (count == 3 && !hf__number_integer(words[2], &wanted)) {
        hf__answer_error(&conn->answer, HF__ERROR_INTEGER);
        return;
    }
    for (; entry != NULL && (int64_t)size < wanted; entry = entry->older)
        size++;
    hf__answer_array(&conn->answer, size);
    for (entry = log->newest; size > 0; size--, entry = entry->older)
        put_entry(&conn->answer, entry);
}

/* ---------------------------------------------------------------- parameter */

static void get_most(hf_server *server, hf__buf *text)
{
    (void)hf__buf_print(text, "%lld", (long long)server->acl_log.most);
}

static bool set_most(hf_server *server, hf_bytes value, bool apply,
                     char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 0, MOST_MAX, &number, error))
        return false;
    if (apply)
        server->acl_log.most = number;
    if (apply)
        trim_log(&server->acl_log, (size_t)number);
    return true;
}

const hf__config hf__config_acl_log[] = {
    {"acllog-max-len", NULL, get_most, set_most}, {NULL, NULL, NULL, NULL}};
