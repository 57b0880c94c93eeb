/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - what a script is to core and to the drivers. The library's own
 * are generated from scripts/ at build; the user's are made at run time.
 */
#ifndef HF__SCRIPT_SCRIPT_H
#define HF__SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/shape.h"

typedef struct hf__script {
    const char *name;   /* file name without ".lua"; "user script" */
    const char *source; /* NUL-terminated */
    size_t source_size;
    const char *sha1; /* 40 hexadecimal digits */
    /* Index of our own scripts, 0..HF__SCRIPT_COUNT-1, for a driver's cache;
     * HF__SCRIPT_USER for the user's. */
    uint32_t index;
    /* May run again with the same words when it is not known whether it ran.
     * From the script's header; false for the user's. */
    bool repeatable;
} hf__script;

#define HF__SCRIPT_USER UINT32_MAX

/* The initializer of a user's script. */
#define HF__USER_SCRIPT(text, text_size, digest)                               \
    {                                                                          \
        .name = "user script", .source = (text), .source_size = (text_size),   \
        .sha1 = (digest), .index = HF__SCRIPT_USER                             \
    }

/* Generated: enum of HF__SCRIPT_LOCK_ACQUIRE ... HF__SCRIPT_COUNT, and the
 * shapes hf__shape_lock_acquire ..., which shapes.c defines. */
#include "script/script_ids.h"

extern const hf__script hf__scripts[];

/* What each of ours may return. */
extern const hf__shape *const hf__script_answers[];

/* What a script may return; NULL: anything. */
static inline const hf__shape *hf__script_answer(const hf__script *script)
{
    return script->index < HF__SCRIPT_COUNT ? hf__script_answers[script->index]
                                            : NULL;
}

#endif
