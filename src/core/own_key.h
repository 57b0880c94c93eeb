/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_key.h - names of the library's own keys: the client's prefix, then
 * "hf:", the role, and what it is about. scripts/README.md lists them.
 */
#ifndef HF__CORE_OWN_KEY_H
#define HF__CORE_OWN_KEY_H

#include "store/store.h"

#define HF__ROLE_TOKEN "hf:token"
#define HF__ROLE_WAIT "hf:wait:"
#define HF__ROLE_CAS "hf:cas:"
#define HF__ROLE_FENCE "hf:fence:"
#define HF__ROLE_LOAD "hf:load:"
#define HF__ROLE_CLIENT "hf:client:"
#define HF__ROLE_FILL "hf:fill:"
#define HF__ROLE_CACHE "hf:cache:"
#define HF__ROLE_TAG "hf:tag:"
#define HF__ROLE_ITEMS "hf:items:"
#define HF__ROLE_LABELS "hf:labels:"
#define HF__ROLE_DUE "hf:due:"
#define HF__ROLE_ORDER "hf:order:"
#define HF__ROLE_BARRIER "hf:barrier:"
#define HF__ROLE_PASSED "hf:passed:"
#define HF__ROLE_REVISION "hf:revision:"
#define HF__ROLE_CHANGES "hf:changes"
#define HF__ROLE_EXPIRING "hf:expiring"

typedef enum hf__own_key {
    HF__OWN_NONE, /* the user's */
    HF__OWN_TOKEN,
    HF__OWN_WAIT,
    HF__OWN_CAS,
    HF__OWN_LOAD,
    HF__OWN_CLIENT,
    HF__OWN_FILL,
    HF__OWN_REVISION,
    HF__OWN_CHANGES
} hf__own_key;

/* Which of the keys that mean nothing in another store has this name, under
 * whatever prefix? `prefix_size` may be NULL, and is set for one of these. */
hf__own_key hf__own_key_of(hf_bytes name, size_t *prefix_size);

/* Is it one of ours, those that a dump has to carry included? */
bool hf__is_own_key(hf_bytes name);

/* If it is one of ours that belongs to a key, or to a tag, and lasts: that
 * name, with its prefix. Else the name itself. */
hf_bytes hf__own_key_owner(hf_bytes name);

/* A name of such a key, taken apart. */
typedef struct hf__belonging {
    hf_bytes owner; /* as above */
    size_t prefix_size;
    const char *role;
} hf__belonging;

bool hf__find_belonging(hf_bytes name, hf__belonging *found);

/* The roles of what belongs to a key. */
#define HF__BELONGING_COUNT 8
extern const char *const hf__belonging_roles[HF__BELONGING_COUNT];

/* Has a key with this role content of its owner, which is nothing without it?
 * A fence outlasts its owner, a barrier's state those that wait. */
bool hf__is_content_role(const char *role);

/* Does a part of the name in braces decide its hash slot? */
bool hf__has_hash_tag(hf_bytes name);

/*
 * Our key about another, in its hash slot: the client's prefix, the role, then
 * the whole key in braces or, if it has a hash tag, a colon and the key. A name
 * with a '}' but without a tag is HF_INVALID: there is no such key.
 */
hf_status hf__check_own_key(hf_bytes name, const char *what, hf_error *err);
size_t hf__own_key_size(const hf_client *client, const char *role,
                        hf_bytes name);
hf_bytes hf__own_key_put(const hf_client *client, const char *role,
                         hf_bytes name, char *at);

/* Room for a name after the prefix, that of the counter, for example, and that
 * name: of the whole store, or, in a cluster, of a slot. Returns the end. */
#define HF__SHARD_KEY_SIZE(role) (sizeof(role) + 3 + HF__TAG_SIZE)
char *hf__own_shard_key(const hf__store *store, const char *role,
                        uint32_t shard, char *at);
#define HF__TOKEN_KEY_SIZE HF__SHARD_KEY_SIZE(HF__ROLE_TOKEN)
char *hf__own_token_key(const hf__store *store, uint32_t shard, char *at);

#endif
