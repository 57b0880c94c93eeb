/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_scripts.c - the functions that scripts are compiled to.
 *
 * They are cached by SHA-1, in two tables: a function that is used moves to the
 * first, and when that is full it becomes the second, whose functions are
 * dropped. For the tables see machine_state.h. All of it runs in protected
 * calls.
 */
#include <stdio.h>
#include <string.h>

#include "engine/lua/machine_state.h"
#include "engine/lua/shebang.h"

/* As in Redis, where it is part of messages. */
#define CHUNK_NAME "@user_script"

/* Processor time that SCRIPT LOAD may take. */
#define COMPILE_MS 1000

/* Memory of the functions in one of the two tables. */
#define CACHE_SIZE (size_t)(8u << 20)

/* Indices in the cache. */
enum { CACHE_NEW = 1, CACHE_OLD = 2 };

/* A cached function's number: its size, and its flags. */
enum { FLAG_PRESENT = 1, FLAG_NO_WRITES = 2, FLAG_COUNT = 4 };

static int refuse_script(lua_State *lua, hf__machine *machine, const char *why,
                         const char *text)
{
    (void)snprintf(machine->error, sizeof(machine->error), "ERR %s%.400s", why,
                   text);
    return lua_error(lua);
}

static void compile_script(lua_State *lua, hf__machine *machine,
                           const char *source, size_t size)
{
    const char *text;

    if (hf__sandbox_load(lua, source, size, CHUNK_NAME) == 0)
        return;
    text = lua_tostring(lua, -1);
    refuse_script(lua, machine, "Error compiling script (new function): ",
                  text != NULL ? text : "out of memory");
}

/* They may begin with a shebang line, whose end is kept for the line
 * numbers. Returns what the cache needs to know, see FLAG_COUNT. The collector
 * is stopped to measure the function; after an error those who call this
 * protected start it again. */
static size_t compile_user(lua_State *lua, hf__machine *machine,
                           hf_bytes source)
{
    char why[HF__OUT_ERROR_SIZE];
    hf__shebang shebang;
    size_t before, size;

    if (!hf__shebang_read(source, &shebang, why, sizeof(why)))
        refuse_script(lua, machine, "", why);
    (void)lua_gc(lua, LUA_GCSTOP, 0);
    before = machine->used_size;
    compile_script(lua, machine, (const char *)source.data + shebang.size,
                   source.size - shebang.size);
    size = machine->used_size - before;
    (void)lua_gc(lua, LUA_GCRESTART, 0);
    return size * FLAG_COUNT + (shebang.no_writes ? FLAG_NO_WRITES : 0) +
           (shebang.present ? FLAG_PRESENT : 0);
}

/* Record the script's flags. */
static void obey_flags(lua_State *lua, hf__machine *machine, size_t number)
{
    bool no_writes = (number & FLAG_NO_WRITES) != 0;

    if ((number & FLAG_PRESENT) != 0 && machine->read_only && !no_writes)
        refuse_script(lua, machine, &HF__ERROR_SCRIPT_WRITES[4], "");
    if (no_writes)
        machine->read_only = true;
}

/* Push the first table, with space for so many bytes. */
static void push_new(lua_State *lua, hf__machine *machine, int cache,
                     size_t size)
{
    if (machine->new_size + size > CACHE_SIZE) {
        lua_newtable(lua);
        lua_rawgeti(lua, cache, CACHE_NEW);
        lua_rawseti(lua, cache, CACHE_OLD);
        lua_rawseti(lua, cache, CACHE_NEW);
        machine->old_size = machine->new_size;
        machine->new_size = 0;
        machine->old_count = machine->new_count;
        machine->new_count = 0;
    }
    lua_rawgeti(lua, cache, CACHE_NEW);
}

static void drop_user_scripts(lua_State *lua, hf__machine *machine, int cache)
{
    for (int at = CACHE_NEW; at <= CACHE_OLD; at++) {
        lua_newtable(lua);
        lua_rawseti(lua, cache, at);
    }
    machine->new_size = 0;
    machine->old_size = 0;
    machine->new_count = 0;
    machine->old_count = 0;
}

/* Cache the function at the top. false: it is too large. */
static bool keep_user_function(lua_State *lua, hf__machine *machine, int cache,
                               const char *sha1, size_t number)
{
    int function = lua_gettop(lua);
    size_t size = number / FLAG_COUNT;

    if (size > CACHE_SIZE)
        return false;
    push_new(lua, machine, cache, size);
    machine->new_size += size;
    machine->new_count++;
    lua_pushvalue(lua, function);
    lua_pushnumber(lua, (lua_Number)number);
    lua_rawset(lua, -3);
    lua_pushlstring(lua, sha1, HF__SHA1_HEX_SIZE - 1);
    lua_pushvalue(lua, function);
    lua_rawset(lua, -3);
    lua_settop(lua, function);
    return true;
}

/* Push the cached function, or nil; returns its number. */
static size_t find_in(lua_State *lua, int cache, int at, const char *sha1)
{
    size_t number;

    lua_rawgeti(lua, cache, at);
    lua_pushlstring(lua, sha1, HF__SHA1_HEX_SIZE - 1);
    lua_rawget(lua, -2);
    if (lua_isnil(lua, -1)) {
        lua_remove(lua, -2);
        return 0;
    }
    lua_pushvalue(lua, -1);
    lua_rawget(lua, -3);
    number = (size_t)lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    lua_remove(lua, -2);
    return number;
}

static size_t find_user_function(lua_State *lua, hf__machine *machine,
                                 int cache, const char *sha1)
{
    size_t number = find_in(lua, cache, CACHE_NEW, sha1);

    if (!lua_isnil(lua, -1))
        return number;
    lua_pop(lua, 1);
    number = find_in(lua, cache, CACHE_OLD, sha1);
    if (lua_isnil(lua, -1))
        return 0;
    machine->old_count--;
    (void)keep_user_function(lua, machine, cache, sha1, number);
    return number;
}

void hf__machine_push_function(lua_State *lua, hf__machine *machine)
{
    const hf__script *script = machine->script;
    int cache;
    size_t number;

    lua_pushvalue(lua, lua_upvalueindex(HF__UP_USER_FUNCTIONS));
    cache = lua_gettop(lua);
    number = find_user_function(lua, machine, cache, script->sha1);
    if (lua_isnil(lua, -1)) {
        lua_pop(lua, 1);
        number = compile_user(lua, machine,
                              hf_view(script->source, script->source_size));
        (void)keep_user_function(lua, machine, cache, script->sha1, number);
    }
    lua_remove(lua, cache);
    obey_flags(lua, machine, number);
}

/* ----------------------------------------------------------------- SCRIPT */

/* Arguments and results of a protected call. */
typedef struct script_call {
    hf__machine *machine;
    hf_bytes text;
    const char *sha1;
    bool found;
    bool no_writes;
    enum { LOAD, HAS, FLUSH } what;
} script_call;

static int run_script_call(lua_State *lua)
{
    script_call *call = lua_touserdata(lua, 1);
    hf__machine *machine = call->machine;
    size_t number;
    int cache;

    hf__sandbox_push_users(lua);
    cache = lua_gettop(lua);
    switch (call->what) {
    case LOAD:
        (void)find_user_function(lua, machine, cache, call->sha1);
        if (!lua_isnil(lua, -1))
            break;
        number = compile_user(lua, machine, call->text);
        if (!keep_user_function(lua, machine, cache, call->sha1, number))
            refuse_script(lua, machine, "the script is too large to be kept",
                          "");
        break;
    case HAS:
        number = find_user_function(lua, machine, cache, call->text.data);
        call->no_writes = (number & FLAG_NO_WRITES) != 0;
        call->found = !lua_isnil(lua, -1);
        break;
    case FLUSH:
        drop_user_scripts(lua, machine, cache);
        break;
    }
    return 0;
}

static bool call_machine(script_call *call)
{
    hf__machine *machine = call->machine;
    int top = lua_gettop(machine->lua);
    int result;

    hf__machine_arm_for(machine, COMPILE_MS,
                        HF__SCRIPT_MEMORY_MAX + 8 * call->text.size +
                            hf__machine_cached_size(machine));
    machine->error[0] = '\0';
    result = lua_cpcall(machine->lua, run_script_call, call);
    lua_settop(machine->lua, top);
    machine->stop = HF__STOP_NONE;
    if (result != 0)
        (void)lua_gc(machine->lua, LUA_GCRESTART, 0);
    if (result != 0 && machine->error[0] == '\0')
        (void)snprintf(machine->error, sizeof(machine->error),
                       result == LUA_ERRMEM ? "ERR out of memory"
                                            : "ERR the script is too long to "
                                              "compile");
    return result == 0;
}

bool hf__machine_load(hf__machine *machine, hf_bytes source,
                      char sha1[HF__MACHINE_SHA1_SIZE], char *error,
                      size_t error_size)
{
    script_call call = {machine, source, sha1, false, false, LOAD};

    hf__sha1_hex(source.data, source.size, sha1);
    if (call_machine(&call))
        return true;
    (void)snprintf(error, error_size, "%s",
                   machine->no_memory ? "" : machine->error);
    return false;
}

static bool find_script(hf__machine *machine, hf_bytes sha1,
                        char lower[HF__MACHINE_SHA1_SIZE], bool *no_writes)
{
    script_call call = {machine, hf_view(lower, sha1.size), NULL, false, false,
                        HAS};

    if (sha1.size != HF__MACHINE_SHA1_SIZE - 1)
        return false;
    for (size_t i = 0; i < sha1.size; i++) {
        char letter = ((const char *)sha1.data)[i];

        lower[i] =
            letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
    }
    lower[sha1.size] = '\0';
    if (!call_machine(&call))
        return false;
    *no_writes = call.no_writes;
    return call.found;
}

bool hf__machine_has(hf__machine *machine, hf_bytes sha1,
                     char lower[HF__MACHINE_SHA1_SIZE])
{
    bool no_writes;

    return find_script(machine, sha1, lower, &no_writes);
}

bool hf__machine_only_reads(hf__machine *machine, hf_bytes sha1,
                            char lower[HF__MACHINE_SHA1_SIZE])
{
    bool no_writes;

    return find_script(machine, sha1, lower, &no_writes) && no_writes;
}

void hf__machine_flush(hf__machine *machine)
{
    script_call call = {machine, hf_view("", 0), NULL, false, false, FLUSH};

    (void)call_machine(&call);
}

size_t hf__machine_count(const hf__machine *machine)
{
    return machine->new_count + machine->old_count;
}
