/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_control.c - functions that run others: pcall, xpcall, coroutines,
 * load. They must not catch the error that ends a script, nor run any function
 * of the script after it.
 */
#include "engine/lua/machine_state.h"

#include <lualib.h>

/* Lua's lexer reads so much at a time: parsing it can take long (the list of a
 * condition's jumps is walked for each jump). */
#define PIECE_SIZE 64u

/* Most values of unpack() and of a coroutine's arguments. */
#define VALUES_MAX 8000

/* --------------------------------------------------------- pcall, xpcall */

/* After a protected call: raise again an error that ends the script, which is
 * at the top of the stack. `bufs` is machine->bufs from before the call. */
static void raise_final(lua_State *lua, hf__machine *machine, int status,
                        hf__lua_buf *bufs)
{
    if (status == 0)
        return;
    hf__lua_buf_close_to(machine, bufs);
    if (machine->stop != HF__STOP_NONE || machine->no_memory)
        (void)lua_error(lua);
}

/* As in Redis, pcall() returns the field "err" of an error table. */
static int safe_pcall(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    hf__lua_buf *bufs = machine->bufs;
    int status;

    luaL_checkany(lua, 1);
    status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
    raise_final(lua, machine, status, bufs);
    if (status != 0 && lua_istable(lua, -1)) {
        lua_pushliteral(lua, "err");
        lua_gettable(lua, -2);
        if (lua_isstring(lua, -1))
            lua_replace(lua, -2);
        else
            lua_pop(lua, 1);
    }
    lua_pushboolean(lua, status == 0);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

/* Wraps a script's handler, which would otherwise run, without a hook, within
 * the hook that ends the script. */
static int handle_error(lua_State *lua)
{
    const hf__machine *machine = hf__machine_of(lua);

    if (machine->stop != HF__STOP_NONE)
        return 1;
    lua_settop(lua, 1);
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, 1, 1);
    return 1;
}

static int safe_xpcall(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    hf__lua_buf *bufs = machine->bufs;
    int status;

    luaL_checkany(lua, 2);
    lua_settop(lua, 2);
    if (lua_isfunction(lua, 2))
        lua_pushcclosure(lua, handle_error, 1);
    lua_insert(lua, 1);
    status = lua_pcall(lua, 0, LUA_MULTRET, 1);
    raise_final(lua, machine, status, bufs);
    lua_pushboolean(lua, status == 0);
    lua_replace(lua, 1);
    return lua_gettop(lua);
}

/* -------------------------------------------------------------- coroutines */

/* NULL: it can be resumed. */
static const char *why_not(lua_State *lua, lua_State *other)
{
    lua_Debug frame;

    if (lua == other)
        return "cannot resume running coroutine";
    if (lua_status(other) == LUA_YIELD)
        return NULL;
    if (lua_status(other) != 0)
        return "cannot resume dead coroutine";
    if (lua_getstack(other, 0, &frame) > 0)
        return "cannot resume normal coroutine";
    return lua_gettop(other) == 0 ? "cannot resume dead coroutine" : NULL;
}

/* Run it with its own hook: Lua counts instructions per coroutine. */
static int run_coroutine(lua_State *lua, hf__machine *machine, lua_State *other,
                         int count)
{
    hf__lua_buf *bufs = machine->bufs;
    int status;

    hf__machine_check(lua, machine);
    hf__machine_hook(machine, other);
    lua_setlevel(lua, other);
    machine->running = other;
    status = lua_resume(other, count);
    machine->running = lua;
    if (status == 0 || status == LUA_YIELD) {
        hf__machine_check(lua, machine);
        hf__machine_hook(machine, lua);
        return 0;
    }
    lua_xmove(other, lua, 1);
    raise_final(lua, machine, status, bufs);
    return status;
}

/* The number of results at the top; -1: an error is at the top. */
static int resume_coroutine(lua_State *lua, lua_State *other, int count)
{
    const char *refusal;
    int result_count;

    if (!lua_checkstack(other, count))
        return luaL_error(lua, "too many arguments to resume");
    refusal = why_not(lua, other);
    if (refusal != NULL) {
        lua_pushstring(lua, refusal);
        return -1;
    }
    lua_xmove(lua, other, count);
    if (run_coroutine(lua, hf__machine_of(lua), other, count) != 0)
        return -1;
    result_count = lua_gettop(other);
    if (!lua_checkstack(lua, result_count + 1))
        return luaL_error(lua, "too many results to resume");
    lua_xmove(other, lua, result_count);
    return result_count;
}

static int safe_resume(lua_State *lua)
{
    lua_State *other = lua_tothread(lua, 1);
    int count;

    luaL_argcheck(lua, other != NULL, 1, "coroutine expected");
    count = resume_coroutine(lua, other, lua_gettop(lua) - 1);
    lua_pushboolean(lua, count >= 0);
    lua_insert(lua, count >= 0 ? -(count + 1) : -2);
    return count >= 0 ? count + 1 : 2;
}

static int resume_wrapped(lua_State *lua)
{
    lua_State *other = lua_tothread(lua, lua_upvalueindex(1));
    int count = resume_coroutine(lua, other, lua_gettop(lua));

    if (count >= 0)
        return count;
    if (lua_isstring(lua, -1)) {
        luaL_where(lua, 1);
        lua_insert(lua, -2);
        lua_concat(lua, 2);
    }
    return lua_error(lua);
}

static int safe_create(lua_State *lua)
{
    lua_State *other = lua_newthread(lua);

    luaL_argcheck(lua, lua_isfunction(lua, 1) && !lua_iscfunction(lua, 1), 1,
                  "Lua function expected");
    lua_pushvalue(lua, 1);
    lua_xmove(lua, other, 1);
    return 1;
}

static int safe_wrap(lua_State *lua)
{
    (void)safe_create(lua);
    lua_pushcclosure(lua, resume_wrapped, 1);
    return 1;
}

/* ----------------------------------------------------------------- loading */

typedef struct text_reader {
    hf__machine *machine;
    const char *text;
    size_t size;
} text_reader;

static const char *read_piece(lua_State *lua, void *user, size_t *size)
{
    text_reader *reader = user;
    const char *piece = reader->text;

    hf__machine_check(lua, reader->machine);
    *size = reader->size < PIECE_SIZE ? reader->size : PIECE_SIZE;
    reader->text += *size;
    reader->size -= *size;
    return *size > 0 ? piece : NULL;
}

int hf__sandbox_load(lua_State *lua, const char *text, size_t size,
                     const char *name)
{
    text_reader reader = {hf__machine_of(lua), text, size};
    hf__lua_buf *bufs = reader.machine->bufs;
    int status;

    if (size > 0 && text[0] == LUA_SIGNATURE[0]) {
        lua_pushliteral(lua, "attempt to load a chunk that is not text");
        return LUA_ERRSYNTAX;
    }
    /* Lua's parser does not protect the chunk's name from collection. */
    lua_pushstring(lua, name);
    status = lua_load(lua, read_piece, &reader, name);
    raise_final(lua, reader.machine, status, bufs);
    lua_remove(lua, -2);
    return status;
}

static int load_text(lua_State *lua, const char *text, size_t size,
                     const char *name)
{
    if (hf__sandbox_load(lua, text, size, name) == 0)
        return 1;
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
}

static int safe_loadstring(lua_State *lua)
{
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);

    return load_text(lua, text, size, luaL_optstring(lua, 2, text));
}

/* Append the next piece of the reader at 1. 1: more may follow, 0: that was
 * all, -1: failed, error at the top. */
static int load_piece(lua_State *lua, hf__machine *machine)
{
    hf__lua_buf *bufs = machine->bufs;
    const char *piece;
    size_t size;
    int status;

    lua_pushvalue(lua, 1);
    status = lua_pcall(lua, 0, 1, 0);
    raise_final(lua, machine, status, bufs);
    if (status != 0)
        return -1;
    if (lua_isnil(lua, -1))
        return 0;
    piece = lua_tolstring(lua, -1, &size);
    if (piece == NULL) {
        luaL_where(lua, 1);
        lua_pushliteral(lua, "reader function must return a string");
        lua_concat(lua, 2);
        return -1;
    }
    hf__lua_buf_add(lua, machine, piece, size);
    lua_pop(lua, 1);
    return size > 0;
}

/* Pieces until nil or an empty one. Errors are returned, not raised. */
static int safe_load(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    const char *name = luaL_optstring(lua, 2, "=(load)");
    const char *text;
    size_t size;
    int more;

    luaL_checktype(lua, 1, LUA_TFUNCTION);
    lua_settop(lua, 2);
    hf__lua_buf_open(lua, machine);
    do
        more = load_piece(lua, machine);
    while (more > 0);
    if (more < 0) {
        hf__lua_buf_close(machine);
        lua_pushnil(lua);
        lua_insert(lua, -2);
        return 2;
    }
    hf__lua_buf_push(lua, machine);
    text = lua_tolstring(lua, -1, &size);
    return load_text(lua, text, size, name);
}

/* ------------------------------------------------------------------ others */

/* In Lua's own the number of values can overflow an int. */
static int safe_unpack(lua_State *lua)
{
    lua_Number from, to;

    luaL_checktype(lua, 1, LUA_TTABLE);
    from = luaL_optint(lua, 2, 1);
    to = lua_isnoneornil(lua, 3) ? (lua_Number)(int)lua_objlen(lua, 1)
                                 : luaL_checkint(lua, 3);
    if (from > to)
        return 0;
    if (to - from >= VALUES_MAX || !lua_checkstack(lua, (int)(to - from) + 1))
        return luaL_error(lua, "too many results to unpack");
    for (lua_Number i = from; i <= to; i++)
        lua_rawgeti(lua, 1, (int)i);
    return (int)(to - from) + 1;
}

/* Scripts may query and collect, but not change the collector's settings. */
static int safe_collectgarbage(lua_State *lua)
{
    static const char *const names[] = {"collect",    "count",   "step",
                                        "stop",       "restart", "setpause",
                                        "setstepmul", NULL};
    int what = luaL_checkoption(lua, 1, "collect", names);
    hf__machine *machine = hf__machine_of(lua);
    int done = 0;

    if (what == 1) {
        lua_pushnumber(lua, (lua_Number)lua_gc(lua, LUA_GCCOUNT, 0) +
                                lua_gc(lua, LUA_GCCOUNTB, 0) / 1024.0);
        return 1;
    }
    if (what == 2) {
        for (int count = luaL_optint(lua, 2, 0); !done && count >= 0; count--) {
            hf__machine_spend(lua, machine, 5000);
            done = lua_gc(lua, LUA_GCSTEP, 0);
        }
        lua_pushboolean(lua, done);
        return 1;
    }
    if (what == 0)
        hf__machine_collect(lua, machine);
    lua_pushinteger(lua, 0);
    return 1;
}

static const luaL_Reg base[] = {{"pcall", safe_pcall},
                                {"xpcall", safe_xpcall},
                                {"loadstring", safe_loadstring},
                                {"load", safe_load},
                                {"unpack", safe_unpack},
                                {"collectgarbage", safe_collectgarbage},
                                {NULL, NULL}};

static const luaL_Reg coroutines[] = {{"create", safe_create},
                                      {"resume", safe_resume},
                                      {"wrap", safe_wrap},
                                      {NULL, NULL}};

void hf__sandbox_control(lua_State *lua)
{
    hf__sandbox_replace(lua, "_G", base);
    hf__sandbox_replace(lua, LUA_COLIBNAME, coroutines);
}
