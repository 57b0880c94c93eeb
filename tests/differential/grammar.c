/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.c - expands the language of commands.h by recursive descent. The
 * language is ours and constant: an error in it is an assertion.
 */
#include "grammar.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- skipping */

static const char *skip_atom(const char *at)
{
    int depth = 0;

    if (*at != '(')
        return at + strcspn(at, " |)");
    do {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        at++;
    } while (depth > 0);
    return at;
}

/* To the '|' or ')' or end after a sequence. */
static const char *skip_sequence(const char *at)
{
    while (*at != '\0' && *at != '|' && *at != ')')
        at = *at == '(' ? skip_atom(at) : at + 1;
    return at;
}

/* --------------------------------------------------------------- expanding */

static void sequence(maker *make, const char *at, op *into);

static hf_bytes literal(maker *make, const char *at, size_t size)
{
    hf_bytes word = op_copy(make->arena, at, size);
    char *text = op_alloc(make->arena, size + 1);

    if (!prng_chance(&make->random, 12))
        return word;
    for (size_t i = 0; i < size; i++) {
        text[i] = prng_chance(&make->random, 60)
                      ? (char)toupper((unsigned char)at[i])
                      : at[i];
    }
    text[size] = '\0';
    return hf_view(text, size);
}

static void alternative(maker *make, const char *at, op *into)
{
    const char *end = at;
    size_t count = 1;
    size_t chosen;

    while (*(end = skip_sequence(end)) == '|') {
        count++;
        end++;
    }
    assert(*end == ')');
    chosen = prng_below(&make->random, count);
    while (chosen-- > 0)
        at = skip_sequence(at) + 1;
    sequence(make, at, into);
}

static void atom(maker *make, const char *at, op *into)
{
    size_t size = (size_t)(skip_atom(at) - at);

    assert(size > 0);
    if (*at == '(')
        alternative(make, at + 1, into);
    else if (size == 1 && isupper((unsigned char)*at))
        op_add_word(into, make->arena, word_make(make, *at));
    else
        op_add_word(into, make->arena, literal(make, at, size));
}

static size_t repetitions(maker *make, char sign)
{
    switch (sign) {
    case '?':
        return prng_below(&make->random, 2);
    case '*':
        /* Mostly few, so that commands are mostly valid. */
        return prng_chance(&make->random, 40)
                   ? 0
                   : 1 + prng_below(&make->random, 3);
    case '+':
        if (prng_chance(&make->random, 2))
            return 5 + prng_below(&make->random, 60);
        return 1 + prng_below(&make->random, 4);
    default:
        return 1;
    }
}

static void sequence(maker *make, const char *at, op *into)
{
    while (*at != '\0' && *at != '|' && *at != ')') {
        size_t times = repetitions(make, *at);

        if (strchr("?*+", *at) != NULL)
            at++;
        while (times-- > 0)
            atom(make, at, into);
        at = skip_atom(at);
        at += strspn(at, " ");
    }
}

op grammar_words(maker *make, const char *words)
{
    op made = {.kind = OP_PLAIN};

    sequence(make, words, &made);
    return made;
}

/* ---------------------------------------------------------------- spoiling */

/* Errors quote words whole, and the Redis driver accepts lines up to 64 KiB. */
#define SHOWN_MAX 9000u

static hf_bytes any_word(maker *make)
{
    static const char kinds[] = "KFVIDRNBTSGVVI";
    char kind = kinds[prng_below(&make->random, sizeof(kinds) - 1)];
    hf_bytes word = word_make(make, kind);

    return word.size > SHOWN_MAX ? op_copy(make->arena, word.data, SHOWN_MAX)
                                 : word;
}

static void remove_word(op *command, size_t at)
{
    command->word_count--;
    memmove(command->words + at, command->words + at + 1,
            (command->word_count - at) * sizeof(*command->words));
}

/* The name, words[0], is kept: errors in it have their own row. */
static void spoil(maker *make, op *command)
{
    size_t count = command->word_count;
    size_t at = count < 2 ? 0 : 1 + prng_below(&make->random, count - 1);
    size_t other = count < 2 ? 0 : 1 + prng_below(&make->random, count - 1);
    size_t way = prng_below(&make->random, 6);
    hf_bytes kept;

    if (count < 2 || way == 0) {
        op_add_word(command, make->arena, any_word(make));
    } else if (way == 1) {
        command->word_count--;
    } else if (way == 2) {
        remove_word(command, at);
    } else if (way == 3) {
        op_add_word(command, make->arena, command->words[at]);
    } else if (way == 4) {
        kept = command->words[at];
        command->words[at] = command->words[other];
        command->words[other] = kept;
    } else {
        command->words[at] = any_word(make);
    }
}

/* Could a word be a time to live, in ms or s, that ends during the round? */
static bool may_end_soon(const op *command)
{
    for (size_t i = 1; i < command->word_count; i++) {
        const char *text = command->words[i].data;
        long value = strtol(text, NULL, 10);

        if (value > 0 && value < 600000)
            return true;
    }
    return false;
}

op grammar_command(maker *make, const command_row *row)
{
    op command = grammar_words(make, row->words);
    op spoilt;

    if (row->spoiling == SPOIL_NONE || !prng_chance(&make->random, 8))
        return command;
    spoilt = command;
    spoilt.words = NULL;
    spoilt.word_count = 0;
    for (size_t i = 0; i < command.word_count; i++)
        op_add_word(&spoilt, make->arena, command.words[i]);
    spoil(make, &spoilt);
    if (row->spoiling == SPOIL_TIMED && may_end_soon(&spoilt))
        return command;
    return spoilt;
}
