/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.c - see backlog.h. */
#include "engine/run/backlog.h"

#include "util/container.h"

#include <assert.h>

#define BUNDLE_MAX 128

static void run_bundle(hf__task *task);

void hf__backlog_init(hf__backlog *backlog, hf__loop *loop, hf__store *store,
                      void (*run)(hf__store *store,
                                  hf__request *const *requests, size_t count),
                      size_t bundle_max)
{
    assert(bundle_max <= BUNDLE_MAX);
    *backlog = (hf__backlog){.loop = loop,
                             .store = store,
                             .run = run,
                             .bundle_max = bundle_max,
                             .task = {.run = run_bundle}};
    pthread_mutex_init(&backlog->mutex, NULL);
}

bool hf__backlog_add(hf__backlog *backlog, hf__request *request)
{
    bool post;

    if (hf__loop_start(backlog->loop, NULL) != HF_OK)
        return false;
    request->driver = NULL;
    pthread_mutex_lock(&backlog->mutex);
    if (backlog->last != NULL)
        backlog->last->driver = request;
    else
        backlog->first = request;
    backlog->last = request;
    post = !backlog->posted;
    backlog->posted = true;
    pthread_mutex_unlock(&backlog->mutex);
    if (post)
        hf__loop_post(backlog->loop, &backlog->task);
    return true;
}

static hf__request *take_locked(hf__backlog *backlog)
{
    hf__request *request = backlog->first;

    if (request == NULL)
        return NULL;
    backlog->first = request->driver;
    if (backlog->first == NULL)
        backlog->last = NULL;
    request->driver = NULL;
    return request;
}

/* One bundle per turn of the loop. */
static void run_bundle(hf__task *task)
{
    hf__backlog *backlog = hf__container_of(task, hf__backlog, task);
    hf__request *requests[BUNDLE_MAX];
    size_t count = 0;
    bool more;

    pthread_mutex_lock(&backlog->mutex);
    while (count < backlog->bundle_max &&
           (requests[count] = take_locked(backlog)) != NULL)
        count++;
    pthread_mutex_unlock(&backlog->mutex);
    if (count > 0)
        backlog->run(backlog->store, requests, count);
    pthread_mutex_lock(&backlog->mutex);
    more = backlog->first != NULL;
    backlog->posted = more;
    pthread_mutex_unlock(&backlog->mutex);
    if (more)
        hf__loop_post(backlog->loop, &backlog->task);
}

bool hf__backlog_remove(hf__backlog *backlog, const hf__request *request)
{
    hf__request *before = NULL;
    hf__request *at;

    pthread_mutex_lock(&backlog->mutex);
    for (at = backlog->first; at != NULL && at != request; at = at->driver)
        before = at;
    if (at != NULL) {
        if (before != NULL)
            before->driver = at->driver;
        else
            backlog->first = at->driver;
        if (backlog->last == at)
            backlog->last = before;
        at->driver = NULL;
    }
    pthread_mutex_unlock(&backlog->mutex);
    return at != NULL;
}

static void do_nothing(hf__task *task)
{
    (void)task;
}

static bool is_posted(hf__backlog *backlog)
{
    bool posted;

    pthread_mutex_lock(&backlog->mutex);
    posted = backlog->posted;
    pthread_mutex_unlock(&backlog->mutex);
    return posted;
}

void hf__backlog_close(hf__backlog *backlog)
{
    hf__task task = {.run = do_nothing};

    /* Tasks run in order: each turn waits for at least one bundle. */
    while (is_posted(backlog))
        hf__loop_call(backlog->loop, &task);
    /* What the last bundle posted uses the store. */
    if (backlog->loop != NULL && hf__loop_started(backlog->loop))
        hf__loop_call(backlog->loop, NULL);
    pthread_mutex_destroy(&backlog->mutex);
}
