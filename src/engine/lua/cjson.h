/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cjson.h - the library `cjson`, with the names, results and messages of
 * lua-cjson 2.1, as in Redis.
 */
#ifndef HF__ENGINE_CJSON_H
#define HF__ENGINE_CJSON_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

/* Limit of nested tables, whatever a script sets: each level uses C stack. */
#define HF__JSON_DEPTH_MAX 3000

/* Handling of numbers that JSON does not have. */
typedef enum hf__json_numbers {
    HF__JSON_REFUSE,
    HF__JSON_KEEP,
    HF__JSON_NULL
} hf__json_numbers;

typedef struct hf__json {
    bool sparse_convert; /* excessively sparse arrays are objects */
    int sparse_ratio;    /* 0: none is */
    int sparse_safe;     /* no array up to this index is */
    int encode_depth;
    int decode_depth;
    int precision; /* significant digits */
    bool keep_buffer;
    hf__json_numbers encode_numbers;
    bool decode_numbers;
} hf__json;

void hf__json_reset(hf__json *settings);

/* Functions of Lua; their first upvalue is the settings. */
int hf__json_encode(lua_State *lua);
int hf__json_decode(lua_State *lua);

/* Push the library; its settings are `settings`. */
void hf__json_push(lua_State *lua, hf__json *settings);

#endif
