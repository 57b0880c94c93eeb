/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_state.h - what the files of the Lua machine share: machine*.c,
 * sandbox*.c and lua_*.c.
 */
#ifndef HF__EMBEDDED_MACHINE_STATE_H
#define HF__EMBEDDED_MACHINE_STATE_H

#include <lauxlib.h>
#include <locale.h>
#include <lua.h>

#include "store/embedded/keys/out.h"
#include "store/embedded/lua/json.h"
#include "store/embedded/lua/machine.h"

/* Words of one command that need no memory of their own. */
#define HF__MACHINE_WORD_COUNT 1024
/* Numbers among the words of one command that need no string in Lua. */
#define HF__MACHINE_NUMBER_MAX 64
#define HF__MACHINE_ERROR_SIZE 480

/* What a script may use beside its words and what it reads. */
#define HF__MACHINE_MEMORY_MAX (size_t)(64u << 20)
/* Commands found lately, by the address of their name. */
#define HF__MACHINE_NAME_CACHE 64

/* How much work in C goes by before the clock is read. */
#define HF__MACHINE_LOOK_NS 200000u

/* Lua's small objects come and go: they are kept by size, in steps of 16. */
#define HF__MACHINE_SMALL_MAX 256u
#define HF__MACHINE_SMALL_STEP 16u

/* The words a script of ours was run with last: those that come again need not
 * be made again. Longer or later ones are. */
#define HF__MACHINE_LAST_COUNT 8
#define HF__MACHINE_LAST_SIZE 56

typedef struct hf__cached_arg {
    uint32_t size; /* UINT32_MAX: not kept */
    char data[HF__MACHINE_LAST_SIZE];
} hf__cached_arg;

/* ARGV of one script of ours. */
typedef struct hf__cached_args {
    size_t count; /* entries in the table */
    hf__cached_arg words[HF__MACHINE_LAST_COUNT];
} hf__cached_args;

/* Pseudo-indices of redis.call(). */
enum {
    HF__CALL_MACHINE = 1,
    HF__CALL_OK = 2,      /* the string "ok" */
    HF__CALL_EMPTY = 3,   /* an empty table */
    HF__CALL_INSTANT = 4, /* a table with two entries */
    HF__CALL_COUNT = 4
};

/* An answer of redis.call() on the stack of Lua. */
typedef struct hf__lua_out {
    hf__out out;
    lua_State *lua;
    bool own;             /* for a script of ours */
    size_t *largest_size; /* of the strings pushed, to be kept up to date */
    size_t depth;
    struct {
        size_t next;
        size_t count;
    } open[HF__OUT_DEPTH];
} hf__lua_out;

void hf__lua_out_init(hf__lua_out *out, lua_State *lua, bool own,
                      size_t *largest_size);

/* Bytes being put together by a function in C: a stack of them, since such
 * functions call scripts which call such functions. What an error leaves open
 * is closed by whoever catches it. */
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
    HF__STOP_FATAL /* tx->fatal says why */
} hf__stop;

struct hf__machine {
    lua_State *lua;
    hf__command_finder *find;
    locale_t locale; /* "C" */
    hf__tx *tx;
    hf__request *request;
    const hf__script *script;
    int64_t budget_us; /* of processor time */
    int64_t began_us;  /* of processor time, at the first look; -1: none yet */
    int64_t look_us;   /* before this instant the budget cannot be used up */
    int64_t
        deadline_us; /* the caller's; INT64_MAX: it was past from the start */
    bool late;       /* stopped by that, not by the budget */
    hf__json json;   /* settings of `cjson`; of one script only */
    size_t used_size;
    size_t limit_size;
    size_t largest_size;   /* of an answer given to the script */
    hf__stop stop;         /* the script must end */
    bool guarded;          /* the script has limits of time */
    lua_State *running;    /* the coroutine that runs, or `lua` */
    size_t largest_block;  /* allocated by the script */
    int interval;          /* instructions between two looks at the clock */
    size_t spent_ns;       /* in C since the last look, by estimate */
    size_t collected_size; /* what the last collection left */
    size_t reply_size;     /* of what is being returned */
    hf__lua_buf *bufs;     /* the innermost */
    bool hooked;
    bool no_memory; /* the system's, not the script's */
    bool read_only; /* the script's commands must not write */
    uint64_t random;
    uint32_t user_count;              /* scripts remembered */
    int key_counts[HF__SCRIPT_COUNT]; /* entries in KEYS of each of ours */
    hf__cached_args cached_args[HF__SCRIPT_COUNT];
    const struct hf__command *commands[HF__MACHINE_NAME_CACHE];
    void *small[HF__MACHINE_SMALL_MAX / HF__MACHINE_SMALL_STEP];
    char error[HF__MACHINE_ERROR_SIZE]; /* of the script that failed */
    hf_bytes words[HF__MACHINE_WORD_COUNT];
    char numbers[HF__MACHINE_NUMBER_MAX][40];
};

/* Pseudo-indices of the function that runs a script. */
enum {
    HF__UP_MACHINE = 1,
    /* Three entries for each of our scripts: function, KEYS, ARGV. */
    HF__UP_OWN = 2,
    /* By SHA-1; and by the function true, if its script says that it must not
     * write, or false, if it says something else about itself. */
    HF__UP_USER_FUNCTIONS = 3,
    HF__UP_USER_ENV = 4,
    HF__UP_COUNT = 4
};

/* Where a script of ours stands in HF__UP_OWN. */
enum { HF__OWN_FUNCTION = 1, HF__OWN_KEYS = 2, HF__OWN_ARGS = 3 };
#define HF__OWN_EACH 3
int hf__machine_own_at(const hf__machine *machine, int what);

/* Push the request's script as a function, compiled if need be. Only for the
 * function that runs it: uses its upvalues. Raises errors. */
void hf__machine_push_function(lua_State *lua, hf__machine *machine);

/* lua_Alloc, with the machine as its user. */
void *hf__machine_allocate(void *user, void *memory, size_t old, size_t size);
/* Give back what the allocator keeps. */
void hf__machine_free_small(hf__machine *machine);

/* Set the limits of the script that is about to run. */
void hf__machine_arm(hf__machine *machine, int64_t budget_ms,
                     size_t words_size);
/* The same for work on behalf of no script. */
void hf__machine_arm_for(hf__machine *machine, int64_t budget_ms,
                         size_t limit_size);

/* ------------------------------------- work done in C (machine_limits.c) */

static inline hf__machine *hf__machine_of(lua_State *lua)
{
    void *user;

    (void)lua_getallocf(lua, &user);
    return user;
}

/* Read the clock: must the script end? Also if it has no `claimed` bytes left
 * for the command that runs. */
bool hf__machine_is_over(hf__machine *machine, size_t claimed);
/* Read the clock; raises when the script has to end. */
void hf__machine_look(lua_State *lua, hf__machine *machine);

/* Report work that is about to be done in C, ns by estimate. Every loop whose
 * length a script decides calls it. Raises when the script has to end. */
static inline void hf__machine_spend(lua_State *lua, hf__machine *machine,
                                     size_t ns)
{
    machine->spent_ns += ns;
    if (machine->spent_ns >= HF__MACHINE_LOOK_NS)
        hf__machine_look(lua, machine);
}

/* Have the coroutine look at the clock as often as is needed. */
void hf__machine_hook(hf__machine *machine, lua_State *lua);
/* Collect all garbage; the clock is read. */
void hf__machine_collect(lua_State *lua, hf__machine *machine);

/* Count memory outside of Lua against the script's bound; raises. */
void hf__machine_charge(lua_State *lua, hf__machine *machine, size_t size);

/* Begin new bytes; room for `more` of them, not yet counted in `used`; drop
 * them; push them as a string, which drops them. All but closing raise. */
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

/* Build everything that scripts see; raises errors. Leaves the last three of
 * the values above on the stack, in their order. */
void hf__sandbox_build(lua_State *lua, hf__machine *machine);
/* Replace functions of Lua's libraries, whose globals are still in place. */
void hf__sandbox_bit(lua_State *lua);
void hf__sandbox_control(lua_State *lua);
void hf__sandbox_pattern(lua_State *lua);
void hf__sandbox_string(lua_State *lua);
void hf__sandbox_table(lua_State *lua);
/* Set the functions of a library; what is not there yet is added. */
static inline void hf__sandbox_replace(lua_State *lua, const char *library,
                                       const luaL_Reg *functions)
{
    luaL_register(lua, library, functions);
    lua_pop(lua, 1);
}
/* Compile a text as Lua, reading the clock; pushes the function or, with a
 * status of Lua's, a message. Raises what ends the script. */
int hf__sandbox_load(lua_State *lua, const char *text, size_t size,
                     const char *name);
/* tonumber() of Lua 5.1. */
int hf__sandbox_tonumber(lua_State *lua);
/* Push the table of users' functions. */
void hf__sandbox_push_users(lua_State *lua);
/* Push new globals for one script of ours, KEYS and ARGV in them; and before
 * them these two tables. */
void hf__sandbox_push_own(lua_State *lua);

/* Push the functions of `redis` as a table. */
void hf__lua_redis_push(lua_State *lua, hf__machine *machine);

/* Lua's value at the top as a reply; pops it. false: no memory. */
bool hf__lua_reply(lua_State *lua, hf_reply *reply, hf__arena *arena);

#endif
