/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c - see complete.h.
 *
 * The words before the last one are walked by the grammars, as command_line.c
 * does, but without checks: the line is not finished. Names of locks and keys
 * are those of the store that the words name. A store that does not exist is
 * not created, and one that does not answer is given up soon.
 */
#include "complete.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "config_file.h"
#include "exit.h"
#include "holdfast/client.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "options_table.h"

/* A shell waits for it, with the user behind it. */
#define CONNECT_MS 500
#define REQUEST_MS 1000

/* More names are no help. */
#define NAMES_MAX 300

/* What has been read of a line. */
struct line {
    char **words;
    int count; /* the last one is to be completed */
    int at;
    struct options options; /* --store and --prefix */
    const struct noun *noun;
    const struct command *command;
    int operands;
    int tail;    /* index of the first word of a command; 0: none yet */
    int option;  /* the last word is its argument; OPT_COUNT: no */
    bool dashes; /* `--` was read */
    bool helps;  /* `help` was read */
};

static const struct grammar first_grammar = {
    .accepts = OPTIONS_COMMON | OPTION(VERSION),
};

static const struct grammar *grammar_of(const struct line *line)
{
    return line->command == NULL ? &first_grammar : &line->command->grammar;
}

static const char *current_word(const struct line *line)
{
    return line->words[line->count - 1];
}

static void offer_word(const char *typed, const char *word, const char *what)
{
    if (strncmp(word, typed, strlen(typed)) == 0)
        printf("%s\t%s\n", word, what);
}

/* ------------------------------------------------------------------ reading */

/* The option that a word gives, and its argument if it is in the word. */
static int find_option(const struct grammar *grammar, const char *word,
                       const char **argument)
{
    const char *name, *rest;

    *argument = NULL;
    if (word[1] == '\0')
        return OPT_COUNT;
    name = word + 2;
    if (word[1] != '-') {
        *argument = *name != '\0' ? name : NULL;
        return options_by_letter(grammar, word[1]);
    }
    rest = name + strcspn(name, "=");
    *argument = *rest == '=' ? rest + 1 : NULL;
    return options_by_name(grammar, name, (size_t)(rest - name));
}

static void read_option(struct line *line)
{
    const char *argument;
    int id = find_option(grammar_of(line), line->words[line->at], &argument);

    if (id == OPT_COUNT || option_table[id].kind == KIND_FLAG)
        return;
    if (argument == NULL && line->at + 2 >= line->count) {
        line->option = id;
        return;
    }
    if (argument == NULL)
        argument = line->words[++line->at];
    line->options.text[id] = argument;
}

/* A word that is neither an option nor one of a command's. */
static void read_operand(struct line *line)
{
    const char *word = line->words[line->at];

    if (line->noun == NULL && !line->helps) {
        line->helps = strcmp(word, "help") == 0;
        line->noun = commands_noun(word);
        if (line->noun != NULL && command_verb(line->noun->commands) == NULL)
            line->command = line->noun->commands;
    } else if (line->noun == NULL) {
        line->noun = commands_noun(word);
    } else if (line->command == NULL) {
        line->command = noun_command(line->noun, word);
    } else {
        line->operands++;
    }
}

/* Does what follows belong to another command? */
static bool is_full(const struct line *line)
{
    return line->command != NULL &&
           line->command->grammar.tail == TAIL_COMMAND &&
           line->operands == line->command->grammar.operands_max;
}

static void read_words(struct line *line)
{
    line->option = OPT_COUNT;
    for (line->at = 0; line->at < line->count - 1; line->at++) {
        const char *word = line->words[line->at];

        if (strcmp(word, "--") == 0 && !line->dashes) {
            line->dashes = true;
        } else if (word[0] == '-' && word[1] != '\0' && !line->dashes) {
            read_option(line);
        } else if (is_full(line)) {
            line->tail = line->at;
            return;
        } else {
            read_operand(line);
        }
    }
    if (is_full(line) && (line->dashes || current_word(line)[0] != '-'))
        line->tail = line->count - 1;
}

/* -------------------------------------------------------------------- store */

struct name_list {
    const char *typed;
    const char *what;
    int count;
};

/* Names that would break the line are left out. */
static void offer_name(struct name_list *names, hf_bytes name)
{
    const char *bytes = name.data;

    for (size_t i = 0; i < name.size; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f)
            return;
    if (name.size < strlen(names->typed) ||
        memcmp(bytes, names->typed, strlen(names->typed)) != 0)
        return;
    printf("%.*s\t%s\n", (int)name.size, bytes, names->what);
}

static int offer_key(void *user, hf_bytes key)
{
    struct name_list *names = user;

    offer_name(names, key);
    return ++names->count == NAMES_MAX;
}

static int offer_lock(void *user, hf_bytes name, const hf_lock_info *info)
{
    (void)info;
    return offer_key(user, name);
}

/* Opening an embedded store would create it. */
static bool store_exists(const char *url)
{
    char path[4096];
    struct stat info;
    const char *at = NULL;

    if (url == NULL)
        url = getenv("HOLDFAST_STORE");
    if (url == NULL)
        return true;
    if (strncmp(url, "file:", 5) == 0)
        at = url + 5;
    else if (strncmp(url, "volatile:/", 10) == 0)
        at = url + 9;
    if (at == NULL)
        return true;
    (void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, "?"), at);
    return stat(path, &info) == 0;
}

/* What matches the typed text, as a pattern. */
static void make_pattern(const char *typed, char *pattern, size_t room)
{
    size_t size = 0;

    for (; *typed != '\0' && size + 3 < room; typed++) {
        if (strchr("*?[]^\\", *typed) != NULL)
            pattern[size++] = '\\';
        pattern[size++] = *typed;
    }
    pattern[size++] = '*';
    pattern[size] = '\0';
}

static void offer_names(struct line *line, enum manual_names which)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    bool locks = which == MANUAL_NAMES_LOCKS;
    struct name_list names = {current_word(line), locks ? "lock" : "key", 0};
    char pattern[512];
    hf_client *client;

    if (which == MANUAL_NAMES_NONE ||
        config_find_store(&line->options, NULL) != EXIT_YES ||
        !store_exists(line->options.text[OPT_STORE]))
        return;
    options.prefix = line->options.text[OPT_PREFIX];
    options.connect_ms = CONNECT_MS;
    options.request_ms = REQUEST_MS;
    if (hf_client_open(line->options.text[OPT_STORE], &options, &client,
                       NULL) != HF_OK)
        return;
    make_pattern(names.typed, pattern, sizeof(pattern));
    if (locks)
        (void)!hf_lock_list(client, hf_str(pattern), offer_lock, &names, NULL);
    else
        (void)!hf_key_list(client, hf_str(pattern), 0, offer_key, &names, NULL);
    hf_client_close(client);
}

/* ----------------------------------------------------------------- offering */

static void offer_store(void *user, const char *name)
{
    offer_word(user, name, "store of the configuration");
}

static void offer_stores(const char *typed)
{
    static const char *const schemes[][2] = {
        {"volatile:", "embedded, in memory"},
        {"file:", "embedded, on disk"},
        {"redis://", "a server"},
        {"rediss://", "a server, over TLS"},
        {"redis+unix://", "a server, over a unix socket"},
        {"redis+sentinel://", "a master, found by sentinels"},
        {"redis+cluster://", "a cluster"},
        {"redlock:", "locks on most of several servers"},
    };

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        offer_word(typed, schemes[i][0], schemes[i][1]);
    config_names(offer_store, (void *)(uintptr_t)typed);
}

/* The argument of an option; `typed` is what there is of it. */
static void offer_argument(int id, const char *typed)
{
    static const char *const signals[] = {"HUP",  "INT",  "QUIT",
                                          "TERM", "USR1", "USR2"};
    const struct option_spec *spec = &option_table[id];

    if (id == OPT_STORE)
        offer_stores(typed);
    for (size_t i = 0; id == OPT_SIGNAL && i < 6; i++)
        offer_word(typed, signals[i], "");
    for (size_t i = 0; spec->choices[i] != NULL; i++)
        offer_word(typed, spec->choices[i], "");
    if (spec->argument != NULL && strcmp(spec->argument, "FILE") == 0)
        puts(":files");
}

static void offer_options(const struct line *line)
{
    const struct grammar *grammar = grammar_of(line);

    for (int at = options_next(grammar, -1); at >= 0;
         at = options_next(grammar, at)) {
        char word[64];

        (void)snprintf(word, sizeof(word), "--%s",
                       option_table[at % OPT_COUNT].names[0]);
        offer_word(current_word(line), word,
                   options_help(grammar, at % OPT_COUNT));
    }
}

static void offer_nouns(const struct line *line)
{
    for (size_t i = 0; i < noun_count; i++)
        offer_word(current_word(line), nouns[i].name,
                   commands_manual(&nouns[i])->summary);
    for (size_t i = 0; line->helps && i < manual_topic_count; i++)
        offer_word(current_word(line), manual_topics[i].name,
                   manual_topics[i].title);
    if (!line->helps)
        offer_word(current_word(line), "help", "help on a command or a topic");
}

static void offer_verbs(const struct line *line)
{
    for (const struct command *command = line->noun->commands;
         command->run != NULL && command_verb(command) != NULL; command++)
        offer_word(current_word(line), command_verb(command),
                   commands_page(command)->summary);
}

static bool begins_with(const char *text, const char *word)
{
    size_t size = strlen(word);

    return strncmp(text, word, size) == 0 &&
           !isalpha((unsigned char)text[size]);
}

/* Operand number `line->operands`, by its word in the usage line; further ones
 * are as the last, if that has dots. */
static void offer_operand(struct line *line)
{
    const char *at = line->command->grammar.operands;

    for (int i = 0; at != NULL && i < line->operands; i++) {
        const char *next = at + strcspn(at, " ");

        next += strspn(next, " ");
        if (*next == '\0')
            break;
        at = next;
    }
    if (at == NULL)
        return;
    at += strspn(at, "[");
    if (begins_with(at, "FILE"))
        puts(":files");
    else if (begins_with(at, "STORE") ||
             (begins_with(at, "NEW") && strcmp(line->noun->name, "store") == 0))
        puts(":folders");
    else if (begins_with(at, "KEY") || begins_with(at, "NAME"))
        offer_names(line, commands_manual(line->noun)->names);
}

int complete(int count, char **words)
{
    struct line line = {.words = words, .count = count};
    const char *argument = NULL;

    if (count < 1)
        return EXIT_USAGE;
    read_words(&line);
    if (line.tail > 0) {
        printf(":command %d\n", line.tail);
    } else if (line.option != OPT_COUNT) {
        offer_argument(line.option, current_word(&line));
    } else if (current_word(&line)[0] == '-' && !line.dashes) {
        int id = find_option(grammar_of(&line), current_word(&line), &argument);

        if (id != OPT_COUNT && argument != NULL)
            offer_argument(id, argument);
        else
            offer_options(&line);
    } else if (line.noun == NULL) {
        offer_nouns(&line);
    } else if (line.command == NULL) {
        offer_verbs(&line);
    } else {
        offer_operand(&line);
    }
    free(line.options.store);
    return EXIT_YES;
}
