/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_durable.c - acknowledged writes per second on the durable store: 32
 * threads of one process against one thread; and one thread against a write and
 * fdatasync() of the same size on the same file system.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "holdfast/value.h"
#include "writers.h"

typedef struct durable {
    hf_client *client;
    int fd; /* of the raw file */
} durable;

static bool set_value(void *user, int thread, const char *name,
                      const char *value)
{
    hf_error error = HF_ERROR_INIT;
    durable *self = user;

    (void)thread;
    return hf_value_set(self->client, hf_str(name),
                        hf_view(value, WRITERS_VALUE_SIZE), NULL, NULL,
                        &error) == HF_OK ||
           bench_fail("%s", error.message);
}

static bool write_by_many(void *user, int slice_ms, double *ops_per_s)
{
    return writers_run(set_value, user, WRITERS_MAX, slice_ms, ops_per_s);
}

static bool write_by_one(void *user, int slice_ms, double *ops_per_s)
{
    return writers_run(set_value, user, 1, slice_ms, ops_per_s);
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
                           .threads = WRITERS_MAX,
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
