/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.c - see library.h. Error texts are Redis 7.0's.
 *
 * The globals of the machine are a proxy (sandbox_proxy.c); while a library is
 * loaded, its reads fall through to another table. What a library has kept of
 * that, its functions may call later: register_function() then refuses.
 */
#include "engine/lua/library.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "engine/keys/argument.h"
#include "engine/keys/function_record.h"
#include "engine/lua/machine_state.h"
#include "engine/lua/shebang.h"
#include "util/mem.h"

/* As in Redis, where it is part of messages. */
#define CHUNK_NAME "@user_function"

/* Memory of all libraries together while one is loaded. */
#define MEMORY_MAX (HF__SCRIPT_MEMORY_MAX + 8 * HF__FUNCTIONS_SIZE_MAX)

/* In the registry: what a library sees while it is loaded. */
static char api_key;

/* ------------------------------------------------------------- registering */

/* What register_function() was given. */
typedef struct registration {
    hf_bytes name;
    hf_bytes description;
    unsigned flags;
    int callback; /* on Lua's stack; 0: none */
} registration;

static bool read_text(lua_State *lua, int at, hf_bytes *text)
{
    if (!lua_isstring(lua, at))
        return false;
    text->data = lua_tolstring(lua, at, &text->size);
    return true;
}

/* Of the table there. */
static bool read_flags(lua_State *lua, int at, unsigned *flags)
{
    for (int i = 1;; i++) {
        hf_bytes word;
        size_t flag = 0;

        lua_rawgeti(lua, at, i);
        if (lua_isnil(lua, -1))
            break;
        if (!read_text(lua, -1, &word))
            return false;
        while (flag < HF__SCRIPT_FLAG_COUNT &&
               !hf__arg_is(word, hf__script_flags[flag]))
            flag++;
        if (flag == HF__SCRIPT_FLAG_COUNT)
            return false;
        *flags |= 1u << flag;
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return true;
}

/* The argument of that name. Its value stays on the stack: what is read are
 * views. NULL, or the error. */
static const char *read_named(lua_State *lua, int at, hf_bytes name,
                              registration *read)
{
    if (hf__arg_is(name, "function_name"))
        return read_text(lua, at, &read->name)
                   ? NULL
                   : "ERR function_name argument given to "
                     "redis.register_function must be a string";
    if (hf__arg_is(name, "description"))
        return read_text(lua, at, &read->description)
                   ? NULL
                   : "ERR description argument given to "
                     "redis.register_function must be a string";
    if (hf__arg_is(name, "callback")) {
        read->callback = at;
        return lua_isfunction(lua, at)
                   ? NULL
                   : "ERR callback argument given to redis.register_function "
                     "must be a function";
    }
    if (!hf__arg_is(name, "flags"))
        return "ERR unknown argument given to redis.register_function";
    if (!lua_istable(lua, at))
        return "ERR flags argument to redis.register_function must be a table "
               "representing function flags";
    return read_flags(lua, at, &read->flags) ? NULL : "ERR unknown flag given";
}

/* Arguments by name, in a table. Their values are kept on the stack below the
 * key that lua_next() needs. */
static const char *read_table(lua_State *lua, registration *read)
{
    const char *error = NULL;
    hf_bytes name;

    if (!lua_istable(lua, 1))
        return "ERR calling redis.register_function with a single argument is "
               "only applicable to Lua table (representing named arguments).";
    lua_pushnil(lua);
    while (error == NULL && lua_next(lua, 1) != 0) {
        if (lua_type(lua, -2) != LUA_TSTRING)
            return lua_isnumber(lua, -2)
                       ? "ERR unknown argument given to "
                         "redis.register_function"
                       : "ERR named argument key given to "
                         "redis.register_function is not a string";
        name.data = lua_tolstring(lua, -2, &name.size);
        luaL_checkstack(lua, 8, "too many arguments");
        lua_insert(lua, -2);
        error = read_named(lua, lua_gettop(lua) - 1, name, read);
    }
    if (error != NULL)
        return error;
    if (read->name.data == NULL)
        return "ERR redis.register_function must get a function name argument";
    if (read->callback == 0)
        return "ERR redis.register_function must get a callback argument";
    return NULL;
}

static const char *read_arguments(lua_State *lua, registration *read)
{
    int count = lua_gettop(lua);

    if (count < 1 || count > 2)
        return "ERR wrong number of arguments to redis.register_function";
    if (count == 1)
        return read_table(lua, read);
    if (!read_text(lua, 1, &read->name))
        return "ERR first argument to redis.register_function must be a string";
    read->callback = 2;
    return lua_isfunction(lua, 2) ? NULL
                                  : "ERR second argument to "
                                    "redis.register_function must be a "
                                    "function";
}

static const char *check_registration(const hf__library *library,
                                      const registration *read)
{
    if (!hf__function_is_name(read->name))
        return "ERR " HF__ERROR_FUNCTION_NAME;
    if (hf__library_find(library, read->name) != NULL)
        return "ERR Function already exists in the library";
    if (read->description.size > HF__FUNCTION_TEXT_MAX)
        return "ERR the description of a function is longer than 1024 bytes";
    if (library->count == HF__FUNCTIONS_MAX)
        return "ERR there are more than 4000 functions";
    return NULL;
}

static bool copy_text(hf__library *library, hf_bytes from, hf_bytes *to)
{
    if (from.data == NULL)
        return true;
    to->data = hf__arena_copy(&library->arena, from.data, from.size);
    to->size = from.size;
    return to->data != NULL;
}

/* false: no memory. */
static bool add_function(lua_State *lua, hf__library *library,
                         const registration *read)
{
    hf__function *function =
        hf__arena_alloc(&library->arena, sizeof(*function));

    if (function == NULL)
        return false;
    *function = (hf__function){.flags = read->flags};
    if (!copy_text(library, read->name, &function->name) ||
        !copy_text(library, read->description, &function->description))
        return false;
    lua_pushvalue(lua, read->callback);
    function->reference = luaL_ref(lua, LUA_REGISTRYINDEX);
    if (library->last != NULL)
        library->last->next = function;
    else
        library->first = function;
    library->last = function;
    library->count++;
    return true;
}

static int register_function(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    registration read = {0};
    const char *error;

    hf__machine_spend(lua, machine, 1000);
    if (machine->loading == NULL)
        return hf__lua_redis_error(lua,
                                   "ERR redis.register_function can only be "
                                   "called on FUNCTION LOAD command",
                                   true);
    error = read_arguments(lua, &read);
    if (error == NULL)
        error = check_registration(machine->loading, &read);
    if (error != NULL)
        return hf__lua_redis_error(lua, error, true);
    if (!add_function(lua, machine->loading, &read)) {
        machine->no_memory = true;
        return luaL_error(lua, "out of memory");
    }
    return 0;
}

/* ----------------------------------------------------------------- loading */

/* Let luaL_ref() and luaL_unref() allocate nothing: a table of Lua 5.1 that
 * could not grow has lost elements, and luaL_unref() may be called
 * unprotected. For all functions, and as many of a library that replaces one.
 */
static void reserve_references(lua_State *lua)
{
    const int count = 2 * HF__FUNCTIONS_MAX;
    int last = 0;

    lua_pushinteger(lua, 0); /* the list */
    lua_rawseti(lua, LUA_REGISTRYINDEX, 0);
    for (int i = 0; i < count; i++) {
        lua_pushboolean(lua, true);
        last = luaL_ref(lua, LUA_REGISTRYINDEX);
    }
    for (int i = 0; i < count; i++)
        luaL_unref(lua, LUA_REGISTRYINDEX, last - i);
}

static int make_api(lua_State *lua)
{
    reserve_references(lua);
    lua_pushlightuserdata(lua, &api_key);
    lua_newtable(lua);
    hf__lua_redis_push_part(lua);
    lua_pushcfunction(lua, register_function);
    lua_setfield(lua, -2, "register_function");
    hf__sandbox_refuse_missing(lua);
    hf__sandbox_protect(lua);
    lua_setfield(lua, -2, "redis");
    hf__sandbox_refuse_missing(lua);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    return 0;
}

bool hf__library_prepare(hf__machine *machine)
{
    bool made = lua_cpcall(machine->lua, make_api, NULL) == 0;

    machine->new_size = machine->used_size;
    return made;
}

/* What the machine's globals show: the table at the top, popped. */
static void show_globals(lua_State *lua)
{
    (void)lua_getmetatable(lua, LUA_GLOBALSINDEX);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 1);
}

static int run_library(lua_State *lua)
{
    hf__machine *machine = hf__machine_of(lua);
    const hf_bytes *text = lua_touserdata(lua, 1);
    int status = hf__sandbox_load(lua, text->data, text->size, CHUNK_NAME);

    if (status != 0) {
        (void)snprintf(machine->error, sizeof(machine->error),
                       "ERR Error compiling function: %.400s",
                       lua_isstring(lua, -1) ? lua_tostring(lua, -1) : "");
        return lua_error(lua);
    }
    lua_call(lua, 0, 0);
    return 0;
}

/* Why it failed, by its error at the top; "" if the transaction did. */
static void say_error(lua_State *lua, hf__machine *machine, int result,
                      char error[HF__OUT_ERROR_SIZE])
{
    static const char head[] = "ERR Error registering functions: ";
    const char *code = "ERR ";
    const char *text = NULL;

    error[0] = '\0';
    if (machine->stop == HF__STOP_KILLED)
        (void)hf__script_undo(machine->tx, HF_SCRIPT, HF__ERROR_KILLED);
    if (machine->stop == HF__STOP_KILLED || machine->no_memory)
        return;
    if (machine->stop == HF__STOP_TIME) {
        text = "FUNCTION LOAD timeout";
    } else if (machine->stop != HF__STOP_NONE || result == LUA_ERRMEM) {
        text = "the library needs too much memory";
    } else if (machine->error[0] != '\0') {
        (void)snprintf(error, HF__OUT_ERROR_SIZE, "%.300s", machine->error);
        return;
    } else if (lua_istable(lua, -1)) {
        code = "";
        lua_pushliteral(lua, "err");
        lua_rawget(lua, -2);
    }
    if (text == NULL && lua_type(lua, -1) == LUA_TSTRING)
        text = lua_tostring(lua, -1);
    (void)snprintf(error, HF__OUT_ERROR_SIZE, "%s%s%.240s", head, code,
                   text != NULL ? text : "unknown error");
}

/* As a script is run, but that nothing of it can be reached. */
static bool run_loading(hf__machine *machine, hf__library *library,
                        hf_bytes text, int64_t limit_ms, size_t spare,
                        char error[HF__OUT_ERROR_SIZE])
{
    lua_State *lua = machine->lua;
    int top = lua_gettop(lua);
    locale_t before = uselocale(machine->locale);
    int result;

    hf__machine_arm_for(machine, limit_ms, MEMORY_MAX + spare);
    machine->error[0] = '\0';
    machine->loading = library;
    /* The table that the globals show otherwise, kept on the stack. */
    hf__sandbox_push_protected(lua, LUA_GLOBALSINDEX);
    lua_pushlightuserdata(lua, &api_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    show_globals(lua);
    result = lua_cpcall(lua, run_library, &text);
    machine->loading = NULL;
    if (result != 0)
        say_error(lua, machine, result, error);
    lua_settop(lua, top + 1);
    machine->stop = HF__STOP_NONE;
    show_globals(lua);
    (void)uselocale(before);
    lua_settop(lua, top);
    hf__lua_buf_close_to(machine, NULL);
    hf__sandbox_end_seed(machine);
    machine->running = lua;
    return result == 0;
}

/* What stays of it is no longer counted. */
static int collect_rest(lua_State *lua)
{
    (void)lua_gc(lua, LUA_GCCOLLECT, 0);
    return 0;
}

void hf__library_count_memory(hf__machine *machine)
{
    hf__machine_arm_for(machine, INT32_MAX, INT64_MAX);
    (void)lua_cpcall(machine->lua, collect_rest, NULL);
    machine->stop = HF__STOP_NONE;
    machine->new_size = machine->used_size;
}

static hf__library *new_library(hf_bytes code, hf_bytes name)
{
    hf__library *library = hf__calloc(1, sizeof(*library));

    if (library == NULL)
        return NULL;
    hf__arena_init(&library->arena);
    if (!copy_text(library, code, &library->code) ||
        !copy_text(library, name, &library->name)) {
        hf__library_free(NULL, library);
        return NULL;
    }
    return library;
}

hf__library *hf__library_load(hf__machine *machine, hf_bytes code,
                              hf_bytes name, size_t line_size, int64_t limit_ms,
                              size_t spare, char error[HF__OUT_ERROR_SIZE])
{
    hf__library *library = new_library(code, name);
    hf_bytes text =
        hf_view((const char *)code.data + line_size, code.size - line_size);
    size_t before = machine->used_size;
    bool loaded;

    error[0] = '\0';
    if (library == NULL)
        return NULL;
    loaded = run_loading(machine, library, text, limit_ms, spare, error);
    if (loaded && library->count == 0)
        (void)snprintf(error, HF__OUT_ERROR_SIZE,
                       "ERR No functions registered");
    if (!loaded || library->count == 0) {
        hf__library_free(machine, library);
        library = NULL;
    }
    hf__library_count_memory(machine);
    if (library != NULL && machine->used_size > before)
        library->memory = machine->used_size - before;
    return library;
}

hf__library *hf__library_keep(hf_bytes code, hf_bytes name, const char *why)
{
    hf__library *library = new_library(code, name);
    hf_bytes text = {NULL, 0};

    if (library == NULL)
        return NULL;
    if (!copy_text(library, hf_str(why), &text)) {
        hf__library_free(NULL, library);
        return NULL;
    }
    library->why = text.data;
    return library;
}

void hf__library_free(hf__machine *machine, hf__library *library)
{
    if (library == NULL)
        return;
    for (const hf__function *at = library->first; at != NULL; at = at->next)
        luaL_unref(machine->lua, LUA_REGISTRYINDEX, at->reference);
    hf__arena_free(&library->arena);
    hf__free(library);
}

const hf__function *hf__library_find(const hf__library *library, hf_bytes name)
{
    const hf__function *at = library->first;

    while (at != NULL &&
           !(at->name.size == name.size &&
             strncasecmp(at->name.data, name.data, name.size) == 0))
        at = at->next;
    return at;
}
