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

hf_status hf__lock_keys_init(const hf_client *client, hf_bytes name,
                             hf__lock_keys *keys, hf_error *err)
{
    hf_status status = hf__check_key(client, name, "lock name", err);
    size_t main_size = client->prefix_size + name.size;
    char *at;

    if (status == HF_OK)
        status = hf__check_own_key(name, "lock name", err);
    if (status != HF_OK)
        return status;
    at = hf__alloc(main_size + client->prefix_size + HF__TOKEN_KEY_SIZE +
                   hf__own_key_size(client, HF__ROLE_WAIT, name));
    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    keys->storage = at;
    keys->main = hf__key_put(client, name, at);
    at = put_token(at + main_size, client, keys->main, &keys->token);
    keys->waiters = hf__own_key_put(client, HF__ROLE_WAIT, name, at);
    return HF_OK;
}

void hf__lock_keys_done(hf__lock_keys *keys)
{
    hf__free(keys->storage);
    keys->storage = NULL;
}
