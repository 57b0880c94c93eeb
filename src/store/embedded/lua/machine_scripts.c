/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_scripts.c - the functions that scripts are compiled to.
 *
 * The library's are kept by index, each with its own globals. Users' are cached
 * by SHA-1; when there are too many all are dropped, since requests carry the
 * text. For the tables see machine_state.h. All of it runs in protected calls.
 */
#include <stdio.h>
#include <string.h>

#include "store/embedded/lua/machine_state.h"
#include "store/embedded/lua/shebang.h"

/* As in Redis, where it is part of messages. */
#define CHUNK_NAME "@user_script"

/* Processor time that SCRIPT LOAD may take. */
#define COMPILE_MS 1000

/* Most users' scripts cached. */
#define USER_SCRIPT_MAX 512u

static int refuse_script(lua_State *lua, hf__machine *machine, const char *why,
                         const char *text)
{
    (void)snprintf(machine->error, sizeof(machine->error), "ERR %s%.400s", why,
                   text);
    return lua_error(lua);
}

static void compile(lua_State *lua, hf__machine *machine, const char *source,
                    size_t size)
{
    const char *text;

    if (hf__sandbox_load(lua, source, size, CHUNK_NAME) == 0)
        return;
    text = lua_tostring(lua, -1);
    refuse_script(lua, machine, "Error compiling script (new function): ",
                  text != NULL ? text : "out of memory");
}

/* Users' scripts may begin with a shebang line, whose end is kept for the line
 * numbers. */
static void compile_user(lua_State *lua, hf__machine *machine, hf_bytes source,
                         hf__shebang *shebang)
{
    char why[HF__OUT_ERROR_SIZE];

    if (!hf__shebang_read(source, shebang, why, sizeof(why)))
        refuse_script(lua, machine, "", why);
    compile(lua, machine, (const char *)source.data + shebang->size,
            source.size - shebang->size);
}

/* Record the script's flags; the function is at the top. */
static void obey_shebang(lua_State *lua, hf__machine *machine, int functions)
{
    bool present, no_writes;

    lua_pushvalue(lua, -1);
    lua_rawget(lua, functions);
    present = lua_isboolean(lua, -1);
    no_writes = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    if (present && machine->read_only && !no_writes)
        refuse_script(lua, machine,
                      "Can not execute a script with write flag using *_ro "
                      "command.",
                      "");
    if (no_writes)
        machine->read_only = true;
}

int hf__machine_library_at(const hf__machine *machine, int what)
{
    return (int)machine->script->index * HF__LIBRARY_EACH + what;
}

static void make_own_function(lua_State *lua, hf__machine *machine)
{
    int own = lua_upvalueindex(HF__UP_LIBRARY);

    compile(lua, machine, machine->script->source,
            machine->script->source_size);
    hf__sandbox_push_library(lua);
    lua_setfenv(lua, -4);
    lua_rawseti(lua, own, hf__machine_library_at(machine, HF__LIBRARY_ARGS));
    lua_rawseti(lua, own, hf__machine_library_at(machine, HF__LIBRARY_KEYS));
    lua_pushvalue(lua, -1);
    lua_rawseti(lua, own,
                hf__machine_library_at(machine, HF__LIBRARY_FUNCTION));
}

static void push_own_function(lua_State *lua, hf__machine *machine)
{
    lua_rawgeti(lua, lua_upvalueindex(HF__UP_LIBRARY),
                hf__machine_library_at(machine, HF__LIBRARY_FUNCTION));
    if (!lua_isnil(lua, -1))
        return;
    lua_pop(lua, 1);
    make_own_function(lua, machine);
}

static void forget_users(lua_State *lua, hf__machine *machine, int functions)
{
    lua_pushnil(lua);
    while (lua_next(lua, functions) != 0) {
        lua_pop(lua, 1);
        /* Assigning nil is allowed during lua_next(). */
        lua_pushvalue(lua, -1);
        lua_pushnil(lua);
        lua_rawset(lua, functions);
    }
    machine->user_count = 0;
}

/* Cache the function at the top by SHA-1, and its flags by the function. */
static void keep_user_function(lua_State *lua, hf__machine *machine,
                               int functions, const char *sha1,
                               const hf__shebang *shebang)
{
    if (machine->user_count >= USER_SCRIPT_MAX)
        forget_users(lua, machine, functions);
    lua_pushlstring(lua, sha1, HF__SHA1_HEX_SIZE - 1);
    lua_pushvalue(lua, -2);
    lua_rawset(lua, functions);
    machine->user_count++;
    if (!shebang->present)
        return;
    lua_pushvalue(lua, -1);
    lua_pushboolean(lua, shebang->no_writes);
    lua_rawset(lua, functions);
}

static void push_user_function(lua_State *lua, hf__machine *machine)
{
    const hf__script *script = machine->script;
    int functions = lua_upvalueindex(HF__UP_USER_FUNCTIONS);
    hf__shebang shebang;

    lua_pushlstring(lua, script->sha1, HF__SHA1_HEX_SIZE - 1);
    lua_rawget(lua, functions);
    if (lua_isnil(lua, -1)) {
        lua_pop(lua, 1);
        compile_user(lua, machine, hf_view(script->source, script->source_size),
                     &shebang);
        keep_user_function(lua, machine, functions, script->sha1, &shebang);
    }
    obey_shebang(lua, machine, functions);
}

void hf__machine_push_function(lua_State *lua, hf__machine *machine)
{
    if (machine->script->index != HF__SCRIPT_USER)
        push_own_function(lua, machine);
    else
        push_user_function(lua, machine);
}

/* ----------------------------------------------------------------- SCRIPT */

/* Arguments and results of a protected call. */
typedef struct script_call {
    hf__machine *machine;
    hf_bytes text;
    const char *sha1;
    bool found;
    enum { LOAD, HAS, FLUSH } what;
} script_call;

static int run_script_call(lua_State *lua)
{
    script_call *call = lua_touserdata(lua, 1);
    hf__machine *machine = call->machine;
    hf__shebang shebang;
    int functions;

    hf__sandbox_push_users(lua);
    functions = lua_gettop(lua);
    switch (call->what) {
    case LOAD:
        compile_user(lua, machine, call->text, &shebang);
        keep_user_function(lua, machine, functions, call->sha1, &shebang);
        break;
    case HAS:
        lua_pushlstring(lua, call->text.data, call->text.size);
        lua_rawget(lua, functions);
        call->found = !lua_isnil(lua, -1);
        break;
    case FLUSH:
        forget_users(lua, machine, functions);
        break;
    }
    return 0;
}

static bool send_errand(script_call *call)
{
    hf__machine *machine = call->machine;
    int top = lua_gettop(machine->lua);
    int result;

    hf__machine_arm_for(machine, COMPILE_MS,
                        HF__MACHINE_MEMORY_MAX + 8 * call->text.size);
    machine->error[0] = '\0';
    result = lua_cpcall(machine->lua, run_script_call, call);
    lua_settop(machine->lua, top);
    machine->stop = HF__STOP_NONE;
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
    script_call call = {machine, source, sha1, false, LOAD};

    hf__sha1_hex(source.data, source.size, sha1);
    if (send_errand(&call))
        return true;
    (void)snprintf(error, error_size, "%s",
                   machine->no_memory ? "" : machine->error);
    return false;
}

bool hf__machine_has(hf__machine *machine, hf_bytes sha1,
                     char lower[HF__MACHINE_SHA1_SIZE])
{
    script_call call = {machine, hf_view(lower, sha1.size), NULL, false, HAS};

    if (sha1.size != HF__MACHINE_SHA1_SIZE - 1)
        return false;
    for (size_t i = 0; i < sha1.size; i++) {
        char letter = ((const char *)sha1.data)[i];

        lower[i] =
            letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
    }
    lower[sha1.size] = '\0';
    return send_errand(&call) && call.found;
}

void hf__machine_flush(hf__machine *machine)
{
    script_call call = {machine, hf_view("", 0), NULL, false, FLUSH};

    (void)send_errand(&call);
}
