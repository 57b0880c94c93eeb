/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_key.c - see own_key.h. A prefix may be anything without braces, "hf:"
 * too, so every place where a role might begin is looked at, and all behind it
 * must fit: a user's key that only contains a role is left alone.
 */
#include "core/own_key.h"

#include <string.h>

#include "core/client.h"
#include "util/bytes.h"
#include "util/error.h"

#define ID_DIGITS 16 /* of a client, of a load */
#define TAG_MAX 7
#define TAG_SET                                                                \
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

/* What is left of a name. */
typedef struct key_rest {
    const char *at;
    size_t size;
} key_rest;

static bool skip_role(key_rest *left, const char *text)
{
    size_t size = strlen(text);

    if (left->size < size || memcmp(left->at, text, size) != 0)
        return false;
    left->at += size;
    left->size -= size;
    return true;
}

/* At least `least` and at most `most` characters of `set`. */
static bool skip_span(key_rest *left, const char *set, size_t least,
                      size_t most)
{
    size_t count = 0;

    while (count < most && count < left->size && left->at[count] != '\0' &&
           strchr(set, left->at[count]) != NULL)
        count++;
    left->at += count;
    left->size -= count;
    return count >= least;
}

static bool skip_id(key_rest *left)
{
    return skip_span(left, "0123456789abcdef", ID_DIGITS, ID_DIGITS);
}

/* Nothing, or a slot's tag in braces. */
static bool is_tag(key_rest left)
{
    return left.size == 0 ||
           (skip_role(&left, "{") && skip_span(&left, TAG_SET, 1, TAG_MAX) &&
            skip_role(&left, "}") && left.size == 0);
}

/* The queue's lock has the same prefix. */
static bool is_queue(key_rest left, hf_bytes prefix)
{
    char last = left.size == 0 ? '\0' : left.at[left.size - 1];

    if (!skip_role(&left, ":") && !(last == '}' && skip_role(&left, "{")))
        return false;
    return left.size >= prefix.size &&
           (prefix.size == 0 || memcmp(left.at, prefix.data, prefix.size) == 0);
}

/* Behind the role: of the store, or of a slot. */
static bool is_of_shard(key_rest left)
{
    return left.size == 0 ||
           (skip_role(&left, ":") && left.size > 0 && is_tag(left));
}

static hf__own_key role_at(key_rest left, hf_bytes prefix)
{
    key_rest tail = left;

    if (skip_role(&tail, HF__ROLE_TOKEN))
        return is_of_shard(tail) ? HF__OWN_TOKEN : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_CHANGES) ||
        skip_role(&tail, HF__ROLE_EXPIRING))
        return is_of_shard(tail) ? HF__OWN_CHANGES : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_WAIT))
        return is_queue(tail, prefix) ? HF__OWN_WAIT : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_FILL))
        return is_queue(tail, prefix) ? HF__OWN_FILL : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_REVISION))
        return is_queue(tail, prefix) ? HF__OWN_REVISION : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_CAS))
        return skip_id(&tail) && skip_role(&tail, ":") &&
                       skip_span(&tail, "0123456789", 1, SIZE_MAX) &&
                       is_tag(tail)
                   ? HF__OWN_CAS
                   : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_LOAD))
        return skip_id(&tail) && skip_role(&tail, ":") ? HF__OWN_LOAD
                                                       : HF__OWN_NONE;
    if (skip_role(&tail, HF__ROLE_CLIENT))
        return skip_id(&tail) && tail.size == 0 ? HF__OWN_CLIENT : HF__OWN_NONE;
    return HF__OWN_NONE;
}

hf__own_key hf__own_key_of(hf_bytes name, size_t *prefix_size)
{
    const char *text = name.data;
    hf__own_key found = HF__OWN_NONE;
    size_t at = 0;

    while (found == HF__OWN_NONE && name.size - at >= 3) {
        const char *next = memchr(text + at, 'h', name.size - at);

        if (next == NULL)
            return HF__OWN_NONE;
        at = (size_t)(next - text);
        found = role_at((key_rest){next, name.size - at}, hf_view(text, at));
        if (found == HF__OWN_NONE)
            at++;
    }
    if (prefix_size != NULL)
        *prefix_size = at;
    return found;
}

/* What a queue, or another key about a key, is about. */
static hf_bytes key_about(key_rest left)
{
    bool tagged = left.at[0] == ':';

    return hf_view(left.at + 1, left.size - (tagged ? 1 : 2));
}

const char *const hf__belonging_roles[HF__BELONGING_COUNT] = {
    HF__ROLE_FENCE, HF__ROLE_ITEMS, HF__ROLE_LABELS,  HF__ROLE_DUE,
    HF__ROLE_ORDER, HF__ROLE_CACHE, HF__ROLE_BARRIER, HF__ROLE_PASSED};

/* Those that are about a key and as lasting as that. */
static bool is_lasting(key_rest left, hf_bytes prefix, hf__belonging *found)
{
    for (size_t i = 0; i <= HF__BELONGING_COUNT; i++) {
        const char *role =
            i < HF__BELONGING_COUNT ? hf__belonging_roles[i] : HF__ROLE_TAG;
        key_rest tail = left;

        if (skip_role(&tail, role) && is_queue(tail, prefix)) {
            *found = (hf__belonging){key_about(tail), prefix.size, role};
            return true;
        }
    }
    return false;
}

bool hf__find_belonging(hf_bytes name, hf__belonging *found)
{
    const char *text = name.data;

    for (size_t at = 0; at < name.size; at++) {
        if (text[at] == 'h' && is_lasting((key_rest){text + at, name.size - at},
                                          hf_view(text, at), found))
            return true;
    }
    return false;
}

bool hf__is_content_role(const char *role)
{
    static const char *const roles[] = {HF__ROLE_ITEMS, HF__ROLE_LABELS,
                                        HF__ROLE_DUE, HF__ROLE_ORDER,
                                        HF__ROLE_CACHE};

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(role, roles[i]) == 0)
            return true;
    }
    return false;
}

bool hf__is_own_key(hf_bytes name)
{
    hf__belonging found;

    return hf__own_key_of(name, NULL) != HF__OWN_NONE ||
           hf__find_belonging(name, &found);
}

hf_bytes hf__own_key_owner(hf_bytes name)
{
    hf__belonging found;

    return hf__find_belonging(name, &found) ? found.owner : name;
}

bool hf__has_hash_tag(hf_bytes name)
{
    return hf__hash_tag(name).data != NULL;
}

hf_status hf__check_own_key(hf_bytes name, const char *what, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (hf__has_hash_tag(name) || memchr(name.data, '}', name.size) == NULL)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s %s has a '}' but no hash tag", what,
                    hf__quoted(quoted, name));
}

size_t hf__own_key_size(const hf_client *client, const char *role,
                        hf_bytes name)
{
    return 2 * client->prefix_size + strlen(role) + name.size + 2;
}

static char *put_part(char *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

hf_bytes hf__own_key_put(const hf_client *client, const char *role,
                         hf_bytes name, char *at)
{
    bool tagged = hf__has_hash_tag(name);
    char *start = at;

    at = put_part(at, client->prefix, client->prefix_size);
    at = put_part(at, role, strlen(role));
    *at++ = tagged ? ':' : '{';
    at = put_part(at, client->prefix, client->prefix_size);
    at = put_part(at, name.data, name.size);
    if (!tagged)
        *at++ = '}';
    return hf_view(start, (size_t)(at - start));
}

char *hf__own_shard_key(const hf__store *store, const char *role,
                        uint32_t shard, char *at)
{
    memcpy(at, role, strlen(role));
    at += strlen(role);
    if (store->ops->tag != NULL) {
        *at++ = ':';
        *at++ = '{';
        store->ops->tag(shard, at);
        at += strlen(at);
        *at++ = '}';
    }
    return at;
}

char *hf__own_token_key(const hf__store *store, uint32_t shard, char *at)
{
    return hf__own_shard_key(store, HF__ROLE_TOKEN, shard, at);
}
