/* SPDX-License-Identifier: Apache-2.0 */
/* query_keys.c - keys that match a pattern, with type, size and time to live.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "http/about.h"
#include "http/query_reply.h"
#include "http/query_run.h"
#include "lease_clock.h"

/* Keys of one reply of SCAN. */
struct key_list {
    hf_bytes *names;
    hf_reply **types;
    size_t count;
};

/* Keys of an answer: SCAN is called until there are so many, or for so long. */
#define KEYS_MIN 200
#define KEYS_MS 200

/* From so many bytes on SCAN is not called again, and of the names that it has
 * returned only the beginning is sent. */
#define KEYS_SIZE_MAX 262144
#define NAME_SHOWN 256

/* COUNT of SCAN: while it is unknown how long names are, and at most. */
#define COUNT_MIN 10
#define COUNT_MAX 100

/* Commands that are sent together. */
struct key_batch {
    hf_bytes *words;
    hf_command_item *items;
    hf_reply **replies;
    hf_status *statuses;
    size_t count;
};

static void close_batch(struct key_batch *batch)
{
    for (size_t i = 0; batch->replies != NULL && i < batch->count; i++)
        hf_reply_free(batch->replies[i]);
    free(batch->words);
    free(batch->items);
    free(batch->replies);
    free(batch->statuses);
}

/* For so many commands with so many words in all. false: out of memory; it is
 * to be closed then, too. */
static bool open_batch(struct key_batch *batch, size_t count, size_t words)
{
    batch->words = calloc(words + 1, sizeof(*batch->words));
    batch->items = calloc(count + 1, sizeof(*batch->items));
    batch->replies = calloc(count + 1, sizeof(hf_reply *));
    batch->statuses = calloc(count + 1, sizeof(*batch->statuses));
    batch->count = count;
    return batch->words != NULL && batch->items != NULL &&
           batch->replies != NULL && batch->statuses != NULL;
}

/* Run a command of so many words, of which the name is the last one, for each
 * name. */
static hf_status ask_each(struct http_call *call, const hf_bytes *command,
                          size_t size, const struct key_list *found,
                          struct key_batch *batch)
{
    if (!open_batch(batch, found->count, size * found->count))
        return HF_NO_MEMORY;
    for (size_t i = 0; i < found->count; i++) {
        hf_bytes *words = batch->words + size * i;

        memcpy(words, command, (size - 1) * sizeof(*words));
        words[size - 1] = found->names[i];
        batch->items[i] = (hf_command_item){size, words};
    }
    return hf_command_many(call->client, batch->items, found->count,
                           batch->replies, batch->statuses, &call->err);
}

/* Keep the names for which the reply was a status. */
static void keep_allowed(struct key_list *found, const struct key_batch *batch)
{
    found->count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (hf_reply_type(batch->replies[i]) == HF_REPLY_STATUS)
            found->names[found->count++] = found->names[i];
    }
}

/* And these, in the same order. */
static void take_types(struct key_list *found, struct key_batch *batch)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (hf_reply_type(batch->replies[i]) != HF_REPLY_STATUS)
            continue;
        found->types[count++] = batch->replies[i];
        batch->replies[i] = NULL;
    }
}

/* Find the types of those that the user may read: a refusal for each of the
 * others in ACL LOG would drop what is in there. ACL DRYRUN makes none, but not
 * every user may run it. */
static hf_status find_types(struct http_call *call, struct key_list *found)
{
    static const char *const dry[] = {"acl", "dryrun", "page", "type"};
    struct http_own *own = &call->source->own;
    hf_bytes words[4];
    struct key_batch batch;
    hf_status status;

    for (int i = 0; i < 4; i++)
        words[i] = WORD(dry[i]);
    if (own->is_page && !own->no_dry_run) {
        status = ask_each(call, words, 5, found, &batch);
        own->no_dry_run = status == HF_DENIED;
        if (status == HF_OK)
            keep_allowed(found, &batch);
        close_batch(&batch);
        if (status != HF_OK && status != HF_DENIED)
            return status;
    }
    status = ask_each(call, words + 3, 2, found, &batch);
    if (status == HF_DENIED)
        status = HF_OK; /* of some keys */
    if (status == HF_OK) {
        keep_allowed(found, &batch);
        take_types(found, &batch);
    }
    close_batch(&batch);
    return status;
}

static void put_key(struct json *json, hf_bytes name, hf_reply **replies)
{
    struct about about;

    about_read(replies, &about);
    if (about.type[0] == '\0' || strcmp(about.type, "none") == 0)
        return; /* it is gone */
    json_open(json, NULL, '{');
    put_string(json, "name", name,
               ftell(json->file) < KEYS_SIZE_MAX ? HF_NAME_MAX : NAME_SHOWN);
    about_json(json, &about);
    json_close(json, '}');
}

/* What else there is to know of them. */
static hf_status put_keys(struct http_call *call, struct key_list *found)
{
    const size_t each = ABOUT_COMMANDS - 1;
    hf_status status = HF_NO_MEMORY;
    struct key_batch batch;

    if (!open_batch(&batch, each * found->count, ABOUT_WORDS * found->count))
        goto done;
    for (size_t i = 0; i < found->count; i++) {
        hf_command_item items[ABOUT_COMMANDS];

        about_commands(found->names[i], batch.words + ABOUT_WORDS * i, items);
        memcpy(batch.items + each * i, items + 1, each * sizeof(*items));
    }
    status = hf_command_many(call->client, batch.items, each * found->count,
                             batch.replies, batch.statuses, &call->err);
    if (status == HF_DENIED)
        status = HF_OK; /* some of the commands */
    for (size_t i = 0; i < found->count; i++) {
        hf_reply *replies[ABOUT_COMMANDS] = {found->types[i]};

        memcpy(replies + 1, batch.replies + each * i, each * sizeof(*replies));
        put_key(call->json, found->names[i], replies);
    }
    found->count = 0; /* about_read() has freed all */
    batch.count = 0;
done:
    close_batch(&batch);
    return status;
}

/* The page cannot ask for such a name, nor is it worth to send it again. */
static bool is_too_long(struct http_call *call, hf_bytes name)
{
    const struct about nothing = {.ttl_ms = -1, .size = -1};

    if (name.size <= HF_NAME_MAX)
        return false;
    json_open(call->json, NULL, '{');
    put_string(call->json, "name", name, NAME_SHOWN);
    about_json(call->json, &nothing);
    json_close(call->json, '}');
    return true;
}

/* Adds to `put`. */
static hf_status put_names(struct http_call *call, const hf_reply *reply,
                           size_t *put)
{
    struct key_list found = {
        .names = calloc(hf_reply_count(reply), sizeof(*found.names)),
        .types = calloc(hf_reply_count(reply), sizeof(hf_reply *))};
    hf_status status = HF_NO_MEMORY;

    if (found.names == NULL || found.types == NULL)
        goto done;
    for (size_t i = 0; i < hf_reply_count(reply); i++) {
        hf_bytes name = hf_reply_bytes(hf_reply_at(reply, i));

        if (is_too_long(call, name))
            ++*put;
        else
            found.names[found.count++] = name;
    }
    status = find_types(call, &found);
    *put += found.count;
    if (status == HF_OK && found.count > 0)
        status = put_keys(call, &found);
done:
    for (size_t i = 0; found.types != NULL && i < found.count; i++)
        hf_reply_free(found.types[i]);
    free(found.names);
    free(found.types);
    return status;
}

/* For the next SCAN, so that no name of it is cut if they are as long as those
 * before; less than COUNT_MIN: there is no room. */
static int64_t next_count(const struct http_call *call, size_t put)
{
    int64_t size = ftell(call->json->file);
    int64_t fit = (KEYS_SIZE_MAX - size) * (int64_t)put / (size + 1);

    return put == 0 || fit > COUNT_MAX ? COUNT_MAX : fit;
}

/* One SCAN, from the cursor and to the next one; adds to the keys that were
 * put. */
static hf_status scan_once(struct http_call *call, char cursor[32],
                           int64_t count, size_t *put)
{
    char text[24];
    hf_bytes match = call->words[1];
    hf_bytes words[] = {WORD("scan"),  WORD(cursor),
                        WORD("match"), match.data == NULL ? WORD("*") : match,
                        WORD("count"), {text, 0}};
    hf_reply *reply = NULL;
    hf_status status;

    words[5].size = (size_t)snprintf(text, sizeof(text), "%" PRId64, count);
    status = hf_command(call->client, 6, words, &reply, &call->err);
    if (status == HF_OK) {
        const hf_reply *names = hf_reply_at(reply, 1);
        hf_bytes next = hf_reply_bytes(hf_reply_at(reply, 0));

        (void)snprintf(cursor, 32, "%.*s", (int)next.size,
                       (const char *)next.data);
        if (hf_reply_count(names) > 0)
            status = put_names(call, names, put);
    }
    hf_reply_free(reply);
    return status;
}

/* "cursor" is "0" at the end, as that of SCAN. */
hf_status query_keys(struct http_call *call)
{
    char cursor[32] = "0";
    int64_t until_ms = now_ms() + KEYS_MS;
    hf_bytes from = call->words[0];
    int64_t count = COUNT_MIN;
    size_t put = 0;
    hf_status status;

    if (from.size > 0 && !copy_text(from, cursor, sizeof(cursor)))
        return fail_query(call, HF_INVALID, "invalid cursor");
    json_open(call->json, "keys", '[');
    do {
        status = scan_once(call, cursor, count, &put);
        count = next_count(call, put);
    } while (status == HF_OK && put < KEYS_MIN && strcmp(cursor, "0") != 0 &&
             count >= COUNT_MIN && now_ms() < until_ms);
    json_close(call->json, ']');
    json_text(call->json, "cursor", cursor);
    return status;
}
