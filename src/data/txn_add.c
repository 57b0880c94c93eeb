/* SPDX-License-Identifier: Apache-2.0 */
/* txn_add.c - adding to a transaction: its limits and its slot. */
#include "core/client.h"
#include "data/txn.h"
#include "holdfast/txn.h"
#include "util/error.h"
#include "util/mem.h"

hf_status hf__txn_check(const hf_txn *txn, hf_error *err)
{
    hf_status status = hf__check_out(txn, "txn", err);

    if (status == HF_OK)
        status = hf__client_check(txn->base.client, err);
    if (status == HF_OK && atomic_load(&txn->state) != HF__TXN_OPEN)
        status = hf__fail(err, HF_INVALID,
                          "the transaction was executed; make another one");
    return status;
}

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
                        "keys %s and %s are in different slots of the "
                        "cluster: use a common {tag}",
                        hf__quoted(first, txn->key), hf__quoted(other, key));
    txn->key_count++;
    return HF_OK;
}
