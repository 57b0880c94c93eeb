/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_size.c - the effect of size: SET among 10 M keys against SET among 10
 * k, next to bare LMDB in the same two sizes, first with keys that are far
 * apart and then in their order; and the file after 10 M overwrites of 10 k
 * keys, with readers killed meanwhile.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare.h"
#include "figures.h"
#include "holdfast/value.h"

#define SMALL_COUNT 10000
#define LARGE_COUNT 10000000
#define KEY "key-%08d"
#define VALUE_SIZE 32
/* Far apart in the tree; coprime with the counts. */
#define STRIDE 7919

#define OVERWRITES 10000000
#define OVERWRITE_SIZE 100
#define VICTIMS 10

/* A store of ours and a bare one, with the same number of keys. */
typedef struct sized {
    hf_client *client;
    bare base;
    int count;
    int stride; /* from the number of one key written to the next */
    int next;
    unsigned char value[BARE_HEAD + OVERWRITE_SIZE];
} sized;

static bool set_ours(sized *self, int number, size_t size)
{
    hf_error error = HF_ERROR_INIT;
    char name[BENCH_NAME_SIZE];

    snprintf(name, sizeof(name), KEY, number);
    return hf_value_set(self->client, hf_str(name), hf_view(self->value, size),
                        NULL, NULL, &error) == HF_OK ||
           bench_fail("%s", error.message);
}

static bool set_bare(sized *self, int number)
{
    char name[BENCH_NAME_SIZE];
    MDB_txn *txn;

    snprintf(name, sizeof(name), "m" KEY, number);
    return bare_begin(&self->base, 0, &txn) &&
           bare_put(&self->base, txn, name, self->value, BARE_HEAD + VALUE_SIZE,
                    0) &&
           bare_ok(mdb_txn_commit(txn));
}

/* The number of the next key to write. */
static int next_of(sized *self)
{
    self->next = (self->next + self->stride) % self->count;
    return self->next;
}

static bool run_ours(void *user, int64_t count)
{
    sized *self = user;

    for (int64_t i = 0; i < count; i++) {
        if (!set_ours(self, next_of(self), VALUE_SIZE))
            return false;
    }
    return true;
}

static bool run_bare(void *user, int64_t count)
{
    sized *self = user;

    for (int64_t i = 0; i < count; i++) {
        if (!set_bare(self, next_of(self)))
            return false;
    }
    return true;
}

static bool open_client(sized *self, const char *directory)
{
    hf_error error = HF_ERROR_INIT;
    char url[BENCH_PATH_SIZE + 32];

    snprintf(url, sizeof(url), "volatile:%s/ours?max_size=4G", directory);
    return hf_client_open(url, NULL, &self->client, &error) == HF_OK ||
           bench_fail("%s", error.message);
}

static void close_both(sized *self)
{
    hf_client_close(self->client);
    bare_close(&self->base);
}

static bool open_both(sized *self, const char *directory)
{
    if (!open_client(self, directory) ||
        !bare_open(&self->base, directory, (size_t)4 << 30))
        return false;
    for (int i = 0; i < self->count; i++) {
        if (!set_ours(self, i, VALUE_SIZE) || !set_bare(self, i))
            return false;
    }
    return true;
}

static double file_size(const char *directory)
{
    char path[BENCH_PATH_SIZE + 32];
    struct stat info;

    snprintf(path, sizeof(path), "%s/ours/data.mdb", directory);
    if (stat(path, &info) != 0)
        return 0;
    return (double)info.st_size;
}

static void print_number(const bench_run *run, const char *name,
                         const char *unit, double value, double asked)
{
    if (run->json)
        printf("{\"bench\":\"%s\",\"store\":\"volatile\",\"%s\":%.2f", name,
               unit, value);
    else
        printf("%-18s %-22s %.2f %s", name, "volatile", value, unit);
    if (asked > 0)
        printf(run->json ? ",\"asked\":%.2f,\"met\":%s" : " (asked %.2f: %s)",
               asked, value <= asked ? "true" : "false");
    puts(run->json ? "}" : "");
    fflush(stdout);
}

static bool measure_sizes(const bench_run *run, sized *large, sized *small,
                          int stride)
{
    const bench_subject ours_large = {
        .run = run_ours, .user = large, .busy = true};
    const bench_subject ours_small = {
        .run = run_ours, .user = small, .busy = true};
    const bench_subject bare_large = {
        .run = run_bare, .user = large, .busy = true};
    const bench_subject bare_small = {
        .run = run_bare, .user = small, .busy = true};
    bench_figure figure = {.name =
                               stride == 1 ? "many_keys_in_order" : "many_keys",
                           .store = "volatile",
                           .ceiling = "with 10 k keys",
                           .threads = 1,
                           .asked_ratio = 0.6};
    bench_result result;

    large->stride = small->stride = stride;
    if (!bench_compare(run, &ours_large, &ours_small, &result))
        return false;
    bench_print(run, &figure, &result);
    if (!bench_compare(run, &bare_large, &bare_small, &result))
        return false;
    figure.store = "bare LMDB";
    figure.asked_ratio = 0;
    bench_print(run, &figure, &result);
    return true;
}

bool figure_many_keys(const bench_run *run)
{
    sized large = {.count = run->quick ? 10 * SMALL_COUNT : LARGE_COUNT,
                   .stride = STRIDE};
    sized small = {.count = SMALL_COUNT, .stride = STRIDE};
    char *large_path = bench_make_directory(run->memory);
    char *small_path = bench_make_directory(run->memory);
    bool ok = large_path != NULL && small_path != NULL &&
              open_both(&small, small_path) && open_both(&large, large_path) &&
              measure_sizes(run, &large, &small, STRIDE) &&
              measure_sizes(run, &large, &small, 1);

    if (ok)
        print_number(run, "many_keys_file", "bytes_per_key",
                     file_size(large_path) / large.count, 0);
    close_both(&small);
    close_both(&large);
    bench_remove_directory(large_path);
    bench_remove_directory(small_path);
    return ok;
}

/* --------------------------------------------------------------- overwrites */

/* A process that reads the store's file and never finishes. */
static void hold_snapshot(const char *path, int ready_fd)
{
    MDB_env *env;
    MDB_txn *txn;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mdb_env_create(&env) == 0 && mdb_env_set_maxreaders(env, 1000) == 0 &&
        mdb_env_open(env, path, MDB_RDONLY | MDB_NOTLS, 0600) == 0 &&
        mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0 &&
        write(ready_fd, "", 1) == 1)
        pause();
    _exit(1);
}

/* Begin to read, and be killed meanwhile. */
static bool kill_a_reader(const char *directory)
{
    char path[BENCH_PATH_SIZE];
    char ready;
    int fds[2];
    bool ok;
    pid_t pid;

    snprintf(path, sizeof(path), "%s/ours", directory);
    if (pipe(fds) != 0)
        return bench_fail("cannot create a pipe");
    pid = fork();
    if (pid == 0)
        hold_snapshot(path, fds[1]);
    close(fds[1]);
    ok = pid > 0 && read(fds[0], &ready, 1) == 1;
    close(fds[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    return ok || bench_fail("the reader could not read");
}

static bool overwrite_values(sized *self, const char *directory,
                             int64_t overwrites)
{
    for (int64_t i = 0; i < overwrites; i++) {
        if (i % (overwrites / VICTIMS) == 0 && !kill_a_reader(directory))
            return false;
        memcpy(self->value, &i, sizeof(i));
        if (!set_ours(self, next_of(self), OVERWRITE_SIZE))
            return false;
    }
    return true;
}

bool figure_overwrites(const bench_run *run)
{
    sized self = {.count = SMALL_COUNT, .stride = STRIDE};
    int64_t overwrites = run->quick ? OVERWRITES / 50 : OVERWRITES;
    char *directory = bench_make_directory(run->memory);
    double live = SMALL_COUNT * (1.0 + sizeof("key-00000000") - 1 + BARE_HEAD +
                                 OVERWRITE_SIZE);
    bool ok = directory != NULL && open_client(&self, directory);

    for (int i = 0; ok && i < self.count; i++)
        ok = set_ours(&self, i, OVERWRITE_SIZE);
    ok = ok && overwrite_values(&self, directory, overwrites);
    if (ok)
        print_number(run, "overwrites", "file_per_live_byte",
                     file_size(directory) / live, 3);
    close_both(&self);
    bench_remove_directory(directory);
    return ok;
}
