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
#include "lease/redisson.h"
#include "util/error.h"
#include "util/mem.h"

static char *put_key(char *at, const void *data, size_t size)
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

    at = put_key(at, client->prefix, client->prefix_size);
    at = hf__own_token_key(store, store->ops->shard(store, name), at);
    *key = hf_view(start, (size_t)(at - start));
    return at;
}

/* "publish CHANNEL" */
static char *put_publish(char *at, const char *verb, const char *role,
                         hf__lock_keys *keys)
{
    char *start = at;

    at = put_key(at, verb, strlen(verb));
    *at++ = ' ';
    keys->channel = hf__redisson_put(role, keys->main, at);
    at += keys->channel.size;
    keys->publish = hf_view(start, (size_t)(at - start));
    return at;
}

/* In the slot of the lock, and of this handle. */
static hf_bytes put_topic(char *at, const hf__lock_keys *keys)
{
    size_t size = keys->channel.size;

    memcpy(at, keys->channel.data, size);
    memcpy(at + size, &keys, sizeof(keys));
    return hf_view(at, size + sizeof(keys));
}

static hf_status init_redisson(const hf_client *client,
                               const hf__redisson *names, hf_bytes name,
                               hf__lock_keys *keys, hf_error *err)
{
    size_t size = client->prefix_size + name.size;
    const char *token = names->token == NULL ? "" : names->token;
    hf_status status = hf__redisson_check_name(name, err);
    char *at;

    if (status != HF_OK)
        return status;
    at = hf__alloc(6 * (size + 3) + strlen(token) + strlen(names->waiters) +
                   2 * strlen(names->channel) + sizeof(keys) +
                   strlen(client->layout.verb) + 1 + client->prefix_size +
                   HF__TOKEN_KEY_SIZE);
    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    keys->storage = at;
    keys->topic = keys->main = hf__key_put(client, name, at);
    at += size;
    keys->waiters = hf__redisson_put(names->waiters, keys->main, at);
    at += keys->waiters.size;
    at = put_publish(at, client->layout.verb, names->channel, keys);
    if (names->token == NULL)
        at = put_token(at, client, keys->main, &keys->token);
    else
        keys->token = hf__redisson_put(token, keys->main, at);
    if (names->by_owner)
        keys->topic =
            put_topic(at + (names->token != NULL) * keys->token.size, keys);
    return HF_OK;
}

hf_status hf__lock_keys_init(const hf_client *client,
                             const hf__redisson *redisson, hf_bytes name,
                             hf__lock_keys *keys, hf_error *err)
{
    hf_status status = hf__check_key(client, name, "lock name", err);
    size_t main_size = client->prefix_size + name.size;
    char *at;

    if (status == HF_OK)
        status = hf__check_own_key(name, "lock name", err);
    if (status == HF_OK && redisson != NULL)
        return init_redisson(client, redisson, name, keys, err);
    if (status != HF_OK)
        return status;
    at = hf__alloc(main_size + client->prefix_size + HF__TOKEN_KEY_SIZE +
                   hf__own_key_size(client, HF__ROLE_WAIT, name));
    if (at == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a lock");
    keys->storage = at;
    keys->topic = keys->main = hf__key_put(client, name, at);
    at = put_token(at + main_size, client, keys->main, &keys->token);
    keys->waiters = hf__own_key_put(client, HF__ROLE_WAIT, name, at);
    return HF_OK;
}

void hf__lock_keys_done(hf__lock_keys *keys)
{
    hf__free(keys->storage);
    keys->storage = NULL;
}
