/* SPDX-License-Identifier: Apache-2.0 */
/* record_keys.c - the keys of a request, and what is needed for each. */
#include <string.h>

#include "records/record_work.h"
#include "store/known_commands.h"
#include "util/hash_bytes.h"
#include "util/mem.h"

static void *take_memory(hf__work *work, size_t count, size_t size)
{
    void *memory = hf__arena_alloc(&work->work_arena, (count + 1) * size);

    if (memory != NULL)
        memset(memory, 0, (count + 1) * size);
    return memory;
}

static bool take_arrays(hf__work *work, size_t count)
{
    if (count > HF__SCRATCH_KEYS)
        count = HF__SCRATCH_KEYS;
    count += HF__WORK_DERIVED_MAX;
    work->records = take_memory(work, count, sizeof(*work->records));
    work->given = take_memory(work, count, sizeof(*work->given));
    work->used = take_memory(work, count, sizeof(*work->used));
    work->checks = take_memory(work, count, sizeof(*work->checks));
    work->check_of = take_memory(work, count, sizeof(*work->check_of));
    work->writes = take_memory(work, count, sizeof(*work->writes));
    work->required =
        take_memory(work, HF__WORK_ABSENT_MAX, sizeof(*work->required));
    return work->records != NULL && work->given != NULL && work->used != NULL &&
           work->checks != NULL && work->check_of != NULL &&
           work->writes != NULL && work->required != NULL;
}

/* One key may be there twice. */
bool hf__work_add_key(hf__work *work, hf_bytes key)
{
    char *copy;

    for (size_t i = 0; i < work->key_count; i++) {
        const hf_bytes *other = &work->records[i].key;

        if (other->size == key.size &&
            (key.size == 0 || memcmp(other->data, key.data, key.size) == 0))
            return true;
    }
    work->too_many = work->key_count == HF__SCRATCH_KEYS;
    if (work->too_many)
        return false;
    copy = hf__arena_copy(&work->work_arena, key.data, key.size);
    if (copy == NULL)
        return false;
    work->marked = false;
    work->mask |= UINT64_C(1) << hf__hash(key, 0) % 64;
    /* The place may have been the mark's. */
    work->records[work->key_count++] =
        (hf__backend_record){.key = hf_view(copy, key.size)};
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
        added = hf__work_add_key(work, request->words[i]);
    if (request->script != NULL)
        return added;
    known = hf__known_find_words(request->words, request->word_count);
    work->reads =
        known != NULL && (known->categories & HF__CATEGORY_WRITE) == 0;
    hf__known_keys(known, request->words, request->word_count, &keys);
    for (size_t at = hf__key_words_begin(&keys); added && at != 0;
         at = hf__key_words_next(&keys, at))
        added = hf__work_add_key(work, request->words[at]);
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
        const hf_bytes *key = &request->words[i];

        if (key->size == changed->key.size &&
            (key->size == 0 ||
             memcmp(key->data, changed->key.data, key->size) == 0))
            return true;
    }
    return false;
}

hf__work *hf__work_new(hf__record_store *store, hf__request *request)
{
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
    if (take_arrays(work, request->word_count) &&
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

bool hf__work_overlaps(const hf__work *work, const hf__work *other)
{
    if ((work->mask & other->mask) == 0)
        return false;
    for (size_t i = 0; i < work->key_count; i++) {
        hf_bytes key = work->records[i].key;

        for (size_t j = 0; j < other->key_count; j++) {
            hf_bytes its = other->records[j].key;

            if (key.size == its.size &&
                (key.size == 0 || memcmp(key.data, its.data, key.size) == 0))
                return true;
        }
    }
    return false;
}
