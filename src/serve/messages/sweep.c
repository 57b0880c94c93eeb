/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - see sweep.h.
 *
 * Expired keys are removed by writers. So that their events and notices come on
 * an idle store, too, look for them.
 */
#include "serve/messages/sweep.h"

#include "serve/state.h"
#include "util/clock.h"

/* How often, ms; keys each time; waiting for the writer lock, ms. About a
 * hundredth of the time. */
#define SWEEP_MS 100
#define SWEEP_STEPS 100u
#define SWEEP_LOCK_MS 5

static bool is_wanted(const hf_server *server)
{
    return (server->pubsub.wanted & HF__EVENT_EXPIRED) != 0 ||
           server->trackers.first != NULL;
}

static void on_sweep(hf__tick *tick)
{
    hf_server *server = tick->user;
    int64_t now_ms = hf__clock_boot_ms();

    if (server->pause.until_ms == 0 &&
        hf__command_round_enter(&server->round, true, now_ms + SWEEP_LOCK_MS,
                                NULL) == HF_OK) {
        hf__reclaim_expired(server->round.tx, SWEEP_STEPS);
        (void)hf__command_round_end(&server->round, now_ms, NULL);
    }
    if (is_wanted(server))
        hf__tick_set(hf__loop_poller(server->loop), tick, now_ms + SWEEP_MS);
}

void hf__sweep_soon(hf_server *server)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->sweep, 0);
}

void hf__sweep_set(hf_server *server)
{
    if (!is_wanted(server))
        hf__tick_stop(&server->sweep);
    else if (server->sweep.link == NULL)
        hf__sweep_soon(server);
}

void hf__sweep_open_server(hf_server *server)
{
    server->sweep.ring = on_sweep;
    server->sweep.user = server;
}
