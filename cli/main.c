/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - find the command, read its options, print help.
 *
 * Commands are one word (run) or a noun and a verb (value set). The name in
 * the grammar is matched, and begins messages.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"
#include "nearest.h"
#include "output.h"

/* The commands that begin with one word. */
struct noun {
    const char *name;
    const struct command *commands; /* one without a verb, or several */
};

/* clang-format off */
static const struct noun nouns[] = {
    {"run", run_commands},
    {"lead", lead_commands},
    {"value", value_commands},
    {"hash", hash_commands},
    {"key", key_commands},
    {"timeline", timeline_commands},
    {"cache", cache_commands},
    {"lock", lock_commands},
    {"top", top_commands},
    {"latch", latch_commands},
    {"barrier", barrier_commands},
    {"limit", limit_commands},
    {"id", id_commands},
    {"election", election_commands},
    {"semaphore", semaphore_commands},
    {"txn", txn_commands},
    {"script", script_commands},
    {"command", command_commands},
    {"serve", serve_commands},
    {"watch", watch_commands},
    {"store", store_commands},
};
/* clang-format on */

#define NOUN_COUNT (sizeof(nouns) / sizeof(nouns[0]))

/* What may come before the command. */
static const struct grammar top_grammar = {
    .accepts = OPTIONS_COMMON | OPTION(VERSION),
    .tail = TAIL_COMMAND,
};

/* The second word of a command's name; NULL if it has only one. */
static const char *verb_of(const struct command *command)
{
    const char *space = strchr(command->grammar.name, ' ');

    return space == NULL ? NULL : space + 1;
}

static const struct noun *find_noun(const char *word)
{
    struct nearest nearest = {word, NULL, 0};
    size_t i;

    /* Not printed: it may have a password. */
    if (strstr(word, "://") != NULL) {
        complain(NULL, "expected a command, found a URL; is --store missing?");
        return NULL;
    }
    for (i = 0; i < NOUN_COUNT; i++) {
        if (strcmp(nouns[i].name, word) == 0)
            return &nouns[i];
        nearest_offer(&nearest, nouns[i].name);
    }
    if (nearest.best != NULL) {
        complain(NULL, "unknown command \"%s\"; did you mean %s?", word,
                 nearest.best);
    } else {
        complain(NULL, "unknown command \"%s\"; see holdfast help", word);
    }
    return NULL;
}

static const struct command *find_verb(const struct noun *noun,
                                       const char *word)
{
    struct nearest nearest = {word, NULL, 0};
    const struct command *command;

    for (command = noun->commands; command->run != NULL; command++) {
        if (strcmp(verb_of(command), word) == 0)
            return command;
        nearest_offer(&nearest, verb_of(command));
    }
    if (nearest.best != NULL) {
        complain(noun->name, "unknown subcommand \"%s\"; did you mean %s?",
                 word, nearest.best);
    } else {
        complain(noun->name, "unknown subcommand \"%s\"; see holdfast help",
                 word);
    }
    return NULL;
}

static void complain_missing_verb(const struct noun *noun)
{
    const struct command *command;
    char verbs[128] = "";
    size_t size = 0;

    for (command = noun->commands; command->run != NULL; command++) {
        int put = snprintf(verbs + size, sizeof(verbs) - size, "%s%s",
                           size > 0 ? ", " : "", verb_of(command));

        size += put > 0 && (size_t)put < sizeof(verbs) - size ? (size_t)put : 0;
    }
    complain(noun->name, "missing subcommand: %s", verbs);
}

/* The command that `words` begin with, and how many of them name it. NULL:
 * none; an error was printed. */
static const struct command *find_command(int count, char **words, int *used)
{
    const struct noun *noun = find_noun(words[0]);

    if (noun == NULL)
        return NULL;
    *used = 1;
    if (verb_of(noun->commands) == NULL)
        return noun->commands;
    if (count < 2) {
        complain_missing_verb(noun);
        return NULL;
    }
    *used = 2;
    return find_verb(noun, words[1]);
}

static void print_noun(FILE *file, const struct noun *noun)
{
    for (const struct command *command = noun->commands; command->run != NULL;
         command++)
        fprintf(file, "  %-18s %s\n", command->grammar.name, command->summary);
}

static void print_commands(FILE *file)
{
    fputs("usage: holdfast [--store URL] COMMAND [OPTION...] [ARGUMENT...]\n"
          "       holdfast help [COMMAND]\n"
          "       holdfast --version\n\ncommands:\n",
          file);
    for (size_t i = 0; i < NOUN_COUNT; i++)
        print_noun(file, &nouns[i]);
}

static void print_exit_codes(FILE *file)
{
    fputs("\nexit codes:\n", file);
#define EXIT_PRINT(name, value, text) fprintf(file, "  %-4d %s\n", value, text);
    EXIT_MAP(EXIT_PRINT)
#undef EXIT_PRINT
}

static void print_general_help(FILE *file)
{
    const struct grammar common = {.accepts = OPTIONS_COMMON};

    print_commands(file);
    fputs("\noptions of every command:\n", file);
    options_print(file, &common);
    print_exit_codes(file);
    fputs("\nOther users of the machine can see a password in --store until it "
          "has been read;\nuse a file, named by HOLDFAST_PASSWORD_FILE, "
          "instead.\n",
          file);
}

static void print_command_help(FILE *file, const struct command *command)
{
    const char *operands = command->grammar.operands;

    fprintf(file, "usage: holdfast %s [OPTION...]%s%s\n\n%s\n",
            command->grammar.name, operands == NULL ? "" : " ",
            operands == NULL ? "" : operands, command->summary);
    if (command->notes != NULL)
        fprintf(file, "\n%s", command->notes);
    fputs("\noptions:\n", file);
    options_print(file, &command->grammar);
    print_exit_codes(file);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* If there is but a noun that has subcommands, print its help. */
static bool help_noun(int count, char **words)
{
    size_t i = 0;

    while (i < NOUN_COUNT && strcmp(nouns[i].name, words[0]) != 0)
        i++;
    if (count != 1 || i == NOUN_COUNT || verb_of(nouns[i].commands) == NULL)
        return false;
    printf("usage: holdfast %s SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n"
           "subcommands:\n",
           words[0]);
    print_noun(stdout, &nouns[i]);
    printf("\n`holdfast help %s SUBCOMMAND` prints arguments and options.\n",
           words[0]);
    return true;
}

static int help_command(int count, char **words)
{
    const struct command *command;
    int used;

    if (count == 0) {
        print_general_help(stdout);
        return EXIT_YES;
    }
    if (help_noun(count, words))
        return EXIT_YES;
    command = find_command(count, words, &used);
    if (command == NULL)
        return EXIT_USAGE;
    print_command_help(stdout, command);
    return EXIT_YES;
}

static int run_command(const struct command *command,
                       const struct options *options)
{
    hf_error err = HF_ERROR_INIT;
    struct call call = {command, options, NULL, options->given[OPT_JSON], NULL};
    hf_status status;
    int code;

    if (command->opens_store)
        return command->run(&call);
    status = call_open(&call, &call.client, &err);
    if (status != HF_OK)
        return call_failed(&call, status, &err);
    code = command->run(&call);
    hf_client_close(call.client);
    return code;
}

/* `count` words from the command on. */
static int dispatch_command(struct options *options, int count, char **words)
{
    const struct command *command;
    int used = 0;
    int code;

    if (strcmp(words[0], "help") == 0)
        return help_command(count - 1, words + 1);
    if ((options->given[OPT_HELP] && help_noun(count, words)) ||
        (count == 2 && is_help(words[1]) && help_noun(1, words)))
        return EXIT_YES;
    command = find_command(count, words, &used);
    if (command == NULL)
        return EXIT_USAGE;
    if (options->given[OPT_HELP]) {
        print_command_help(stdout, command);
        return EXIT_YES;
    }
    code = options_read(options, &command->grammar, count - used, words + used);
    if (code == EXIT_YES && options->given[OPT_HELP]) {
        print_command_help(stdout, command);
        return EXIT_YES;
    }
    return code == EXIT_YES ? run_command(command, options) : code;
}

static int run_words(struct options *options, int count, char **words)
{
    int code = options_read(options, &top_grammar, count, words);

    if (code != EXIT_YES)
        return code;
    if (options->given[OPT_VERSION]) {
        printf("holdfast %s\n", hf_version());
        return EXIT_YES;
    }
    if (options->tail_count > 0) {
        count = options->tail_count;
        words = options->tail;
        options->tail_count = 0;
        return dispatch_command(options, count, words);
    }
    if (options->given[OPT_HELP]) {
        print_general_help(stdout);
        return EXIT_YES;
    }
    print_commands(stderr);
    return EXIT_USAGE;
}

/*
 * If a standard descriptor is closed, the next socket would get its number,
 * and messages would go there. Its replacement fails like a closed one, and is
 * closed in the commands that we start.
 */
static void occupy_standard_fds(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", mode | O_CLOEXEC);
    }
}

int main(int argc, char **argv)
{
    static struct options options;
    int code;

    occupy_standard_fds();
    code = run_words(&options, argc - 1, argv + 1);

    options_free(&options);
    return out_end(code);
}
