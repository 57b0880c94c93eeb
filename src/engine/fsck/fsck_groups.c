/* SPDX-License-Identifier: Apache-2.0 */
/* fsck_groups.c - the table of key ids: open addressing, in mapped memory. */
#include "engine/fsck/fsck_groups.h"
#include "util/hash_bytes.h"

#define GROUPS_FIRST 1024u

static struct hf__groups *new_groups(hf__fsck *fsck, uint64_t capacity)
{
    size_t size = sizeof(struct hf__groups) + capacity * sizeof(hf__fsck_group);
    struct hf__groups *groups = hf__fsck_map(fsck, size);

    if (groups == NULL)
        return NULL;
    groups->map_size = size;
    groups->capacity = capacity;
    return groups;
}

static hf__fsck_group *slot_of(struct hf__groups *groups, uint64_t keyid)
{
    uint64_t mask = groups->capacity - 1;
    uint64_t at = hf__hash(hf_view(&keyid, sizeof(keyid)), 0) & mask;

    /* There is always a free one. */
    while (groups->entries[at].taken && groups->entries[at].keyid != keyid)
        at = (at + 1) & mask;
    return &groups->entries[at];
}

static struct hf__groups *grow_groups(hf__fsck *fsck, struct hf__groups *old)
{
    struct hf__groups *groups = new_groups(fsck, 2 * old->capacity);

    if (groups == NULL)
        return NULL;
    for (uint64_t i = 0; i < old->capacity; i++) {
        if (old->entries[i].taken)
            *slot_of(groups, old->entries[i].keyid) = old->entries[i];
    }
    groups->count = old->count;
    hf__fsck_unmap(old, old->map_size);
    fsck->groups = groups;
    return groups;
}

hf__fsck_group *hf__fsck_group_of(hf__fsck *fsck, uint64_t keyid)
{
    struct hf__groups *groups = fsck->groups;
    hf__fsck_group *at;

    if (groups == NULL)
        groups = fsck->groups = new_groups(fsck, GROUPS_FIRST);
    if (groups == NULL)
        return NULL;
    if (groups->last != NULL && groups->last->keyid == keyid)
        return groups->last;
    at = slot_of(groups, keyid);
    if (!at->taken && groups->count >= groups->capacity / 4 * 3) {
        groups = grow_groups(fsck, groups);
        if (groups == NULL)
            return NULL;
        at = slot_of(groups, keyid);
    }
    if (!at->taken) {
        at->taken = true;
        at->keyid = keyid;
        groups->count++;
    }
    groups->last = at;
    return at;
}
