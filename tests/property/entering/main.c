/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - entering: whatever a store has accepted, it keeps (kept.h).
 *
 *     entering [--seed N|fresh] [--rounds N | --seconds N] [--store URL]
 *
 * Each round begins with an empty store. Some tens of payloads, commands,
 * commands of scripts and the changed dump of an earlier round try to enter it;
 * then it is looked at. Without --store: a volatile store, then a durable one.
 * Exit status: 0 all was kept, 1 something was not, 2 it could not run.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entering.h"
#include "holdfast/command.h"
#include "holdfast/store.h"
#include "support/kept.h"
#include "support/remove_tree.h"
#include "util/clock.h"

#define ITEMS 40
#define RDB_TYPES 256
/* Bytes of a word in a report; the seed gives the rest. */
#define WORD_SHOWN 60u

/* Dumps of rounds before, to be changed: of this many bytes at most. */
#define TAPE_MAX (1u << 20)

typedef enum way { BY_RESTORE, BY_COMMAND, BY_SCRIPT, BY_LOAD, WAYS } way;
static const char *const way_names[] = {"RESTORE", "command", "script", "load"};

typedef struct counts {
    uint64_t offered[WAYS];
    uint64_t accepted[WAYS];
    uint64_t types_offered[RDB_TYPES];
    uint64_t types_accepted[RDB_TYPES];
} counts;

typedef struct run {
    uint64_t seed;
    uint64_t rounds;
    int64_t until_ms; /* 0: by rounds */
    kept at;
    counts count;
    dump_tape tape;
    unsigned char payload[PAYLOAD_SIZE];
    char name[NAME_SIZE];
    FILE *log; /* what was accepted in this round */
    char *log_text;
    size_t log_size;
} run;

static void log_word(run *self, hf_bytes word)
{
    const unsigned char *bytes = word.data;

    fputc('"', self->log);
    for (size_t i = 0; i < word.size && i < WORD_SHOWN; i++) {
        if (bytes[i] >= 32 && bytes[i] < 127 && bytes[i] != '"' &&
            bytes[i] != '\\')
            fputc(bytes[i], self->log);
        else
            fprintf(self->log, "\\x%02x", bytes[i]);
    }
    fprintf(self->log, word.size > WORD_SHOWN ? "...\"(%zu) " : "\" ",
            word.size);
}

static bool offer(run *self, way how, const hf_bytes *words, size_t count)
{
    bool accepted =
        hf_command(self->at.client, count, words, NULL, NULL) == HF_OK;

    self->count.offered[how]++;
    self->count.accepted[how] += accepted;
    if (!accepted)
        return false;
    fprintf(self->log, "  %s: ", way_names[how]);
    for (size_t i = how == BY_SCRIPT ? 3 : 0; i < count; i++)
        log_word(self, words[i]);
    fputc('\n', self->log);
    return true;
}

/* EVAL with the words as arguments. */
static bool offer_by_script(run *self, const hf_bytes *words, size_t count)
{
    hf_bytes more[COMMAND_WORDS + 3] = {
        hf_str("eval"), hf_str("return redis.call(unpack(ARGV))"), hf_str("0")};

    memcpy(more + 3, words, count * sizeof(*words));
    return offer(self, BY_SCRIPT, more, count + 3);
}

static hf_bytes any_name(run *self, prng *random, bool fresh, size_t number)
{
    int size;

    if (prng_chance(random, 2))
        return hf_str("");
    if (!fresh)
        number = prng_below(random, 6);
    size = snprintf(self->name, NAME_SIZE, "k%zu", number);
    if (number % 7 == 5)
        self->name[size++] = '\0';
    if (number % 5 == 4) {
        size_t more = prng_below(random, NAME_SIZE - 64);

        memset(self->name + size, 'n', more);
        size += (int)more;
    }
    return hf_view(self->name, (size_t)size);
}

static void offer_payload(run *self, prng *random, size_t number)
{
    unsigned type;
    size_t size = make_payload(random, self->payload, &type);
    static const char *const ttls[] = {
        "0", "0", "0", "600000", "9223372036854775807", "70368744177664"};
    hf_bytes words[] = {hf_str("restore"),
                        any_name(self, random, true, number),
                        hf_str(ttls[prng_below(random, 6)]),
                        hf_view(self->payload, size),
                        hf_str("replace"),
                        hf_str("absttl")};
    size_t count = prng_chance(random, 20) ? 6 : 5;
    bool accepted = prng_chance(random, 20)
                        ? offer_by_script(self, words, count)
                        : offer(self, BY_RESTORE, words, count);

    self->count.types_offered[type]++;
    self->count.types_accepted[type] += accepted;
}

static void offer_command(run *self, prng *random)
{
    hf_bytes words[COMMAND_WORDS];
    size_t count =
        make_command(random, any_name(self, random, false, 0), words);

    if (prng_chance(random, 30))
        (void)offer_by_script(self, words, count);
    else
        (void)offer(self, BY_COMMAND, words, count);
}

/* The dump of an earlier round, changed. */
static void offer_tape(run *self, prng *random)
{
    hf_store_load_options options = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer done = HF_STORE_TRANSFER_INIT;
    hf_status status;

    if (self->tape.size == 0 || self->tape.size > TAPE_MAX)
        return;
    change_tape(random, &self->tape);
    self->tape.at = 0;
    options.flags = HF_LOAD_REPLACE;
    status = hf_store_load(self->at.client, &options, dump_tape_take,
                           &self->tape, &done, NULL);
    self->count.offered[BY_LOAD]++;
    self->count.accepted[BY_LOAD] += status == HF_OK || done.keys > 0;
    fprintf(self->log, "  load: %s, %" PRIu64 " keys\n", hf_status_name(status),
            done.keys);
}

static void keep_tape(run *self)
{
    self->tape.size = 0;
    if (hf_store_dump(self->at.client, NULL, dump_tape_put, &self->tape, NULL,
                      NULL) != HF_OK)
        self->tape.size = 0;
}

static bool round_holds(run *self, uint64_t round)
{
    hf_bytes flush[] = {hf_str("flushall")};
    hf_error why = HF_ERROR_INIT;
    prng random = prng_of(self->seed, round, 0);
    bool holds;

    self->log = open_memstream(&self->log_text, &self->log_size);
    if (self->log == NULL ||
        hf_command(self->at.client, 1, flush, NULL, &why) != HF_OK) {
        printf("cannot begin: %s\n", why.message);
        exit(2);
    }
    offer_tape(self, &random);
    for (size_t i = 0; i < ITEMS; i++) {
        if (prng_chance(&random, 60))
            offer_payload(self, &random, i);
        else
            offer_command(self, &random);
    }
    fclose(self->log);
    holds = kept_holds(&self->at, &why);
    if (!holds)
        printf("NOT KEPT by %s: %s\naccepted:\n%sreproduce: entering "
               "--seed %" PRIu64 " --rounds %" PRIu64 " --store %s\n",
               self->at.url, why.message, self->log_text, self->seed, round + 1,
               strncmp(self->at.url, "file", 4) == 0 ? "file:" : "volatile:");
    else
        keep_tape(self);
    free(self->log_text);
    return holds;
}

static void print_counts(const char *store, uint64_t rounds,
                         const counts *count)
{
    printf("%s %" PRIu64 " rounds; accepted of offered:", store, rounds);
    for (int i = 0; i < WAYS; i++)
        printf(" %s %" PRIu64 "/%" PRIu64, way_names[i], count->accepted[i],
               count->offered[i]);
    printf("\n  RDB types:");
    for (int i = 0; i < RDB_TYPES; i++) {
        if (count->types_accepted[i] > 0)
            printf(" %d: %" PRIu64 "/%" PRIu64, i, count->types_accepted[i],
                   count->types_offered[i]);
    }
    printf("\n");
}

static bool run_store(run *self, const char *scheme, const char *folder)
{
    char url[256], other[256];
    hf_error err = HF_ERROR_INIT;
    uint64_t round = 0;
    bool holds = true;

    memset(&self->at, 0, sizeof(self->at));
    memset(&self->count, 0, sizeof(self->count));
    self->tape.size = 0;
    snprintf(url, sizeof(url), "%s%s/%.1s?max_size=64M", scheme, folder,
             scheme);
    snprintf(other, sizeof(other), "volatile:%s/other?max_size=64M", folder);
    self->at.url = url;
    self->at.other_url = other;
    if (kept_open(&self->at, &err) != HF_OK) {
        printf("%s\n", err.message);
        exit(2);
    }
    while (holds && (self->until_ms > 0 ? hf__clock_boot_ms() < self->until_ms
                                        : round < self->rounds)) {
        holds = round_holds(self, round);
        round++;
    }
    kept_close(&self->at);
    print_counts(scheme, round, &self->count);
    return holds;
}

static bool read_arguments(int argc, char **argv, run *self, int64_t *seconds,
                           const char **store)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 't'},
        {"store", required_argument, NULL, 'u'},
        {NULL, 0, NULL, 0}};
    int letter;

    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 's')
            self->seed = strcmp(optarg, "fresh") == 0
                             ? (uint64_t)hf__clock_unix_us()
                             : strtoull(optarg, NULL, 0);
        else if (letter == 'r')
            self->rounds = strtoull(optarg, NULL, 0);
        else if (letter == 't')
            *seconds = strtoll(optarg, NULL, 0);
        else if (letter == 'u')
            *store = optarg;
        else
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    static const char *const schemes[] = {"volatile:", "file:"};
    static run self = {.seed = 1, .rounds = 30};
    const char *store = NULL;
    char folder[64];
    int64_t seconds = 0;
    bool holds = true;

    if (!read_arguments(argc, argv, &self, &seconds, &store)) {
        fprintf(stderr, "usage: entering [--seed N|fresh] [--rounds N | "
                        "--seconds N] [--store volatile:|file:]\n");
        return 2;
    }
    snprintf(folder, sizeof(folder), "%s/hf-entering-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 2;
    for (size_t i = 0; i < 2; i++) {
        if (store != NULL && strcmp(store, schemes[i]) != 0)
            continue;
        if (seconds > 0)
            self.until_ms =
                hf__clock_boot_ms() + seconds * (store != NULL ? 1000 : 500);
        holds = run_store(&self, schemes[i], folder) && holds;
    }
    free(self.tape.data);
    (void)remove_tree(folder);
    return holds ? 0 : 1;
}
