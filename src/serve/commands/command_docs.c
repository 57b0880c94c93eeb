/* SPDX-License-Identifier: Apache-2.0 */
/* command_docs.c - see command_docs.h. */
#include "serve/commands/command_docs.h"

#include <ctype.h>
#include <string.h>

#include "engine/engine.h"

/* --------------------------------------------------------------- arguments */

typedef enum item_kind {
    ITEM_WORD,
    ITEM_TOKEN,
    ITEM_BLOCK,
    ITEM_ONEOF
} item_kind;

typedef struct item {
    item_kind kind;
    hf_bytes text;  /* of what is in brackets, without them */
    hf_bytes token; /* before it; size 0: none */
    bool optional, multiple, token_too;
} item;

/* What is before a separator that is not in brackets. It is taken from `rest`,
 * and the separator too. */
static hf_bytes take_piece(hf_bytes *rest, char separator)
{
    const char *text = rest->data;
    size_t depth = 0;
    size_t size = 0;

    for (; size < rest->size && (depth > 0 || text[size] != separator);
         size++) {
        depth += text[size] == '[' || text[size] == '(';
        depth -= text[size] == ']' || text[size] == ')';
    }
    *rest = size == rest->size
                ? hf_view(text + size, 0)
                : hf_view(text + size + 1, rest->size - size - 1);
    return hf_view(text, size);
}

static char first_of(hf_bytes text)
{
    return text.size == 0 ? '\0' : *(const char *)text.data;
}

static bool is_name(hf_bytes word)
{
    return islower((unsigned char)first_of(word)) != 0;
}

static bool is_in_brackets(hf_bytes word)
{
    return first_of(word) == '[' || first_of(word) == '(';
}

static bool take_suffix(hf_bytes *word)
{
    static const char dots[] = "...";
    size_t size = sizeof(dots) - 1;

    if (word->size <= size ||
        memcmp((const char *)word->data + word->size - size, dots, size) != 0)
        return false;
    word->size -= size;
    return true;
}

static item take_item(hf_bytes *rest);

/* Of what is in brackets, or one of several alternatives. */
static item item_of(hf_bytes text)
{
    hf_bytes rest = text;
    item one;

    if (take_piece(&rest, '|').size < text.size)
        return (item){.kind = ITEM_ONEOF, .text = text};
    rest = text;
    one = take_item(&rest);
    return rest.size == 0 ? one : (item){.kind = ITEM_BLOCK, .text = text};
}

static item take_item(hf_bytes *rest)
{
    hf_bytes word = take_piece(rest, ' ');
    hf_bytes token = {NULL, 0};
    bool multiple, optional;
    item one;

    if (!is_name(word) && !is_in_brackets(word)) {
        if (!is_name(*rest) && first_of(*rest) != '(')
            return (item){.kind = ITEM_TOKEN, .text = word, .token = word};
        token = word;
        word = take_piece(rest, ' ');
    }
    multiple = take_suffix(&word);
    optional = first_of(word) == '[';
    if (is_in_brackets(word))
        one = item_of(hf_view((const char *)word.data + 1, word.size - 2));
    else
        one = (item){.kind = ITEM_WORD, .text = word};
    one.token_too = multiple && one.token.size > 0;
    one.multiple |= multiple;
    one.optional |= optional;
    if (token.size > 0)
        one.token = token;
    return one;
}

/* The first word in it, which names what has no name. */
static void put_name(hf__answer *answer, hf_bytes text)
{
    char name[32];
    const char *at = text.data;
    size_t skipped = strspn(at, "[(");
    size_t size = 0;

    for (size_t i = skipped; i < text.size && size < sizeof(name) - 1 &&
                             strchr(" |[]().", at[i]) == NULL;
         i++)
        name[size++] = (char)tolower((unsigned char)at[i]);
    hf__answer_bytes(answer, hf_view(name, size));
}

static const char *type_of(const item *one)
{
    static const char *const types[][2] = {
        {"key", "key"},           {"key1", "key"},
        {"key2", "key"},          {"newkey", "key"},
        {"source", "key"},        {"destination", "key"},
        {"pattern", "pattern"},   {"unix-time", "unix-time"},
        {"count", "integer"},     {"unix-time-ms", "unix-time"},
        {"index", "integer"},     {"seconds", "integer"},
        {"numkeys", "integer"},   {"milliseconds", "integer"},
        {"numfields", "integer"}, {"offset", "integer"},
        {"score", "double"},      {"longitude", "double"},
        {"weight", "double"},     {"latitude", "double"},
        {"radius", "double"}};

    switch (one->kind) {
    case ITEM_TOKEN:
        return "pure-token";
    case ITEM_BLOCK:
        return "block";
    case ITEM_ONEOF:
        return "oneof";
    case ITEM_WORD:
        break;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (hf__arg_is(one->text, types[i][0]))
            return types[i][1];
    }
    return "string";
}

static void put_arguments(hf__answer *answer, hf_bytes text, bool oneof);

static void put_item(hf__answer *answer, const item *one)
{
    size_t flags = (size_t)one->optional + one->multiple + one->token_too;
    bool group = one->kind == ITEM_BLOCK || one->kind == ITEM_ONEOF;

    hf__answer_map(answer,
                   2 + (size_t)(one->token.size > 0) + (flags > 0) + group);
    hf__answer_text(answer, "name");
    put_name(answer, one->text);
    hf__answer_text(answer, "type");
    hf__answer_text(answer, type_of(one));
    if (one->token.size > 0) {
        hf__answer_text(answer, "token");
        hf__answer_bytes(answer, one->token);
    }
    if (flags > 0) {
        hf__answer_text(answer, "flags");
        hf__answer_set(answer, flags);
    }
    if (one->optional)
        hf__answer_line(answer, "optional");
    if (one->multiple)
        hf__answer_line(answer, "multiple");
    if (one->token_too)
        hf__answer_line(answer, "multiple_token");
    if (group) {
        hf__answer_text(answer, "arguments");
        put_arguments(answer, one->text, one->kind == ITEM_ONEOF);
    }
}

static item next_item(hf_bytes *rest, bool oneof)
{
    return oneof ? item_of(take_piece(rest, '|')) : take_item(rest);
}

static void put_arguments(hf__answer *answer, hf_bytes text, bool oneof)
{
    size_t count = 0;

    for (hf_bytes rest = text; rest.size > 0; count++)
        (void)next_item(&rest, oneof);
    hf__answer_array(answer, count);
    while (text.size > 0) {
        item one = next_item(&text, oneof);

        put_item(answer, &one);
    }
}

/* -------------------------------------------------------------------- rows */

static hf_bytes name_of(const char *row)
{
    return hf_view(row, strcspn(row, " "));
}

static bool is_group(const char *row)
{
    return row[0] == '@';
}

static bool is_sub(const char *row)
{
    hf_bytes name = name_of(row);

    return memchr(name.data, '|', name.size) != NULL;
}

static const char *group_of(const char *const *row)
{
    while (!is_group(*row))
        row--;
    return *row + 1;
}

static void put_row(hf__answer *answer, const char *const *row);

/* They follow their command. */
static size_t count_subs(const char *const *row)
{
    size_t count = 0;

    while (!is_sub(*row) && row[count + 1] != NULL && is_sub(row[count + 1]))
        count++;
    return count;
}

static void put_docs(hf__answer *answer, const char *const *row)
{
    hf_bytes name = name_of(*row);
    const char *since = (const char *)name.data + name.size + 1;
    const char *summary = strstr(since, ": ") + 2;
    size_t size = strcspn(since, " :");
    hf_bytes arguments = hf_view(since + size, 0);
    size_t subs = count_subs(row);

    if (since[size] == ' ')
        arguments =
            hf_view(since + size + 1, (size_t)(summary - since) - size - 3);
    hf__answer_map(answer, 3 + (size_t)(arguments.size > 0) + (subs > 0));
    hf__answer_text(answer, "summary");
    hf__answer_text(answer, summary);
    hf__answer_text(answer, "since");
    hf__answer_bytes(answer, hf_view(since, size));
    hf__answer_text(answer, "group");
    hf__answer_text(answer, group_of(row));
    if (arguments.size > 0) {
        hf__answer_text(answer, "arguments");
        put_arguments(answer, arguments, false);
    }
    if (subs > 0) {
        hf__answer_text(answer, "subcommands");
        hf__answer_map(answer, subs);
        for (size_t i = 1; i <= subs; i++)
            put_row(answer, row + i);
    }
}

static void put_row(hf__answer *answer, const char *const *row)
{
    hf__answer_bytes(answer, name_of(*row));
    put_docs(answer, row);
}

/* ----------------------------------------------------------------- command */

static bool is_named(const char *row, const hf_bytes *words, size_t count)
{
    hf_bytes name = name_of(row);
    bool named = count == 2 && !is_sub(row);

    for (size_t i = 2; i < count && !named; i++)
        named = words[i].size == name.size &&
                strncasecmp(words[i].data, name.data, name.size) == 0;
    return named && !is_group(row);
}

/* Unknown names are left out. */
void hf__command_docs(hf__conn *conn, const hf_bytes *words, size_t count)
{
    size_t found = 0;

    for (const char *const *row = hf__docs_table; *row != NULL; row++)
        found += is_named(*row, words, count);
    hf__answer_map(&conn->answer, found);
    for (const char *const *row = hf__docs_table; *row != NULL; row++) {
        if (is_named(*row, words, count))
            put_row(&conn->answer, row);
    }
}
