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

/* Requests of the lease lane overtake the others and ignore limits on the
 * queue: a flood of acquires must not starve renewals and releases. */
typedef enum hf__lane { HF__LANE_USER = 0, HF__LANE_LEASE = 1 } hf__lane;

/* How a quorum adds up what several servers answer; see scripts/README.md. */
typedef enum hf__quorum_rule {
    HF__QUORUM_NONE, /* it does not run the script by itself */
    HF__QUORUM_ACQUIRE,
    HF__QUORUM_COUNT,
    HF__QUORUM_RENEW,
    HF__QUORUM_READ,
    HF__QUORUM_ANY
} hf__quorum_rule;

/* A script that follows on another one and has its words. */
#define HF__FOLLOW_WORDS_MAX 4
#define HF__FOLLOW_TOKEN UINT8_MAX
typedef struct hf__follow {
    const struct hf__script *script;
    uint8_t key_count;
    uint8_t word_count;
    /* Where each of its words is among the other one's; HF__FOLLOW_TOKEN: it
     * is the token that was issued. */
    uint8_t words[HF__FOLLOW_WORDS_MAX];
} hf__follow;

/* What a quorum knows of a script that acquires. */
typedef struct hf__acquire_rule {
    hf__follow confirm;
    hf__follow undo;
    uint8_t ttl;          /* place of the lease in ms among its words */
    uint8_t undo_waiters; /* place of the waiters' key among those of `undo` */
} hf__acquire_rule;

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
    hf__lane lane;
    hf__quorum_rule quorum;
    const hf__acquire_rule *acquire; /* with HF__QUORUM_ACQUIRE */
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
