/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_redis.c - the table `redis` that scripts see.
 *
 * redis.call() is the hot path: commands are cached by the address of their
 * name, arguments are views of Lua's strings, replies go directly onto the
 * stack. Error texts are Redis 7.0's.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/lua/machine_state.h"
#include "engine/lua/noscript.h"

/* Least cost of a command, ns; longer ones account for themselves. */
#define CALL_NS 1000u

/* The compatible version, reported to scripts. */
#define REDIS_VERSION "7.0.15"
#define REDIS_VERSION_NUM 0x0007000f
#define REPL_ALL 3

#define ERROR_NO_WORDS                                                         \
    "ERR Please specify at least one argument for this redis lib call"

static hf__machine *machine_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(HF__CALL_MACHINE));
}

int hf__lua_redis_error(lua_State *lua, const char *text, bool raise)
{
    lua_createtable(lua, 0, 1);
    lua_pushstring(lua, text);
    lua_setfield(lua, -2, "err");
    return raise ? lua_error(lua) : 1;
}

/* In Redis 7.0 the error of a command has another field, visible to a script
 * that walks the table. */
static int give_command_error(lua_State *lua, const char *text, bool raise)
{
    (void)hf__lua_redis_error(lua, text, false);
    lua_pushboolean(lua, 1);
    lua_setfield(lua, -2, "ignore_error_stats_update");
    return raise ? lua_error(lua) : 1;
}

/* --------------------------------------------------------- call and pcall */

/* A number's text; false: too many, it needs a Lua string. */
static bool read_number(hf__machine *machine, size_t *number_count,
                        lua_Number number, hf_bytes *word)
{
    char *text;

    if (*number_count == HF__MACHINE_NUMBER_MAX)
        return false;
    text = machine->numbers[(*number_count)++];
    word->data = text;
    word->size = hf__number_put_double(text, number);
    return true;
}

/* The same as a Lua string, which replaces the number on the stack. */
static void push_number(lua_State *lua, int at, hf_bytes *word)
{
    char text[HF__NUMBER_TEXT_SIZE];

    lua_pushlstring(lua, text,
                    hf__number_put_double(text, lua_tonumber(lua, at)));
    lua_replace(lua, at);
    word->data = lua_tolstring(lua, at, &word->size);
}

/* Room for the arguments of a command, limited only by the script's memory:
 * unpack() ends at 8000 (LUAI_MAXCSTACK), a literal call does not. Larger
 * arrays are on Lua's stack, above the arguments. Raises errors. */
static hf_bytes *take_words(lua_State *lua, hf__machine *machine, int count)
{
    if (count <= HF__MACHINE_ARG_COUNT)
        return machine->words;
    return lua_newuserdata(lua, (size_t)count * sizeof(hf_bytes));
}

/* Views of the arguments; false: one is neither a string nor a number. */
static bool read_words(lua_State *lua, hf__machine *machine, hf_bytes *words,
                       int count)
{
    size_t number_count = 0;

    for (int i = 1; i <= count; i++) {
        hf_bytes *word = &words[i - 1];

        switch (lua_type(lua, i)) {
        case LUA_TSTRING:
            word->data = lua_tolstring(lua, i, &word->size);
            break;
        case LUA_TNUMBER:
            if (!read_number(machine, &number_count, lua_tonumber(lua, i),
                             word))
                push_number(lua, i, word);
            break;
        default:
            return false;
        }
    }
    return true;
}

/* Scripts name commands by constants, which Lua keeps at one address; a cached
 * command's name is compared all the same. */
static const hf__command *find_command(hf__machine *machine, hf_bytes name)
{
    size_t slot = ((uintptr_t)name.data >> 4) % HF__MACHINE_NAME_CACHE;
    const hf__command *command = machine->commands[slot];

    /* Both end in a NUL. */
    if (command != NULL && strcmp(command->name, name.data) == 0)
        return command;
    command = machine->find(name);
    if (command != NULL)
        machine->commands[slot] = command;
    return command;
}

static int run_command(lua_State *lua, hf__machine *machine,
                       const hf__command *command, const hf_bytes *words,
                       int count, bool raise)
{
    hf__lua_out out;

    hf__lua_out_init(&out, lua, machine->resp3, &machine->largest_size);
    machine->tx->out = &out.out;
    machine->wrote |= (command->flags & HF__COMMAND_WRITES) != 0;
    hf__command_run(machine->tx, command, words, (size_t)count);
    if (machine->tx->fatal != HF_OK) {
        machine->stop = HF__STOP_FATAL;
        return luaL_error(lua, "the store failed");
    }
    if (!out.out.failed)
        return 1;
    lua_settop(lua, 0);
    return give_command_error(lua, out.out.error, raise);
}

static int invoke_command(lua_State *lua, bool raise)
{
    hf__machine *machine = machine_of(lua);
    const hf__command *command;
    const char *error;
    hf_bytes *words;
    int count = lua_gettop(lua);

    hf__machine_spend(lua, machine, CALL_NS);
    if (count == 0)
        return hf__lua_redis_error(lua, ERROR_NO_WORDS, raise);
    words = take_words(lua, machine, count);
    if (!read_words(lua, machine, words, count))
        return hf__lua_redis_error(lua, HF__ERROR_SCRIPT_WORDS, raise);
    command = find_command(machine, words[0]);
    error = hf__script_refusal(machine->request, machine->read_only, command,
                               words, (size_t)count);
    if (error != NULL)
        return give_command_error(lua, error, raise);
    return run_command(lua, machine, command, words, count, raise);
}

static int redis_call(lua_State *lua)
{
    return invoke_command(lua, true);
}

static int redis_pcall(lua_State *lua)
{
    return invoke_command(lua, false);
}

/* ------------------------------------------------------------------ others */

static bool ends_line(char letter)
{
    return letter == '\r' || letter == '\n';
}

/* "ERR" is prepended to a text of one word; otherwise the first word is the
 * code. A leading '-' and surrounding line ends are removed. */
static int redis_error_reply(lua_State *lua)
{
    const char *text, *space;
    size_t size;

    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
        return hf__lua_redis_error(lua, "ERR wrong number or type of arguments",
                                   false);
    text = lua_tostring(lua, 1);
    if (text[0] == '-')
        text++;
    for (size = strlen(text); size > 0 && ends_line(text[size - 1]);)
        size--;
    space = memchr(text, ' ', size);
    if (space == NULL) {
        lua_pushliteral(lua, "ERR");
    } else {
        lua_pushlstring(lua, text, (size_t)(space - text));
        size -= (size_t)(space + 1 - text);
        text = space + 1;
    }
    for (; size > 0 && ends_line(text[0]); size--)
        text++;
    lua_pushliteral(lua, " ");
    lua_pushlstring(lua, text, size);
    lua_concat(lua, 3);
    lua_createtable(lua, 0, 1);
    lua_insert(lua, -2);
    lua_setfield(lua, -2, "err");
    return 1;
}

static int redis_status_reply(lua_State *lua)
{
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
        return hf__lua_redis_error(lua, "ERR wrong number or type of arguments",
                                   false);
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

static int redis_sha1hex(lua_State *lua)
{
    char text[HF__SHA1_HEX_SIZE];
    const char *data;
    size_t size;

    if (lua_gettop(lua) != 1)
        return hf__lua_redis_error(lua, "ERR wrong number of arguments", true);
    data = lua_tolstring(lua, 1, &size);
    hf__sha1_hex(data != NULL ? data : "", data != NULL ? size : 0, text);
    lua_pushstring(lua, text);
    return 1;
}

/* There is no log; the arguments are checked as by Redis. */
static int redis_log(lua_State *lua)
{
    lua_Number level;

    if (lua_gettop(lua) < 2)
        return hf__lua_redis_error(
            lua, "ERR redis.log() requires two arguments or more.", true);
    if (lua_type(lua, 1) != LUA_TNUMBER)
        return hf__lua_redis_error(lua,
                                   "ERR First argument must be a number (log "
                                   "level).",
                                   true);
    level = lua_tonumber(lua, 1);
    if (level < 0 || level > 3)
        return hf__lua_redis_error(lua, "ERR Invalid debug level.", true);
    return 0;
}

/* No effect: a script's writes are always committed together. */
static int redis_replicate_commands(lua_State *lua)
{
    lua_pushboolean(lua, 1);
    return 1;
}

static int redis_set_repl(lua_State *lua)
{
    lua_Number flags = lua_tonumber(lua, 1);

    if (lua_gettop(lua) != 1)
        return hf__lua_redis_error(
            lua, "ERR redis.set_repl() requires two arguments.", true);
    if (!(flags > -1 && flags < REPL_ALL + 1))
        return hf__lua_redis_error(
            lua,
            "ERR Invalid replication flags. Use REPL_AOF, "
            "REPL_REPLICA, REPL_ALL or REPL_NONE.",
            true);
    return 0;
}

static int redis_setresp(lua_State *lua)
{
    lua_Number version = lua_tonumber(lua, 1);

    if (lua_gettop(lua) != 1)
        return hf__lua_redis_error(
            lua, "ERR redis.setresp() requires one argument.", true);
    if (version != 2 && version != 3)
        return hf__lua_redis_error(lua, "ERR RESP version must be 2 or 3.",
                                   true);
    machine_of(lua)->resp3 = version == 3;
    return 0;
}

/* There are no users: everything is allowed. */
static int redis_acl_check_cmd(lua_State *lua)
{
    hf_bytes name;

    if (lua_gettop(lua) == 0)
        return hf__lua_redis_error(lua, ERROR_NO_WORDS, true);
    for (int i = lua_gettop(lua); i > 0; i--) {
        if (!lua_isstring(lua, i))
            return hf__lua_redis_error(lua, HF__ERROR_SCRIPT_WORDS, true);
    }
    name.data = lua_tolstring(lua, 1, &name.size);
    if (machine_of(lua)->find(name) == NULL)
        return hf__lua_redis_error(
            lua, "ERR Invalid command passed to redis.acl_check_cmd()", true);
    lua_pushboolean(lua, 1);
    return 1;
}

static int redis_breakpoint(lua_State *lua)
{
    lua_pushboolean(lua, 0);
    return 1;
}

static int redis_debug(lua_State *lua)
{
    (void)lua;
    return 0;
}

static const struct {
    const char *name;
    lua_CFunction run;
} functions[] = {{"call", redis_call},
                 {"pcall", redis_pcall},
                 {"error_reply", redis_error_reply},
                 {"status_reply", redis_status_reply},
                 {"sha1hex", redis_sha1hex},
                 {"log", redis_log},
                 {"replicate_commands", redis_replicate_commands},
                 {"set_repl", redis_set_repl},
                 {"setresp", redis_setresp},
                 {"acl_check_cmd", redis_acl_check_cmd},
                 {"breakpoint", redis_breakpoint},
                 {"debug", redis_debug}};

static const struct {
    const char *name;
    int value;
} numbers[] = {
    {"REPL_NONE", 0},       {"REPL_AOF", 1},
    {"REPL_SLAVE", 2},      {"REPL_REPLICA", 2},
    {"REPL_ALL", REPL_ALL}, {"LOG_DEBUG", 0},
    {"LOG_VERBOSE", 1},     {"LOG_NOTICE", 2},
    {"LOG_WARNING", 3},     {"REDIS_VERSION_NUM", REDIS_VERSION_NUM}};
/* Of those that begin with REPL_, the first ones. */
#define REPL_COUNT 5u

static void set_numbers(lua_State *lua, size_t from)
{
    for (size_t i = from; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        lua_pushinteger(lua, numbers[i].value);
        lua_setfield(lua, -2, numbers[i].name);
    }
    lua_pushliteral(lua, REDIS_VERSION);
    lua_setfield(lua, -2, "REDIS_VERSION");
}

void hf__lua_redis_push(lua_State *lua, hf__machine *machine)
{
    lua_newtable(lua);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        lua_pushlightuserdata(lua, machine);
        lua_pushliteral(lua, "ok");
        lua_pushcclosure(lua, functions[i].run, HF__CALL_COUNT);
        lua_setfield(lua, -2, functions[i].name);
    }
    set_numbers(lua, 0);
}

void hf__lua_redis_push_part(lua_State *lua)
{
    lua_newtable(lua);
    lua_pushcfunction(lua, redis_log);
    lua_setfield(lua, -2, "log");
    set_numbers(lua, REPL_COUNT);
}
