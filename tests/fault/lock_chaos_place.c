/* SPDX-License-Identifier: Apache-2.0 */
/* lock_chaos_place.c - the stores of lock_chaos. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fault_place.h"
#include "lock_chaos.h"

#define QUARANTINE_MS 2000
#define NODE_TIMEOUT_MS 3000
#define DOWN_AFTER_MS 3000
#define DISK_SIZE "24m"

const chaos_place places[] = {
    {.name = "embedded-volatile", .kind = VOLATILE},
    {.name = "embedded-file", .kind = ON_DISK},
    {.name = "redis-unix", .kind = SINGLE},
    {.name = "redis-tcp", .kind = SINGLE, .tcp = true, .keeps = true},
    {.name = "valkey", .kind = SINGLE, .program = "valkey-server", .tcp = true},
    {.name = "sentinel", .kind = SENTINEL},
    {.name = "cluster", .kind = CLUSTER},
    {.name = "quorum", .kind = QUORUM},
};
const size_t place_count = sizeof(places) / sizeof(places[0]);

bool chaos_place_has_data(const chaos_place *at)
{
    return at->kind != QUORUM;
}

static void all_use(chaos_place *at, const char *url)
{
    (void)snprintf(at->direct_url, URL_SIZE, "%s", url);
    for (size_t i = 0; i < WORKERS; i++)
        (void)snprintf(at->urls[i], URL_SIZE, "%s", url);
}

static place embedded;

static bool start_embedded(chaos_place *at)
{
    place_make(&embedded, at->kind == VOLATILE ? "volatile" : "file",
               "?max_size=64M");
    if (at->kind == ON_DISK)
        at->own_disk = own_tmpfs(&embedded, "size=" DISK_SIZE);
    if (at->kind == ON_DISK && !at->own_disk)
        printf("%s: no file system of its own: disks are not filled\n",
               at->name);
    (void)snprintf(at->folder, sizeof(at->folder), "%s", embedded.folder);
    all_use(at, embedded.url);
    wall_clock_give(NULL);
    return true;
}

/* Workers use one of two proxies. */
static bool start_single(chaos_place *at)
{
    static const char *const keeps[] = {"--appendonly", "yes", "--appendfsync",
                                        "always", NULL};
    redis_server *server =
        redis_server_start_with(NULL, NULL, at->keeps ? keeps : NULL);

    if (server == NULL)
        return false;
    at->servers[at->server_count++] = server;
    all_use(at, redis_server_unix_url(server));
    for (; at->proxy_count < 2; at->proxy_count++) {
        at->proxies[at->proxy_count] =
            byte_proxy_start(redis_server_socket_path(server));
        if (at->proxies[at->proxy_count] == NULL)
            return false;
    }
    for (size_t i = 0; i < WORKERS; i++) {
        const byte_proxy *proxy = at->proxies[i % 2];

        (void)snprintf(at->urls[i], URL_SIZE, "%s",
                       at->tcp ? byte_proxy_tcp_url(proxy)
                               : byte_proxy_unix_url(proxy));
    }
    return true;
}

static bool start_quorum(chaos_place *at)
{
    char url[URL_SIZE];
    int size =
        snprintf(url, sizeof(url), "redlock:quarantine=%d", QUARANTINE_MS);

    for (size_t i = 0; i < QUORUM_SIZE; i++) {
        at->servers[i] = redis_server_start(NULL);
        if (at->servers[i] == NULL)
            return false;
        at->server_count++;
        at->proxies[i] =
            byte_proxy_start(redis_server_socket_path(at->servers[i]));
        if (at->proxies[i] == NULL)
            return false;
        at->proxy_count++;
        size += snprintf(url + size, sizeof(url) - (size_t)size, ",%s",
                         byte_proxy_tcp_url(at->proxies[i]));
    }
    all_use(at, url);
    rest_ms(QUARANTINE_MS + 1000);
    return true;
}

static bool start_sentinel(chaos_place *at)
{
    redis_sentinel_options opts = {.down_after_ms = DOWN_AFTER_MS};

    at->sentinel = redis_sentinel_start(&opts);
    if (at->sentinel == NULL)
        return false;
    all_use(at, redis_sentinel_url(at->sentinel));
    return true;
}

static bool start_cluster(chaos_place *at)
{
    at->cluster = redis_cluster_start(3, 1, NODE_TIMEOUT_MS);
    if (at->cluster == NULL)
        return false;
    all_use(at, redis_cluster_url(at->cluster));
    return true;
}

/* Servers of a sentinel or a cluster have the system's clock: a step would make
 * them take one another for dead. */
bool chaos_place_start(chaos_place *at)
{
    static bool (*const starts[])(chaos_place *) = {
        [VOLATILE] = start_embedded, [ON_DISK] = start_embedded,
        [SINGLE] = start_single,     [SENTINEL] = start_sentinel,
        [CLUSTER] = start_cluster,   [QUORUM] = start_quorum,
    };

    redis_server_use(at->program);
    if (at->kind != SENTINEL && at->kind != CLUSTER) {
        at->clock = wall_clock_new();
        wall_clock_give(at->clock);
    }
    return starts[at->kind](at);
}

void chaos_place_stop(chaos_place *at)
{
    for (size_t i = 0; i < at->proxy_count; i++)
        byte_proxy_stop(at->proxies[i]);
    for (size_t i = 0; i < at->server_count; i++)
        redis_server_stop(at->servers[i]);
    redis_sentinel_stop(at->sentinel);
    redis_cluster_stop(at->cluster);
    if (at->own_disk) /* its folder could not be removed */
        (void)umount2(embedded.folder, MNT_DETACH);
    if (at->folder[0] != '\0')
        place_remove(&embedded);
    wall_clock_give(NULL);
    wall_clock_free(at->clock);
}
