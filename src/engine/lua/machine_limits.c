/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_limits.c - a script's limits of time and memory.
 *
 * Time is processor time of the thread, independent of the machine's load. The
 * clock is read
 *   - by a hook of Lua, every so many instructions: fewer if there are large
 *     blocks of memory, since one instruction may process a whole block;
 *   - by hf__machine_spend(), in loops in C;
 *   - by the allocator, every so many bytes.
 * When time is up, `stop` is set and an error raised. A stopped script gets no
 * more memory, and pcall() and its like pass this error on (sandbox_control.c),
 * so that no handler of the script runs any more; its transaction is undone
 * whatever it returns.
 *
 * Exceeding the memory limit stops a script in the same way.
 */
#include <string.h>

#include "engine/lua/machine_state.h"
#include "util/clock.h"
#include "util/mem.h"

/* Instructions between two checks, some 10 us. */
#define HOOK_COUNT 1000
/* Most bytes processed between two checks by instructions on whole strings:
 * some 20 ms. */
#define HOOK_BYTES 10000000u

/* Larger blocks may be copied when they grow. */
#define LARGE_SIZE (size_t)(128u << 10)

/* Cost of allocating, bytes per ns. */
#define ALLOCATE_BYTES 4u

static void **small_list(hf__machine *machine, size_t size)
{
    return &machine->small[(size - 1) / HF__MACHINE_SMALL_STEP];
}

static void *small_alloc(hf__machine *machine, size_t size)
{
    void **list = small_list(machine, size);
    void *memory = *list;

    if (memory == NULL)
        return hf__alloc(((size - 1) | (HF__MACHINE_SMALL_STEP - 1)) + 1);
    memcpy(list, memory, sizeof(*list));
    return memory;
}

static void small_free(hf__machine *machine, void *memory, size_t size)
{
    void **list = small_list(machine, size);

    memcpy(memory, list, sizeof(*list));
    *list = memory;
}

static void release_block(hf__machine *machine, void *memory, size_t size)
{
    if (memory == NULL)
        return;
    machine->used_size -= size;
    if (size <= HF__MACHINE_SMALL_MAX)
        small_free(machine, memory, size);
    else
        hf__free(memory);
}

static void *resize_block(hf__machine *machine, void *memory, size_t old,
                          size_t size)
{
    void *result;

    if (memory != NULL && old > HF__MACHINE_SMALL_MAX &&
        size > HF__MACHINE_SMALL_MAX)
        return hf__realloc(memory, size);
    result = size <= HF__MACHINE_SMALL_MAX ? small_alloc(machine, size)
                                           : hf__alloc(size);
    if (result == NULL || memory == NULL)
        return result;
    memcpy(result, memory, old < size ? old : size);
    if (old <= HF__MACHINE_SMALL_MAX)
        small_free(machine, memory, old);
    else
        hf__free(memory);
    return result;
}

/* -------------------------------------------------------------------- time */

/* tx->check is set while a script runs. */
static bool is_killed(hf__machine *machine)
{
    hf__tx *tx = machine->tx;
    int64_t spent_us = 0;
    bool killed =
        tx != NULL && (machine->loading != NULL || tx->check != NULL) &&
        tx->attend != NULL && !tx->attend(tx, machine->wrote, &spent_us);

    machine->time.began_us += spent_us;
    return killed;
}

/* Must the script end? */
static bool is_over(hf__machine *machine)
{
    if (machine->stop == HF__STOP_NONE) {
        machine->spent_ns = 0;
        if (hf__script_time_is_up(&machine->time))
            machine->stop = HF__STOP_TIME;
        else if (is_killed(machine))
            machine->stop = HF__STOP_KILLED;
    }
    return machine->stop != HF__STOP_NONE;
}

static void on_count(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    if (is_over(hf__machine_of(lua)))
        luaL_error(lua, "the script was stopped");
}

void hf__machine_check(lua_State *lua, hf__machine *machine)
{
    machine->spent_ns = 0;
    if (is_over(machine))
        luaL_error(lua, "the script was stopped");
}

void hf__machine_hook(hf__machine *machine, lua_State *lua)
{
    lua_sethook(lua, on_count, LUA_MASKCOUNT, machine->interval);
}

void hf__machine_collect(lua_State *lua, hf__machine *machine)
{
    /* Twice: objects marked in a current cycle may be garbage at its end. */
    for (int cycle = 0; cycle < 2; cycle++) {
        while (lua_gc(lua, LUA_GCSTEP, 0) == 0)
            hf__machine_spend(lua, machine, 5000);
    }
    machine->collected_size = machine->used_size;
}

/* ------------------------------------------------------------------ memory */

/* Once refused, always refused: a script must not approach the limit
 * repeatedly. */
static bool may_grow(const hf__machine *machine, size_t size)
{
    return machine->stop == HF__STOP_NONE &&
           machine->used_size + machine->reply_size + size <=
               machine->limit_size + 2 * machine->largest_size;
}

/* lua_sethook() is allowed at any time. */
static void note_block(hf__machine *machine, size_t size)
{
    machine->largest_block = size;
    if (size <= HOOK_BYTES / HOOK_COUNT)
        return;
    machine->interval = size < HOOK_BYTES ? (int)(HOOK_BYTES / size) : 1;
    if (machine->running != NULL)
        hf__machine_hook(machine, machine->running);
}

/* Bytes are accounted for, too: instructions that copy large strings
 * allocate. */
static bool is_refused(hf__machine *machine, size_t old, size_t size)
{
    if (size <= old)
        return false;
    /* A large block may be copied: then both exist. */
    if (!may_grow(machine, size > LARGE_SIZE ? size : size - old)) {
        if (machine->stop == HF__STOP_NONE)
            machine->stop = HF__STOP_MEMORY;
        return true;
    }
    if (size > machine->largest_block)
        note_block(machine, size);
    machine->spent_ns += size / ALLOCATE_BYTES;
    return machine->spent_ns >= HF__MACHINE_CHECK_NS && is_over(machine);
}

bool hf__machine_is_over(hf__machine *machine, size_t claimed)
{
    if (claimed > 2 * machine->tx->largest_size &&
        !may_grow(machine, claimed - 2 * machine->tx->largest_size) &&
        machine->stop == HF__STOP_NONE)
        machine->stop = HF__STOP_MEMORY;
    return is_over(machine);
}

void *hf__machine_allocate(void *user, void *memory, size_t old, size_t size)
{
    hf__machine *machine = user;
    void *result;

    if (size == 0) {
        release_block(machine, memory, old);
        return NULL;
    }
    if (is_refused(machine, old, size))
        return NULL;
    result = resize_block(machine, memory, old, size);
    if (result == NULL && size <= old)
        result = memory; /* Lua requires that shrinking succeeds */
    if (result == NULL) {
        machine->no_memory = true;
        return NULL;
    }
    machine->used_size += size - old;
    return result;
}

void hf__machine_charge(lua_State *lua, hf__machine *machine, size_t size)
{
    if (!may_grow(machine, size)) {
        if (machine->stop == HF__STOP_NONE)
            machine->stop = HF__STOP_MEMORY;
        luaL_error(lua, "the script was stopped");
    }
    machine->reply_size += size;
}

/* ---------------------------------------------------------------- arming */

void hf__machine_arm_for(hf__machine *machine, int64_t budget_ms,
                         size_t limit_size)
{
    machine->stop = HF__STOP_NONE;
    machine->no_memory = false;
    machine->limit_size = limit_size;
    machine->largest_size = 0;
    machine->largest_block = 0;
    machine->collected_size = 0;
    machine->reply_size = 0;
    machine->spent_ns = 0;
    hf__script_time_begin(&machine->time, budget_ms);
    machine->interval = HOOK_COUNT;
    hf__machine_hook(machine, machine->lua);
}

void hf__machine_arm(hf__machine *machine, int64_t budget_ms, size_t words_size)
{
    /* Each argument is in a table, and may be modified once. */
    hf__machine_arm_for(machine, budget_ms,
                        HF__SCRIPT_MEMORY_MAX + 2 * words_size +
                            hf__machine_cached_size(machine));
    hf__script_time_join(&machine->time, machine->request);
}

void hf__machine_free_small(hf__machine *machine)
{
    for (size_t i = 0; i < sizeof(machine->small) / sizeof(machine->small[0]);
         i++) {
        while (machine->small[i] != NULL) {
            void *memory = machine->small[i];

            memcpy(&machine->small[i], memory, sizeof(machine->small[i]));
            hf__free(memory);
        }
    }
}
