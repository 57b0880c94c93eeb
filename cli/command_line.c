/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - read a command line by a grammar.
 *
 * ps shows the arguments of a process, so a URL in --store is copied and its
 * password in argv overwritten. This shortens the time in which it can be
 * seen; HOLDFAST_PASSWORD_FILE avoids it.
 */
#include "command_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "exit.h"
#include "nearest.h"
#include "options_table.h"
#include "read_number.h"
#include "wrap.h"

/* A command line being read. */
struct line_reader {
    struct options *options;
    const struct grammar *grammar;
    char **argv;
    int argc;
    int at;          /* the next word */
    bool no_options; /* `--` was seen */
};

/* The next complaint is about this option. */
static void blame_option(const char *name)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "--%s", name);
    complain_about(text);
}

static bool accepts_option(const struct grammar *grammar, int id)
{
    return (grammar->accepts >> id & 1) != 0;
}

/* sentinel_password=..., in any encoding. */
static void hide_parameters(char *url)
{
    char *from = strchr(url, '?');

    if (from != NULL &&
        (strstr(from, "password=") != NULL || strchr(from, '%') != NULL))
        memset(from + 1, '*', strlen(from + 1));
}

static void hide_password(char *url)
{
    char *from = strstr(url, "://");
    char *until;

    if (from == NULL)
        return;
    from += 3;
    until = strrchr(from, '@');
    from = strchr(from, ':');
    if (from != NULL && until != NULL && from < until)
        memset(from + 1, '*', (size_t)(until - from - 1));
}

static int keep_store(struct options *options, char *url)
{
    char *copy = strdup(url);

    if (copy == NULL) {
        complain(NULL, "out of memory");
        return EXIT_SYSTEM;
    }
    free(options->store);
    options->store = copy;
    options->text[OPT_STORE] = copy;
    hide_password(url);
    hide_parameters(url);
    return EXIT_YES;
}

/* "0.1 to 86400" in the unit the option is typed in. */
static void print_range(const struct option_spec *spec, char *text, size_t size)
{
    char min[NUMBER_SECONDS_SIZE];
    char max[NUMBER_SECONDS_SIZE];

    if (spec->kind == KIND_INTEGER && spec->min == INT64_MIN) {
        (void)snprintf(text, size, "an integer of 64 bits");
    } else if (spec->kind != KIND_INTEGER) {
        number_print_seconds(spec->min, min, sizeof(min));
        number_print_seconds(spec->max, max, sizeof(max));
        (void)snprintf(text, size, "%s to %s seconds%s", min, max,
                       spec->kind == KIND_DURATION ? " (or 250ms, 5m, 1h, 1d)"
                                                   : "");
    } else {
        (void)snprintf(text, size, "%" PRId64 " to %" PRId64, spec->min,
                       spec->max);
    }
}

static int keep_number(const struct line_reader *reader, int id,
                       const char *text)
{
    const struct option_spec *spec = &option_table[id];
    char range[2 * NUMBER_SECONDS_SIZE + 40];
    int64_t number = 0;
    bool ok;

    if (spec->kind == KIND_DURATION)
        ok = number_duration(text, &number);
    else if (spec->kind == KIND_SECONDS)
        ok = number_seconds(text, &number);
    else
        ok = number_integer(text, &number);
    if (!ok || number < spec->min || number > spec->max) {
        print_range(spec, range, sizeof(range));
        blame_option(spec->names[0]);
        complain(reader->grammar->name, "--%s takes %s, not \"%s\"",
                 spec->names[0], range, text);
        return EXIT_USAGE;
    }
    reader->options->number[id] = number;
    return EXIT_YES;
}

static int keep_choice(const struct line_reader *reader, int id,
                       const char *text)
{
    const struct option_spec *spec = &option_table[id];
    int i;

    for (i = 0; spec->choices[i] != NULL; i++) {
        if (strcmp(text, spec->choices[i]) == 0) {
            reader->options->number[id] = i;
            return EXIT_YES;
        }
    }
    blame_option(spec->names[0]);
    complain(reader->grammar->name, "--%s takes %s, not \"%s\"", spec->names[0],
             strchr(spec->argument, '|') != NULL ? spec->argument : spec->help,
             text);
    return EXIT_USAGE;
}

static int keep_listen(const struct line_reader *reader, const char *text)
{
    struct options *options = reader->options;

    if (options->listen_count == HF_SERVER_LISTEN_MAX) {
        complain(reader->grammar->name, "more than %d times --listen",
                 HF_SERVER_LISTEN_MAX);
        return EXIT_USAGE;
    }
    options->listen[options->listen_count++] = text;
    return EXIT_YES;
}

static int keep_text(const struct line_reader *reader, int id, char *text)
{
    if (id == OPT_STORE)
        return keep_store(reader->options, text);
    return id == OPT_LISTEN ? keep_listen(reader, text) : EXIT_YES;
}

static int keep_option(const struct line_reader *reader, int id, char *text)
{
    reader->options->given[id] = true;
    reader->options->text[id] = text;
    switch (option_table[id].kind) {
    case KIND_FLAG:
        return EXIT_YES;
    case KIND_TEXT:
        return keep_text(reader, id, text);
    case KIND_DURATION:
    case KIND_SECONDS:
    case KIND_INTEGER:
        return keep_number(reader, id, text);
    case KIND_CHOICE:
        return keep_choice(reader, id, text);
    }
    return EXIT_INTERNAL;
}

/* Keep an option whose argument is the next word unless `text` has it. */
static int keep_with_argument(struct line_reader *reader, int id, char *text)
{
    if (text == NULL && option_table[id].kind != KIND_FLAG) {
        if (reader->at == reader->argc) {
            blame_option(option_table[id].names[0]);
            complain(reader->grammar->name, "--%s requires an argument %s",
                     option_table[id].names[0], option_table[id].argument);
            return EXIT_USAGE;
        }
        text = reader->argv[reader->at++];
    }
    return keep_option(reader, id, text);
}

static int unknown_option(const struct grammar *grammar, const char *name)
{
    struct nearest nearest = {name, NULL, 0};
    int id;
    int i;

    for (id = 0; id < OPT_COUNT; id++) {
        for (i = 0; accepts_option(grammar, id) && i < 3; i++)
            if (option_table[id].names[i] != NULL)
                nearest_offer(&nearest, option_table[id].names[i]);
    }
    blame_option(name);
    if (nearest.best != NULL) {
        complain(grammar->name, "unknown option --%s; did you mean --%s?", name,
                 nearest.best);
    } else {
        complain(grammar->name, "unknown option --%s", name);
    }
    return EXIT_USAGE;
}

int options_by_name(const struct grammar *grammar, const char *name,
                    size_t size)
{
    int id;
    int i;

    for (id = 0; id < OPT_COUNT; id++) {
        for (i = 0; accepts_option(grammar, id) && i < 3; i++) {
            const char *known = option_table[id].names[i];

            if (known != NULL && strlen(known) == size &&
                memcmp(known, name, size) == 0)
                return id;
        }
    }
    return OPT_COUNT;
}

/* `word` is what follows the two dashes. */
static int read_long(struct line_reader *reader, char *word)
{
    char *argument = strchr(word, '=');
    int id;

    if (argument != NULL)
        *argument++ = '\0';
    id = options_by_name(reader->grammar, word, strlen(word));
    if (id == OPT_COUNT)
        return unknown_option(reader->grammar, word);
    if (argument != NULL && option_table[id].kind == KIND_FLAG) {
        complain(reader->grammar->name, "--%s takes no argument", word);
        return EXIT_USAGE;
    }
    return keep_with_argument(reader, id, argument);
}

int options_by_letter(const struct grammar *grammar, char letter)
{
    int id;

    for (id = 0; id < OPT_COUNT; id++)
        if (accepts_option(grammar, id) && option_table[id].letters != NULL &&
            strchr(option_table[id].letters, letter) != NULL)
            return id;
    return OPT_COUNT;
}

/* `word` is what follows the dash: letters, the last perhaps with argument. */
static int read_letters(struct line_reader *reader, char *word)
{
    int code = EXIT_YES;

    while (*word != '\0' && code == EXIT_YES) {
        int id = options_by_letter(reader->grammar, *word);
        char *argument = NULL;

        if (id == OPT_COUNT) {
            complain_about((const char[]){'-', *word, '\0'});
            complain(reader->grammar->name, "unknown option -%c", *word);
            return EXIT_USAGE;
        }
        word++;
        if (option_table[id].kind != KIND_FLAG && *word != '\0') {
            argument = word;
            word += strlen(word);
        }
        code = keep_with_argument(reader, id, argument);
    }
    return code;
}

static void take_tail(struct line_reader *reader)
{
    reader->options->tail = reader->argv + reader->at;
    reader->options->tail_count = reader->argc - reader->at;
    reader->at = reader->argc;
}

static void read_dashes(struct line_reader *reader)
{
    const struct grammar *grammar = reader->grammar;

    reader->no_options = true;
    if (grammar->tail == TAIL_ARGUMENTS ||
        (grammar->tail == TAIL_COMMAND &&
         reader->options->operand_count == grammar->operands_max))
        take_tail(reader);
}

static void read_operand(struct line_reader *reader)
{
    const struct grammar *grammar = reader->grammar;

    if (grammar->tail == TAIL_COMMAND &&
        reader->options->operand_count == grammar->operands_max) {
        take_tail(reader);
        return;
    }
    reader->options->operands[reader->options->operand_count++] =
        reader->argv[reader->at++];
}

/* A dash alone is stdin; with a digit it is a negative number. */
static bool looks_like_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' &&
           !(word[1] >= '0' && word[1] <= '9');
}

static int read_word(struct line_reader *reader)
{
    char *word = reader->argv[reader->at];

    if (strcmp(word, "--") == 0 &&
        (!reader->no_options || reader->grammar->tail == TAIL_COMMAND)) {
        reader->at++;
        read_dashes(reader);
        return EXIT_YES;
    }
    if (reader->no_options || !looks_like_option(word)) {
        read_operand(reader);
        return EXIT_YES;
    }
    reader->at++;
    if (word[1] == '-')
        return read_long(reader, word + 2);
    return read_letters(reader, word + 1);
}

static int check_rivals(const struct options *options,
                        const struct grammar *grammar)
{
    int a;
    int b;

    for (a = 0; a < OPT_COUNT; a++) {
        for (b = a + 1; b < OPT_COUNT; b++) {
            if (options->given[a] && options->given[b] &&
                option_table[a].rivalry != RIVAL_NONE &&
                option_table[a].rivalry == option_table[b].rivalry) {
                blame_option(option_table[b].names[0]);
                complain(grammar->name, "--%s and --%s are mutually exclusive",
                         option_table[a].names[0], option_table[b].names[0]);
                return EXIT_USAGE;
            }
        }
    }
    return EXIT_YES;
}

/* `index` counts from 0. */
static void complain_missing(const struct grammar *grammar, int index)
{
    const char *at = grammar->operands;
    char name[64];

    for (; index > 0; index--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " |"), at);
    complain_about(name);
    complain(grammar->name, "missing argument %s", name);
}

static int check_count(const struct line_reader *reader)
{
    const struct grammar *grammar = reader->grammar;
    int count = reader->options->operand_count;

    if (reader->options->given[OPT_HELP])
        return EXIT_YES;
    if (count < grammar->operands_min) {
        complain_missing(grammar, count);
        return EXIT_USAGE;
    }
    if (grammar->operands_max >= 0 && count > grammar->operands_max) {
        complain(grammar->name, "unexpected argument \"%s\"",
                 reader->options->operands[grammar->operands_max]);
        return EXIT_USAGE;
    }
    return EXIT_YES;
}

int options_read(struct options *options, const struct grammar *grammar,
                 int argc, char **argv)
{
    struct line_reader reader = {options, grammar, argv, argc, 0, false};
    size_t room = (size_t)options->operand_count + (size_t)argc + 1;
    char **operands = realloc(options->operands, room * sizeof(*operands));
    int code = EXIT_YES;

    if (operands == NULL) {
        complain(NULL, "out of memory");
        return EXIT_SYSTEM;
    }
    options->operands = operands;
    while (reader.at < argc && code == EXIT_YES)
        code = read_word(&reader);
    if (code == EXIT_YES)
        code = check_rivals(options, grammar);
    if (code == EXIT_YES)
        code = check_count(&reader);
    return code;
}

void options_free(struct options *options)
{
    free(options->operands);
    free(options->store);
}

/* "-n, --nonblock" or "    --ttl SEC"; how long it is. */
static int print_spelling(FILE *file, const struct option_spec *spec)
{
    const char *argument = spec->argument == NULL ? "" : spec->argument;
    char letter[5] = "    ";

    if (spec->letters != NULL)
        (void)snprintf(letter, sizeof(letter), "-%c, ", spec->letters[0]);
    return fprintf(file, "  %s--%s%s%s", letter, spec->names[0],
                   argument[0] == '\0' ? "" : " ", argument);
}

const char *options_help(const struct grammar *grammar, int id)
{
    if (id == OPT_NONBLOCK && grammar->nonblock != NULL)
        return grammar->nonblock;
    if (id == OPT_WAIT && grammar->wait != NULL)
        return grammar->wait;
    if (id == OPT_ALL && grammar->all != NULL)
        return grammar->all;
    return option_table[id].help;
}

/* The column of the words; a longer spelling has a line of its own. */
#define HELP_COLUMN 28

static void print_option(FILE *file, const struct grammar *grammar, int id)
{
    int size = print_spelling(file, &option_table[id]);

    if (size >= HELP_COLUMN) {
        fputc('\n', file);
        size = 0;
    }
    fprintf(file, "%*s", HELP_COLUMN - size, "");
    wrap_text(file, options_help(grammar, id), HELP_COLUMN, HELP_COLUMN);
}

int options_next(const struct grammar *grammar, int id)
{
    for (int at = id + 1; at < 2 * OPT_COUNT; at++) {
        int next = at % OPT_COUNT;
        bool common = (OPTIONS_SHARED >> next & 1) != 0;

        if (accepts_option(grammar, next) && common == (at >= OPT_COUNT))
            return at;
    }
    return -1;
}

void options_print(FILE *file, const struct grammar *grammar)
{
    bool times = false;

    for (int at = options_next(grammar, -1); at >= 0;
         at = options_next(grammar, at)) {
        print_option(file, grammar, at % OPT_COUNT);
        times = times || option_table[at % OPT_COUNT].kind == KIND_DURATION;
    }
    if (times)
        fputs("SEC: seconds, or with a unit: 250ms, 10s, 5m, 1h, 1d\n", file);
}
