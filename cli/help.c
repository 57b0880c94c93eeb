/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - help, from the grammars of the commands and the words of manual/.
 * Each page begins with an example and has at most 80 columns.
 */
#include "help.h"

#include <ctype.h>
#include <string.h>

#include "colour.h"
#include "exit.h"
#include "wrap.h"

static void print_heading(FILE *file, const char *text)
{
    fprintf(file, "\n%s%s%s\n", colour(file, COLOUR_BOLD), text,
            colour(file, COLOUR_END));
}

static void print_example(FILE *file, const char *example)
{
    wrap_lines(file, example, 4);
    fputc('\n', file);
}

/* The longest term that has its words on the same line. */
#define TERM_MAX 24

/* The column of the words of the items that begin at `item`. */
static int column_of(const struct manual_block *item)
{
    size_t longest = 0;

    for (; item->kind == 'i'; item++) {
        size_t size = strlen(item->term);

        if (size <= TERM_MAX && size > longest)
            longest = size;
    }
    return longest == 0 ? 8 : (int)longest + 4;
}

static void print_item(FILE *file, const struct manual_block *item, int column)
{
    int size = fprintf(file, "  %s", item->term);

    if (size + 2 > column) {
        fputc('\n', file);
        size = 0;
    }
    fprintf(file, "%*s", column - size, "");
    wrap_text(file, item->text, column, column);
}

static void print_code(FILE *file, int code, const char *text)
{
    fprintf(file, "  %-4d ", code);
    wrap_text(file, text, 7, 7);
}

static void print_all_codes(FILE *file)
{
    for (const struct exit_text *row = exit_texts; row->text != NULL; row++)
        print_code(file, row->code, row->text);
}

static void print_block(FILE *file, const struct manual_block *block)
{
    switch (block->kind) {
    case 'h':
        fprintf(file, "%s%s%s\n", colour(file, COLOUR_BOLD), block->text,
                colour(file, COLOUR_END));
        break;
    case 'v':
        wrap_lines(file, block->text, 4);
        break;
    default:
        if (strcmp(block->text, MANUAL_CODES) == 0)
            print_all_codes(file);
        else
            wrap_text(file, block->text, 0, 0);
    }
}

/* An empty line before each, but not between the items of a list. */
static void print_blocks(FILE *file, const struct manual_block *blocks)
{
    char last = 0;
    int column = 0;

    for (; blocks->kind != 0; last = blocks->kind, blocks++) {
        if (blocks->kind == 'i' && last != 'i')
            column = column_of(blocks);
        if (last != 'h' && (last != 'i' || blocks->kind != 'i'))
            fputc('\n', file);
        if (blocks->kind == 'i')
            print_item(file, blocks, column);
        else
            print_block(file, blocks);
    }
}

/* ------------------------------------------------------------------ overview
 */

static void print_task(FILE *file, enum manual_task task, const char *title)
{
    print_heading(file, title);
    for (size_t i = 0; i < noun_count; i++) {
        const struct manual_noun *noun = commands_manual(&nouns[i]);

        if (noun->task == task)
            fprintf(file, "  %-11s %s\n", noun->name, noun->summary);
    }
}

void help_overview(FILE *file)
{
    static const char *const titles[] = {"Locks", "Data", "Server",
                                         "Maintenance"};

    print_example(file, "$ holdfast run -n nightly -- backup.sh");
    fputs("usage: holdfast [--store URL|NAME] COMMAND [OPTION...] "
          "[ARGUMENT...]\n",
          file);
    for (int task = MANUAL_LOCKS; task <= MANUAL_MAINTENANCE; task++)
        print_task(file, (enum manual_task)task, titles[task]);
    print_heading(file, "More");
    for (size_t i = 0; i < manual_topic_count; i++)
        fprintf(file, "  help %-12s %s\n", manual_topics[i].name,
                manual_topics[i].title);
    fputs("  help COMMAND      its options, with an example\n"
          "  --version         the version\n",
          file);
}

/* ---------------------------------------------------------- noun and command
 */

void help_noun(const struct noun *noun)
{
    const struct manual_noun *manual = commands_manual(noun);
    const struct command *command = noun->commands;

    print_example(stdout, manual->example != NULL
                              ? manual->example
                              : commands_page(command)->example);
    printf("usage: holdfast %s SUBCOMMAND [OPTION...] [ARGUMENT...]\n",
           noun->name);
    print_heading(stdout, "subcommands:");
    for (; command->run != NULL; command++) {
        printf("  %-14s ", command_verb(command));
        wrap_text(stdout, commands_page(command)->summary, 17, 17);
    }
    printf("\n`holdfast help %s SUBCOMMAND` prints arguments and options.\n",
           noun->name);
}

static void print_codes(const struct command *command)
{
    const struct manual_page *page = commands_page(command);

    print_heading(stdout, "exit codes:");
    for (const struct exit_text *row = exit_texts; row->text != NULL; row++)
        if (command_gives(command, row->code))
            print_code(stdout, row->code,
                       row->code == EXIT_NO ? page->no : row->text);
}

void help_command(const struct command *command)
{
    const struct manual_page *page = commands_page(command);
    const char *operands = command->grammar.operands;
    char usage[256];

    print_example(stdout, page->example);
    (void)snprintf(usage, sizeof(usage), "usage: holdfast %s [OPTION...] %s",
                   command->grammar.name, operands == NULL ? "" : operands);
    wrap_text(stdout, usage, 0, 7);
    fputc('\n', stdout);
    printf("%c%s.\n", toupper((unsigned char)page->summary[0]),
           page->summary + 1);
    if (page->notes != NULL)
        print_blocks(stdout, page->notes);
    print_heading(stdout, "options:");
    options_print(stdout, &command->grammar);
    if (page->json != NULL) {
        print_heading(stdout, "--json prints:");
        fputs("  ", stdout);
        wrap_text(stdout, page->json, 2, 2);
    }
    print_codes(command);
}

/* ---------------------------------------------------------------------- help
 */

static bool help_topic(const char *word)
{
    for (size_t i = 0; i < manual_topic_count; i++) {
        if (strcmp(manual_topics[i].name, word) != 0)
            continue;
        wrap_lines(stdout, manual_topics[i].example, 4);
        print_blocks(stdout, manual_topics[i].text);
        return true;
    }
    return false;
}

int help(int count, char **words)
{
    const struct noun *noun = count > 0 ? commands_noun(words[0]) : NULL;
    const struct command *command;
    int used;

    if (count == 0 || strcmp(words[0], "help") == 0) {
        help_overview(stdout);
        return EXIT_YES;
    }
    if (count == 1 && noun != NULL && command_verb(noun->commands) != NULL) {
        help_noun(noun);
        return EXIT_YES;
    }
    if (count == 1 && help_topic(words[0]))
        return EXIT_YES;
    command = commands_find(count, words, &used);
    if (command == NULL)
        return EXIT_USAGE;
    help_command(command);
    return EXIT_YES;
}
