/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn.c - making a transaction, its conditions, and its outcome. Operations are
 * in txn_queue.c, its execution in txn_exec.c.
 */
#include "data/txn.h"

#include <string.h>

#include "core/client.h"
#include "core/fence.h"
#include "core/own_key.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "util/error.h"
#include "util/mem.h"

/* -------------------------------------------------------------- conditions */

static hf_status copy_bytes(hf_txn *txn, hf_bytes *bytes, hf_error *err)
{
    const char *data = bytes->size > 0 ? bytes->data : "";

    bytes->data = hf__arena_copy(&txn->arena, data, bytes->size);
    if (bytes->data == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a condition");
    return HF_OK;
}

/* The key gets the client's prefix, or is replaced by ours about it. */
static hf_status copy_key(hf_txn *txn, const char *role, hf_bytes *key,
                          hf_error *err)
{
    const hf_client *client = txn->base.client;
    hf_status status = hf__check_key(client, *key, "key", err);
    char *at;

    if (status == HF_OK && role != NULL)
        status = hf__check_own_key(*key, "key", err);
    if (status != HF_OK)
        return status;
    at = hf__arena_alloc(&txn->arena, role != NULL
                                          ? hf__own_key_size(client, role, *key)
                                          : client->prefix_size + key->size);
    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a condition");
    *key = role != NULL ? hf__own_key_put(client, role, *key, at)
                        : hf__key_put(client, *key, at);
    return HF_OK;
}

/* What a condition looks at: NULL: the key itself. One that is joined to the
 * one before looks at what belongs to the same key. */
static const char *role_of(const char *command, bool joined)
{
    return joined                          ? HF__ROLE_ITEMS
           : strcmp(command, "fence") == 0 ? HF__ROLE_FENCE
                                           : NULL;
}

/* `value` NULL: nothing is to be found. */
static hf_status add_joined(hf_txn *txn, const char *command, hf_bytes key,
                            hf_bytes field, const hf_bytes *value, bool joined,
                            hf_error *err)
{
    hf__txn_condition made = {.key = key,
                              .words = {hf_str(command), field,
                                        hf_str(value != NULL ? "1" : "0"),
                                        value != NULL ? *value : hf_str("")},
                              .joined = joined};
    size_t words_before = txn->word_count;
    void *items = txn->conditions;
    hf_status status;

    status = copy_key(txn, role_of(command, joined), &made.key, err);
    if (status == HF_OK)
        status = copy_bytes(txn, &made.words[1], err);
    if (status == HF_OK)
        status = copy_bytes(txn, &made.words[3], err);
    if (status == HF_OK)
        status = hf__txn_grow(&items, &txn->condition_room,
                              txn->condition_count, sizeof(made), err);
    txn->conditions = items;
    if (status == HF_OK)
        status = hf__txn_add_words(txn, 1 + HF__TXN_CONDITION_WORDS, err);
    if (status == HF_OK)
        status = hf__txn_add_key(txn, made.key, err);
    if (status == HF_OK)
        txn->conditions[txn->condition_count++] = made;
    else
        txn->word_count = words_before;
    return status;
}

static hf_status add_condition(hf_txn *txn, const char *command, hf_bytes key,
                               hf_bytes field, const hf_bytes *value,
                               hf_error *err)
{
    return add_joined(txn, command, key, field, value, false, err);
}

hf_status hf_txn_if_exists(hf_txn *txn, hf_bytes key, hf_error *err)
{
    hf_bytes one = hf_str("1");
    hf_status status = hf__txn_check(txn, err);

    if (status != HF_OK)
        return status;
    return add_condition(txn, "exists", key, hf_str(""), &one, err);
}

hf_status hf_txn_if_absent(hf_txn *txn, hf_bytes key, hf_error *err)
{
    hf_bytes none = hf_str("0");
    hf_status status = hf__txn_check(txn, err);

    if (status != HF_OK)
        return status;
    return add_condition(txn, "exists", key, hf_str(""), &none, err);
}

hf_status hf_txn_if_value(hf_txn *txn, hf_bytes key, hf_bytes value,
                          hf_error *err)
{
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK)
        status = hf__check_value(value, err);
    if (status != HF_OK)
        return status;
    return add_condition(txn, "get", key, hf_str(""), &value, err);
}

hf_status hf_txn_if_version(hf_txn *txn, hf_bytes key, hf_bytes version,
                            hf_error *err)
{
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK && version.size != HF_VALUE_VERSION_SIZE)
        status =
            hf__fail(err, HF_INVALID, "version is %zu bytes; it must be %d",
                     version.size, HF_VALUE_VERSION_SIZE);
    if (status == HF_OK)
        status = hf__check_value(version, err);
    if (status != HF_OK)
        return status;
    return add_condition(txn, "version", key, hf_str(""), &version, err);
}

hf_status hf_txn_if_field(hf_txn *txn, hf_bytes key, hf_bytes field,
                          const hf_bytes *value, hf_error *err)
{
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK)
        status = hf__check_field(field, err);
    if (status == HF_OK && value != NULL)
        status = hf__check_value(*value, err);
    if (status != HF_OK)
        return status;
    return add_condition(txn, "hget", key, field, value, err);
}

/* hf__txn::guard */
static hf_status if_held(hf_txn *txn, const char *how, hf_bytes name,
                         hf_bytes owner, hf_bytes has, hf_error *err)
{
    hf_bytes held = hf_str("1");
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK)
        status = add_condition(txn, how, name, owner, &held, err);
    if (status != HF_OK || has.size == 0)
        return status;
    return add_joined(txn, "hget", name, owner, &has, true, err);
}

static hf_status if_number(hf_txn *txn, const char *command, hf_bytes name,
                           uint64_t token, hf_error *err)
{
    char text[HF__NUMBER_SIZE];
    hf_bytes good = hf_str("1");
    hf_status status = hf__txn_check(txn, err);

    if (status == HF_OK)
        status = hf__check_token(token, err);
    if (status != HF_OK)
        return status;
    return add_condition(txn, command, name, hf__number(text, (int64_t)token),
                         &good, err);
}

hf_status hf_txn_if_token(hf_txn *txn, hf_bytes name, uint64_t token,
                          hf_error *err)
{
    return if_number(txn, "token", name, token, err);
}

hf_status hf_txn_if_fence(hf_txn *txn, hf_bytes key, uint64_t token,
                          hf_error *err)
{
    return if_number(txn, "fence", key, token, err);
}

/* -------------------------------------------------------------------- life */

static hf_txn *txn_new(hf_client *client, uint32_t flags)
{
    hf_txn *txn = hf__calloc(1, sizeof(*txn));

    if (txn == NULL)
        return NULL;
    txn->base.client = client;
    txn->base.take = hf__txn_take;
    txn->base.guard = if_held;
    atomic_init(&txn->references, 1);
    atomic_init(&txn->state, HF__TXN_OPEN);
    txn->flags = flags;
    txn->failed = HF_TXN_NONE;
    txn->error = (hf_error)HF_ERROR_INIT;
    hf__arena_init(&txn->arena);
    hf__client_ref(client);
    return txn;
}

static hf_status load_options(hf_txn_options *options,
                              const hf_txn_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_txn_options", err);

    if (status != HF_OK)
        return status;
    return hf__check_flags(options->flags, HF_TXN_ONCE, options->reserved0,
                           "hf_txn_options", err);
}

hf_status hf_txn_new(hf_client *client, const hf_txn_options *opts,
                     hf_txn **txn, hf_error *err)
{
    hf_txn_options options;
    hf_status status = hf__client_enter(client, err);

    if (status != HF_OK)
        return status;
    status = hf__check_out(txn, "txn", err);
    if (status == HF_OK)
        status = load_options(&options, opts, err);
    if (status == HF_OK && (client->store->capabilities & HF__CAP_UNDOES) != 0)
        status = hf__fail(err, HF_UNSUPPORTED, "a quorum has locks only");
    if (status == HF_OK) {
        hf_txn *made = txn_new(client, options.flags);

        if (made != NULL)
            *txn = made;
        else
            status = hf__fail(err, HF_NO_MEMORY, "a transaction");
    }
    hf__life_leave(&client->life);
    return status;
}

void hf__txn_unref(hf_txn *txn)
{
    hf_client *client = txn->base.client;

    if (atomic_fetch_sub(&txn->references, 1) != 1)
        return;
    for (size_t i = 0; i < txn->operation_count; i++)
        hf__call_unref(txn->operations[i].call);
    hf__arena_free(&txn->arena);
    hf__free(txn->operations);
    hf__free(txn->conditions);
    hf__free(txn->text);
    hf__free(txn);
    hf__client_unref(client);
}

void hf_txn_free(hf_txn *txn)
{
    if (txn != NULL)
        hf__txn_unref(txn);
}

/* ----------------------------------------------------------------- outcome */

size_t hf_txn_count(const hf_txn *txn)
{
    return txn == NULL ? 0 : txn->operation_count;
}

size_t hf_txn_failed(const hf_txn *txn)
{
    return txn == NULL ? HF_TXN_NONE : txn->failed;
}

/* Of an operation that has no status of its own. */
static hf_status common_status(const hf_txn *txn, hf_error *err)
{
    hf_kind kind = hf_status_kind(txn->status);

    if (kind == HF_KIND_NO || kind == HF_KIND_RETRY || kind == HF_KIND_USAGE)
        return hf__fail(err, HF_CANCELLED, "nothing was applied");
    return hf__fail(err, txn->status, "%s", hf_status_text(txn->status));
}

hf_status hf_txn_status(const hf_txn *txn, size_t index, hf_error *err)
{
    if (index >= hf_txn_count(txn))
        return hf__fail(err, HF_INVALID, "there is no operation %zu", index);
    if (atomic_load(&txn->state) != HF__TXN_DONE)
        return hf__fail(err, HF_INVALID, "the transaction was not executed");
    if (txn->outcome == HF__TXN_ALL_ANSWERED)
        return txn->operations[index].status == HF_OK
                   ? HF_OK
                   : hf__fail_copy(err, &txn->operations[index].error);
    if (txn->outcome == HF__TXN_ONE_FAILED && txn->failed == index)
        return hf__fail_copy(err, &txn->error);
    return common_status(txn, err);
}
