/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratches.c - with --records: the transactions in which clients run requests
 * on records. Opening one makes two files in memory and maps them, which took
 * longer than the rest of a run, so a client gets one that an earlier run has
 * closed. Nothing of a request stays in it (scratch.h) but memory: in a case
 * whose allocations fail each is new, so that the same ones fail whatever ran
 * before.
 */
#include "engine/scratch/scratch.h"

#include "sim.h"

static hf__scratch *kept[CLIENTS];
static size_t kept_count;

/* The linker puts these in place of the engine's own (--wrap). */
hf_status __wrap_hf__scratch_open(hf__scratch **scratch, hf_error *err);
hf_status __real_hf__scratch_open(hf__scratch **scratch, hf_error *err);
void __wrap_hf__scratch_close(hf__scratch *self);
void __real_hf__scratch_close(hf__scratch *self);

static bool is_kept(void)
{
    return (sim_world.of->faults & FAULT_MEMORY) == 0;
}

hf_status __wrap_hf__scratch_open(hf__scratch **scratch, hf_error *err)
{
    bool before = sim_at_store;
    hf_status status;

    if (is_kept() && kept_count > 0) {
        *scratch = kept[--kept_count];
        return HF_OK;
    }
    sim_at_store = true; /* what it draws is not missing in later runs */
    status = __real_hf__scratch_open(scratch, err);
    sim_at_store = before;
    return status;
}

void __wrap_hf__scratch_close(hf__scratch *self)
{
    static hf__scratch_call none;

    if (!is_kept() || kept_count == CLIENTS) {
        __real_hf__scratch_close(self);
        return;
    }
    hf__scratch_begin(self, &none); /* undoes what is under way */
    kept[kept_count++] = self;
}

void scratches_close(void)
{
    while (kept_count > 0)
        __real_hf__scratch_close(kept[--kept_count]);
}
