/* SPDX-License-Identifier: Apache-2.0 */
/* lock_pairs.c - see lock_pairs.h. */
#include "lock_pairs.h"
#include "holdfast/value.h"

static bool put_others(hf_client *client, int others, hf_error *error)
{
    char name[BENCH_NAME_SIZE];
    char value[32] = {0};

    for (int i = 0; i < others; i++) {
        bench_other_name(name, i);
        if (hf_value_set(client, hf_str(name), hf_view(value, sizeof(value)),
                         NULL, NULL, error) != HF_OK)
            return false;
    }
    return true;
}

static bool make_locks(lock_pairs *self, const bench_load *load,
                       hf_error *error)
{
    char name[BENCH_NAME_SIZE];

    for (self->count = 0; self->count < load->locks; self->count++) {
        bench_lock_name(name, load, self->first + self->count);
        if (hf_lock_new(self->client, hf_str(name), NULL,
                        &self->locks[self->count], error) != HF_OK)
            return false;
    }
    return true;
}

bool lock_pairs_open(lock_pairs *self, const char *url, const bench_load *load)
{
    hf_error error = HF_ERROR_INIT;

    if (hf_client_open(url, NULL, &self->client, &error) == HF_OK &&
        put_others(self->client, load->others, &error) &&
        make_locks(self, load, &error))
        return true;
    return bench_fail("%s: %s", load->name, error.message);
}

bool lock_pairs_run(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    lock_pairs *self = user;

    for (int64_t i = 0; i < count; i++) {
        hf_lock *lock = self->locks[self->next];

        self->next = (self->next + 1) % self->count;
        if (hf_lock_try(lock, &error) != HF_OK ||
            hf_lock_release(lock, &error) != HF_OK)
            return bench_fail("%s", error.message);
    }
    return true;
}

void lock_pairs_close(lock_pairs *self)
{
    while (self->count > 0)
        hf_lock_free(self->locks[--self->count]);
    hf_client_close(self->client);
    self->client = NULL;
}
