/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_batch.c - requests of a load on their way to the store, many at once.
 *
 * The elements of a request stay where they were gathered; only the words
 * around them are copied. After a failure the rest of the batch has still been
 * run; each key of it is there whole or not at all.
 */
#include "core/own_key.h"
#include "holdfast/store.h"
#include "transfer/load.h"
#include "util/error.h"
#include "util/mem.h"

/* ----------------------------------------------------------------- adding */

static size_t words_size(const hf_bytes *words, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += words[i].size;
    return size;
}

/* Append words at `to`; returns the end. */
static char *copy_words(hf_bytes *to, const hf_bytes *words, size_t count,
                        char *bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i].size > 0)
            memcpy(bytes, words[i].data, words[i].size);
        to[i] = hf_view(bytes, words[i].size);
        bytes += words[i].size;
    }
    return bytes;
}

static void view_elements(hf_bytes *to, const hf__load_elements *elements,
                          bool swap)
{
    const unsigned char *bytes = hf__buf_front(&elements->bytes);
    size_t at = 0;

    for (size_t i = 0; i < elements->count; i++) {
        size_t size = elements->sizes[i];

        to[swap ? i ^ 1 : i] =
            size > 0 ? hf_view(bytes + at, size) : hf_str("");
        at += size;
    }
}

static void fill_request(hf__load_slot *slot, const hf__load_words *words,
                         size_t count)
{
    hf__request *request = &slot->request;

    if (words->operation != NULL)
        hf__operation_request(request, words->operation, slot->words, count);
    else
        hf__request_script(request, &hf__scripts[words->script], slot->words,
                           count, words->key_count);
}

static bool fill_slot(hf__load_slot *slot, const hf__load_words *words,
                      hf__load_elements *elements)
{
    size_t middle = elements == NULL ? 0 : elements->count;
    size_t count = words->before_count + middle + words->behind_count;
    size_t size = words_size(words->before, words->before_count) +
                  words_size(words->behind, words->behind_count) +
                  words->key.size;
    char *bytes;

    slot->words = hf__alloc(count * sizeof(hf_bytes) + size);
    if (slot->words == NULL)
        return false;
    bytes = (char *)(slot->words + count);
    bytes = copy_words(slot->words, words->before, words->before_count, bytes);
    bytes = copy_words(slot->words + words->before_count + middle,
                       words->behind, words->behind_count, bytes);
    copy_words(&slot->key, &words->key, 1, bytes);
    slot->elements = NULL;
    if (elements != NULL) {
        view_elements(slot->words + words->before_count, elements, words->swap);
        slot->elements = elements->bytes.data;
        hf__buf_init(&elements->bytes, elements->bytes.limit);
        elements->count = 0;
    }
    slot->step = words->step;
    fill_request(slot, words, count);
    return true;
}

hf_status hf__load_add(hf__load_batch *batch, const hf__load_words *words,
                       hf__load_elements *elements, hf_error *err)
{
    size_t size = elements == NULL ? 0 : hf__buf_size(&elements->bytes);
    hf_status status = HF_OK;

    if (batch->count == HF__BATCH_MAX || batch->bytes >= HF__LOAD_BATCH_BYTES)
        status = hf__load_flush(batch, err);
    if (status != HF_OK)
        return status;
    if (!fill_slot(&batch->slots[batch->count], words, elements))
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    batch->count++;
    batch->bytes += size;
    return HF_OK;
}

/* ---------------------------------------------------------------- answers */

static hf_status fail_exists(const hf__load_slot *slot, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    return hf__fail(err, HF_CONFLICT, "key %s already exists; not overwritten",
                    hf__quoted(quoted, slot->key));
}

/* The key is there: another's, or, after an answer was lost, perhaps ours. */
static hf_status on_exists(hf__load_batch *batch, const hf__load_slot *slot,
                           hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if ((batch->flags & HF_LOAD_SKIP) != 0) {
        batch->so_far->existing++;
        return HF_OK;
    }
    if (slot->request.sends > 1)
        return hf__fail(err, HF_INDETERMINATE,
                        "an answer was lost: key %s may be loaded",
                        hf__quoted(quoted, slot->key));
    return fail_exists(slot, err);
}

/* What was being built is not there. */
static hf_status on_gone(const hf__load_slot *slot, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    hf__quoted(quoted, slot->key);
    if (slot->request.sends > 1)
        return hf__fail(err, HF_INDETERMINATE,
                        "an answer was lost: key %s may be loaded", quoted);
    return hf__fail(err, HF_UNAVAILABLE,
                    "key %s was not loaded: the load was held up for so long "
                    "that the store has dropped its beginning",
                    quoted);
}

static hf_status judge_reply(hf__load_batch *batch, const hf__load_slot *slot,
                             hf_error *err)
{
    const hf_reply *reply = &slot->request.reply;
    int64_t number = hf_reply_integer(reply);

    if (slot->request.status != HF_OK) {
        char quoted[HF__QUOTED_SIZE];

        hf__fail_copy(err, &slot->request.error);
        hf__fail_prefix(err, "key %s", hf__quoted(quoted, slot->key));
        return slot->request.status;
    }
    switch (slot->step) {
    case HF__LOAD_SET:
        number = reply->kind != HF_REPLY_NIL;
        break;
    case HF__LOAD_BUILD:
        return number == 1 ? HF_OK : on_gone(slot, err);
    case HF__LOAD_PLACE:
        if (number < 0)
            return on_gone(slot, err);
        break;
    case HF__LOAD_RAISE:
        number = 1;
        break;
    case HF__LOAD_RAISE_MORE:
    case HF__LOAD_REMOVE:
        return HF_OK;
    case HF__LOAD_WRITE:
        break;
    }
    if (number == 0)
        return on_exists(batch, slot, err);
    batch->so_far->keys++;
    return HF_OK;
}

static void slot_done(hf__load_slot *slot)
{
    hf__request_done(&slot->request);
    hf__free(slot->words);
    hf__free(slot->elements);
}

hf_status hf__load_flush(hf__load_batch *batch, hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < batch->count; i++)
        batch->list[i] = &batch->slots[i].request;
    /* A lone large one need not pass through the queue. */
    if (batch->count == 1)
        hf__run_one(batch->client, batch->list[0], HF__EXTRA_MS(batch->bytes));
    else
        hf__run_all(batch->client, batch->list, batch->count,
                    HF__EXTRA_MS(batch->bytes));
    for (size_t i = 0; i < batch->count; i++) {
        hf_status one =
            judge_reply(batch, &batch->slots[i], status == HF_OK ? err : NULL);

        if (status == HF_OK)
            status = one;
    }
    hf__load_drop(batch);
    return status;
}

void hf__load_drop(hf__load_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        slot_done(&batch->slots[i]);
    batch->count = 0;
    batch->bytes = 0;
    batch->belongings = false;
}

/* ------------------------------------------------------------------- name */

char *hf__load_name(hf_bytes key, const char mark[HF__LOAD_MARK_SIZE],
                    hf_bytes *name)
{
    static const char role[] = HF__ROLE_LOAD;
    bool tagged = hf__has_hash_tag(key);
    size_t size = sizeof(role) - 1 + HF__LOAD_MARK_SIZE + 2 + key.size;
    char *text = hf__alloc(size);
    char *at = text;

    if (text == NULL)
        return NULL;
    memcpy(at, role, sizeof(role) - 1);
    at += sizeof(role) - 1;
    memcpy(at, mark, HF__LOAD_MARK_SIZE - 1);
    at += HF__LOAD_MARK_SIZE - 1;
    *at++ = ':';
    if (!tagged)
        *at++ = '{';
    if (key.size > 0)
        memcpy(at, key.data, key.size);
    at += key.size;
    if (!tagged)
        *at++ = '}';
    *name = hf_view(text, (size_t)(at - text));
    return text;
}
