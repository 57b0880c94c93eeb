/* SPDX-License-Identifier: Apache-2.0 */
/* pop.c - see pop.h. */
#include "engine/commands/pop.h"

typedef struct pop_options {
    size_t key_count;
    bool last;
    int64_t count;
} pop_options;

/* Read `numkeys key ... END [COUNT count]`. */
static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         const hf__pop_kind *kind, pop_options *options)
{
    int64_t keys;
    size_t at;

    if (!hf__arg_at_least(tx, args[0], 1, HF__ERROR_KEY_COUNT, &keys))
        return false;
    /* Too many keys leave no argument for the end. */
    if ((uint64_t)keys > count - 2)
        goto syntax;
    at = 1 + (size_t)keys;
    options->key_count = (size_t)keys;
    options->count = 1;
    options->last = hf__arg_is(args[at], kind->last);
    if (!options->last && !hf__arg_is(args[at], kind->first))
        goto syntax;
    if (count == at + 1)
        return true;
    if (count < at + 3 || !hf__arg_is(args[at + 1], "count"))
        goto syntax;
    if (!hf__arg_at_least(tx, args[at + 2], 1,
                          "ERR count should be greater than 0",
                          &options->count))
        return false;
    if (count == at + 3)
        return true;
syntax:
    return hf__reply_error(tx, HF__ERROR_SYNTAX);
}

/* false: no key exists. */
static bool pop_first(hf__tx *tx, const hf_bytes *keys,
                      const hf__pop_kind *kind, const pop_options *options)
{
    hf__record *record = NULL;

    for (size_t i = 0; i < options->key_count && record == NULL; i++) {
        hf__tx_trim(tx);
        if (!hf__key_of_type(tx, keys[i], kind->type, &record))
            return true;
        if (record != NULL)
            kind->pop(tx, keys[i], record, options->last, options->count);
    }
    return record != NULL;
}

void hf__pop_counted(hf__tx *tx, const hf_bytes *args, size_t count,
                     const hf__pop_kind *kind)
{
    bool blocks = (tx->command->flags & HF__COMMAND_BLOCKS) != 0;
    size_t at = blocks ? 2 : 1;
    pop_options options;

    if (!read_options(tx, args + at, count - at, kind, &options) ||
        (blocks && !hf__arg_wait(tx, args[1])) ||
        pop_first(tx, args + at + 1, kind, &options))
        return;
    hf__reply_nil_array(tx);
    if (!blocks)
        return;
    tx->block.counted = true;
    hf__block_on(tx, (uint8_t)kind->type, 3, options.key_count);
}

void hf__pop_blocking(hf__tx *tx, const hf_bytes *args, size_t count,
                      const hf__pop_kind *kind)
{
    pop_options options = {count - 2, hf__pops_last(tx), 0};

    if (!hf__arg_wait(tx, args[count - 1]) ||
        pop_first(tx, args + 1, kind, &options))
        return;
    hf__reply_nil_array(tx);
    hf__block_on(tx, (uint8_t)kind->type, 1, count - 2);
}
