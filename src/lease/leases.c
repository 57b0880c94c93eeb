/* SPDX-License-Identifier: Apache-2.0 */
/* leases.c - see leases.h. */
#include "lease/leases.h"

#include "core/client.h"
#include "util/mem.h"

hf__leases *hf__leases_new(hf_client *client, const char *description)
{
    hf__leases *leases = hf__calloc(1, sizeof(*leases));

    if (leases == NULL)
        return NULL;
    if (!hf__registry_init(&leases->registry, client, description)) {
        hf__free(leases);
        return NULL;
    }
    hf__watchdog_init(&leases->watchdog, client);
    hf__owners_init(&leases->owners);
    hf__wait_queues_init(&leases->queues);
    hf__turns_init(&leases->turns);
    return leases;
}

void hf__leases_take(void *user, hf_bytes topic, hf_bytes text)
{
    hf__leases *leases = user;
    hf__handed handed;

    if (!hf__handed_read(text, &handed))
        return;
    if (handed.turns.turn > 0)
        hf__turns_learn(&leases->turns, hf__turns_lock(topic), &handed.turns);
    hf__wait_queue_hand(&leases->queues, topic, &handed);
}

void hf__leases_stop(hf__leases *leases, bool forked)
{
    hf__watchdog_stop(&leases->watchdog);
    if (!forked)
        hf__registry_close(&leases->registry);
}

void hf__leases_done(hf__leases *leases, bool forked)
{
    hf__watchdog_done(&leases->watchdog);
    if (forked)
        return;
    hf__wait_queues_done(&leases->queues);
    hf__turns_done(&leases->turns);
}

void hf__leases_free(hf__leases *leases)
{
    hf__watchdog_free(&leases->watchdog);
    hf__registry_done(&leases->registry);
    hf__free(leases);
}
