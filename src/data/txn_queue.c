/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_queue.c - queuing operations: which may be part of a transaction, and
 * what is known about how they can fail.
 */
#include <string.h>
#include <strings.h>

#include "core/client.h"
#include "data/txn.h"
#include "holdfast/txn.h"
#include "store/known_commands.h"
#include "util/error.h"
#include "util/mem.h"

/* ------------------------------------------------------------------ limits */

hf_status hf__txn_grow(void **items, size_t *room, size_t count, size_t size,
                       hf_error *err)
{
    size_t wanted = *room == 0 ? 4 : 2 * *room;
    void *grown;

    if (count < *room)
        return HF_OK;
    grown = hf__realloc(*items, wanted * size);
    if (grown == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a transaction");
    *items = grown;
    *room = wanted;
    return HF_OK;
}

hf_status hf__txn_add_words(hf_txn *txn, size_t count, hf_error *err)
{
    if (count > HF_TXN_WORDS_ALL_MAX - txn->word_count)
        return hf__fail(err, HF_INVALID, "a transaction has more than %d words",
                        HF_TXN_WORDS_ALL_MAX);
    txn->word_count += count;
    return HF_OK;
}

hf_status hf__txn_add_key(hf_txn *txn, hf_bytes key, hf_error *err)
{
    const hf__store *store = txn->base.client->store;
    char first[HF__QUOTED_SIZE], other[HF__QUOTED_SIZE];

    if (txn->key_count == 0)
        txn->key = key;
    else if (store->ops->shard(store, txn->key) !=
             store->ops->shard(store, key))
        return hf__fail(err, HF_INVALID,
                        "keys %s and %s are in different slots: use a common "
                        "{tag}",
                        hf__quoted(first, txn->key), hf__quoted(other, key));
    txn->key_count++;
    return HF_OK;
}

/* -------------------------------------------------------------- operations */

static bool is_name(hf_bytes word, const char *name)
{
    return word.size == strlen(name) &&
           strncasecmp(word.data, name, word.size) == 0;
}

static bool is_among(hf_bytes word, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (is_name(word, *names))
            return true;
    }
    return false;
}

/* Was it put together by us, not by the caller? Then its words are valid. */
static bool is_ours(const hf_call *call)
{
    return !call->operation->reply_stays;
}

static bool has_get(const hf_bytes *words, size_t count)
{
    for (size_t i = 3; i < count; i++) {
        if (is_name(words[i], "GET"))
            return true;
    }
    return false;
}

/* Commands that neither the type of a key nor their words can make fail. */
static bool is_sure(const hf_call *call)
{
    static const char *const lists[] = {"DEL", "UNLINK", "EXISTS", "TOUCH",
                                        NULL};
    static const char *const singles[] = {"PTTL", "TTL", "TYPE", "PERSIST",
                                          NULL};
    const hf_bytes *words = call->request.words;
    size_t count = call->request.word_count;

    if (is_name(words[0], "SET"))
        return count == 3 || (is_ours(call) && !has_get(words, count));
    if (is_name(words[0], "PEXPIRE"))
        return is_ours(call);
    return (count >= 2 && is_among(words[0], lists)) ||
           (count == 2 && is_among(words[0], singles));
}

static bool names_database(const hf_bytes *words, size_t count)
{
    if (is_name(words[0], "MOVE"))
        return true;
    for (size_t i = 3; i < count && is_name(words[0], "COPY"); i++) {
        if (is_name(words[i], "DB"))
            return true;
    }
    return false;
}

/* Why restoring its keys would not undo it; NULL: it would. */
static const char *find_obstacle(const hf__known_command *known,
                                 const hf_bytes *words, size_t count)
{
    static const char *const messages[] = {"PUBLISH", "SPUBLISH", NULL};

    if (known == NULL)
        return "its keys are not known";
    if (is_among(words[0], messages))
        return "a message cannot be undone";
    if (names_database(words, count))
        return "it writes to another database";
    if (!hf__known_is_confined(known, words, count) ||
        hf__known_binds(known, words, count))
        return "it reaches more than its keys";
    return NULL;
}

/* The keys among a command's words. */
static hf_status list_keys(hf_txn *txn, hf__txn_operation *made,
                           const hf__known_command *known, hf_error *err)
{
    const hf__request *request = &made->call->request;
    hf_bytes *keys;
    hf__key_words at_words;
    size_t count = 0;

    hf__known_keys(known, request->words, request->word_count, &at_words);
    for (size_t at = hf__key_words_begin(&at_words); at != 0;
         at = hf__key_words_next(&at_words, at))
        count++;
    keys = hf__arena_alloc(&txn->arena, count * sizeof(*keys));
    if (keys == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a transaction");
    made->keys = keys;
    for (size_t at = hf__key_words_begin(&at_words); at != 0;
         at = hf__key_words_next(&at_words, at))
        keys[made->key_count++] = request->words[at];
    return HF_OK;
}

static hf_status describe_command(hf_txn *txn, hf__txn_operation *made,
                                  hf_error *err)
{
    const hf__request *request = &made->call->request;
    const hf_bytes *words = request->words;
    const hf__known_command *known = hf__known_find(words[0]);
    const char *obstacle = find_obstacle(known, words, request->word_count);
    char name[HF__QUOTED_SIZE];

    if (obstacle != NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "command %s cannot be part of a transaction: %s",
                        hf__quoted(name, words[0]), obstacle);
    made->reads = (known->flags & HF__KNOWN_READS) != 0;
    made->sure = is_sure(made->call);
    /* Its reply may be one that cannot be passed on. */
    made->in_parts = is_name(words[0], "BITFIELD");
    return list_keys(txn, made, known, err);
}

/* The copy that an earlier operation has made; NULL: none. */
static const hf__script *find_copy(const hf_txn *txn, const hf__script *script)
{
    for (size_t i = txn->operation_count; i > 0; i--) {
        const hf__script *body = txn->operations[i - 1].body;

        if (body != NULL && strcmp(body->sha1, script->sha1) == 0)
            return body;
    }
    return NULL;
}

/* The caller may free a script before the transaction is executed. */
static const hf__script *copy_script(hf_txn *txn, const hf__script *script)
{
    const hf__script *known = find_copy(txn, script);
    hf__script *made;
    char *sha1, *source;

    if (known != NULL)
        return known;
    made = hf__arena_alloc(&txn->arena, sizeof(*made));
    sha1 = hf__arena_copy(&txn->arena, script->sha1, strlen(script->sha1));
    source = hf__arena_copy(&txn->arena, script->source, script->source_size);
    if (made == NULL || sha1 == NULL || source == NULL)
        return NULL;
    *made = *script;
    made->sha1 = sha1;
    made->source = source;
    return made;
}

static hf_status describe_script(hf_txn *txn, hf__txn_operation *made,
                                 hf_error *err)
{
    const hf__script *script = made->call->request.script;
    bool is_users = script->index == HF__SCRIPT_USER;

    if (is_users && script->source_size >= 2 &&
        memcmp(script->source, "#!", 2) == 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "a script with a \"#!\" line cannot be part of a "
                        "transaction");
    made->in_parts = is_users;
    made->body = is_users ? copy_script(txn, script) : script;
    if (made->body == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a script");
    made->call->request.script = made->body;
    made->keys = made->call->request.words;
    made->key_count = made->call->request.key_count;
    return HF_OK;
}

static hf_status add_keys(hf_txn *txn, const hf__txn_operation *made,
                          hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < made->key_count && status == HF_OK; i++)
        status = hf__txn_add_key(txn, made->keys[i], err);
    return status;
}

static hf_status check_words(const hf_call *call, hf_error *err)
{
    if (call->request.word_count <= HF_TXN_WORDS_MAX)
        return HF_OK;
    return hf__fail(err, HF_INVALID,
                    "the operation has %zu words; at most %d are allowed",
                    call->request.word_count, HF_TXN_WORDS_MAX);
}

hf_status hf__txn_take(hf_txn *txn, hf_call *call, hf_error *err)
{
    hf__txn_operation made = {.call = call, .error = HF_ERROR_INIT};
    size_t key_count = txn->key_count;
    void *items = txn->operations;
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK)
        status = check_words(call, err);
    if (status == HF_OK)
        status = hf__txn_grow(&items, &txn->operation_room,
                              txn->operation_count, sizeof(made), err);
    txn->operations = items;
    if (status == HF_OK)
        status = call->request.script != NULL
                     ? describe_script(txn, &made, err)
                     : describe_command(txn, &made, err);
    if (status == HF_OK)
        status = add_keys(txn, &made, err);
    /* body, mode, counts of keys and words; the words, and a command's keys */
    if (status == HF_OK)
        status = hf__txn_add_words(
            txn, 4 + call->request.word_count + made.key_count, err);
    if (status == HF_OK)
        txn->operations[txn->operation_count++] = made;
    else
        txn->key_count = key_count;
    return status;
}
