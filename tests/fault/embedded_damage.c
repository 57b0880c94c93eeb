/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage.c - damaged stores, by the thousand: does a program that
 * opens or checks one survive, and does it get an error?
 *
 * Each variant is a whole store with one damage. It is opened and used in one
 * process and checked in another, from the same files. Violations:
 *
 * 1. opening or checking crashes or hangs the caller;
 * 2. the check finds something, and opening does not;
 * 3. the store opens, and using it then crashes or hangs;
 * 4. opening refuses the store, but has changed its data;
 * 5. the undamaged store is reported as damaged.
 *
 * Exit status: 0 no violation, 1 some, 2 it could not run.
 */
#include "embedded_damage.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/rand.h"

#define KIND_MAX 64
#define FAILURES_SHOWN 20u
#define STAGES 3u

typedef struct arguments {
    uint64_t seed;
    uint64_t variants;
    uint64_t only; /* this variant, from 1; 0: all */
    const char *kind;
    const char *folder;
    bool wrong; /* report wrong data, too */
    bool sealed;
    bool json;
} arguments;

typedef struct row {
    uint64_t variants;
    uint64_t found;           /* by the check */
    uint64_t refused;         /* by opening */
    uint64_t ends[END_COUNT]; /* of those that opened */
    uint64_t bad;
} row;

typedef struct trial {
    outcome checked;
    outcome used;
    bool changed; /* refused, but changed */
} trial;

static row rows[KIND_MAX];
static uint64_t bad_count;

/* ------------------------------------------------------------------- judge */

static bool died(const outcome *of)
{
    return of->how == END_CRASHED || of->how == END_HUNG;
}

/* NULL: no violation. */
static const char *judge(const trial *of, size_t kind)
{
    const outcome *used = &of->used;
    const outcome *checked = &of->checked;

    if (died(checked))
        return "the check crashed";
    if (died(used))
        return used->opened ? "using the store crashed" : "opening died";
    if (of->changed)
        return "it was refused, but changed";
    if (used->opened && checked->how == END_STATUS)
        return "the check refuses what opens";
    if (kind == 0 && (checked->how != END_OK || used->how != END_OK))
        return "nothing was damaged";
    return NULL;
}

static const char *end_text(const outcome *of)
{
    static const char *const texts[END_COUNT] = {"fine", "status", "wrong data",
                                                 "crashed", "hung"};

    return texts[of->how];
}

static void report(const arguments *args, const stage *on, uint64_t variant,
                   size_t kind, const trial *of, const char *why)
{
    printf("variant %llu (%s, %s): %s\n"
           "  check: %s %s (signal %d) %s\n  %s: %s %s (signal %d) %s\n"
           "  repeat: embedded_damage --seed %llu --variant %llu%s%s\n",
           (unsigned long long)variant, damages[kind].name, on->name, why,
           end_text(&of->checked), hf_status_name(of->checked.status),
           of->checked.signal, of->checked.message,
           of->used.opened ? "opened, use" : "open", end_text(&of->used),
           hf_status_name(of->used.status), of->used.signal, of->used.message,
           (unsigned long long)args->seed, (unsigned long long)variant,
           args->kind != NULL ? " --kind " : "",
           args->kind != NULL ? args->kind : "");
    (void)fflush(stdout);
}

/* --------------------------------------------------------------------- try */

static void copy_image(image *to, const image *from)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        to->forms[i] = from->forms[i];
        bytes_set(&to->files[i], from->files[i].data, from->files[i].size);
    }
}

static void must_put(const stage *on, const image *one)
{
    if (!stage_put(on, one)) {
        perror("embedded_damage: cannot write a store");
        exit(2);
    }
}

static void count(row *to, const trial *of, bool bad)
{
    to->variants++;
    to->found += of->checked.how == END_STATUS;
    to->refused += !of->used.opened && of->used.how == END_STATUS;
    if (of->used.opened || died(&of->used))
        to->ends[of->used.how]++;
    to->bad += bad;
}

static void try_variant(const arguments *args, const stage *on,
                        uint64_t variant, size_t kind)
{
    static image one;
    prng random = prng_of(args->seed, variant, kind);
    const char *why;
    trial of = {0};

    copy_image(&one, &on->whole);
    damages[kind].apply(&one, &on->from, &random);
    must_put(on, &one);
    try_use(on, &of.used);
    of.changed = !of.used.opened && !stage_unchanged(on, &one);
    must_put(on, &one);
    try_check(on, &of.checked);
    why = judge(&of, kind);
    count(&rows[kind], &of, why != NULL);
    if (why != NULL)
        bad_count++;
    if (why != NULL ? bad_count <= FAILURES_SHOWN : args->only != 0)
        report(args, on, variant, kind, &of, why != NULL ? why : "as expected");
    else if (args->wrong && of.used.how == END_WRONG)
        report(args, on, variant, kind, &of, "not detected");
}

/* Every kind in turn, on every kind of store in turn. */
static void try_all(const arguments *args, const stage stages[STAGES])
{
    uint64_t tried = 0;

    for (uint64_t i = 0; tried < args->variants; i++) {
        size_t kind = i % damage_count;

        if (args->kind != NULL && strcmp(args->kind, damages[kind].name) != 0)
            continue;
        tried++;
        if (args->only == 0 || args->only == tried)
            try_variant(args, &stages[i / damage_count % STAGES], tried, kind);
    }
}

/* ------------------------------------------------------------------ report */

static void print_row(const char *name, const row *of)
{
    printf("%-22s %8llu %8llu %8llu %8llu %8llu %8llu %8llu %8llu %6llu\n",
           name, (unsigned long long)of->variants,
           (unsigned long long)of->found, (unsigned long long)of->refused,
           (unsigned long long)of->ends[END_OK],
           (unsigned long long)of->ends[END_STATUS],
           (unsigned long long)of->ends[END_WRONG],
           (unsigned long long)of->ends[END_CRASHED],
           (unsigned long long)of->ends[END_HUNG], (unsigned long long)of->bad);
}

static void print_table(void)
{
    row sum = {0};

    printf("%-22s %8s %8s %8s %8s %8s %8s %8s %8s %6s\n", "damage", "variants",
           "found", "refused", "fine", "status", "wrong", "crashed", "hung",
           "bad");
    for (size_t i = 0; i < damage_count; i++) {
        const row *of = &rows[i];

        if (of->variants > 0)
            print_row(damages[i].name, of);
        sum.variants += of->variants;
        sum.found += of->found;
        sum.refused += of->refused;
        sum.bad += of->bad;
        for (size_t j = 0; j < END_COUNT; j++)
            sum.ends[j] += of->ends[j];
    }
    print_row("all", &sum);
    printf(
        "found: by the check; refused: by opening; then what became of using "
        "what opened\n");
}

static void print_json(const arguments *args)
{
    bool first = true;

    printf("{\"seed\": %llu, \"variants\": %llu, \"bad\": %llu, \"kinds\": {",
           (unsigned long long)args->seed, (unsigned long long)args->variants,
           (unsigned long long)bad_count);
    for (size_t i = 0; i < damage_count; i++) {
        const row *of = &rows[i];

        if (of->variants == 0)
            continue;
        printf("%s\"%s\": {\"variants\": %llu, \"found\": %llu, \"refused\": "
               "%llu, \"fine\": %llu, \"status\": %llu, \"wrong\": %llu, "
               "\"crashed\": %llu, \"hung\": %llu, \"bad\": %llu}",
               first ? "" : ", ", damages[i].name,
               (unsigned long long)of->variants, (unsigned long long)of->found,
               (unsigned long long)of->refused,
               (unsigned long long)of->ends[END_OK],
               (unsigned long long)of->ends[END_STATUS],
               (unsigned long long)of->ends[END_WRONG],
               (unsigned long long)of->ends[END_CRASHED],
               (unsigned long long)of->ends[END_HUNG],
               (unsigned long long)of->bad);
        first = false;
    }
    printf("}}\n");
}

/* --------------------------------------------------------------- arguments */

static const char usage[] =
    "usage: embedded_damage [options]\n"
    "  --seed N|fresh   of the content and of the damages [1]\n"
    "  --variants N     [1000]\n"
    "  --variant N      only this one\n"
    "  --kind NAME      only damages of this kind, as the table names them\n"
    "  --dir FOLDER     where the files are [/dev/shm]\n"
    "  --sealed         the files keep their time, as when a disk fails\n"
    "  --wrong          also report wrong data without an error\n"
    "  --json           print figures as JSON\n";

__attribute__((noreturn)) static void complain(int status)
{
    fputs(usage, status == 0 ? stdout : stderr);
    exit(status);
}

static uint64_t read_number(const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0')
        complain(2);
    return number;
}

static uint64_t read_seed(const char *text)
{
    uint64_t seed;

    if (strcmp(text, "fresh") != 0)
        return read_number(text);
    hf__rand_bytes(&seed, sizeof(seed));
    return seed >> 1;
}

static const char *read_kind(const char *text)
{
    for (size_t i = 0; i < damage_count; i++) {
        if (strcmp(damages[i].name, text) == 0)
            return text;
    }
    complain(2);
}

static void read_arguments(int argc, char **argv, arguments *args)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"variants", required_argument, NULL, 'v'},
        {"variant", required_argument, NULL, 'o'},
        {"kind", required_argument, NULL, 'k'},
        {"dir", required_argument, NULL, 'd'},
        {"wrong", no_argument, NULL, 'w'},
        {"sealed", no_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 's')
            args->seed = read_seed(optarg);
        else if (letter == 'v')
            args->variants = read_number(optarg);
        else if (letter == 'o')
            args->only = read_number(optarg);
        else if (letter == 'k')
            args->kind = read_kind(optarg);
        else if (letter == 'd')
            args->folder = optarg;
        else if (letter == 'w')
            args->wrong = true;
        else if (letter == 'e')
            args->sealed = true;
        else if (letter == 'j')
            args->json = true;
        else
            complain(letter == 'h' ? 0 : 2);
    }
    if (optind != argc || damage_count > KIND_MAX)
        complain(2);
    if (args->only > args->variants)
        args->variants = args->only;
}

int main(int argc, char **argv)
{
    static const char *const schemes[STAGES] = {"file", "volatile", "file"};
    static const char *const options[STAGES] = {"", "", "?durability=flush"};
    static const char *const names[STAGES] = {"commit", "volatile", "flush"};
    static stage stages[STAGES];
    arguments args = {.seed = 1, .variants = 1000, .folder = "/dev/shm"};

    read_arguments(argc, argv, &args);
    for (size_t i = 0; i < STAGES; i++) {
        stages[i].name = names[i];
        if (!stage_make(&stages[i], schemes[i], options[i], args.folder,
                        args.seed)) {
            perror("embedded_damage: cannot create a store");
            stage_remove(&stages[i]);
            return 2;
        }
        stages[i].sealed = args.sealed;
    }
    try_all(&args, stages);
    if (args.json)
        print_json(&args);
    else
        print_table();
    for (size_t i = 0; i < STAGES; i++)
        stage_remove(&stages[i]);
    return bad_count > 0;
}
