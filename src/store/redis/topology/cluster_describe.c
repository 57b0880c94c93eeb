/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_describe.c - description and diagnosis of a cluster: the masters,
 * their shares of the slots, and the state of each.
 */
#include "store/redis/topology/cluster_describe.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/diagnose/diagnose_server.h"
#include "util/mem.h"

/* "masters" and, for each, its address and number of slots. */
void hf__cluster_describe(hf__cluster_map *map, hf__describe_fn line,
                          void *user)
{
    uint32_t *ids = hf__alloc(HF__CLUSTER_NODES_MAX * sizeof(*ids));
    char text[HF__WHERE_SIZE + 32];
    uint32_t covered;
    size_t count;

    if (ids == NULL)
        return;
    count = hf__cluster_map_list(map, ids, HF__CLUSTER_NODES_MAX, &covered);
    snprintf(text, sizeof(text), "%zu with %u of %d slots", count, covered,
             HF__SLOT_COUNT);
    line(user, "masters", text);
    for (size_t i = 0; i < count; i++) {
        if (hf__cluster_map_tell(map, ids[i], text, sizeof(text)))
            line(user, "master", text);
    }
    hf__free(ids);
}

static void examine_node(hf__cluster_map *map, uint32_t id, const char *text,
                         const hf__diagnosis *diagnosis)
{
    hf__server *server = hf__cluster_map_part(map, id);
    char name[HF__WHERE_SIZE];

    if (server == NULL)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ","), text);
    (void)hf__server_diagnose(server, name, diagnosis);
    hf__server_release(server);
}

void hf__cluster_diagnose(hf__cluster_map *map, const hf__diagnosis *diagnosis)
{
    uint32_t *ids = hf__alloc(HF__CLUSTER_NODES_MAX * sizeof(*ids));
    char text[HF__WHERE_SIZE + 32];
    uint32_t covered = 0;
    size_t count;

    if (ids == NULL)
        return;
    count = hf__cluster_map_list(map, ids, HF__CLUSTER_NODES_MAX, &covered);
    if (covered < HF__SLOT_COUNT)
        hf__report_error(
            diagnosis, HF_UNAVAILABLE, "slots", "see CLUSTER INFO on any node",
            "%u of %d belong to a master", covered, HF__SLOT_COUNT);
    else
        hf__report(diagnosis, HF_LEVEL_OK, "slots", "",
                   "all %d, on %zu masters", HF__SLOT_COUNT, count);
    for (size_t i = 0; i < count; i++) {
        if (!hf__diagnosis_is_over(diagnosis) &&
            hf__cluster_map_tell(map, ids[i], text, sizeof(text)))
            examine_node(map, ids[i], text, diagnosis);
    }
    hf__free(ids);
}
