/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.c - fewer operations first, then fewer words and lines of the rest.
 * Every trial begins with empty stores.
 */
#include "shrink.h"

#include <string.h>

#include "support/shrink_runs.h"

/* A trial takes some ms; more than this many gain little. */
#define TRIALS_MAX 4000u

typedef struct shrinker {
    pair *both;
    op_list *best;
    difference *found; /* of `best` */
    unsigned trials;
} shrinker;

/* Is a command sent before a short expiry is over? The stores would differ, and
 * that would be taken for the difference. */
static bool asks_too_soon(const op_list *candidate)
{
    bool brief = false;

    for (size_t i = 0; i < candidate->count; i++) {
        const op *next = &candidate->ops[i];

        if (brief && !next->brief && next->kind != OP_WAIT)
            return true;
        brief = next->brief || (brief && next->kind != OP_WAIT);
    }
    return false;
}

/* Accept the candidate if it still fails. What follows the difference is cut
 * off, as it has no effect. */
static bool better(shrinker *state, const op_list *candidate)
{
    difference found;

    if (candidate->count == 0 || state->trials >= TRIALS_MAX ||
        asks_too_soon(candidate))
        return false;
    state->trials++;
    if (!trial_differs(state->both, candidate, &found))
        return false;
    *state->best = *candidate;
    state->best->count = found.index + 1;
    *state->found = found;
    return true;
}

/* ------------------------------------------------------------- operations */

static size_t without(void *user, size_t from, size_t count)
{
    shrinker *state = user;
    const op_list *best = state->best;
    op_list candidate;

    op_list_init(&candidate, best->arena);
    for (size_t i = 0; i < best->count; i++) {
        if (i < from || i >= from + count)
            op_list_add(&candidate, best->ops[i]);
    }
    (void)better(state, &candidate);
    return state->best->count;
}

static bool fewer_operations(shrinker *state)
{
    return shrink_runs(state->best->count, without, state);
}

/* --------------------------------------------------------- one operation */

/* The list with another operation in one place. */
static bool with(shrinker *state, size_t at, op changed)
{
    op_list candidate;

    op_list_init(&candidate, state->best->arena);
    for (size_t i = 0; i < state->best->count; i++)
        op_list_add(&candidate, i == at ? changed : state->best->ops[i]);
    return better(state, &candidate);
}

/* `from` without its word `at`, or with only the first `size` bytes of it. */
static op cut_word(hf__arena *arena, const op *from, size_t at, size_t size)
{
    op cut = *from;

    cut.words = NULL;
    cut.word_count = 0;
    for (size_t i = 0; i < from->word_count; i++) {
        hf_bytes word = from->words[i];

        if (i == at && size == 0)
            continue;
        if (i == at)
            word = op_copy(arena, word.data, size);
        op_add_word(&cut, arena, word);
    }
    return cut;
}

/* What had no effect has been removed from `best`, so every index is checked.
 */
static bool has_word(const shrinker *state, size_t at, size_t word)
{
    return at < state->best->count && word < state->best->ops[at].word_count;
}

/* Shorter words are kept: half of a time to live could be a short one. */
#define WORD_LONG 24u

static bool is_long_word(const shrinker *state, size_t at, size_t word)
{
    return has_word(state, at, word) &&
           state->best->ops[at].words[word].size > WORD_LONG;
}

static bool shorter_words(shrinker *state, size_t at)
{
    hf__arena *arena = state->best->arena;
    bool changed = false;

    for (size_t word = state->best->ops[at].word_count; word-- > 1;) {
        if (!has_word(state, at, word))
            continue;
        if (state->best->ops[at].kind != OP_SCRIPT)
            changed |= with(state, at,
                            cut_word(arena, &state->best->ops[at], word, 0));
        while (is_long_word(state, at, word) &&
               with(state, at,
                    cut_word(arena, &state->best->ops[at], word,
                             state->best->ops[at].words[word].size / 2)))
            changed = true;
    }
    return changed;
}

/* `source` without the line that begins at `from`. */
static op cut_line(hf__arena *arena, const op *script, size_t from)
{
    const char *source = script->source;
    size_t end = from + strcspn(source + from, "\n");
    size_t size = strlen(source);
    char *left = op_alloc(arena, size + 1);
    op cut = *script;

    end += source[end] == '\n' ? 1 : 0;
    memcpy(left, source, from);
    memcpy(left + from, source + end, size - end + 1);
    cut.source = left;
    return cut;
}

/* The first line is kept: see lua.c. */
static bool shorter_script(shrinker *state, size_t at)
{
    bool changed = false;
    size_t from = 0;

    if (at < state->best->count && state->best->ops[at].kind == OP_SCRIPT)
        from = strcspn(state->best->ops[at].source, "\n") + 1;
    while (at < state->best->count && state->best->ops[at].kind == OP_SCRIPT) {
        const char *source = state->best->ops[at].source;

        if (from >= strlen(source))
            break;
        if (with(state, at,
                 cut_line(state->best->arena, &state->best->ops[at], from))) {
            changed = true;
            continue;
        }
        from += strcspn(source + from, "\n");
        from += source[from] == '\n' ? 1 : 0;
    }
    return changed;
}

/* By itself, not inside a script. */
static bool plainer(shrinker *state, size_t at)
{
    op plain = state->best->ops[at];

    if (plain.kind != OP_CALL && plain.kind != OP_BATCH)
        return false;
    plain.kind = OP_PLAIN;
    return with(state, at, plain);
}

static bool simpler_operations(shrinker *state)
{
    bool changed = false;

    for (size_t at = state->best->count; at-- > 0;) {
        if (at < state->best->count)
            changed |= plainer(state, at);
        if (at < state->best->count)
            changed |= shorter_words(state, at);
        changed |= shorter_script(state, at);
    }
    return changed;
}

bool shrink(pair *both, op_list *list, difference *found)
{
    shrinker state = {.both = both, .best = list, .found = found};
    op_list again = *list;

    if (!better(&state, &again))
        return false;
    do {
        (void)fewer_operations(&state);
    } while (simpler_operations(&state) && state.trials < TRIALS_MAX);
    return true;
}
