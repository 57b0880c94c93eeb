/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - what core and the drivers know of a script. The library's own are
 * generated from scripts/ by the build; users' are made at run time.
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
    HF__QUORUM_NONE, /* it refuses the script */
    HF__QUORUM_ACQUIRE,
    HF__QUORUM_COUNT,
    HF__QUORUM_RENEW,
    HF__QUORUM_READ,
    HF__QUORUM_ANY
} hf__quorum_rule;

/* Which of a script's keys are leases, if they are written as anything but a
 * sorted set: records that end with their lease, and by nothing else. */
typedef enum hf__lease_rule {
    HF__LEASES_NONE,
    HF__LEASES_FIRST,
    HF__LEASES_OTHERS, /* than the first */
    HF__LEASES_ALL
} hf__lease_rule;

/* A script that confirms or undoes another one, with words of that one. */
#define HF__FOLLOW_WORDS_MAX 8
#define HF__FOLLOW_TOKEN UINT8_MAX
#define HF__FOLLOW_WAKE (UINT8_MAX - 1)
typedef struct hf__follow {
    const struct hf__script *script;
    uint8_t key_count;
    uint8_t word_count;
    /* Index of each of its words in the other one's; HF__FOLLOW_TOKEN: the
     * issued token; HF__FOLLOW_WAKE: whether a waiter is to be woken. */
    uint8_t words[HF__FOLLOW_WORDS_MAX];
} hf__follow;

/* What a quorum needs to run a script that acquires. */
typedef struct hf__acquire_rule {
    hf__follow confirm;
    hf__follow undo;
    uint8_t ttl;        /* index of the lease, ms */
    uint8_t undo_entry; /* index of the waiter's entry in the words of `undo` */
} hf__acquire_rule;

/* Most keys that a header names. */
#define HF__SCRIPT_KEYS 18

typedef struct hf__script {
    const char *name;   /* file name without ".lua"; "user script" */
    const char *source; /* NUL-terminated */
    size_t source_size;
    const char *sha1; /* 40 hexadecimal digits */
    /* 0..HF__SCRIPT_COUNT-1, or HF__SCRIPT_USER. */
    uint32_t index;
    /* On an embedded store: which C function has the same effect, by the index
     * of its script. HF__SCRIPT_USER: none; its text is run. */
    uint32_t native;
    /* May run again when it is unknown whether it ran. This and the rest come
     * from the header; false, 0 and NULL for users' scripts. */
    bool repeatable;
    hf__lane lane;
    const hf__shape *shape; /* of the reply; NULL: any */
    hf__quorum_rule quorum;
    const hf__acquire_rule *acquire; /* with HF__QUORUM_ACQUIRE */
    /* Types of its keys, the last one's also of those that follow. NULL: any.
     */
    const char *key_types[HF__SCRIPT_KEYS];
    size_t key_type_count;
    /* An error that it raises or returns undoes what it wrote, on a store that
     * can: an embedded one. */
    bool undoes;
    bool reads; /* it writes nothing */
    hf__lease_rule leases;
    /* Its first key is the dedup record of the caller's session. */
    bool twin;
} hf__script;

#define HF__SCRIPT_USER UINT32_MAX

/* Initializer of a user's script. */
#define HF__USER_SCRIPT(text, text_size, digest)                               \
    {                                                                          \
        .name = "user script", .source = (text), .source_size = (text_size),   \
        .sha1 = (digest), .index = HF__SCRIPT_USER, .native = HF__SCRIPT_USER  \
    }

/* Generated: HF__SCRIPT_LOCK_ACQUIRE ... HF__SCRIPT_COUNT, and declarations of
 * the shapes in shapes.c. */
#include "script/script_ids.h"

extern const hf__script hf__scripts[];

#endif
