/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.c - composing a round.
 *
 * Short expiries need care, as the stores do not run at the same instant: a
 * round that has some gives each key at most one, sends nothing until all of
 * them are over, and then continues with keys that both stores must treat as
 * missing.
 */
#include "round.h"

#include <stdio.h>
#include <string.h>

#include "grammar.h"
#include "lua.h"
#include "newer.h"
#include "scripted.h"

#define KEYS_MAX 8u
#define SHORT_MAX_MS 20u

typedef struct composer {
    maker make;
    const round_options *options;
    op_list *list;
    hf_bytes keys[KEYS_MAX];
    unsigned weight; /* of all selectable rows */
    unsigned scripted_weight;
    bool scripts;
    uint32_t batches;
} composer;

static bool in_groups(const char *groups, const char *name)
{
    size_t size = strlen(name);

    while (groups != NULL && *groups != '\0') {
        size_t here = strcspn(groups, ",");

        if (here == size && strncmp(groups, name, size) == 0)
            return true;
        groups += here;
        groups += *groups == ',' ? 1 : 0;
    }
    return false;
}

static bool chosen(const composer *compose, const char *group)
{
    if (strcmp(group, "fields") == 0 && !newer_has_deadlines())
        return false;
    return compose->options->groups == NULL ||
           in_groups(compose->options->groups, group);
}

bool round_knows_group(const char *name, size_t size)
{
    if (size == 6 && strncmp(name, "script", 6) == 0)
        return true;
    for (size_t i = 0; i < command_row_count; i++) {
        if (strlen(command_rows[i].group) == size &&
            strncmp(command_rows[i].group, name, size) == 0)
            return true;
    }
    return false;
}

void round_list_groups(char *text, size_t size)
{
    const char *last = "script";
    size_t used = (size_t)snprintf(text, size, "%s", last);

    /* Rows of one group are adjacent. */
    for (size_t i = 0; i < command_row_count && used < size; i++) {
        if (strcmp(command_rows[i].group, last) == 0)
            continue;
        last = command_rows[i].group;
        used += (size_t)snprintf(text + used, size - used, ", %s", last);
    }
}

/* ---------------------------------------------------------------- commands */

/* One key for all commands of a group, usually not that of other groups. */
static size_t favourite(const composer *compose, const char *group)
{
    static const char *const owners[] = {"string", "hash", "zset",
                                         "list",   "set",  "stream"};
    const size_t count = sizeof(owners) / sizeof(owners[0]);

    if (strcmp(group, "fields") == 0)
        group = "hash";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(group, owners[i]) == 0)
            return i % compose->make.key_count;
    }
    return SIZE_MAX;
}

static op command(composer *compose)
{
    size_t left = prng_below(&compose->make.random, compose->weight);
    size_t i = 0;

    for (;; i++) {
        if (!chosen(compose, command_rows[i].group))
            continue;
        if (left < command_rows[i].weight)
            break;
        left -= command_rows[i].weight;
    }
    compose->make.favourite = favourite(compose, command_rows[i].group);
    return grammar_command(&compose->make, &command_rows[i]);
}

static void add(composer *compose, op added, op_kind kind)
{
    bool alone = command_rule(added.words[0]) == RULE_COUNT;

    added.kind = alone ? OP_PLAIN : kind;
    added.batch = compose->batches;
    op_list_add(compose->list, added);
}

/* false: generate another kind of operation. */
static bool add_scripted(composer *compose)
{
    size_t left = prng_below(&compose->make.random,
                             compose->weight + compose->scripted_weight + 1);

    for (size_t i = 0; i < scripted_row_count; i++) {
        const scripted_row *row = &scripted_rows[i];

        if (!chosen(compose, row->group))
            continue;
        if (left < row->weight) {
            compose->make.favourite = favourite(compose, row->group);
            op_list_add(compose->list, scripted_make(&compose->make, row));
            return true;
        }
        left -= row->weight;
    }
    return false;
}

static op exchange(composer *compose)
{
    op made = grammar_words(&compose->make, "K");

    made.kind = OP_EXCHANGE;
    return made;
}

static void add_some(composer *compose)
{
    size_t way = prng_below(&compose->make.random, 100);
    size_t count;

    if (add_scripted(compose))
        return;
    if (way == 99 && chosen(compose, "key")) {
        compose->make.favourite = SIZE_MAX;
        op_list_add(compose->list, exchange(compose));
    } else if (compose->scripts && (way < 20 || compose->weight == 0)) {
        compose->make.favourite = SIZE_MAX;
        op_list_add(compose->list, lua_script(&compose->make));
    } else if (way < 65) {
        add(compose, command(compose), OP_PLAIN);
    } else if (way < 75) {
        add(compose, command(compose), OP_CALL);
    } else {
        compose->batches++;
        count = 1 + prng_below(&compose->make.random, 12);
        while (count-- > 0)
            add(compose, command(compose), OP_BATCH);
    }
}

static void add_many(composer *compose, size_t count)
{
    size_t until = compose->list->count + count;

    while (compose->list->count < until)
        add_some(compose);
}

/* ---------------------------------------------------------- short expiries */

static op short_command(composer *compose, hf_bytes key)
{
    static const char *const ways[] = {
        "pexpire K P",
        "set K V px P",
        "psetex K P V",
        "pexpire K P nx",
    };
    hf__arena *arena = compose->make.arena;
    maker one = compose->make;
    char text[8];
    int size = snprintf(text, sizeof(text), "%zu",
                        1 + prng_below(&one.random, SHORT_MAX_MS));
    size_t way = prng_below(&one.random, sizeof(ways) / sizeof(ways[0]));
    op made;

    one.keys = &key;
    one.key_count = 1;
    made = grammar_words(&one, ways[way]);
    compose->make.random = one.random;
    /* In place of the long time that P generated. */
    made.words[way == 1 ? 4 : 2] = op_copy(arena, text, (size_t)size);
    made.brief = true;
    return made;
}

static void add_short(composer *compose)
{
    for (size_t i = 0; i < compose->make.key_count; i++) {
        if (prng_chance(&compose->make.random, 60))
            add(compose, short_command(compose, compose->keys[i]), OP_PLAIN);
    }
    op_list_add(compose->list, (op){.kind = OP_WAIT});
}

/* ------------------------------------------------------------- final state */

static void add_check(composer *compose, const char *words)
{
    add(compose, grammar_words(&compose->make, words), OP_BATCH);
}

static void add_checks(composer *compose)
{
    maker all = compose->make;

    for (size_t i = 0; i < all.key_count; i++) {
        compose->batches++;
        compose->make.keys = &compose->keys[i];
        compose->make.key_count = 1;
        for (size_t c = 0; c < state_command_count; c++)
            add_check(compose, state_commands[c]);
    }
    compose->make.keys = all.keys;
    compose->make.key_count = all.key_count;
    compose->batches++;
    add_check(compose, "dbsize");
}

/* ------------------------------------------------------------------- round */

static bool has_key(const composer *compose, hf_bytes key)
{
    for (size_t i = 0; i < compose->make.key_count; i++) {
        hf_bytes have = compose->keys[i];

        if (have.size == key.size &&
            (key.size == 0 || memcmp(have.data, key.data, key.size) == 0))
            return true;
    }
    return false;
}

/* Few, so that commands of all types use the same ones. */
static void choose_keys(composer *compose)
{
    maker *make = &compose->make;
    size_t tries = 2 + prng_below(&make->random, KEYS_MAX - 1);

    make->keys = compose->keys;
    while (tries-- > 0) {
        size_t from = prng_chance(&make->random, 60) ? 6 : word_key_count();
        hf_bytes key = word_key(make->arena, prng_below(&make->random, from));

        if (!has_key(compose, key))
            compose->keys[make->key_count++] = key;
    }
}

void round_make(const round_options *options, uint64_t seed, op_list *list)
{
    composer compose = {.options = options, .list = list};
    size_t size;

    compose.make.random.state = seed;
    compose.make.arena = list->arena;
    compose.make.distinct_instants = options->distinct_instants;
    compose.scripts = chosen(&compose, "script");
    for (size_t i = 0; i < command_row_count; i++) {
        if (chosen(&compose, command_rows[i].group))
            compose.weight += command_rows[i].weight;
    }
    for (size_t i = 0; i < scripted_row_count; i++) {
        if (chosen(&compose, scripted_rows[i].group))
            compose.scripted_weight += scripted_rows[i].weight;
    }
    choose_keys(&compose);
    size = prng_chance(&compose.make.random, 10)
               ? 1500
               : 50 + prng_below(&compose.make.random, 400);
    if (options->waits && prng_chance(&compose.make.random, 20)) {
        add_many(&compose, size / 2);
        add_short(&compose);
    }
    add_many(&compose, size / 2);
    add_checks(&compose);
}
