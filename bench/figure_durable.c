/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_durable.c - acknowledged writes per second on the durable store: 32
 * threads of one process against one thread; and one thread against a write and
 * fdatasync() of the same size on the same file system.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "holdfast/value.h"

#define THREADS 32
#define KEYS_EACH 100
#define VALUE_SIZE 100

typedef struct durable {
    hf_client *client;
    int fd; /* of the raw file */
    atomic_bool stop;
    atomic_bool failed;
    atomic_int numbers; /* of threads */
    atomic_long done;
} durable;

static void *write_until_stopped(void *user)
{
    hf_error error = HF_ERROR_INIT;
    durable *self = user;
    int number = atomic_fetch_add(&self->numbers, 1);
    char value[VALUE_SIZE] = {0};
    char name[BENCH_NAME_SIZE];

    for (int i = 0; !atomic_load(&self->stop); i++) {
        snprintf(name, sizeof(name), "key-%02d-%03d", number, i % KEYS_EACH);
        if (hf_value_set(self->client, hf_str(name),
                         hf_view(value, sizeof(value)), NULL, NULL,
                         &error) != HF_OK) {
            atomic_store(&self->failed, true);
            bench_fail("%s", error.message);
            break;
        }
        atomic_fetch_add(&self->done, 1);
    }
    return NULL;
}

static bool write_by(durable *self, int threads, int slice_ms,
                     double *ops_per_s)
{
    pthread_t ids[THREADS];
    double start = bench_now_s();
    int started = 0;

    atomic_store(&self->stop, false);
    atomic_store(&self->numbers, 0);
    atomic_store(&self->done, 0);
    while (started < threads &&
           pthread_create(&ids[started], NULL, write_until_stopped, self) == 0)
        started++;
    usleep((useconds_t)slice_ms * 1000);
    atomic_store(&self->stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    *ops_per_s = (double)atomic_load(&self->done) / (bench_now_s() - start);
    return started == threads && !atomic_load(&self->failed);
}

static bool write_by_many(void *user, int slice_ms, double *ops_per_s)
{
    return write_by(user, THREADS, slice_ms, ops_per_s);
}

static bool write_by_one(void *user, int slice_ms, double *ops_per_s)
{
    return write_by(user, 1, slice_ms, ops_per_s);
}

static bool write_raw(void *user, int64_t count)
{
    const durable *self = user;
    char page[4096] = {0};

    for (int64_t i = 0; i < count; i++) {
        memcpy(page, &i, sizeof(i));
        if (pwrite(self->fd, page, sizeof(page), 0) != (ssize_t)sizeof(page) ||
            fdatasync(self->fd) != 0)
            return bench_fail("cannot write to the disk");
    }
    return true;
}

static bool measure_durable(const bench_run *run, durable *both)
{
    const bench_subject many = {.timed = write_by_many, .user = both};
    const bench_subject one = {.timed = write_by_one, .user = both};
    const bench_subject raw = {.run = write_raw, .user = both};
    bench_figure figure = {.name = "durable_threads",
                           .store = "file",
                           .ceiling = "one thread",
                           .threads = THREADS,
                           .asked_ratio = 8};
    bench_result result;

    if (!bench_compare(run, &many, &one, &result))
        return false;
    bench_print(run, &figure, &result);
    if (!bench_compare(run, &one, &raw, &result))
        return false;
    figure.name = "durable_one";
    figure.ceiling = "write and fdatasync";
    figure.threads = 1;
    figure.asked_ratio = 0;
    bench_print(run, &figure, &result);
    return true;
}

bool figure_durable(const bench_run *run)
{
    hf_error error = HF_ERROR_INIT;
    char url[BENCH_PATH_SIZE], path[BENCH_PATH_SIZE];
    durable both = {.fd = -1};
    bool ok;

    snprintf(url, sizeof(url), "file:%s/durable", run->disk);
    snprintf(path, sizeof(path), "%s/raw", run->disk);
    both.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (both.fd < 0)
        return bench_fail("cannot create %s", path);
    ok = hf_client_open(url, NULL, &both.client, &error) == HF_OK ||
         bench_fail("%s", error.message);
    ok = ok && measure_durable(run, &both);
    hf_client_close(both.client);
    close(both.fd);
    return ok;
}
