/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - the keys of a lock, which must lie in one hash slot.
 *
 * A key's slot is that of its hash tag: the bytes between the first '{' and
 * the first '}' behind it, if there are any; else that of the whole key
 * (Redis Cluster specification, "Hash tags"). So hf:wait:{name} shares the
 * slot of `name`, unless `name` has a tag itself (then hf:wait::name does; the
 * second colon keeps the queues of the locks x and {x} apart), or a '}' that
 * would end our tag early (then neither does). The last fencing token is not
 * the lock's, but its slot's.
 */
#include "core/own_key.h"
#include "lease/handle.h"
#include "util/error.h"
#include "util/mem.h"

static char *put(char *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

/* Behind the prefix, which has no brace and so changes no slot. */
static char *put_token(char *at, const hf_client *client, hf_bytes name,
                       hf_bytes *key)
{
    const hf__store *store = client->store;
    char *start = at;

    at = put(at, client->prefix, client->prefix_size);
    at = hf__own_token_key(store, store->ops->shard(store, name), at);
    *key = hf_view(start, (size_t)(at - start));
    return at;
}

/* The role, then ':' + name or '{' + name + '}'. */
static char *put_queue(char *at, const hf_client *client, hf_bytes name,
                       bool tagged, hf_bytes *key)
{
    char *start = at;

    at = put(at, client->prefix, client->prefix_size);
    at = put(at, HF__ROLE_WAIT, strlen(HF__ROLE_WAIT));
    *at++ = tagged ? ':' : '{';
    at = put(at, name.data, name.size);
    if (!tagged)
        *at++ = '}';
    *key = hf_view(start, (size_t)(at - start));
    return at;
}

hf_status hf__lock_keys_init(const hf_client *client, hf_bytes name,
                             hf__lock_keys *keys, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    hf__key full;
    bool tagged;
    char *at;
    hf_status status = hf__key_init(client, name, "lock name", &full, err);

    if (status != HF_OK)
        return status;
    tagged = hf__has_hash_tag(full.bytes);
    if (!tagged && memchr(full.bytes.data, '}', full.bytes.size) != NULL) {
        hf__key_done(&full);
        return hf__fail(err, HF_INVALID,
                        "lock name %s has a '}' but no hash tag",
                        hf__quoted(quoted, name));
    }
    at = hf__alloc(2 * full.bytes.size + 2 * client->prefix_size +
                   HF__TOKEN_KEY_SIZE + sizeof(HF__ROLE_WAIT) + 4);
    if (at == NULL) {
        hf__key_done(&full);
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    }
    keys->storage = at;
    keys->main = hf_view(at, full.bytes.size);
    at = put(at, full.bytes.data, full.bytes.size);
    at = put_token(at, client, full.bytes, &keys->token);
    put_queue(at, client, full.bytes, tagged, &keys->waiters);
    hf__key_done(&full);
    return HF_OK;
}

void hf__lock_keys_done(hf__lock_keys *keys)
{
    hf__free(keys->storage);
    keys->storage = NULL;
}
