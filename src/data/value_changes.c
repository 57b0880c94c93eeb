/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_changes.c - which values have got a revision since another: a call that
 * sleeps between requests (core/waiting.h), woken by the next such write.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/client.h"
#include "core/own_key.h"
#include "core/waiting.h"
#include "data/revised.h"
#include "holdfast/value.h"
#include "script/script_words.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/glob.h"
#include "util/mem.h"
#include "util/order.h"

/* A wake-up that was lost with its message or its sender costs so much. */
#define POLL_MS 5000
#define LIMIT 100
#define LARGEST (HF__TOKEN_MAX - 1)

/* Of each change in the reply. */
enum { NAME, REVISION, WORDS };

typedef struct query {
    hf_bytes pattern;
    char after[HF__NUMBER_SIZE]; /* the word */
    char text[];
} query;

void hf_value_changes_free(hf_value_changes *changes)
{
    if (changes == NULL)
        return;
    hf__free(changes->items); /* the bytes follow the items */
    *changes = (hf_value_changes)HF_VALUE_CHANGES_INIT;
}

/* ------------------------------------------------------------------- reply */

static size_t count_of(const hf_reply *reply)
{
    return reply->array.items[1].array.count / WORDS;
}

static const hf_reply *change_at(const hf_reply *reply, size_t i)
{
    return &reply->array.items[1].array.items[i * WORDS];
}

static uint64_t revision_of(const hf_reply *change)
{
    return strtoull(change[REVISION].bytes.data, NULL, 10);
}

/* The name without the prefix, empty for what may be missing; false: it is not
 * asked for. */
static bool find_name(const hf_call *call, const hf_reply *change,
                      hf_bytes *name)
{
    const hf_client *client = call->client;
    const query *self = call->context;

    *name = hf_reply_bytes(&change[NAME]);
    if (name->size == 0)
        return true;
    if (name->size <= client->prefix_size ||
        (client->prefix_size > 0 &&
         memcmp(name->data, client->prefix, client->prefix_size) != 0))
        return false;
    *name = hf_view((const char *)name->data + client->prefix_size,
                    name->size - client->prefix_size);
    return hf__glob_fits(self->pattern, *name);
}

static hf_status finish_changes(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    hf_value_changes found = HF_VALUE_CHANGES_INIT;
    size_t size = count_of(reply) * sizeof(*found.items);
    hf_bytes name;
    char *at;

    for (size_t i = 0; i < count_of(reply); i++)
        size += change_at(reply, i)[NAME].bytes.size + 1;
    found.items = hf__alloc(size);
    if (found.items == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu changes", count_of(reply));
    at = (char *)(found.items + count_of(reply));
    for (size_t i = 0; i < count_of(reply); i++) {
        const hf_reply *change = change_at(reply, i);

        found.revision = revision_of(change);
        if (!find_name(call, change, &name))
            continue;
        if (name.size == 0) {
            found.gap = true;
            continue;
        }
        memcpy(at, name.data, name.size);
        at[name.size] = '\0';
        found.items[found.count++] = (hf_value_change){
            .key = hf_view(at, name.size), .revision = found.revision};
        at += name.size + 1;
    }
    *(hf_value_changes *)call->out = found;
    return HF_OK;
}

/* --------------------------------------------------------------------- wait */

static void put_after(hf_call *call, uint64_t after)
{
    query *self = call->context;
    int size = snprintf(self->after, sizeof(self->after), "%llu",
                        (unsigned long long)after);

    call->words[HF__VALUE_CHANGES_AFTER] = hf_view(self->after, (size_t)size);
}

static hf__next read_changes(hf__wait *wait)
{
    hf_call *call = wait->call;
    const hf_reply *reply = &call->request.reply;
    int64_t due_ms = hf_reply_integer(hf_reply_at(reply, 0));
    size_t count = count_of(reply);
    hf_bytes name;

    for (size_t i = 0; i < count; i++) {
        if (find_name(call, change_at(reply, i), &name))
            return HF__END;
    }
    if (count > 0)
        put_after(call, revision_of(change_at(reply, count - 1)));
    /* A request that found something has not queued. */
    if (count == LIMIT ||
        (count > 0 && hf__clock_boot_ms() < wait->procedure.until_ms))
        return hf__wait_ask(wait);
    return hf__wait_longer(wait,
                           due_ms < 0 ? POLL_MS : hf__at_most(POLL_MS, due_ms));
}

static const hf__operation read_operation = {
    .script = HF__SCRIPT(VALUE_CHANGES),
    .finish = finish_changes,
    .alone = true,
};

static const hf__wait_kind awaiting = {
    .read = read_changes, .closed = HF_UNAVAILABLE, .what = "a change"};

/* In a cluster all names must be in one slot. */
static hf_status check_slot(const hf_client *client, hf_bytes pattern,
                            hf_error *err)
{
    const char *text = pattern.data;
    size_t size = 0;

    while (size < pattern.size && strchr("*?[\\", text[size]) == NULL)
        size++;
    if (client->store->ops->tag == NULL || size == pattern.size ||
        hf__has_hash_tag(hf_view(text, size)))
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "in a cluster a pattern of several keys begins with a hash "
                    "tag, such as {a}*");
}

static void add_query(hf_call *call, hf_bytes pattern, uint64_t after)
{
    const hf_client *client = call->client;
    size_t prefix_size;
    query *self;

    if (!HF__TRY(call,
                 hf__check_key(client, pattern, "pattern", call->form.err)) ||
        !HF__TRY(call, check_slot(client, pattern, call->form.err)))
        return;
    if (after > LARGEST)
        (void)HF__TRY(call,
                      hf__fail(call->form.err, HF_INVALID,
                               "after is %llu; it must be at most %lld",
                               (unsigned long long)after, (long long)LARGEST));
    if (call->prepared != HF_OK)
        return;
    prefix_size = client->prefix_size;
    self = hf__call_alloc(call, sizeof(*self) + prefix_size + pattern.size);
    if (self == NULL)
        return;
    if (prefix_size > 0)
        memcpy(self->text, client->prefix, prefix_size);
    memcpy(self->text + prefix_size, pattern.data, pattern.size);
    self->pattern = hf_view(self->text + prefix_size, pattern.size);
    call->context = self;
    hf__add_changes(call, hf_view(self->text, prefix_size + pattern.size));
    hf__add_last_token(call, hf_view(self->text, prefix_size + pattern.size));
    if (call->prepared != HF_OK)
        return;
    hf__add(call, hf_str(""));
    put_after(call, after);
    hf__add_number(call, LIMIT);
    hf__add(call, hf_str(""));
}

static hf_status run_changes(hf__form form, hf_client *client, hf_bytes pattern,
                             uint64_t after, int64_t wait_ms,
                             hf_value_changes *changes)
{
    hf_call here, *call = hf__begin(&here, form, &read_operation, client);

    add_query(call, pattern, after);
    hf__set_out(call, changes, "changes");
    return hf__end_waiting(call, &awaiting, wait_ms, HF__VALUE_CHANGES_INBOX);
}

HF__FORMS(hf_value_changes_after,
          run_changes(form, client, pattern, after, wait_ms, changes),
          hf_client *client, hf_bytes pattern, uint64_t after, int64_t wait_ms,
          hf_value_changes *changes);
