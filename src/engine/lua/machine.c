/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - running scripts: their arguments, results and errors. Compiling
 * them is in machine_scripts.c, stopping them in machine_limits.c.
 *
 * Lua leaves functions by longjmp() on errors and out of memory, so everything
 * that can raise runs within one protected call per script, and nothing in
 * between holds memory or locks.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/script_end.h"
#include "engine/lua/machine_state.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/rand.h"
#include "util/stack.h"

/* Above this, garbage is collected right after the script. */
#define MEMORY_KEEP (size_t)(16u << 20)

/* Limits of that collection, and of the rest before the next script. */
#define TIDY_MS 10
#define REST_MS 1000

/* Per cent; Lua's default is 200. */
#define GC_PAUSE 250

/* Lua and its libraries recurse on the caller's stack; the most that was
 * measured is 174 KiB. */
#define STACK_MIN (size_t)(192u << 10)

/* Lua's stack between scripts. */
enum { AT_RUNNER = 1, AT_ON_ERROR = 2 };

/* ------------------------------------------------------------------ errors */

/* The first line of the script that is on the stack, as Redis finds it. */
static bool find_place(lua_State *lua, lua_Debug *place)
{
    for (int level = 1; level <= 2; level++) {
        if (!lua_getstack(lua, level, place) || !lua_getinfo(lua, "nSl", place))
            return false;
        if (strcmp(place->what, "C") != 0)
            return true;
    }
    return true;
}

/* Called where the error was raised, before the stack is unwound. */
static int on_error(lua_State *lua)
{
    const char *prefix = "ERR ";
    const char *text = NULL;
    hf__machine *machine;
    lua_Debug place;
    void *user;

    (void)lua_getallocf(lua, &user);
    machine = user;
    if (machine->error[0] != '\0')
        return 1; /* set by compile() */
    if (lua_istable(lua, 1)) {
        prefix = "";
        lua_pushliteral(lua, "err");
        lua_rawget(lua, 1);
        text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1)
                                                : "ERR unknown error";
    } else if (lua_isstring(lua, 1)) {
        text = lua_tostring(lua, 1);
    } else if (lua_isboolean(lua, 1)) {
        text = lua_toboolean(lua, 1) ? "true" : "false";
    } else {
        text = luaL_typename(lua, 1);
    }
    if (find_place(lua, &place))
        (void)snprintf(machine->error, sizeof(machine->error),
                       "%s%.300s script: %s, on %.60s:%d.", prefix, text,
                       machine->script->sha1, place.source, place.currentline);
    else
        (void)snprintf(machine->error, sizeof(machine->error), "%s%.400s",
                       prefix, text);
    return 1;
}

static hf_status undo_stopped(hf__machine *machine)
{
    if (machine->stop == HF__STOP_TIME)
        return hf__script_undo_time(machine->tx, machine->request,
                                    &machine->time);
    if (machine->stop == HF__STOP_KILLED)
        return hf__script_undo(machine->tx, HF_SCRIPT,
                               machine->function == HF__NO_FUNCTION
                                   ? "Script killed by user with SCRIPT KILL."
                                   : HF__ERROR_KILLED);
    return hf__script_undo_memory(machine->tx, machine->limit_size);
}

/* Called by commands: may it continue, with so many bytes? */
static void check_limits(hf__tx *tx, size_t claimed)
{
    hf__machine *machine = tx->check_user;

    tx->spent_ns = 0;
    if (hf__machine_is_over(machine, claimed))
        (void)undo_stopped(machine);
}

/* Evaluate the protected call. */
static hf_status finish_run(hf__machine *machine, int result)
{
    hf__request *request = machine->request;

    if (machine->tx->fatal != HF_OK)
        return machine->tx->fatal;
    if (machine->stop != HF__STOP_NONE)
        return undo_stopped(machine);
    if (machine->no_memory || result == LUA_ERRMEM)
        return hf__script_undo(machine->tx, HF_NO_MEMORY, "out of memory");
    if (result == 0) {
        if (request->reply.kind != HF_REPLY_ERROR)
            return HF_OK;
        (void)snprintf(machine->error, sizeof(machine->error), "%s",
                       request->reply.bytes.data);
        hf__reply_set_nil(&request->reply);
    }
    hf__script_fail(machine->tx, request, machine->error);
    return request->error.status;
}

/* ----------------------------------------------------------------- running */

static void set_arg(lua_State *lua, hf_bytes word, size_t index)
{
    lua_pushlstring(lua, word.data != NULL ? word.data : "", word.size);
    lua_rawseti(lua, -2, (int)index + 1);
}

static void fill_args(lua_State *lua, const hf_bytes *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_arg(lua, words[i], i);
}

/* In new tables: the previous script may have changed the old ones. */
static void set_user_args(lua_State *lua, hf__machine *machine)
{
    const hf__request *request = machine->request;
    size_t arg_count = request->word_count - request->key_count;

    lua_pushliteral(lua, "KEYS");
    lua_createtable(lua, (int)request->key_count, 0);
    fill_args(lua, request->words, request->key_count);
    lua_rawset(lua, lua_upvalueindex(HF__UP_USER_ENV));
    lua_pushliteral(lua, "ARGV");
    lua_createtable(lua, (int)arg_count, 0);
    fill_args(lua, request->words + request->key_count, arg_count);
    lua_rawset(lua, lua_upvalueindex(HF__UP_USER_ENV));
}

/* Of a function: its keys, its arguments. */
static void push_args(lua_State *lua, const hf__request *request)
{
    size_t arg_count = request->word_count - request->key_count;

    lua_createtable(lua, (int)request->key_count, 0);
    fill_args(lua, request->words, request->key_count);
    lua_createtable(lua, (int)arg_count, 0);
    fill_args(lua, request->words + request->key_count, arg_count);
}

/* Does it have more than the cache and some garbage? */
static bool is_large(const hf__machine *machine)
{
    return machine->used_size > MEMORY_KEEP + hf__machine_cached_size(machine);
}

static int run_script(lua_State *lua)
{
    hf__machine *machine = lua_touserdata(lua, lua_upvalueindex(1));

    if (machine->function == HF__NO_FUNCTION) {
        hf__machine_push_function(lua, machine);
        set_user_args(lua, machine);
        lua_call(lua, 0, 1);
    } else {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, machine->function);
        push_args(lua, machine->request);
        lua_call(lua, 2, 1);
    }
    if (!hf__lua_reply(lua, &machine->request->reply, &machine->request->arena))
        machine->no_memory = true;
    return 0;
}

static int collect_garbage(lua_State *lua)
{
    hf__machine *machine = lua_touserdata(lua, 1);

    hf__sandbox_clear_args(lua);
    hf__machine_collect(lua, machine);
    machine->spoilt = is_large(machine);
    return 0;
}

/* After a script only for a short time, as the writer lock is held. The rest is
 * collected before the next one, whose budget does not include it. */
static void tidy_machine(hf__machine *machine, int64_t limit_ms)
{
    if (!is_large(machine))
        return;
    hf__machine_arm_for(machine, limit_ms, INT64_MAX);
    (void)lua_cpcall(machine->lua, collect_garbage, machine);
    lua_settop(machine->lua, AT_ON_ERROR);
    machine->stop = HF__STOP_NONE;
}

/* In the "C" locale, as in Redis. */
static int call_runner(hf__machine *machine)
{
    locale_t before = uselocale(machine->locale);
    int result;

    lua_pushvalue(machine->lua, AT_RUNNER);
    result = lua_pcall(machine->lua, 0, 0, AT_ON_ERROR);
    (void)uselocale(before);
    return result;
}

hf_status hf__machine_check_stack(hf__tx *tx)
{
    size_t left = hf__stack_left();
    char text[120];

    if (left >= STACK_MIN)
        return HF_OK;
    (void)snprintf(text, sizeof(text),
                   "this thread has %zu KiB of stack left; a script needs "
                   "%zu KiB",
                   left >> 10, STACK_MIN >> 10);
    return hf__script_undo(tx, HF_NO_MEMORY, text);
}

hf_status hf__machine_run(hf__machine *machine, hf__tx *tx,
                          hf__request *request, bool read_only,
                          int64_t budget_ms)
{
    lua_State *lua = machine->lua;
    size_t words_size = 0;
    hf_status status;
    int result;

    if (hf__machine_check_stack(tx) != HF_OK)
        return tx->fatal;
    for (size_t i = 0; i < request->word_count; i++)
        words_size += request->words[i].size;
    machine->tx = tx;
    machine->request = request;
    machine->script = request->script;
    machine->read_only = read_only;
    machine->wrote = false;
    machine->resp3 = false;
    machine->error[0] = '\0';
    tidy_machine(machine, REST_MS);
    hf__machine_arm(machine, budget_ms, words_size);
    hf__json_reset(&machine->json);
    tx->check = check_limits;
    tx->check_user = machine;
    tx->largest_size = 0;
    result = call_runner(machine);
    if (result != 0) /* compile_user() may have stopped it */
        (void)lua_gc(lua, LUA_GCRESTART, 0);
    tx->check = NULL;
    status = finish_run(machine, result);
    hf__script_note_try(tx, request, hf__script_time_used_us(&machine->time));
    lua_settop(lua, AT_ON_ERROR);
    hf__lua_buf_close_to(machine, NULL);
    machine->running = lua;
    machine->stop = HF__STOP_NONE;
    hf__sandbox_end_seed(machine);
    tidy_machine(machine, TIDY_MS);
    return status;
}

hf_status hf__machine_run_function(hf__machine *machine, hf__tx *tx,
                                   hf__request *request, int function,
                                   bool read_only, int64_t budget_ms)
{
    hf_status status;

    machine->function = function;
    status = hf__machine_run(machine, tx, request, read_only, budget_ms);
    machine->function = HF__NO_FUNCTION;
    return status;
}

/* -------------------------------------------------------------------- life */

/* Push a C function without allocating; see keep_function(). */
static void push_kept(lua_State *lua, lua_CFunction function)
{
    lua_pushlightuserdata(lua, (void *)(uintptr_t)function);
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

/* Keep the function at the top for push_kept(). */
static void keep_function(lua_State *lua, lua_CFunction function)
{
    lua_pushlightuserdata(lua, (void *)(uintptr_t)function);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
}

static int build_state(lua_State *lua)
{
    hf__machine *machine = lua_touserdata(lua, 1);

    lua_pushlightuserdata(lua, machine);
    hf__sandbox_build(lua, machine);
    lua_pushcclosure(lua, run_script, HF__UP_COUNT);
    keep_function(lua, run_script);
    lua_pushcfunction(lua, on_error);
    keep_function(lua, on_error);
    return 0;
}

bool hf__machine_is_spoilt(const hf__machine *machine)
{
    return machine->spoilt;
}

hf__machine *hf__machine_new(hf__command_finder *find)
{
    hf__machine *machine = hf__calloc(1, sizeof(*machine));

    if (machine == NULL)
        return NULL;
    machine->find = find;
    machine->function = HF__NO_FUNCTION;
    machine->limit_size = HF__SCRIPT_MEMORY_MAX;
    hf__rand_bytes(&machine->random, sizeof(machine->random));
    machine->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (machine->locale != (locale_t)0)
        machine->lua = lua_newstate(hf__machine_allocate, machine);
    if (machine->lua == NULL) {
        if (machine->locale != (locale_t)0)
            freelocale(machine->locale);
        hf__machine_free_small(machine);
        hf__free(machine);
        return NULL;
    }
    if (lua_cpcall(machine->lua, build_state, machine) != 0) {
        hf__machine_free(machine);
        return NULL;
    }
    machine->running = machine->lua;
    lua_settop(machine->lua, 0);
    /* A collection walks all live objects, so it should be rare; but new
     * objects must still be in the processor's caches. */
    (void)lua_gc(machine->lua, LUA_GCSETPAUSE, GC_PAUSE);
    push_kept(machine->lua, run_script); /* AT_RUNNER */
    push_kept(machine->lua, on_error);   /* AT_ON_ERROR */
    return machine;
}

void hf__machine_free(hf__machine *machine)
{
    lua_close(machine->lua);
    freelocale(machine->locale);
    hf__machine_free_small(machine);
    hf__free(machine);
}
