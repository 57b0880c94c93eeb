/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help_json.c - all that the help knows as one JSON object.
 *
 * tools/manual.py makes man pages and completions of it, so that they cannot
 * differ from the help.
 */
#include <string.h>

#include "exit.h"
#include "help.h"
#include "holdfast/base.h"
#include "json_line.h"
#include "options_table.h"

static void put_text(struct json *json, const char *name, const char *text)
{
    if (text == NULL)
        json_null(json, name);
    else
        json_text(json, name, text);
}

static void put_blocks(struct json *json, const char *name,
                       const struct manual_block *blocks)
{
    static const char kinds[] = "pihv";
    static const char *const words[] = {"paragraph", "item", "heading",
                                        "verbatim"};

    json_open(json, name, '[');
    for (; blocks != NULL && blocks->kind != 0; blocks++) {
        json_open(json, NULL, '{');
        json_text(json, "kind", words[strchr(kinds, blocks->kind) - kinds]);
        if (blocks->term != NULL)
            json_text(json, "term", blocks->term);
        json_text(json, "text", blocks->text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_words(struct json *json, const char *name,
                      const char *const *words)
{
    json_open(json, name, '[');
    for (; *words != NULL; words++)
        json_text(json, NULL, *words);
    json_close(json, ']');
}

static void put_option(struct json *json, const struct grammar *grammar, int id)
{
    const struct option_spec *spec = &option_table[id];

    json_open(json, NULL, '{');
    put_text(json, "letters", spec->letters);
    put_words(json, "names", spec->names);
    put_text(json, "argument", spec->argument);
    json_bool(json, "duration", spec->kind == KIND_DURATION);
    put_words(json, "choices", spec->choices);
    json_text(json, "help", options_help(grammar, id));
    json_close(json, '}');
}

static void put_options(struct json *json, const struct grammar *grammar)
{
    json_open(json, "options", '[');
    for (int at = options_next(grammar, -1); at >= 0;
         at = options_next(grammar, at))
        put_option(json, grammar, at % OPT_COUNT);
    json_close(json, ']');
}

static void put_code(struct json *json, int code, const char *text)
{
    json_open(json, NULL, '{');
    json_integer(json, "code", code);
    json_text(json, "text", text);
    json_close(json, '}');
}

static void put_codes(struct json *json, const struct command *command)
{
    const char *no = command == NULL ? NULL : commands_page(command)->no;

    json_open(json, "exit_codes", '[');
    for (const struct exit_text *row = exit_texts; row->text != NULL; row++)
        if (command == NULL || command_gives(command, row->code))
            put_code(json, row->code,
                     row->code == EXIT_NO && no != NULL ? no : row->text);
    json_close(json, ']');
}

static void put_command(struct json *json, const struct command *command)
{
    const struct manual_page *page = commands_page(command);

    json_open(json, NULL, '{');
    json_text(json, "name", command->grammar.name);
    json_text(json, "summary", page->summary);
    json_text(json, "example", page->example);
    json_bool(json, "example_needs_server", page->servers);
    put_text(json, "operands", command->grammar.operands);
    json_integer(json, "operands_min", command->grammar.operands_min);
    json_bool(json, "runs_command",
              command->grammar.tail == TAIL_COMMAND &&
                  command->grammar.operands_max > 0);
    put_blocks(json, "notes", page->notes);
    put_text(json, "json", page->json);
    put_options(json, &command->grammar);
    put_codes(json, command);
    json_close(json, '}');
}

static void put_noun(struct json *json, const struct noun *noun)
{
    static const char *const tasks[] = {"locks", "data", "server",
                                        "maintenance"};
    static const char *const names[] = {"none", "locks", "keys"};
    const struct manual_noun *manual = commands_manual(noun);

    json_open(json, NULL, '{');
    json_text(json, "name", noun->name);
    json_text(json, "task", tasks[manual->task]);
    json_text(json, "names", names[manual->names]);
    json_text(json, "summary", manual->summary);
    json_text(json, "example",
              manual->example != NULL ? manual->example
                                      : commands_page(noun->commands)->example);
    json_open(json, "commands", '[');
    for (const struct command *command = noun->commands; command->run != NULL;
         command++)
        put_command(json, command);
    json_close(json, ']');
    json_close(json, '}');
}

void help_json(void)
{
    const struct grammar common = {.accepts = OPTIONS_COMMON | OPTION(VERSION)};
    struct json json;

    json_begin(&json, stdout);
    json_text(&json, "version", hf_version());
    put_options(&json, &common);
    json_open(&json, "nouns", '[');
    for (size_t i = 0; i < noun_count; i++)
        put_noun(&json, &nouns[i]);
    json_close(&json, ']');
    json_open(&json, "topics", '[');
    for (size_t i = 0; i < manual_topic_count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", manual_topics[i].name);
        json_text(&json, "title", manual_topics[i].title);
        json_text(&json, "example", manual_topics[i].example);
        put_blocks(&json, "text", manual_topics[i].text);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    put_codes(&json, NULL);
    json_end(&json);
}
