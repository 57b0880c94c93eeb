/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - lists of operations and their memory. */
#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *op_alloc(hf__arena *arena, size_t size)
{
    void *memory = hf__arena_alloc(arena, size);

    if (memory == NULL) {
        fprintf(stderr, "differential: out of memory\n");
        exit(2);
    }
    return memory;
}

hf_bytes op_copy(hf__arena *arena, const void *data, size_t size)
{
    char *copy = op_alloc(arena, size + 1);

    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return hf_view(copy, size);
}

void op_list_init(op_list *list, hf__arena *arena)
{
    memset(list, 0, sizeof(*list));
    list->arena = arena;
}

void op_list_add(op_list *list, op added)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        op *larger = op_alloc(list->arena, capacity * sizeof(*larger));

        if (list->count > 0)
            memcpy(larger, list->ops, list->count * sizeof(*larger));
        list->ops = larger;
        list->capacity = capacity;
    }
    list->ops[list->count++] = added;
}

size_t op_request_size(const op_list *list, size_t at)
{
    const op *first = &list->ops[at];
    size_t size = 1;

    if (first->kind != OP_BATCH)
        return 1;
    while (at + size < list->count && list->ops[at + size].kind == OP_BATCH &&
           list->ops[at + size].batch == first->batch)
        size++;
    return size;
}

void op_add_word(op *command, hf__arena *arena, hf_bytes added)
{
    size_t count = command->word_count;

    /* Room doubles at every power of two. */
    if ((count & (count - 1)) == 0) {
        size_t capacity = count == 0 ? 1 : 2 * count;
        hf_bytes *larger = op_alloc(arena, capacity * sizeof(*larger));

        if (count > 0)
            memcpy(larger, command->words, count * sizeof(*larger));
        command->words = larger;
    }
    command->words[command->word_count++] = added;
}
