/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_leases.c - a client that holds many leases of mixed kinds for long: none
 * is lost, and renewing them takes little processor time.
 *
 *     held_leases [--leases N] [--ttl MS] [--seconds S]
 *                 [--store server|cluster|volatile]
 *
 * The processor time of the client is that of this process while it holds them,
 * in per cent of a core. With 100 000 leases of 30 s more than five of them are
 * a violation, or ten on an embedded store, whose work the client does itself;
 * with fewer leases twice as much for each, as other processes have the caches
 * between two renewals. In a cluster, where each slot needs a request of its
 * own, four times as much.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/lock.h"
#include "many_leases.h"
#include "support/redis_cluster.h"
#include "support/test_clock.h"

/* A lease of 30 s is renewed every 10 s: this many per second ... */
#define RENEWALS_PER_S 10000.0
/* ... may take this share of a core, per cent. */
static double share_max = 5;
#define MANY_LEASES 100000

static struct options {
    long leases;
    int64_t ttl_ms;
    long seconds;
    const char *store;
} options = {3000, 3000, 3, "server"};

static atomic_long lost;
static hf_lock **locks;

/* ------------------------------------------------------------------ holding */

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    (void)user;
    if (atomic_fetch_add(&lost, 1) == 0)
        printf("first loss: HF_%s\n", hf_status_name(reason));
}

static double used_ms(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

/* Per cent of a core. */
static double hold_all(void)
{
    double used = used_ms();
    int64_t began_ms = test_now_ms();

    while (test_now_ms() < began_ms + options.seconds * 1000)
        (void)usleep(100000);
    return 100 * (used_ms() - used) / (double)(test_now_ms() - began_ms);
}

static bool hold(void)
{
    double renewals = (double)options.leases * 3e3 / (double)options.ttl_ms;
    double share, limit = SLOWER * share_max * renewals / RENEWALS_PER_S *
                          (options.leases < MANY_LEASES ? 2 : 1);
    int64_t began_ms = test_now_ms();
    size_t count = (size_t)options.leases;
    long bad = (long)leases_acquire(locks, count), held;

    printf("%ld leases acquired in %lld ms, %ld not\n", options.leases - bad,
           (long long)(test_now_ms() - began_ms), bad);
    share = hold_all();
    held = (long)leases_held(locks, count);
    printf("%ld held after %ld s, %ld lost; client %.2f %% of a core, limit "
           "%.2f %%\n",
           held, options.seconds, atomic_load(&lost), share, limit);
    bad += options.leases - held + atomic_load(&lost);
    began_ms = test_now_ms();
    held = (long)leases_release(locks, count);
    printf("released in %lld ms, %ld not\n",
           (long long)(test_now_ms() - began_ms), held);
    bad += held;
    if (bad != 0)
        printf("violation: %ld leases\n", bad);
    if (share > limit)
        printf("violation: processor time\n");
    return bad == 0 && share <= limit;
}

static bool run(const char *url)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options lock_opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    bool fine;

    opts.request_ms = 20000;
    lock_opts.ttl_ms = options.ttl_ms;
    lock_opts.on_lost = on_lost;
    locks = calloc((size_t)options.leases, sizeof(hf_lock *));
    fine = locks != NULL &&
           hf_client_open(url, &opts, &client, &err) == HF_OK &&
           leases_make(client, "", &lock_opts, 0, true, locks,
                       (size_t)options.leases, &err) == HF_OK;
    if (!fine)
        printf("violation: %s\n", err.message);
    fine = fine && hold();
    if (locks != NULL)
        leases_free(locks, (size_t)options.leases);
    hf_client_close(client);
    free(locks);
    return fine;
}

static bool run_on_server(void)
{
    redis_server *server = redis_server_start(NULL);
    bool fine = server != NULL && run(redis_server_tcp_url(server));

    redis_server_stop(server);
    return fine;
}

static bool run_on_cluster(void)
{
    redis_cluster *cluster = redis_cluster_start(3, 0, 15000);
    bool fine;

    share_max *= 4;
    fine = cluster != NULL && run(redis_cluster_url(cluster));
    redis_cluster_stop(cluster);
    return fine;
}

static bool run_embedded(void)
{
    place at;
    bool fine;

    share_max = 10;
    place_make(&at, "volatile", "?max_size=512M");
    fine = run(at.url);
    place_remove(&at);
    return fine;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--leases") == 0)
            options.leases = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ttl") == 0)
            options.ttl_ms = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            options.seconds = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--store") == 0)
            options.store = argv[i + 1];
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(options.store, "server") == 0)
        return run_on_server() ? 0 : 1;
    if (strcmp(options.store, "cluster") == 0)
        return run_on_cluster() ? 0 : 1;
    return run_embedded() ? 0 : 1;
}
