/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_buf.c - buffers of C functions, subject to the script's memory limit.
 * luaL_Buffer uses 8 KiB of C stack, and its pieces become garbage; these are
 * freed at once.
 */
#include <string.h>

#include "engine/lua/machine_state.h"

#define FIRST_SIZE 200u

/* Before a piece of this size garbage is collected, if the limit is near and so
 * much was allocated since the last time. */
#define LARGE_SIZE (size_t)(1u << 20)
#define COLLECT_SIZE (size_t)(8u << 20)

static hf__lua_buf *resize_buf(lua_State *lua, hf__machine *machine,
                               hf__lua_buf *old, size_t size)
{
    size_t old_size = old != NULL ? sizeof(*old) + old->size : 0;
    hf__lua_buf *buf;

    if (size >= LARGE_SIZE &&
        machine->used_size > machine->collected_size + COLLECT_SIZE &&
        machine->used_size + size > machine->limit_size / 2)
        hf__machine_collect(lua, machine);
    buf = hf__machine_allocate(machine, old, old_size, sizeof(*buf) + size);
    if (buf == NULL) {
        luaL_error(lua, "not enough memory");
        return NULL;
    }
    buf->size = size;
    machine->bufs = buf;
    return buf;
}

void hf__lua_buf_open(lua_State *lua, hf__machine *machine)
{
    hf__lua_buf *below = machine->bufs;
    hf__lua_buf *buf = resize_buf(lua, machine, NULL, FIRST_SIZE);

    buf->below = below;
    buf->used = 0;
}

char *hf__lua_buf_room(lua_State *lua, hf__machine *machine, size_t more)
{
    hf__lua_buf *buf = machine->bufs;

    if (more > buf->size - buf->used) {
        size_t size = 2 * buf->size;

        if (more > SIZE_MAX / 4)
            luaL_error(lua, "not enough memory");
        if (size < buf->used + more)
            size = buf->used + more;
        buf = resize_buf(lua, machine, buf, size);
    }
    return buf->data + buf->used;
}

void hf__lua_buf_add(lua_State *lua, hf__machine *machine, const void *data,
                     size_t size)
{
    if (size == 0)
        return;
    memcpy(hf__lua_buf_room(lua, machine, size), data, size);
    machine->bufs->used += size;
}

void hf__lua_buf_close(hf__machine *machine)
{
    hf__lua_buf *buf = machine->bufs;

    machine->bufs = buf->below;
    (void)hf__machine_allocate(machine, buf, sizeof(*buf) + buf->size, 0);
}

void hf__lua_buf_close_to(hf__machine *machine, hf__lua_buf *bufs)
{
    while (machine->bufs != bufs)
        hf__lua_buf_close(machine);
}

void hf__lua_buf_push(lua_State *lua, hf__machine *machine)
{
    hf__lua_buf *buf = machine->bufs;

    hf__machine_spend(lua, machine, buf->used / 4);
    lua_pushlstring(lua, buf->data, buf->used);
    hf__lua_buf_close(machine);
}
