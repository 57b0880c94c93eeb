/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_specs.h - what COMMAND says about the keys of a command: where they are,
 * and what is done to them.
 */
#ifndef HF__SERVE_KEY_SPECS_H
#define HF__SERVE_KEY_SPECS_H

#include "serve/conn/resp_writer.h"
#include "store/known_commands.h"

/* Words; those below 0 are counted from the end. last 0: none. */
typedef struct hf__key_range {
    int first, last, step;
    bool movable; /* found by reading the words */
} hf__key_range;

/* What is done to the first key of a request, or to one after it: see
 * hf__known_command.access. Ends with its letters. */
const char *hf__key_access(const hf__known_command *known,
                           const hf_bytes *words, size_t count, bool first);

/* "RW", "access", "update" and so on. */
void hf__put_key_flags(hf__answer *answer, const char *access);

/* The key specifications of a command or subcommand. */
void hf__put_key_specs(hf__answer *answer, const hf__known_command *known,
                       const hf__key_range *keys);

#endif
