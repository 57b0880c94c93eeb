/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_state.h - declarations shared by the files of the Lua machine.
 */
#ifndef HF__ENGINE_MACHINE_STATE_H
#define HF__ENGINE_MACHINE_STATE_H

#include <lauxlib.h>
#include <locale.h>
#include <lua.h>

#include "engine/commands/script_end.h"
#include "engine/keys/command_out.h"
#include "engine/lua/cjson.h"
#include "engine/lua/machine.h"

/* Arguments of a command that need no allocation. */
#define HF__MACHINE_ARG_COUNT 1024
/* Numeric arguments of a command that need no Lua string. */
#define HF__MACHINE_NUMBER_MAX 64
#define HF__MACHINE_ERROR_SIZE 480

/* Cache of commands by the address of their name. */
#define HF__MACHINE_NAME_CACHE 64

/* Work in C between two checks of the clock. */
#define HF__MACHINE_CHECK_NS 200000u

/* Freed small blocks are kept by size, in steps of 16. */
#define HF__MACHINE_SMALL_MAX 256u
#define HF__MACHINE_SMALL_STEP 16u

/* Pseudo-indices of redis.call(). */
enum {
    HF__CALL_MACHINE = 1,
    HF__CALL_OK = 2, /* the string "ok" */
    HF__CALL_COUNT = 2
};

/* A reply of redis.call() on Lua's stack. */
typedef struct hf__lua_out {
    hf__out out;
    lua_State *lua;
    size_t *largest_size; /* updated: of the strings pushed */
    size_t depth;
    struct {
        size_t next;
        size_t count;            /* of a map: keys and values */
        const char *resp3_field; /* "map", "set"; NULL: an array */
    } open[HF__OUT_DEPTH];
} hf__lua_out;

void hf__lua_out_init(hf__lua_out *out, lua_State *lua, bool resp3,
                      size_t *largest_size);

/* A buffer of a C function. A stack of them: such functions call scripts, which
 * call such functions. Buffers left open by an error are closed where it is
 * caught. */
typedef struct hf__lua_buf {
    struct hf__lua_buf *below;
    size_t used;
    size_t size; /* of `data` */
    char data[];
} hf__lua_buf;

typedef enum hf__stop {
    HF__STOP_NONE = 0,
    HF__STOP_TIME,
    HF__STOP_MEMORY,
    HF__STOP_KILLED, /* tx->attend() says so */
    HF__STOP_FATAL   /* tx->fatal says why */
} hf__stop;

/* Of a function, or of a library while it is loaded. */
#define HF__ERROR_KILLED "Script killed by user with FUNCTION KILL."

struct hf__library;

struct hf__machine {
    lua_State *lua;
    hf__command_finder *find;
    locale_t locale; /* "C" */
    hf__tx *tx;
    hf__request *request;
    const hf__script *script;
    hf__script_time time;
    hf__json json; /* settings of `cjson`; of one script only */
    size_t used_size;
    size_t limit_size;
    size_t largest_size;   /* of a reply given to the script */
    hf__stop stop;         /* the script must end */
    lua_State *running;    /* the current coroutine, or `lua` */
    size_t largest_block;  /* allocated by the script */
    int interval;          /* instructions between two checks of the clock */
    size_t spent_ns;       /* in C since the last check, by estimate */
    size_t collected_size; /* after the last collection */
    size_t reply_size;     /* of the result being returned */
    hf__lua_buf *bufs;     /* the innermost */
    bool no_memory;        /* the system's, not the script's */
    bool read_only;        /* refuse writing commands */
    bool wrote;            /* the script has run such a command */
    bool resp3;            /* replies to the script have the types of RESP3 */
    size_t new_size;       /* of the functions in the cache's first table */
    size_t old_size;       /* in its second */
    size_t new_count;      /* of the functions in the first */
    size_t old_count;      /* in the second only */
    bool spoilt;           /* what scripts left is too large: to be replaced */
    struct hf__library *loading; /* NULL, or what registers its functions */
    int function; /* in the registry, to be run, or HF__NO_FUNCTION */
    uint64_t random;
    uint64_t unseeded; /* `random` before this script set it */
    bool seeded;
    const struct hf__command *commands[HF__MACHINE_NAME_CACHE];
    void *small[HF__MACHINE_SMALL_MAX / HF__MACHINE_SMALL_STEP];
    char error[HF__MACHINE_ERROR_SIZE]; /* of the script that failed */
    hf_bytes words[HF__MACHINE_ARG_COUNT];
    char numbers[HF__MACHINE_NUMBER_MAX][40];
};

/* Pseudo-indices of the function that runs a script. */
enum {
    HF__UP_MACHINE = 1,
    /* Two tables of functions, each by SHA-1; and by function its size and
     * flags (machine_scripts.c). */
    HF__UP_USER_FUNCTIONS = 2,
    HF__UP_USER_ENV = 3,
    HF__UP_COUNT = 3
};

/* Push the request's script as a function, compiled if necessary. Uses the
 * upvalues of the function that runs it. Raises errors. */
void hf__machine_push_function(lua_State *lua, hf__machine *machine);

/* lua_Alloc, with the machine as its user. */
void *hf__machine_allocate(void *user, void *memory, size_t old, size_t size);
/* Free the blocks that the allocator keeps. */
void hf__machine_free_small(hf__machine *machine);

/* Memory of users' cached functions, which no script's limit includes. */
static inline size_t hf__machine_cached_size(const hf__machine *machine)
{
    return machine->new_size + machine->old_size;
}

/* Set the limits for the next script. */
void hf__machine_arm(hf__machine *machine, int64_t budget_ms,
                     size_t words_size);
/* The same for work without a script. */
void hf__machine_arm_for(hf__machine *machine, int64_t budget_ms,
                         size_t limit_size);

/* ------------------------------------- work done in C (machine_limits.c) */

static inline hf__machine *hf__machine_of(lua_State *lua)
{
    void *user;

    (void)lua_getallocf(lua, &user);
    return user;
}

/* Check the limits: must the script end? `claimed` is the running command's
 * memory. */
bool hf__machine_is_over(hf__machine *machine, size_t claimed);
/* Check the time limit; raises if the script must end. */
void hf__machine_check(lua_State *lua, hf__machine *machine);

/* Account for work in C, ns by estimate. Called by every loop whose length
 * depends on a script. Raises if the script must end. */
static inline void hf__machine_spend(lua_State *lua, hf__machine *machine,
                                     size_t ns)
{
    machine->spent_ns += ns;
    if (machine->spent_ns >= HF__MACHINE_CHECK_NS)
        hf__machine_check(lua, machine);
}

/* Set the hook that checks the clock in a coroutine. */
void hf__machine_hook(hf__machine *machine, lua_State *lua);
/* Collect all garbage, checking the clock. */
void hf__machine_collect(lua_State *lua, hf__machine *machine);

/* Count memory outside of Lua against the script's limit; raises. */
void hf__machine_charge(lua_State *lua, hf__machine *machine, size_t size);

/* Open a buffer; reserve `more` bytes, not yet counted in `used`; close it;
 * push it as a string and close it. All but closing raise. */
void hf__lua_buf_open(lua_State *lua, hf__machine *machine);
char *hf__lua_buf_room(lua_State *lua, hf__machine *machine, size_t more);
void hf__lua_buf_add(lua_State *lua, hf__machine *machine, const void *data,
                     size_t size);
void hf__lua_buf_close(hf__machine *machine);
void hf__lua_buf_close_to(hf__machine *machine, hf__lua_buf *bufs);
void hf__lua_buf_push(lua_State *lua, hf__machine *machine);

static inline void hf__lua_buf_byte(lua_State *lua, hf__machine *machine,
                                    char byte)
{
    hf__lua_buf *buf = machine->bufs;

    if (buf->used == buf->size) {
        (void)hf__lua_buf_room(lua, machine, 1);
        buf = machine->bufs;
    }
    buf->data[buf->used++] = byte;
}

/* ----------------------------------------------------------- the sandbox */

/* Build everything that scripts see; raises errors. Leaves the upvalues above
 * on the stack, without the first. */
void hf__sandbox_build(lua_State *lua, hf__machine *machine);
/* Replace functions of Lua's libraries in the original globals. */
void hf__sandbox_bit(lua_State *lua);
void hf__sandbox_control(lua_State *lua);
void hf__sandbox_pattern(lua_State *lua);
void hf__sandbox_string(lua_State *lua);
void hf__sandbox_table(lua_State *lua);
/* Set or add functions of a library. */
static inline void hf__sandbox_replace(lua_State *lua, const char *library,
                                       const luaL_Reg *functions)
{
    luaL_register(lua, library, functions);
    lua_pop(lua, 1);
}
/* Remove KEYS and ARGV of the last user's script. */
void hf__sandbox_clear_args(lua_State *lua);
/* Drop the seed that a script has set. */
void hf__sandbox_end_seed(hf__machine *machine);
/* Read-only tables: once, before the others. */
void hf__sandbox_make_proxies(lua_State *lua);
/* Replace the table at the top by a proxy. */
void hf__sandbox_protect(lua_State *lua);
/* Push the real table of the proxy at `index`, or nil. */
void hf__sandbox_push_protected(lua_State *lua, int index);
/* Raise an error if the table is one that scripts must not change. Every
 * function that writes raw calls this first. */
void hf__sandbox_may_write(lua_State *lua, int index);
/* Compile a text as Lua, checking the clock; pushes the function or, with an
 * error status of Lua, a message. Raises if the script must end. */
int hf__sandbox_load(lua_State *lua, const char *text, size_t size,
                     const char *name);
/* tonumber() of Lua 5.1. */
int hf__sandbox_tonumber(lua_State *lua);
/* Push the table of users' functions. */
void hf__sandbox_push_users(lua_State *lua);

/* Make reading a missing field of the table at the top an error. */
void hf__sandbox_refuse_missing(lua_State *lua);
/* Push the functions of `redis` as a table. */
void hf__lua_redis_push(lua_State *lua, hf__machine *machine);
/* Push the part of it that a library sees while it is loaded: log() and
 * numbers. */
void hf__lua_redis_push_part(lua_State *lua);
/* Push an error as scripts see it, a table with the field "err". Returns 1. */
int hf__lua_redis_error(lua_State *lua, const char *text, bool raise);

/* Lua's value at the top as a reply; pops it. false: no memory. */
bool hf__lua_reply(lua_State *lua, hf_reply *reply, hf__arena *arena);

#endif
