/* SPDX-License-Identifier: Apache-2.0 */
/* writers.c - see writers.h. */
#include "writers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct writers {
    writers_set *set;
    void *user;
    atomic_bool stop;
    atomic_bool failed;
    atomic_int numbers; /* of threads */
    atomic_long done;
} writers;

void writers_name(char name[BENCH_NAME_SIZE], int thread, int i)
{
    snprintf(name, BENCH_NAME_SIZE, "key-%02d-%03d", thread,
             i % WRITERS_KEYS_EACH);
}

static void *write_until_stopped(void *user)
{
    writers *self = user;
    int number = atomic_fetch_add(&self->numbers, 1);
    const char value[WRITERS_VALUE_SIZE] = {0};
    char name[BENCH_NAME_SIZE];

    for (int i = 0; !atomic_load(&self->stop); i++) {
        writers_name(name, number, i);
        if (!self->set(self->user, number, name, value)) {
            atomic_store(&self->failed, true);
            break;
        }
        atomic_fetch_add(&self->done, 1);
    }
    return NULL;
}

bool writers_run(writers_set *set, void *user, int threads, int slice_ms,
                 double *ops_per_s)
{
    writers self = {.set = set, .user = user};
    pthread_t ids[WRITERS_MAX];
    double start = bench_now_s();
    int started = 0;

    while (started < threads &&
           pthread_create(&ids[started], NULL, write_until_stopped, &self) == 0)
        started++;
    do /* until something is done, however busy the machine is */
        usleep((useconds_t)slice_ms * 1000);
    while (started > 0 && atomic_load(&self.done) == 0 &&
           !atomic_load(&self.failed));
    atomic_store(&self.stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    *ops_per_s = (double)atomic_load(&self.done) / (bench_now_s() - start);
    return started == threads && !atomic_load(&self.failed);
}
