/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_limits.c - the time and the memory that a script may use.
 *
 * Time is processor time: a script is not to blame for what else the machine
 * does. A count hook looks at the clock now and then; once time is up it is
 * called at every instruction and raises each time, which no pcall() in the
 * script survives for long. The allocator refuses beyond a bound. Both set
 * `stop`, and a stopped script's transaction is undone whatever it returns.
 */
#include <string.h>

#include "store/embedded/lua/machine_state.h"
#include "util/clock.h"
#include "util/mem.h"

/* Some 50 us of plain instructions between two looks at the clock. */
#define HOOK_COUNT 10000

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

static void release(hf__machine *machine, void *memory, size_t size)
{
    if (memory == NULL)
        return;
    machine->used_size -= size;
    if (size <= HF__MACHINE_SMALL_MAX)
        small_free(machine, memory, size);
    else
        hf__free(memory);
}

static void *resize(hf__machine *machine, void *memory, size_t old, size_t size)
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

/* Once refused, all is refused: a script that goes on must not build up to the
 * bound again and again. */
static bool may_grow(const hf__machine *machine, size_t size)
{
    return machine->stop != HF__STOP_MEMORY &&
           machine->used_size + size <=
               machine->limit_size + 2 * machine->largest_size;
}

void *hf__machine_allocate(void *user, void *memory, size_t old, size_t size)
{
    hf__machine *machine = user;
    void *result;

    if (size == 0) {
        release(machine, memory, old);
        return NULL;
    }
    if (size > old && !may_grow(machine, size - old)) {
        /* Allowed at any time: it only sets fields, as for a signal. */
        hf__machine_stop(machine, machine->lua, HF__STOP_MEMORY);
        return NULL;
    }
    result = resize(machine, memory, old, size);
    if (result == NULL) {
        machine->no_memory = true;
        return NULL;
    }
    machine->used_size += size - old;
    return result;
}

/* Processor time is a system call: it is asked for only when so much time has
 * passed that the budget may be used up. */
static bool is_time_up(hf__machine *machine)
{
    int64_t now_us = hf__clock_boot_us();
    int64_t used_us;

    if (machine->began_us < 0)
        machine->began_us = hf__clock_thread_us();
    machine->late = now_us >= machine->deadline_us;
    if (machine->late)
        return true;
    if (now_us < machine->look_us)
        return false;
    used_us = hf__clock_thread_us() - machine->began_us;
    machine->look_us = now_us + machine->budget_us - used_us;
    return used_us >= machine->budget_us;
}

static void on_count(lua_State *lua, lua_Debug *debug)
{
    void *user;
    hf__machine *machine;

    (void)debug;
    (void)lua_getallocf(lua, &user);
    machine = user;
    if (machine->stop == HF__STOP_NONE && !is_time_up(machine))
        return;
    hf__machine_stop(machine, lua,
                     machine->stop != HF__STOP_NONE ? machine->stop
                                                    : HF__STOP_TIME);
    luaL_error(lua, "the script was stopped");
}

void hf__machine_stop(hf__machine *machine, lua_State *lua, hf__stop why)
{
    machine->stop = why;
    /* Each coroutine has a hook of its own; the others' still count. */
    lua_sethook(lua, on_count, LUA_MASKCOUNT, 1);
    lua_sethook(machine->lua, on_count, LUA_MASKCOUNT, 1);
    machine->hooked = true;
}

void hf__machine_arm(hf__machine *machine, int64_t budget_ms, size_t words_size)
{
    int64_t now_us;

    machine->stop = HF__STOP_NONE;
    machine->no_memory = false;
    machine->largest_size = 0;
    /* Each word is kept by the caller's table, and may be changed once. */
    machine->limit_size = HF__MACHINE_MEMORY_MAX + 2 * words_size;
    if (machine->script->index != HF__SCRIPT_USER) {
        /* Our own are bounded by what they are given. */
        if (machine->hooked)
            lua_sethook(machine->lua, NULL, 0, 0);
        machine->hooked = false;
        return;
    }
    now_us = hf__clock_boot_us();
    machine->budget_us = budget_ms * 1000;
    machine->began_us = -1;
    machine->look_us = now_us + machine->budget_us;
    machine->deadline_us = INT64_MAX;
    if (machine->request->deadline_ms > now_us / 1000 &&
        machine->request->deadline_ms < INT64_MAX / 1000)
        machine->deadline_us = machine->request->deadline_ms * 1000;
    lua_sethook(machine->lua, on_count, LUA_MASKCOUNT, HOOK_COUNT);
    machine->hooked = true;
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
