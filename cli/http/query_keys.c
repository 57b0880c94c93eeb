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
};

static void close_batch(struct key_batch *batch)
{
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
    return batch->words != NULL && batch->items != NULL &&
           batch->replies != NULL && batch->statuses != NULL;
}

/* Keep the names that the user may read: a refusal for each of the others in
 * ACL LOG would drop what is in there. ACL DRYRUN makes none, but not every
 * user may run it; the second try is TYPE itself. */
static hf_status keep_allowed(struct http_call *call, hf_bytes *names,
                              size_t *count, bool tries)
{
    size_t size = tries ? 5 : 2, kept = 0;
    hf_status status = HF_NO_MEMORY;
    struct key_batch batch;

    if (!open_batch(&batch, *count, size * *count))
        goto done;
    for (size_t i = 0; i < *count; i++) {
        const hf_bytes dry[] = {WORD("acl"), WORD("dryrun"), WORD("page"),
                                WORD("type"), names[i]};
        hf_bytes *words = batch.words + size * i;

        memcpy(words, tries ? dry : dry + 3, size * sizeof(*words));
        batch.items[i] = (hf_command_item){size, words};
    }
    status = hf_command_many(call->client, batch.items, *count, batch.replies,
                             batch.statuses, &call->err);
    if (status == HF_DENIED && !tries)
        status = HF_OK; /* of some keys */
    for (size_t i = 0; i < *count; i++) {
        if (hf_reply_type(batch.replies[i]) == HF_REPLY_STATUS)
            names[kept++] = names[i];
        hf_reply_free(batch.replies[i]);
    }
    if (status == HF_OK)
        *count = kept;
done:
    close_batch(&batch);
    return status;
}

static hf_status filter_names(struct http_call *call, hf_bytes *names,
                              size_t *count)
{
    struct http_own *own = &call->source->own;
    hf_status status = HF_DENIED;

    if (own->is_page && !own->no_dry_run)
        status = keep_allowed(call, names, count, true);
    own->no_dry_run = own->is_page && status == HF_DENIED;
    return status == HF_DENIED ? keep_allowed(call, names, count, false)
                               : status;
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

static hf_status put_keys(struct http_call *call, const hf_bytes *names,
                          size_t count)
{
    hf_status status = HF_NO_MEMORY;
    struct key_batch batch;

    if (!open_batch(&batch, ABOUT_COMMANDS * count, ABOUT_WORDS * count))
        goto done;
    for (size_t i = 0; i < count; i++)
        about_commands(names[i], batch.words + ABOUT_WORDS * i,
                       batch.items + ABOUT_COMMANDS * i);
    status = hf_command_many(call->client, batch.items, ABOUT_COMMANDS * count,
                             batch.replies, batch.statuses, &call->err);
    if (status == HF_DENIED)
        status = HF_OK; /* some of the commands */
    for (size_t i = 0; i < count; i++)
        put_key(call->json, names[i], batch.replies + ABOUT_COMMANDS * i);
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
    size_t count = 0;
    hf_bytes *names = calloc(hf_reply_count(reply), sizeof(*names));
    hf_status status = HF_NO_MEMORY;

    if (names != NULL) {
        for (size_t i = 0; i < hf_reply_count(reply); i++) {
            hf_bytes name = hf_reply_bytes(hf_reply_at(reply, i));

            if (is_too_long(call, name))
                ++*put;
            else
                names[count++] = name;
        }
        status = filter_names(call, names, &count);
    }
    if (status == HF_OK && count > 0)
        status = put_keys(call, names, count);
    *put += count;
    free(names);
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
