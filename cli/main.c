/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - find the command, read its options, run it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "complain.h"
#include "complete.h"
#include "config_file.h"
#include "exit.h"
#include "help.h"
#include "json_line.h"
#include "output.h"

/* What may come before the command. */
static const struct grammar top_grammar = {
    .accepts = OPTIONS_COMMON | OPTION(VERSION),
    .tail = TAIL_COMMAND,
};

/* The command that was found. */
static const struct command *found;

/* The command line as typed, for a command that is a program of its own:
 * reading it overwrites passwords. One block. */
static char **typed;

/* Where its result would be: that of run, lead and once is on stderr, as stdout
 * is their command's. */
static FILE *result_file(void)
{
    bool runs =
        found != NULL && (found->grammar.accepts & OPTION(ON_LOST)) != 0;

    return runs ? stderr : stdout;
}

/* Was --json given, before anything that may be part of another command? Its
 * own options may not have been read to their end. */
static bool wants_json(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json") == 0)
            return true;
    return false;
}

/* A failure is an object too, but not behind one that has told of it. */
static void print_error(int code)
{
    const struct manual_page *page =
        found == NULL ? NULL : commands_page(found);
    struct json json;

    if (code == EXIT_YES || !complained() ||
        (json_was_printed() && !(page != NULL && page->stream)))
        return;
    json_begin(&json, result_file());
    complain_json(&json, code);
    json_end(&json);
}

static int run_command(const struct command *command,
                       const struct options *options)
{
    hf_error err = HF_ERROR_INIT;
    struct call call = {.command = command,
                        .options = options,
                        .json = options->given[OPT_JSON],
                        .words = typed};
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

static const struct grammar help_grammar = {
    .name = "help",
    .operands = "[COMMAND|TOPIC]",
    .accepts = OPTION(JSON) | OPTION(HELP),
    .operands_max = 2,
};

static int run_help(struct options *options, int count, char **words)
{
    int code = options_read(options, &help_grammar, count, words);

    if (code == EXIT_YES && options->given[OPT_JSON])
        help_json();
    else if (code == EXIT_YES)
        code = help(options->operand_count, options->operands);
    return code;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Does the command line ask for help, in whatever way? */
static bool wants_help(const struct options *options, int count, char **words)
{
    const struct noun *noun = commands_noun(words[0]);

    return options->given[OPT_HELP] ||
           (count == 2 && is_help(words[1]) && noun != NULL &&
            command_verb(noun->commands) != NULL);
}

/* `count` words from the command on. */
static int dispatch_command(struct options *options, int count, char **words)
{
    const struct command *command;
    int used = 0;
    int code;

    /* Behind `--`, so that no word is an option of ours. */
    if (strcmp(words[0], "complete") == 0 && count > 2)
        return complete(count - 2, words + 2);
    if (strcmp(words[0], "help") == 0)
        return run_help(options, count - 1, words + 1);
    if (wants_help(options, count, words))
        return help(count - (count > 1 && is_help(words[1])), words);
    command = commands_find(count, words, &used);
    if (command == NULL)
        return EXIT_USAGE;
    found = command;
    code = options_read(options, &command->grammar, count - used, words + used);
    if (code == EXIT_YES && options->given[OPT_HELP]) {
        help_command(command);
        return EXIT_YES;
    }
    if (code == EXIT_YES && (command->grammar.accepts & OPTION(STORE)) != 0)
        code = config_find_store(options, command->grammar.name);
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
    help_overview(options->given[OPT_HELP] ? stdout : stderr);
    return options->given[OPT_HELP] ? EXIT_YES : EXIT_USAGE;
}

/* false: out of memory. */
static bool keep_typed(int argc, char **argv)
{
    size_t room = ((size_t)argc + 1) * sizeof(*typed);
    char *to;

    for (int i = 0; i < argc; i++)
        room += strlen(argv[i]) + 1;
    typed = malloc(room);
    if (typed == NULL) {
        complain(NULL, "out of memory");
        return false;
    }
    to = (char *)(typed + argc + 1);
    for (int i = 0; i < argc; i++) {
        size_t size = strlen(argv[i]) + 1;

        typed[i] = memcpy(to, argv[i], size);
        to += size;
    }
    typed[argc] = NULL;
    return true;
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
    if (!keep_typed(argc, argv))
        return EXIT_SYSTEM;
    code = run_words(&options, argc - 1, argv + 1);
    if (options.given[OPT_JSON] ||
        (code == EXIT_USAGE && wants_json(argc - 1, argv + 1)))
        print_error(code);
    options_free(&options);
    free(typed);
    return out_end(code);
}
