/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_probe.c - whether it is the connection that is silent, or the
 * server.
 *
 * 1. When the shared connection has been silent for too long (silence_limit.h),
 * a second one is made, and nothing more is written to the first.
 * 2. If the first is heard, the second is not needed. Its answers count: a
 *    server that is slow would otherwise be left each time just before them.
 * 3. If the second logs in, it is the first that is broken. It is dropped, and
 *    made again by itself (pipeline_io.c).
 * 4. If the second fails, it is tried again, and callers that have not been
 *    written are told as if there were no first.
 */
#include "store/redis/server/pipeline_internal.h"

#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct hf__probe {
    hf__link link; /* first: a link of ours is a probe */
    hf__mux *mux;
    void (*up)(hf__mux *mux);
    void (*failed)(hf__mux *mux);
    bool wanted;
} hf__probe;

static void on_up(hf__link *link)
{
    hf__mux *mux = hf__container_of(link, hf__probe, link)->mux;

    hf__probe_end(mux);
    hf__container_of(link, hf__probe, link)->up(mux);
}

static void on_nothing(hf__link *link)
{
    (void)link;
}

static void on_down(hf__link *link, bool was_up)
{
    hf__mux *mux = hf__container_of(link, hf__probe, link)->mux;

    (void)was_up;
    if (!hf__probe_is_on(mux))
        return;
    mux->link.error = link->error;
    hf__container_of(link, hf__probe, link)->failed(mux);
}

static bool is_wanted(hf__link *link)
{
    return hf__container_of(link, hf__probe, link)->wanted;
}

static int64_t on_tick(hf__link *link, int64_t now_ms)
{
    (void)link;
    (void)now_ms;
    return INT64_MAX;
}

static const hf__link_ops probe_ops = {
    .up = on_up,
    .input = on_nothing,
    .drained = on_nothing,
    .down = on_down,
    .wanted = is_wanted,
    .tick = on_tick,
};

bool hf__probe_begin(hf__mux *mux, void (*up)(hf__mux *mux),
                     void (*failed)(hf__mux *mux))
{
    if (mux->probe == NULL) {
        mux->probe = hf__calloc(1, sizeof(*mux->probe));
        if (mux->probe == NULL)
            return false;
        hf__link_init(&mux->probe->link, &probe_ops, mux->link.node,
                      HF__RESP_REQUEST_MAX);
        mux->probe->mux = mux;
        mux->probe->up = up;
        mux->probe->failed = failed;
    }
    mux->probe->wanted = true;
    hf__link_update(&mux->probe->link);
    return true;
}

void hf__probe_end(hf__mux *mux)
{
    if (!hf__probe_is_on(mux))
        return;
    mux->probe->wanted = false;
    hf__fail(&mux->probe->link.error, HF_UNAVAILABLE, "it is not needed");
    hf__link_drop(&mux->probe->link);
}

bool hf__probe_is_on(const hf__mux *mux)
{
    return mux->probe != NULL && mux->probe->wanted;
}

static void on_closed(hf__link *link)
{
    hf__mux *mux = hf__container_of(link, hf__probe, link)->mux;

    hf__link_done(link);
    hf__free(mux->probe);
    mux->probe = NULL;
    mux->closed(mux);
}

void hf__probe_close(hf__mux *mux)
{
    if (mux->probe == NULL)
        mux->closed(mux);
    else
        hf__link_close(&mux->probe->link, on_closed);
}

void hf__probe_abandon(hf__mux *mux)
{
    if (mux->probe != NULL)
        hf__link_abandon(&mux->probe->link);
}
