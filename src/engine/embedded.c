/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.c - the embedded store behind store.h: requests become transactions
 * on the calling thread.
 *
 * A user's script, or what may write, takes the writer lock and runs in an LMDB
 * write transaction: its own (write.c) or a shared one (group.c).
 *
 * A command or library script that only reads runs in a read transaction, in
 * parallel with the writer; or as a writer if LMDB has no reader slot for it.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/files/changes.h"
#include "engine/keys/tx_life.h"
#include "engine/maintenance/check_store.h"
#include "engine/maintenance/compact.h"
#include "engine/maintenance/describe.h"
#include "engine/maintenance/diagnose_store.h"
#include "engine/maintenance/salvage.h"
#include "engine/native/native.h"
#include "engine/open/open_store.h"
#include "engine/run/backlog.h"
#include "engine/run/blocked.h"
#include "engine/run/command_table.h"
#include "engine/run/group.h"
#include "engine/run/write.h"
#include "engine/wake/change_reader.h"
#include "engine/wake/wake.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"

/* As long as a server runs a script before it can be killed (docs/adr/0033). */
#define BUDGET_DEFAULT_MS 5000

/* How long close() waits for a writer to free its inbox. */
#define CLOSE_MS 1000

typedef struct embedded {
    hf__store base;
    uint32_t generation; /* of fork(), when opened */
    int64_t budget_ms;
    hf__env *env;
    hf__wake_inbox inbox;
    hf__change_reader *changes;
    char channel[HF__CHANNEL_SIZE];
    hf__backlog backlog; /* of a durable store */
    hf__blocked blocked;
    hf__log_hook *log;
} embedded;

static embedded *self_of(hf__store *store)
{
    return (embedded *)(void *)store;
}

hf__env *hf__embedded_env(hf__store *store)
{
    return self_of(store)->env;
}

const char *hf__embedded_path(hf__store *store)
{
    return self_of(store)->env->path;
}

int64_t hf__embedded_max_size(hf__store *store)
{
    return (int64_t)self_of(store)->env->sidecar.map->max_size;
}

int64_t hf__embedded_used(hf__store *store, const hf__tx *tx)
{
    MDB_stat stat = {0};

    (void)mdb_stat(tx->txn, self_of(store)->env->dbi, &stat);
    return (int64_t)((stat.ms_branch_pages + stat.ms_leaf_pages +
                      stat.ms_overflow_pages) *
                     stat.ms_psize);
}

uint32_t hf__embedded_flushes(hf__store *store)
{
    const hf__env *env = self_of(store)->env;

    return __atomic_load_n(
        &hf__changes_of(&env->rings[HF__RING_CHANGES])->flushes,
        __ATOMIC_SEQ_CST);
}

int64_t hf__embedded_budget_ms(hf__store *store)
{
    return self_of(store)->budget_ms;
}

hf__wake_inbox *hf__embedded_inbox(hf__store *store)
{
    return &self_of(store)->inbox;
}

hf__ring_reader *hf__embedded_changes(hf__store *store)
{
    return &self_of(store)->changes->ring;
}

/* ---------------------------------------------------------------- reading */

static hf__tx *take_reader(hf__env *env)
{
    hf__tx *tx = NULL;

    pthread_mutex_lock(&env->readers_lock);
    if (env->reader_count > 0)
        tx = env->readers[--env->reader_count];
    pthread_mutex_unlock(&env->readers_lock);
    return tx != NULL ? tx : hf__tx_new(env, false);
}

static void give_reader(hf__env *env, hf__tx *tx)
{
    pthread_mutex_lock(&env->readers_lock);
    if (env->reader_count < HF__READER_KEEP) {
        env->readers[env->reader_count++] = tx;
        tx = NULL;
    }
    pthread_mutex_unlock(&env->readers_lock);
    if (tx == NULL)
        return;
    if (tx->txn != NULL)
        mdb_txn_abort(tx->txn);
    hf__native_free(tx->native);
    hf__tx_free(tx);
}

/* Have what the job needs; false: no memory. */
static bool prepare_reader(hf__tx *tx, const hf__job *job)
{
    return job->request->script == NULL || hf__execute_prepare_native(tx);
}

/* false: run it as a writer. */
static bool run_read(hf__env *env, const hf__job *job)
{
    hf__tx *tx = take_reader(env);
    hf_status status;

    if (tx == NULL || !prepare_reader(tx, job)) {
        if (tx != NULL)
            give_reader(env, tx);
        hf__request_fail(job->request, HF_NO_MEMORY, "out of memory");
        return true;
    }
    status = hf__env_begin_read(env, &tx->txn, &tx->error);
    if (status == HF_OK) {
        hf__tx_start(tx, hf__clock_boot_ms());
        hf__execute(tx, job);
        status = hf__tx_finish(tx);
    } else if (status == HF_UNAVAILABLE) {
        give_reader(env, tx);
        return false;
    }
    if (status != HF_OK) {
        hf__execute_drop_reply(job->request);
        hf__request_fail(job->request, status, "%s", tx->error.message);
    }
    give_reader(env, tx);
    return true;
}

/* --------------------------------------------------------------- requests */

/* false: the request has failed. */
static bool prepare_job(const embedded *self, hf__request *request,
                        hf__job *job)
{
    request->tries = (hf__script_tries){0};
    job->request = request;
    job->command = NULL;
    job->block = NULL;
    job->budget_ms = self->budget_ms;
    job->database = (uint8_t)self->base.database;
    if (self->generation != hf__fork_generation()) {
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
        return false;
    }
    if (request->script != NULL)
        return true;
    if (request->word_count > 0)
        job->command = hf__command_find(request->words[0]);
    if (job->command == NULL)
        hf__execute_unknown(self->env, request);
    return job->command != NULL;
}

static bool is_read(const hf__job *job)
{
    if (job->command == NULL)
        return job->request->script->reads;
    if (job->block != NULL && job->block->asks)
        return true;
    return !(job->command->flags & HF__COMMAND_WRITES);
}

/* In a read-only store scripts run like readers, one at a time. */
static void perform_read_only(embedded *self, const hf__job *job)
{
    hf__env *env = self->env;
    hf_error error = HF_ERROR_INIT;

    if (hf__env_lock(env, job->request->deadline_ms, &error) != HF_OK) {
        hf__request_fail(job->request, error.status, "%s", error.message);
        return;
    }
    if (!hf__execute_prepare(env, job))
        hf__request_fail(job->request, HF_NO_MEMORY, "out of memory");
    else if (!run_read(env, job))
        hf__request_fail(job->request, HF_UNAVAILABLE, "cannot read the store");
    hf__env_unlock(env);
}

/* Calls that return it are not all: renewals meet it, too. */
static void report_damage(const embedded *self, const hf__request *request)
{
    char quoted[HF__QUOTED_SIZE];

    if (request->status == HF_CORRUPT)
        HF__LOG(self->log, HF_LOG_ERROR, "the store in %s cannot be used: %s",
                hf__quoted_path(quoted, self->env->path),
                request->error.message);
}

static void run_request(hf__store *store, hf__request *request,
                        hf__block *block)
{
    embedded *self = self_of(store);
    hf__job job;

    if (!prepare_job(self, request, &job))
        return;
    job.block = block;
    if (self->env->read_only) {
        perform_read_only(self, &job);
        return;
    }
    if (is_read(&job) && run_read(self->env, &job))
        return;
    /* A commit without a disk write is not worth sharing. */
    if (hf__mode_syncs(self->env->mode))
        hf__group_run(self->env, &job, 1);
    else
        hf__write_run(self->env, &job);
}

static void run_and_report(hf__store *store, hf__request *request,
                           hf__block *block)
{
    run_request(store, request, block);
    report_damage(self_of(store), request);
}

static void embedded_perform(hf__store *store, hf__request *request)
{
    run_and_report(store, request, NULL);
}

/* Requests submitted together share a transaction if one of them writes, in
 * order: then readers run as writers, too. */
static void submit_some(hf__store *store, hf__request *const *requests,
                        size_t count)
{
    embedded *self = self_of(store);
    hf__job jobs[HF__BATCH_MAX];
    size_t job_count = 0;
    bool writes = false;

    for (size_t i = 0; i < count; i++) {
        if (!prepare_job(self, requests[i], &jobs[job_count]))
            continue;
        writes =
            writes || (!is_read(&jobs[job_count]) && !self->env->read_only);
        job_count++;
    }
    for (size_t i = 0; !writes && i < job_count; i++)
        run_request(store, jobs[i].request, NULL);
    if (writes)
        hf__group_run(self->env, jobs, job_count);
    for (size_t i = 0; i < count; i++) {
        report_damage(self, requests[i]);
        requests[i]->on_done(requests[i]);
    }
}

/* Would it make its caller wait for the disk? The loop thread itself waits. */
static bool waits_for_disk(embedded *self, hf__request *request)
{
    hf__job job;

    return hf__mode_syncs(self->env->mode) && !self->env->read_only &&
           !hf__loop_here(self->backlog.loop) &&
           prepare_job(self, request, &job) && !is_read(&job);
}

static void embedded_submit(hf__store *store, hf__request *const *requests,
                            size_t count)
{
    embedded *self = self_of(store);
    size_t some;

    for (size_t i = 0; i < count; i += some) {
        some = count - i < HF__BATCH_MAX ? count - i : HF__BATCH_MAX;
        if (some > 1) {
            submit_some(store, requests + i, some);
            continue;
        }
        if (requests[i]->wait_ms != 0) {
            hf__blocked_submit(&self->blocked, requests[i],
                               requests[i]->caller_waits ||
                                   !waits_for_disk(self, requests[i]));
            continue;
        }
        if (waits_for_disk(self, requests[i]) &&
            hf__backlog_add(&self->backlog, requests[i]))
            continue;
        embedded_perform(store, requests[i]);
        requests[i]->on_done(requests[i]);
    }
}

/* A request that is no longer queued completes with the commit. */
static void embedded_cancel(hf__store *store, hf__request *request)
{
    embedded *self = self_of(store);

    if (request->wait_ms != 0)
        hf__blocked_cancel(request);
    if (request->wait_ms != 0 || !hf__mode_syncs(self->env->mode) ||
        !hf__backlog_remove(&self->backlog, request))
        return;
    hf__request_fail(request, HF_UNAVAILABLE, "cancelled before it started");
    request->on_done(request);
}

/* ----------------------------------------------------------------- events */

_Static_assert(HF__STORE_TEXT_MAX == HF__EVENT_TEXT_MAX, "one array for both");

static const char *embedded_inbox(hf__store *store)
{
    return self_of(store)->channel;
}

static uint32_t embedded_event_seq(hf__store *store, hf_bytes topic,
                                   int64_t deadline_ms)
{
    /* The inbox receives events from the open on. */
    (void)deadline_ms;
    return hf__wake_inbox_seq(&self_of(store)->inbox, topic);
}

static bool embedded_event_listens(hf__store *store, hf_bytes topic)
{
    (void)store;
    (void)topic;
    return true;
}

static bool embedded_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                                int64_t until_ms)
{
    return hf__wake_inbox_wait(&self_of(store)->inbox, topic, seq, until_ms);
}

static size_t embedded_event_text(hf__store *store, hf_bytes topic,
                                  char text[HF__STORE_TEXT_MAX])
{
    return hf__wake_inbox_text(&self_of(store)->inbox, topic, text);
}

static void embedded_event_wake(hf__store *store, hf_bytes topic)
{
    hf__wake_inbox_wake(&self_of(store)->inbox, topic);
}

static hf_status embedded_event_watch(hf__store *store, hf_bytes topic,
                                      hf__watch *watch, hf_error *err)
{
    embedded *self = self_of(store);

    if (self->generation != hf__fork_generation())
        return hf__fail(err, HF_SYSTEM, "the client was opened before fork()");
    return hf__wake_inbox_watch(&self->inbox, topic, watch, err);
}

static void embedded_event_unwatch(hf__store *store, hf__watch *watch)
{
    embedded *self = self_of(store);

    if (self->generation == hf__fork_generation())
        hf__wake_inbox_unwatch(&self->inbox, watch);
}

static hf_status embedded_feed_open(hf__store *store, hf__feed *feed,
                                    int64_t deadline_ms, hf_error *err)
{
    feed->database = store->database;
    return hf__change_reader_open(self_of(store)->changes, feed, deadline_ms,
                                  err);
}

static void embedded_feed_close(hf__store *store, hf__feed *feed)
{
    embedded *self = self_of(store);

    if (self->generation == hf__fork_generation())
        hf__change_reader_close(self->changes, feed);
}

static hf_status embedded_stamps_open(hf__store *store, int64_t deadline_ms,
                                      const uint32_t **stamps, hf_error *err)
{
    embedded *self = self_of(store);
    hf_status status = hf__change_reader_join(self->changes, deadline_ms, err);

    if (status == HF_OK)
        *stamps = hf__changes_of(&self->env->rings[HF__RING_CHANGES])->stamps;
    return status;
}

static void embedded_stamps_close(hf__store *store)
{
    embedded *self = self_of(store);

    if (self->generation == hf__fork_generation())
        hf__change_reader_leave(self->changes);
}

static uint32_t embedded_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* --------------------------------------------------------------- describe */

static void embedded_describe(hf__store *store, hf__describe_fn line,
                              void *user)
{
    embedded *self = self_of(store);

    if (self->generation != hf__fork_generation())
        return;
    hf__embedded_describe(self->env, line, user);
    line(user, "inbox", self->channel);
}

static void embedded_diagnose(hf__store *store, const hf__diagnosis *diagnosis)
{
    hf__embedded_diagnose(store, self_of(store)->env, diagnosis);
}

/* ------------------------------------------------------------------- life */

static hf_status claim_inbox(embedded *self, int64_t deadline_ms, hf_error *err)
{
    hf__env *env = self->env;
    hf_status status = hf__env_lock(env, deadline_ms, err);

    if (status != HF_OK)
        return status;
    status =
        hf__inbox_claim(&env->sidecar, &self->inbox.index, self->inbox.id, err);
    hf__env_unlock(env);
    return status;
}

static void release_inbox(embedded *self)
{
    hf__env *env = self->env;

    if (hf__env_lock(env, hf__clock_boot_ms() + CLOSE_MS, NULL) != HF_OK)
        return;
    hf__inbox_release(&env->sidecar, self->inbox.index);
    hf__env_unlock(env);
}

/* The option, else the URL's, else the default. */
static int64_t budget_of(const hf__store_config *config,
                         const hf__settings *settings)
{
    if (config->script_budget_ms > 0)
        return config->script_budget_ms;
    return settings->budget_ms > 0 ? settings->budget_ms : BUDGET_DEFAULT_MS;
}

static hf_status embedded_open(const hf__store_config *config,
                               hf__store **store, hf_error *err)
{
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    embedded *self;
    hf__settings settings;
    hf_status status = hf__settings_read(config->url, &settings, err);

    if (status != HF_OK)
        return status;
    if (config->replicas > 0)
        return hf__fail(err, HF_UNSUPPORTED, HF__REPLICAS_NOWHERE);
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->base.ops = &hf__embedded_store_ops;
    self->base.capabilities =
        HF__CAP_EVENTS | HF__CAP_LOCAL | HF__CAP_WAITS | HF__CAP_ATOMIC;
    if (hf__mode_syncs(settings.mode))
        self->base.capabilities |= HF__CAP_DURABLE;
    self->log = config->log;
    self->generation = hf__fork_generation();
    self->budget_ms = budget_of(config, &settings);
    self->base.database = settings.database;
    status = hf__env_open(&settings, &deadline_ms, &self->env, err);
    if (status != HF_OK)
        goto free_self;
    self->inbox.env = self->env;
    self->inbox.loop = config->loop;
    status = claim_inbox(self, deadline_ms, err);
    if (status != HF_OK)
        goto unref_env;
    self->changes = hf__change_reader_new(&self->inbox);
    if (self->changes == NULL) {
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
        goto release_inbox;
    }
    hf__store_channel(self->channel, config->prefix, self->inbox.id);
    hf__backlog_init(&self->backlog, config->loop, &self->base, submit_some,
                     HF__BATCH_MAX);
    hf__blocked_init(&self->blocked, config->loop, &self->base, self->changes,
                     run_and_report);
    self->blocked.database = self->base.database;
    *store = &self->base;
    return HF_OK;

release_inbox:
    release_inbox(self);
unref_env:
    hf__env_unref(self->env);
free_self:
    hf__free(self);
    return status;
}

static void embedded_close(hf__store *store)
{
    embedded *self = self_of(store);
    hf__env *env = self->env;

    /* A forked child must not close the parent's environment: that would erase
     * the parent's reader slots. */
    if (self->generation == hf__fork_generation()) {
        hf__blocked_close(&self->blocked);
        hf__backlog_close(&self->backlog);
        hf__wake_inbox_close(&self->inbox);
        release_inbox(self);
        hf__env_unref(env);
    }
    hf__change_reader_free(self->changes);
    hf__free(self);
}

static const char *const schemes[] = {"volatile", "file", NULL};

const hf__store_ops hf__embedded_store_ops = {
    .schemes = schemes,
    .open = embedded_open,
    .perform = embedded_perform,
    .submit = embedded_submit,
    .inbox = embedded_inbox,
    .event_seq = embedded_event_seq,
    .event_listens = embedded_event_listens,
    .event_wait = embedded_event_wait,
    .event_text = embedded_event_text,
    .event_wake = embedded_event_wake,
    .event_watch = embedded_event_watch,
    .event_unwatch = embedded_event_unwatch,
    .feed_open = embedded_feed_open,
    .feed_close = embedded_feed_close,
    .stamps_open = embedded_stamps_open,
    .stamps_close = embedded_stamps_close,
    .shard = embedded_shard,
    .describe = embedded_describe,
    .close = embedded_close,
    .cancel = embedded_cancel,
    .check = hf__embedded_check,
    .compact = hf__embedded_compact,
    .salvage = hf__embedded_salvage,
    .diagnose = embedded_diagnose,
};
