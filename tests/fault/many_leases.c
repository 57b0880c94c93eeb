/* SPDX-License-Identifier: Apache-2.0 */
/* many_leases.c - see many_leases.h. */
#include "many_leases.h"

#include <stdio.h>

#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"

typedef hf_status (*make_fn)(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err);

#define PERMITS 1000

static hf_status make_permit(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err)
{
    return hf_semaphore_new(client, name, PERMITS, opts, lock, err);
}

static hf_status make_reader(hf_client *client, hf_bytes name,
                             const hf_lock_options *opts, hf_lock **lock,
                             hf_error *err)
{
    return hf_rwlock_new(client, name, 0, opts, lock, NULL, err);
}

/* How many leases one name has. */
static const struct {
    const char *name;
    make_fn make;
    size_t each;
} kinds[] = {
    {"lock", hf_lock_new, 1},
    {"semaphore", make_permit, 500},
    {"reader", make_reader, 50},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

hf_status leases_make(hf_client *client, const char *prefix,
                      const hf_lock_options *opts, size_t step, bool mixed,
                      hf_lock **locks, size_t count, hf_error *err)
{
    size_t kinds_used = mixed ? KINDS : 1;
    hf_lock_options each = *opts;
    char name[64];

    for (size_t i = 0; i < count; i++) {
        size_t kind = i % kinds_used;
        hf_status status;

        each.user = opts->user == NULL ? NULL : (char *)opts->user + i * step;
        (void)snprintf(name, sizeof(name), "%s%s:%zu", prefix, kinds[kind].name,
                       i / kinds_used / kinds[kind].each);
        status = kinds[kind].make(client, hf_str(name), &each, &locks[i], err);
        if (status != HF_OK)
            return status;
    }
    return HF_OK;
}

/* A part at a time: a batch may take no longer than a request. */
#define PART 1000

static size_t act_on_all(hf_lock *const *locks, size_t count,
                         hf_status (*act)(hf_lock *const *of, size_t count,
                                          hf_status *statuses))
{
    hf_status statuses[PART];
    size_t bad = 0;

    for (size_t i = 0; i < count; i += PART) {
        size_t some = count - i < PART ? count - i : PART;

        if (act(locks + i, some, statuses) != HF_OK)
            return count;
        for (size_t j = 0; j < some; j++)
            bad += statuses[j] != HF_OK;
    }
    return bad;
}

static hf_status acquire_part(hf_lock *const *of, size_t count,
                              hf_status *statuses)
{
    return hf_lock_acquire_many(of, count, 0, statuses, NULL);
}

static hf_status release_part(hf_lock *const *of, size_t count,
                              hf_status *statuses)
{
    return hf_lock_release_many(of, count, statuses, NULL);
}

size_t leases_acquire(hf_lock *const *locks, size_t count)
{
    return act_on_all(locks, count, acquire_part);
}

size_t leases_release(hf_lock *const *locks, size_t count)
{
    return act_on_all(locks, count, release_part);
}

size_t leases_held(hf_lock *const *locks, size_t count)
{
    size_t held = 0;

    for (size_t i = 0; i < count; i++)
        held += hf_lock_is_held(locks[i]);
    return held;
}

void leases_free(hf_lock **locks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hf_lock_free(locks[i]);
}
