/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_register.c - a resource that checks tokens, see lock_chaos.h. */
#include "lock_chaos.h"

/* The current version becomes *next, unless its token is larger; *found is what
 * was current. */
static bool replace(uint32_t key, const version *next, bool keep_value,
                    version *found)
{
    atomic_uint *current = &shared->current[key];
    unsigned mine = atomic_fetch_add(&shared->versions, 1) + 1;
    unsigned seen = atomic_load(current);

    if (mine >= RECORDS_MAX)
        return false;
    do {
        *found = shared->all_versions[seen];
        if (options.fence && next->token < found->token)
            return false;
        shared->all_versions[mine] = *next;
        if (keep_value)
            shared->all_versions[mine].value = found->value;
    } while (!atomic_compare_exchange_weak(current, &seen, mine));
    return true;
}

static hf_status call(session *self, const char *name, const int64_t *in,
                      uint32_t in_count, version *found)
{
    version next = {in[0], in[in_count - 1]};
    bool reads = in_count == 1, done;

    self->model = "register";
    self->now = record_new();
    if (self->now == NULL)
        return HF_CONFLICT;
    call_begin(self, name, in_count, in);
    done = replace(self->key, &next, reads, found);
    if (reads)
        call_out(self, found->value);
    call_end(self, done ? HF_OK : HF_CONFLICT);
    return self->now->status;
}

hf_status register_read(session *self, int64_t token, int64_t *value)
{
    version found = {0};
    hf_status status = call(self, "read", &token, 1, &found);

    *value = found.value;
    return status;
}

hf_status register_write(session *self, int64_t token, int64_t from, int64_t to)
{
    int64_t in[] = {token, from, to};
    version found;

    return call(self, "write", in, 3, &found);
}
