/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua.c - generating scripts: nested templates, down to a depth. Now and then a
 * kind is replaced by another, for the errors.
 */
#include "lua.h"

#include <stdio.h>
#include <string.h>

#include "templates.h"

#define SCRIPT_MAX 6000u

typedef struct writer {
    maker *make;
    char text[SCRIPT_MAX];
    size_t size;
} writer;

static void put(writer *to, const char *text, size_t size)
{
    if (size >= SCRIPT_MAX - to->size)
        size = SCRIPT_MAX - 1 - to->size;
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

static void expand(writer *to, const char *template, unsigned depth);

static const char *pick(writer *to, const template_list *list)
{
    return list->items[prng_below(&to->make->random, list->count)];
}

static void put_expression(writer *to, char letter, unsigned depth)
{
    const template_kind *kind = template_kinds;

    while (kind->letter != letter)
        kind++;
    if (depth == 0 || prng_chance(&to->make->random, 30))
        expand(to, pick(to, &kind->leaves), depth == 0 ? 0 : depth - 1);
    else
        expand(to, pick(to, &kind->nested), depth - 1);
}

static void put_index(writer *to, const char *name, size_t count)
{
    char text[24];
    /* Rarely, one more than exist. */
    size_t most = prng_chance(&to->make->random, 4) ? count + 1 : count;
    int size = snprintf(text, sizeof(text), "%s[%zu]", name,
                        1 + prng_below(&to->make->random, most));

    put(to, text, (size_t)size);
}

static void put_small(writer *to)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%d",
                        (int)prng_below(&to->make->random, 12) - 2);

    put(to, text, (size_t)size);
}

#define KEYS_EACH 2u
#define ARGUMENTS_EACH 3u

static void put_kind(writer *to, char kind, unsigned depth)
{
    static const char kinds[] = "nnsstb";
    static const char *const variables[] = {"v1", "v2", "v3", "out"};
    static const char *const libraries[] = {"string", "table",    "math",
                                            "bit",    "cjson",    "redis",
                                            "struct", "coroutine"};
    const size_t library_count = sizeof(libraries) / sizeof(libraries[0]);
    bool any = kind == 'a' || (strchr("nstb", kind) != NULL &&
                               prng_chance(&to->make->random, 4));

    if (any)
        kind = kinds[prng_below(&to->make->random, sizeof(kinds) - 1)];
    switch (kind) {
    case 'k':
        put_index(to, "KEYS", KEYS_EACH);
        break;
    case 'g':
        put_index(to, "ARGV", ARGUMENTS_EACH);
        break;
    case 'v':
        expand(to, variables[prng_below(&to->make->random, 4)], 0);
        break;
    case 'i':
        put_small(to);
        break;
    case 'l':
        expand(to, libraries[prng_below(&to->make->random, library_count)], 0);
        break;
    default:
        put_expression(to, kind, depth);
        break;
    }
}

static void expand(writer *to, const char *template, unsigned depth)
{
    const char *mark;

    for (; (mark = strpbrk(template, "$N")) != NULL;) {
        put(to, template, (size_t)(mark - template));
        if (strncmp(mark, "NAME", 4) == 0) {
            const char *name = pick(to, &template_names);

            put(to, name, strlen(name));
            template = mark + 4;
        } else if (*mark == '$' && mark[1] >= 'a' && mark[1] <= 'z') {
            put_kind(to, mark[1], depth);
            template = mark + 2;
        } else {
            put(to, mark, 1);
            template = mark + 1;
        }
    }
    put(to, template, strlen(template));
}

static void line(writer *to, const char *template)
{
    expand(to, template, 1 + (unsigned)prng_below(&to->make->random, 3));
    put(to, "\n", 1);
}

static void body(writer *to)
{
    size_t lines = prng_below(&to->make->random, 6);

    put(to, template_prologue, strlen(template_prologue));
    while (lines-- > 0)
        line(to, pick(to, &template_statements));
    if (prng_chance(&to->make->random, 45))
        line(to, "return out");
    else
        line(to, pick(to, &template_ends));
}

op lua_script(maker *make)
{
    op script = {.kind = OP_SCRIPT, .key_count = KEYS_EACH};
    writer to = {.make = make};

    body(&to);
    script.source = op_copy(make->arena, to.text, to.size).data;
    for (size_t i = 0; i < KEYS_EACH; i++)
        op_add_word(&script, make->arena, word_make(make, 'K'));
    for (size_t i = 0; i < ARGUMENTS_EACH; i++) {
        hf_bytes word = word_make(make, 'V');

        /* Texts grow in expressions: start small. */
        if (word.size > 600)
            word = hf_view(word.data, 600);
        op_add_word(&script, make->arena,
                    op_copy(make->arena, word.data, word.size));
    }
    return script;
}
