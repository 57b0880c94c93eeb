/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut.c - what does a power cut leave of a durable store?
 *
 * Programs write to a store under the recorder (recorder.h). Then their log is
 * replayed, call by call; at each instant at which a sync had just ended or a
 * write had just been acknowledged, and at others in between, the files are
 * built as a power cut may have left them (power_cut_disk.c says what may be
 * lost), and each such image is opened as after a reboot: everything
 * acknowledged must be there, and no operation half done.
 *
 * Exit status: 0 all images are right, 1 some are not, 2 it could not run.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power_cut_disk.h"
#include "power_cut_options.h"
#include "power_cut_trial.h"
#include "power_cut_work.h"
#include "support/remove_tree.h"

/* Sparse: only what is recorded takes space. */
#define LOG_SIZE ((size_t)16 << 30)
#define FAILURES_SHOWN 10u
/* The store, below the recorded root and below each image. */
#define STORE "s"
#define URL_SIZE (PATH_MAX + 64)

/* Acknowledged, but not certainly durable yet. */
typedef struct ack {
    uint64_t number;
    uint64_t token;
    int64_t time_ms;
} ack;

typedef struct acks {
    ack *items;
    size_t first;
    size_t end;
    size_t room;
} acks;

typedef struct run {
    const arguments *args;
    char place[PATH_MAX]; /* a new folder */
    char log_path[PATH_MAX];
    recorder_head *log;
    promise given;
    acks waiting[MODEL_THREAD_MAX];
    uint64_t images;
    uint64_t failures;
    uint64_t boundaries;
    uint64_t by_cut[CUT_COUNT];
    uint64_t lost_by_cut[CUT_COUNT];
} run;

/* ------------------------------------------------------------------- files */

static void path_in(char path[PATH_MAX], const run *self, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", self->place, name) >= PATH_MAX)
        exit(2);
}

static void store_url(const run *self, char url[URL_SIZE], const char *folder)
{
    (void)snprintf(url, URL_SIZE, "file:%s/" STORE "?durability=%s", folder,
                   self->args->durability);
}

static bool map_log(run *self, size_t size)
{
    int fd = open(self->log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory;
    struct stat info;

    if (fd < 0 || (size > 0 && ftruncate(fd, (off_t)size) != 0) ||
        fstat(fd, &info) != 0)
        return false;
    memory = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE,
                  MAP_SHARED, fd, 0);
    (void)close(fd);
    if (memory == MAP_FAILED)
        return false;
    self->log = memory;
    if (size > 0) {
        self->log->magic = RECORDER_MAGIC;
        self->log->capacity = size;
        self->log->tail = RECORDER_HEAD_SIZE;
    }
    return true;
}

static bool make_place(run *self)
{
    char real[PATH_MAX];

    if (realpath(self->args->folder, real) == NULL ||
        snprintf(self->place, PATH_MAX, "%s/hf-power-cut-XXXXXX", real) >=
            PATH_MAX)
        return false;
    return mkdtemp(self->place) != NULL;
}

/* ----------------------------------------------------------------- the log */

static bool record(run *self, const char *program)
{
    const arguments *args = self->args;
    char root[PATH_MAX], boot[PATH_MAX], url[URL_SIZE];
    char real[PATH_MAX], recorder[PATH_MAX];
    work todo = {.seed = args->seed,
                 .ops = args->ops,
                 .pace_us = args->pace_us,
                 .processes = args->processes,
                 .threads = args->threads,
                 .url = url,
                 .program = real,
                 .recorder = recorder,
                 .log = self->log_path,
                 .root = root,
                 .boot = boot};
    char *slash;

    path_in(root, self, "recorded");
    path_in(boot, self, "boot");
    store_url(self, url, root);
    if (realpath(program, real) == NULL)
        return false;
    memcpy(recorder, real, sizeof(real));
    slash = strrchr(recorder, '/');
    (void)snprintf(slash, sizeof(recorder) - (size_t)(slash - recorder),
                   "/librecorder.so");
    if (!map_log(self, LOG_SIZE) || mkdir(root, 0700) != 0 || !work_run(&todo))
        return false;
    (void)remove_tree(root);
    /* The unused part, so that it can be truncated and kept. */
    return truncate(self->log_path, (off_t)self->log->tail) == 0;
}

static void add_ack(acks *to, const recorder_event *event)
{
    if (to->end == to->room) {
        to->room = to->room * 2 + 64;
        to->items = realloc(to->items, to->room * sizeof(to->items[0]));
        if (to->items == NULL)
            exit(2);
    }
    to->items[to->end++] = (ack){event->offset, event->length, event->time_ms};
}

/* What was acknowledged grace_ms ago must be there from now on. */
static void require_due(run *self, unsigned thread, int64_t now_ms)
{
    int64_t until_ms = now_ms - (int64_t)self->args->grace_ms;
    model *least = &self->given.least[thread];
    acks *waiting = &self->waiting[thread];

    while (waiting->first < waiting->end &&
           waiting->items[waiting->first].time_ms <= until_ms) {
        const ack *due = &waiting->items[waiting->first++];

        while (least->count < due->number) {
            op next = model_next(least);

            model_apply(least, &next);
        }
        self->given.tokens[thread] = due->token;
    }
}

static void take_mark(run *self, const recorder_event *event)
{
    unsigned thread = (unsigned)event->file;

    if (thread >= self->given.threads) {
        fprintf(stderr, "power_cut: the log belongs to another workload\n");
        exit(2);
    }
    if (event->flags == MARK_BEGUN)
        self->given.most[thread] = event->offset;
    else
        add_ack(&self->waiting[thread], event);
}

/* ------------------------------------------------------------------ images */

static const char *kept_path(const run *self, char path[PATH_MAX])
{
    char name[32];

    (void)snprintf(name, sizeof(name), "image-%llu",
                   (unsigned long long)self->images);
    path_in(path, self, name);
    return path;
}

static void report(const run *self, cut how, size_t moment, const char *why)
{
    const arguments *args = self->args;
    char kept[PATH_MAX];

    printf("image %llu (moment %zu, %s): %s\n  kept: %s\n",
           (unsigned long long)self->images, moment, cut_name(how), why,
           kept_path(self, kept));
    printf("  repeat: power_cut --log %s --seed %llu --ops %llu "
           "--processes %u --threads %u --every %llu --durability %s "
           "--image %llu\n",
           self->log_path, (unsigned long long)args->seed,
           (unsigned long long)args->ops, args->processes, args->threads,
           (unsigned long long)args->every, args->durability,
           (unsigned long long)self->images);
    (void)fflush(stdout);
}

/* Files with content that does not outlive a boot may be missing, too. */
static void drop_some(const char *image, prng *random)
{
    static const char *const names[] = {"sidecar", "lock.mdb"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (prng_chance(random, 10)) {
            (void)snprintf(path, sizeof(path), "%s/" STORE "/%s", image,
                           names[i]);
            (void)unlink(path);
        }
    }
}

static bool any_acknowledged(const promise *given)
{
    for (unsigned i = 0; i < given->threads; i++) {
        if (given->least[i].count > 0)
            return true;
    }
    return false;
}

static void build_image(const run *self, const disk *power, cut how,
                        const char *image)
{
    prng random = prng_of(self->args->seed, self->images, how);

    (void)remove_tree(image);
    if (mkdir(image, 0700) != 0 || !disk_build(power, how, &random, image)) {
        perror("power_cut: cannot write an image");
        exit(2);
    }
    if (any_acknowledged(&self->given))
        drop_some(image, &random);
}

static void try_image(run *self, const disk *power, size_t moment, cut how)
{
    char image[PATH_MAX], url[URL_SIZE];
    char why[TRIAL_WHY_SIZE] = "";

    self->images++;
    if (self->args->only != 0 && self->args->only != self->images)
        return;
    self->by_cut[how]++;
    path_in(image, self, "image");
    store_url(self, url, image);
    build_image(self, power, how, image);
    if (trial_run(&self->given, url, why))
        return;
    self->failures++;
    self->lost_by_cut[how]++;
    if (self->args->expect_failures || self->failures > FAILURES_SHOWN)
        return;
    report(self, how, moment, why);
    build_image(self, power, how, kept_path(self, image));
}

static void try_moment(run *self, const disk *power, size_t moment,
                       bool boundary)
{
    uint64_t every = self->args->every;
    prng random = prng_of(self->args->seed, moment, 1);
    cut some = (cut)(CUT_LAST + prng_below(&random, CUT_COUNT - CUT_LAST));

    if (boundary && self->boundaries++ % every == 0) {
        try_image(self, power, moment, CUT_NONE);
        if (disk_loose(power) > 0)
            try_image(self, power, moment, CUT_ALL);
    }
    if (disk_loose(power) > 0 && prng_below(&random, 4 * every) == 0)
        try_image(self, power, moment, some);
}

static void replay(run *self, disk *power)
{
    size_t count = disk_moment_count(power);

    for (unsigned i = 0; i < self->given.threads; i++)
        model_init(&self->given.least[i], self->args->seed, i);
    for (size_t i = 0; i < count; i++) {
        bool boundary;
        const recorder_event *mark = disk_step(power, &boundary);

        if (mark != NULL)
            take_mark(self, mark);
        for (unsigned j = 0; j < self->given.threads; j++)
            require_due(self, j, disk_time_ms(power));
        /* Also if its completion was reported. */
        boundary |= mark != NULL && mark->flags == MARK_DONE;
        try_moment(self, power, i, boundary);
    }
}

/* ------------------------------------------------------------------ report */

static void print_json(const run *self, size_t moments)
{
    const arguments *args = self->args;

    printf("{\"seed\": %llu, \"operations\": %llu, \"processes\": %u, "
           "\"threads\": %u, \"moments\": %zu, \"instants\": %llu, "
           "\"images\": %llu, \"wrong\": %llu, \"by_cut\": {",
           (unsigned long long)args->seed, (unsigned long long)args->ops,
           args->processes, args->threads, moments,
           (unsigned long long)self->boundaries,
           (unsigned long long)self->images,
           (unsigned long long)self->failures);
    for (size_t i = 0; i < CUT_COUNT; i++)
        printf("%s\"%s\": [%llu, %llu]", i == 0 ? "" : ", ", cut_name((cut)i),
               (unsigned long long)self->by_cut[i],
               (unsigned long long)self->lost_by_cut[i]);
    printf("}}\n");
}

static void print_text(const run *self, size_t moments)
{
    printf("%llu operations of %u threads in %u processes: %zu calls, %llu "
           "instants\n%llu images, %llu wrong\n",
           (unsigned long long)(self->args->ops * self->given.threads),
           self->given.threads, self->args->processes, moments / 2,
           (unsigned long long)self->boundaries,
           (unsigned long long)self->images,
           (unsigned long long)self->failures);
    for (size_t i = 0; i < CUT_COUNT; i++)
        printf("  unsynced: %-12s %8llu images %8llu wrong\n", cut_name((cut)i),
               (unsigned long long)self->by_cut[i],
               (unsigned long long)self->lost_by_cut[i]);
}

/* --------------------------------------------------------------------- run */

static int cut_all(run *self)
{
    const arguments *args = self->args;
    const char *why;
    disk *power = disk_new(self->log, args->ignored, &why);
    size_t moments;

    if (power == NULL) {
        fprintf(stderr, "power_cut: the recorder does not support: %s\n", why);
        return 2;
    }
    moments = disk_moment_count(power);
    self->given.threads = args->processes * args->threads;
    replay(self, power);
    disk_free(power);
    if (args->json)
        print_json(self, moments);
    else
        print_text(self, moments);
    return (self->failures > 0) != args->expect_failures;
}

int main(int argc, char **argv)
{
    static run self;
    arguments args;
    int result;

    if (argc > 1 &&
        (strcmp(argv[1], "--work") == 0 || strcmp(argv[1], "--compact") == 0))
        return work_main(argc, argv);
    read_arguments(argc, argv, &args);
    self.args = &args;
    if (!make_place(&self)) {
        perror("power_cut: cannot create a folder");
        return 2;
    }
    if (args.log != NULL)
        (void)snprintf(self.log_path, sizeof(self.log_path), "%s", args.log);
    else
        path_in(self.log_path, &self, "log");
    if (args.log != NULL ? !map_log(&self, 0) : !record(&self, argv[0])) {
        fprintf(stderr, "power_cut: the workload could not be recorded\n");
        result = 2;
    } else {
        result = cut_all(&self);
    }
    if (self.failures == 0 || args.expect_failures)
        (void)remove_tree(self.place);
    for (size_t i = 0; i < MODEL_THREAD_MAX; i++)
        free(self.waiting[i].items);
    return result;
}
