/* SPDX-License-Identifier: Apache-2.0 */
/* msgpack.h - the libraries `cmsgpack` and `struct`. */
#ifndef HF__ENGINE_MSGPACK_H
#define HF__ENGINE_MSGPACK_H

#include <lua.h>

void hf__msgpack_push(lua_State *lua);
void hf__struct_push(lua_State *lua);

#endif
