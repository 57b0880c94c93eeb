/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - the counters of a client, which are kept where they are counted. */
#include "core/client.h"
#include "lease/leases.h"
#include "util/error.h"

static void read_calls(hf__completions *from, hf_client_stats *stats)
{
    pthread_mutex_lock(&from->mutex);
    stats->calls_running = from->running;
    stats->calls_bytes = from->bytes;
    stats->calls_completed = from->delivered;
    pthread_mutex_unlock(&from->mutex);
}

static void read_leases(hf__watchdog *from, hf_client_stats *stats)
{
    pthread_mutex_lock(&from->mutex);
    stats->leases_granted = from->counts.granted;
    stats->leases_renewed = from->counts.renewed;
    stats->renewals_failed = from->counts.unrenewed;
    stats->leases_lost = from->counts.lost;
    pthread_mutex_unlock(&from->mutex);
}

hf_status hf_client_read_stats(hf_client *client, hf_client_stats *stats,
                               hf_error *err)
{
    hf_client_stats now = HF_CLIENT_STATS_INIT;
    hf_status status = hf__check_out(stats, "stats", err);

    if (status == HF_OK)
        status =
            hf__check_struct(stats->struct_size, sizeof(size_t),
                             "hf_client_stats", "HF_CLIENT_STATS_INIT", err);
    if (status == HF_OK)
        status = hf__client_enter(client, err);
    if (status != HF_OK)
        return status;
    read_calls(&client->completions, &now);
    read_leases(&client->leases->watchdog, &now);
    hf__life_leave(&client->life);
    now.struct_size = stats->struct_size;
    memcpy(stats, &now,
           stats->struct_size < sizeof(now) ? stats->struct_size : sizeof(now));
    return HF_OK;
}
