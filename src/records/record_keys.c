/* SPDX-License-Identifier: Apache-2.0 */
/* record_keys.c - the keys of a request, and what is needed for each. */
#include <string.h>

#include "records/record_work.h"
#include "store/known_commands.h"
#include "util/bytes.h"
#include "util/hash_bytes.h"
#include "util/mem.h"

static void *take_memory(hf__work *work, size_t count, size_t size)
{
    void *memory = hf__arena_alloc(&work->work_arena, (count + 1) * size);

    if (memory != NULL)
        memset(memory, 0, (count + 1) * size);
    return memory;
}

/* Room for so many keys, and a mark. false: no memory; it is as before. */
static bool take_arrays(hf__work *work, size_t count)
{
    hf__backend_record *records = take_memory(work, count, sizeof(*records));
    bool *mine = take_memory(work, count, sizeof(*mine));
    hf__scratch_record *given = take_memory(work, count, sizeof(*given));
    hf__backend_record *checks = take_memory(work, count, sizeof(*checks));
    hf__backend_write *writes = take_memory(work, count, sizeof(*writes));
    hf__change *changes = take_memory(work, count, sizeof(*changes));

    if (records == NULL || mine == NULL || given == NULL || checks == NULL ||
        writes == NULL || changes == NULL)
        return false;
    for (size_t i = 0; i < work->key_count; i++) {
        records[i] = work->records[i];
        mine[i] = work->mine[i];
    }
    work->records = records;
    work->mine = mine;
    work->given = given;
    work->checks = checks;
    work->writes = writes;
    work->changes = changes;
    work->room = count;
    return true;
}

size_t hf__work_index(const hf__work *work, hf_bytes key)
{
    size_t i = 0;

    while (i < work->key_count && !hf__bytes_same(work->records[i].key, key))
        i++;
    return i;
}

static void link_key(hf__work_key *one)
{
    hf__work_key **first =
        &one->work->store->keys[one->hash % HF__RECORD_BUCKETS];

    one->same = *first;
    one->same_place = first;
    if (one->same != NULL)
        one->same->same_place = &one->same;
    *first = one;
}

bool hf__work_add_key(hf__work *work, hf_bytes key, bool mine)
{
    size_t at = hf__work_index(work, key);
    hf__work_key *one;
    char *copy;

    if (at < work->key_count) {
        work->mine[at] |= mine;
        return true;
    }
    work->too_many = work->key_count == HF__SCRATCH_KEYS;
    if (work->too_many)
        return false;
    copy = hf__arena_copy(&work->work_arena, key.data, key.size);
    one = hf__arena_alloc(&work->work_arena, sizeof(*one));
    if (copy == NULL || one == NULL)
        return false;
    *one = (hf__work_key){.work = work,
                          .key = hf_view(copy, key.size),
                          .hash = hf__hash(key, 0),
                          .next = work->keys};
    work->keys = one;
    if (work->arrival != 0)
        link_key(one);
    work->marked = false;
    work->mask |= UINT64_C(1) << one->hash % 64;
    /* The place may have been the mark's. */
    work->records[at] = (hf__backend_record){.key = hf_view(copy, key.size)};
    work->mine[at] = mine;
    work->key_count++;
    return true;
}

bool hf__work_owns(const hf__work *work, hf_bytes key)
{
    size_t at = hf__work_index(work, key);

    return at < work->key_count && work->mine[at];
}

bool hf__work_add_keys(hf__work *work, const hf__work *other)
{
    size_t count = work->key_count + other->key_count;

    if (count > HF__SCRATCH_KEYS - HF__WORK_DERIVED_MAX)
        return false;
    if (count + HF__WORK_DERIVED_MAX > work->room &&
        !take_arrays(work, 2 * (count + HF__WORK_DERIVED_MAX)))
        return false;
    for (size_t i = 0; i < other->key_count; i++) {
        if (!hf__work_add_key(work, other->records[i].key, false))
            return false;
    }
    return true;
}

static bool add_keys(hf__work *work)
{
    const hf__request *request = work->request;
    const hf__known_command *known;
    bool added = true;
    hf__key_words keys;

    work->reads = request->script != NULL && request->script->reads;
    for (size_t i = 0;
         added && request->script != NULL && i < request->key_count; i++)
        added = hf__work_add_key(work, request->words[i], true);
    if (request->script != NULL)
        return added;
    known = hf__known_find_words(request->words, request->word_count);
    work->reads =
        known != NULL && (known->categories & HF__CATEGORY_WRITE) == 0;
    hf__known_keys(known, request->words, request->word_count, &keys);
    for (size_t at = hf__key_words_begin(&keys); added && at != 0;
         at = hf__key_words_next(&keys, at))
        added = hf__work_add_key(work, request->words[at], true);
    return added;
}

bool hf__work_writes_lease(const hf__request *request,
                           const hf__scratch_record *changed)
{
    hf__lease_rule rule =
        request->script == NULL ? HF__LEASES_NONE : request->script->leases;
    size_t end = rule == HF__LEASES_NONE    ? 0
                 : rule == HF__LEASES_FIRST ? 1
                                            : request->key_count;

    for (size_t i = rule == HF__LEASES_OTHERS; !changed->sorted && i < end;
         i++) {
        if (hf__bytes_same(request->words[i], changed->key))
            return true;
    }
    return false;
}

hf__work *hf__work_new(hf__record_store *store, hf__request *request)
{
    size_t count = request->word_count < HF__SCRATCH_KEYS ? request->word_count
                                                          : HF__SCRATCH_KEYS;
    hf__work *work = hf__calloc(1, sizeof(*work));

    if (work == NULL)
        return NULL;
    work->store = store;
    work->request = request;
    hf__heap_node_init(&work->timer);
    hf__arena_init(&work->call.arena);
    hf__arena_init(&work->try_arena);
    hf__arena_init(&work->work_arena);
    work->call.user = work;
    work->required =
        take_memory(work, HF__WORK_ABSENT_MAX, sizeof(*work->required));
    if (work->required != NULL &&
        take_arrays(work, count + HF__WORK_DERIVED_MAX) &&
        (add_keys(work) || work->too_many))
        return work;
    hf__work_free(work);
    return NULL;
}

void hf__work_free(hf__work *work)
{
    hf__arena_free(&work->call.arena);
    hf__arena_free(&work->try_arena);
    hf__arena_free(&work->work_arena);
    hf__free(work);
}

bool hf__work_has_keys(const hf__work *work, const hf__work *other)
{
    bool has = (other->mask & ~work->mask) == 0;

    for (size_t i = 0; has && i < other->key_count; i++)
        has = hf__work_index(work, other->records[i].key) < work->key_count;
    return has;
}

bool hf__work_overlaps(const hf__work *work, const hf__work *other)
{
    bool overlaps = false;

    for (size_t i = 0;
         (work->mask & other->mask) != 0 && !overlaps && i < other->key_count;
         i++)
        overlaps =
            hf__work_index(work, other->records[i].key) < work->key_count;
    return overlaps;
}

void hf__work_link_keys(hf__work *work)
{
    work->arrival = ++work->store->arrivals;
    for (hf__work_key *one = work->keys; one != NULL; one = one->next)
        link_key(one);
}

void hf__work_unlink_keys(hf__work *work)
{
    for (hf__work_key *one = work->keys; one != NULL; one = one->next) {
        *one->same_place = one->same;
        if (one->same != NULL)
            one->same->same_place = one->same_place;
    }
}

bool hf__work_has_earlier(const hf__work *work)
{
    for (const hf__work_key *one = work->keys; one != NULL; one = one->next) {
        const hf__work_key *other =
            work->store->keys[one->hash % HF__RECORD_BUCKETS];

        for (; other != NULL; other = other->same) {
            if (other->work->arrival < work->arrival &&
                other->hash == one->hash &&
                hf__bytes_same(other->key, one->key))
                return true;
        }
    }
    return false;
}
