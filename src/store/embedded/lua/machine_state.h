/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_state.h - what the files of the Lua machine share: machine.c,
 * machine_limits.c, machine_scripts.c, sandbox.c, lua_redis.c, lua_out.c and
 * lua_reply.c.
 */
#ifndef HF__EMBEDDED_MACHINE_STATE_H
#define HF__EMBEDDED_MACHINE_STATE_H

#include <lauxlib.h>
#include <lua.h>

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

/* Lua's small objects come and go: they are kept by size, in steps of 16. */
#define HF__MACHINE_SMALL_MAX 256u
#define HF__MACHINE_SMALL_STEP 16u

/* The words a script of ours was run with last: those that come again need not
 * be made again. Longer or later ones are. */
#define HF__MACHINE_LAST_COUNT 8
#define HF__MACHINE_LAST_SIZE 56

typedef struct hf__last_word {
    uint32_t size; /* UINT32_MAX: not kept */
    char data[HF__MACHINE_LAST_SIZE];
} hf__last_word;

/* ARGV of one script of ours. */
typedef struct hf__last_words {
    size_t count; /* entries in the table */
    hf__last_word words[HF__MACHINE_LAST_COUNT];
} hf__last_words;

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

typedef enum hf__stop {
    HF__STOP_NONE = 0,
    HF__STOP_TIME,
    HF__STOP_MEMORY,
    HF__STOP_FATAL /* tx->fatal says why */
} hf__stop;

struct hf__machine {
    lua_State *lua;
    hf__tx *tx;
    hf__request *request;
    const hf__script *script;
    int64_t budget_us; /* of processor time */
    int64_t began_us;  /* of processor time, at the first look; -1: none yet */
    int64_t look_us;   /* before this instant the budget cannot be used up */
    int64_t
        deadline_us; /* the caller's; INT64_MAX: it was past from the start */
    bool late;       /* stopped by that, not by the budget */
    size_t used_size;
    size_t limit_size;
    size_t largest_size; /* of an answer given to the script */
    hf__stop stop;       /* the script must end */
    bool hooked;
    bool no_memory; /* the system's, not the script's */
    bool read_only; /* the script's commands must not write */
    uint64_t random;
    uint32_t user_count;              /* scripts remembered */
    int key_counts[HF__SCRIPT_COUNT]; /* entries in KEYS of each of ours */
    hf__last_words last_args[HF__SCRIPT_COUNT];
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

/* Build everything that scripts see; raises errors. Leaves the last three of
 * the values above on the stack, in their order. */
void hf__sandbox_build(lua_State *lua, hf__machine *machine);
/* Bound what loops in C; Lua's own globals are still in place. */
void hf__sandbox_bound(lua_State *lua);
/* tonumber() of Lua 5.1. */
int hf__sandbox_tonumber(lua_State *lua);
/* Push the table of users' functions. */
void hf__sandbox_push_users(lua_State *lua);
/* Push new globals for one script of ours, KEYS and ARGV in them; and before
 * them these two tables. */
void hf__sandbox_push_own(lua_State *lua);

/* Push the functions of `redis` as a table. */
void hf__lua_redis_push(lua_State *lua, hf__machine *machine);

/* End the script for good: no pcall() of its own survives. */
void hf__machine_stop(hf__machine *machine, lua_State *lua, hf__stop why);

/* Lua's value at the top as a reply; pops it. false: no memory. */
bool hf__lua_reply(lua_State *lua, hf_reply *reply, hf__arena *arena);

#endif
