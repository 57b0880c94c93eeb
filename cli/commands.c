/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - see commands.h. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "exit.h"
#include "nearest.h"

const char *command_verb(const struct command *command)
{
    const char *space = strchr(command->grammar.name, ' ');

    return space == NULL ? NULL : space + 1;
}

const struct noun *commands_noun(const char *word)
{
    for (size_t i = 0; i < noun_count; i++)
        if (strcmp(nouns[i].name, word) == 0)
            return &nouns[i];
    return NULL;
}

const struct command *noun_command(const struct noun *noun, const char *verb)
{
    const struct command *command = noun->commands;

    if (command_verb(command) == NULL)
        return NULL;
    for (; command->run != NULL; command++)
        if (strcmp(command_verb(command), verb) == 0)
            return command;
    return NULL;
}

static void complain_unknown_noun(const char *word)
{
    struct nearest nearest = {word, NULL, 0};

    /* Not printed: it may have a password. */
    if (strstr(word, "://") != NULL) {
        complain(NULL, "expected a command, found a URL; is --store missing?");
        return;
    }
    for (size_t i = 0; i < noun_count; i++)
        nearest_offer(&nearest, nouns[i].name);
    if (nearest.best != NULL) {
        complain(NULL, "unknown command \"%s\"; did you mean %s?", word,
                 nearest.best);
    } else {
        complain(NULL, "unknown command \"%s\"; see holdfast help", word);
    }
}

static void complain_unknown_verb(const struct noun *noun, const char *word)
{
    struct nearest nearest = {word, NULL, 0};
    const struct command *command;

    for (command = noun->commands; command->run != NULL; command++)
        nearest_offer(&nearest, command_verb(command));
    if (nearest.best != NULL) {
        complain(noun->name, "unknown subcommand \"%s\"; did you mean %s?",
                 word, nearest.best);
    } else {
        complain(noun->name, "unknown subcommand \"%s\"; see holdfast help",
                 word);
    }
}

static void complain_missing_verb(const struct noun *noun)
{
    const struct command *command;
    char verbs[128] = "";
    size_t size = 0;

    for (command = noun->commands; command->run != NULL; command++) {
        int put = snprintf(verbs + size, sizeof(verbs) - size, "%s%s",
                           size > 0 ? ", " : "", command_verb(command));

        size += put > 0 && (size_t)put < sizeof(verbs) - size ? (size_t)put : 0;
    }
    complain(noun->name, "missing subcommand: %s", verbs);
}

const struct command *commands_find(int count, char **words, int *used)
{
    const struct noun *noun = commands_noun(words[0]);
    const struct command *command;

    if (noun == NULL) {
        complain_unknown_noun(words[0]);
        return NULL;
    }
    *used = 1;
    if (command_verb(noun->commands) == NULL)
        return noun->commands;
    if (count < 2) {
        complain_missing_verb(noun);
        return NULL;
    }
    *used = 2;
    command = noun_command(noun, words[1]);
    if (command == NULL)
        complain_unknown_verb(noun, words[1]);
    return command;
}

const struct manual_page *commands_page(const struct command *command)
{
    for (size_t i = 0; i < manual_page_count; i++)
        if (strcmp(manual_pages[i].name, command->grammar.name) == 0)
            return &manual_pages[i];
    return NULL;
}

const struct manual_noun *commands_manual(const struct noun *noun)
{
    for (size_t i = 0; i < manual_noun_count; i++)
        if (strcmp(manual_nouns[i].name, noun->name) == 0)
            return &manual_nouns[i];
    return NULL;
}

static bool is_listed(const int *codes, int code)
{
    while (*codes != 0 && *codes != code)
        codes++;
    return *codes != 0;
}

/* Those of the manual, and what every use of a store, and every write to one,
 * may end with. */
bool command_gives(const struct command *command, int code)
{
    static const int store[] = {EXIT_DATA,   EXIT_UNAVAILABLE, EXIT_SYSTEM,
                                EXIT_DENIED, EXIT_CONFIG,      0};
    static const int writes[] = {EXIT_FULL, EXIT_IO, 0};
    const struct manual_page *page = commands_page(command);
    option_set accepts = command->grammar.accepts;

    if (code == EXIT_YES || code == EXIT_USAGE)
        return true;
    if (code == EXIT_NO)
        return page->no != NULL;
    return is_listed(page->codes, code) ||
           ((accepts & OPTION(STORE)) != 0 && is_listed(store, code)) ||
           ((accepts & OPTION(REPLICAS)) != 0 && is_listed(writes, code));
}
