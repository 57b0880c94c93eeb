/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - who may use a client, and for how long there is one. */
#include "core/client.h"

#include "util/error.h"
#include "util/fork.h"
#include "util/futex.h"

#define CLOSING (UINT32_C(1) << 31)

static _Thread_local uint32_t thread_number; /* 0: none yet */
static _Thread_local hf__visit *visits;      /* innermost first */

static uint32_t *slot_of_thread(hf__life *life)
{
    static atomic_uint threads;

    if (thread_number == 0)
        thread_number = atomic_fetch_add(&threads, 1) % HF__LIFE_SLOTS + 1;
    return &life->slots[thread_number - 1].word;
}

void hf__life_init(hf__life *life)
{
    memset(life, 0, sizeof(*life));
    atomic_init(&life->references, 1);
    atomic_init(&life->over, false);
}

bool hf__life_enter(hf__life *life)
{
    uint32_t *word = slot_of_thread(life);

    if ((__atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL) & CLOSING) == 0)
        return true;
    hf__life_leave(life);
    return false;
}

void hf__life_leave(hf__life *life)
{
    uint32_t *word = slot_of_thread(life);

    /* The client may be gone after the subtraction. Nothing reads the word: a
     * private wake only looks for sleepers on the address. */
    if (__atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL) == (CLOSING | 1))
        hf__futex_wake_all(word, false);
}

bool hf__life_close(hf__life *life)
{
    for (size_t i = 0; i < HF__LIFE_SLOTS; i++) {
        uint32_t *word = &life->slots[i].word;
        uint32_t before = __atomic_fetch_or(word, CLOSING, __ATOMIC_SEQ_CST);

        if (i == 0 && (before & CLOSING) != 0)
            return false;
    }
    return true;
}

bool hf__life_is_closing(const hf__life *life)
{
    return (__atomic_load_n(&life->slots[0].word, __ATOMIC_SEQ_CST) &
            CLOSING) != 0;
}

void hf__life_await(hf__life *life)
{
    for (size_t i = 0; i < HF__LIFE_SLOTS; i++) {
        uint32_t *word = &life->slots[i].word;
        uint32_t seen;

        while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != CLOSING)
            hf__futex_wait(word, seen, INT64_MAX, false);
    }
}

void hf__visit_begin(hf__visit *visit, const hf__life *life)
{
    visit->life = life;
    visit->outer = visits;
    visits = visit;
}

void hf__visit_end(const hf__visit *visit)
{
    visits = visit->outer;
}

bool hf__is_visited(const hf__life *life)
{
    const hf__visit *visit = visits;

    while (visit != NULL && visit->life != life)
        visit = visit->outer;
    return visit != NULL;
}

/* -------------------------------------------------------------- the client */

bool hf__client_forked(const hf_client *client)
{
    return client->fork_generation != hf__fork_generation();
}

hf_status hf__client_check(const hf_client *client, hf_error *err)
{
    if (client == NULL)
        return hf__fail(err, HF_INVALID, "client is NULL");
    if (hf__client_forked(client))
        return hf__fail(err, HF_INVALID,
                        "the client was opened before fork(); open one in "
                        "the child");
    if (atomic_load_explicit(&client->life.over, memory_order_acquire))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return HF_OK;
}

hf_status hf__client_may_block(const hf_client *client, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK && hf__loop_here(client->loop))
        return hf__fail(err, HF_INVALID,
                        "called on the library's own thread, from on_lost; "
                        "start it (hf_..._start()) or call it on another");
    return status;
}

hf_status hf__client_enter(hf_client *client, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK && !hf__life_enter(&client->life))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return status;
}

hf_status hf__client_enter_blocking(hf_client *client, hf_error *err)
{
    hf_status status = hf__client_may_block(client, err);

    if (status == HF_OK && !hf__life_enter(&client->life))
        return hf__fail(err, HF_INVALID, "the client is closed");
    return status;
}

hf_status hf__client_visit(hf_client *client, hf__visit *visit, hf_error *err)
{
    hf_status status = hf__client_enter_blocking(client, err);

    if (status == HF_OK)
        hf__visit_begin(visit, &client->life);
    return status;
}

void hf__client_visit_end(hf_client *client, const hf__visit *visit)
{
    hf__visit_end(visit);
    hf__life_leave(&client->life);
}

void hf__client_ref(hf_client *client)
{
    atomic_fetch_add_explicit(&client->life.references, 1,
                              memory_order_relaxed);
}

void hf__client_unref(hf_client *client)
{
    if (atomic_fetch_sub(&client->life.references, 1) == 1)
        client->free(client);
}
