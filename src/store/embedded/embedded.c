/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded.c - the embedded store behind store.h: requests become
 * transactions, right here on the calling thread.
 *
 * A script, or a command that may write, takes the writer lock, by its
 * deadline, and runs in one LMDB write transaction. If the map was too small,
 * the transaction is undone, room is made, and it runs again: nothing of the
 * first try is left, its events were not told. Events are told after the
 * commit and after the lock was let go.
 *
 * A command that only reads runs in a read transaction beside the writer; or
 * as a writer where LMDB has no reader slot for it.
 */
#include <stdio.h>
#include <string.h>

#include "store/embedded/dispatch.h"
#include "store/embedded/header.h"
#include "store/embedded/machine.h"
#include "store/embedded/number.h"
#include "store/embedded/wake.h"
#include "store/error_line.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"

#define BUDGET_DEFAULT_MS 100

/* Each retry makes the store larger by a quarter or 16 MiB at least, or
 * follows the end of a dead reader. */
#define RETRY_MAX 64

/* Events told without the writer lock; more are told under it. */
#define EVENT_LOCAL 16u

/* How long close() waits for a writer, only to give its inbox back. */
#define CLOSE_MS 1000

typedef struct embedded {
    hf__store base;
    uint32_t generation; /* of forks, at birth */
    int64_t budget_ms;
    hf__env *env;
    hf__ear ear;
} embedded;

static embedded *self_of(hf__store *store)
{
    return (embedded *)(void *)store;
}

/* -------------------------------------------------------------- execution */

static void run_command(hf__tx *tx, const hf__command *command,
                        hf__request *request)
{
    hf__out_tree tree;

    hf__out_tree_init(&tree, &request->reply, &request->arena);
    tx->out = &tree.out;
    if (hf__command_arity_fits(command, request->word_count)) {
        hf__command_run(tx, command, request->words, request->word_count);
    } else {
        tx->command = command;
        hf__say_arity(tx, command->name);
    }
    if (tree.no_memory)
        hf__tx_no_memory(tx);
    if (tree.out.failed && tx->fatal == HF_OK)
        request->status = hf__error_line(
            &request->error, hf__error_status(tree.out.error, false),
            hf_str(tree.out.error), NULL);
}

static void execute(embedded *self, hf__tx *tx, const hf__command *command,
                    hf__request *request)
{
    request->status = HF_OK;
    request->sends = 1;
    if (request->script != NULL)
        (void)hf__machine_run(self->env->machine, tx, request, self->budget_ms);
    else
        run_command(tx, command, request);
}

/* The tools of whoever holds the writer lock. */
static bool prepare_tools(hf__env *env, bool machine)
{
    if (env->write_tx == NULL)
        env->write_tx = hf__tx_new(env, true);
    if (machine && env->machine == NULL)
        env->machine = hf__machine_new();
    return env->write_tx != NULL && (!machine || env->machine != NULL);
}

static void forget_reply(hf__request *request)
{
    hf__arena_free(&request->arena);
    hf__reply_set_nil(&request->reply);
}

/* One try. Returns what became of the transaction. */
static hf_status try_write(embedded *self, const hf__command *command,
                           hf__request *request)
{
    hf__env *env = self->env;
    hf__tx *tx = env->write_tx;
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status;

    status = hf__env_begin_write(env, now_ms, &tx->txn, &tx->error);
    if (status != HF_OK) {
        tx->event_count = 0;
        tx->wanted_size = 0;
        return status;
    }
    hf__tx_start(tx, now_ms);
    execute(self, tx, command, request);
    return hf__tx_finish(tx);
}

/* Can it be tried again with more room? */
static bool make_room(hf__env *env)
{
    int dead = 0;

    /* A dead reader pins what was freed since. */
    if (mdb_reader_check(env->mdb, &dead) == MDB_SUCCESS && dead > 0)
        return true;
    return hf__env_grow(env, 2 * env->write_tx->wanted_size,
                        hf__clock_boot_ms());
}

static void write_locked(embedded *self, const hf__command *command,
                         hf__request *request)
{
    hf__env *env = self->env;
    bool machine =
        request->script != NULL || (command->flags & HF__COMMAND_MACHINE) != 0;
    hf_status status;

    if (!prepare_tools(env, machine)) {
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
        return;
    }
    status = try_write(self, command, request);
    for (int i = 0; status == HF_FULL && i < RETRY_MAX && make_room(env); i++) {
        forget_reply(request);
        status = try_write(self, command, request);
    }
    if (status == HF_OK)
        return;
    forget_reply(request);
    hf__request_fail(request, status, "%s", env->write_tx->error.message);
}

static void run_write(embedded *self, const hf__command *command,
                      hf__request *request)
{
    hf__env *env = self->env;
    hf__event events[EVENT_LOCAL];
    size_t count;
    hf_error error = HF_ERROR_INIT;

    if (hf__env_lock(env, request->deadline_ms, &error) != HF_OK) {
        hf__request_fail(request, error.status, "%s", error.message);
        return;
    }
    write_locked(self, command, request);
    count = env->write_tx != NULL ? env->write_tx->event_count : 0;
    if (count > EVENT_LOCAL) {
        hf__wake_fire(env, env->write_tx->events, count);
        count = 0;
    } else if (count > 0) {
        memcpy(events, env->write_tx->events, count * sizeof(events[0]));
    }
    if (env->write_tx != NULL)
        env->write_tx->event_count = 0;
    hf__env_unlock(env);
    if (count > 0)
        hf__wake_fire(env, events, count);
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
    hf__tx_free(tx);
}

/* false: it must be run as a writer. */
static bool run_read(embedded *self, const hf__command *command,
                     hf__request *request)
{
    hf__env *env = self->env;
    hf__tx *tx = take_reader(env);
    hf_status status;

    if (tx == NULL) {
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
        return true;
    }
    status = hf__env_begin_read(env, &tx->txn, &tx->error);
    if (status == HF_OK) {
        hf__tx_start(tx, hf__clock_boot_ms());
        execute(self, tx, command, request);
        status = hf__tx_finish(tx);
    } else if (status == HF_UNAVAILABLE) {
        give_reader(env, tx);
        return false;
    }
    if (status != HF_OK) {
        forget_reply(request);
        hf__request_fail(request, status, "%s", tx->error.message);
    }
    give_reader(env, tx);
    return true;
}

/* --------------------------------------------------------------- requests */

static void fail_unknown(hf__request *request)
{
    char text[HF__OUT_ERROR_SIZE];

    hf__unknown_text(text, request->words, request->word_count);
    request->status = hf__error_line(
        &request->error, hf__error_status(text, false), hf_str(text), NULL);
}

static void embedded_perform(hf__store *store, hf__request *request)
{
    embedded *self = self_of(store);
    const hf__command *command = NULL;

    if (self->generation != hf__fork_generation()) {
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
        return;
    }
    if (request->script == NULL) {
        command = request->word_count > 0 ? hf__command_find(request->words[0])
                                          : NULL;
        if (command == NULL) {
            fail_unknown(request);
            return;
        }
        if (!(command->flags & HF__COMMAND_WRITES) &&
            run_read(self, command, request))
            return;
    }
    run_write(self, command, request);
}

static void embedded_submit(hf__store *store, hf__request *const *requests,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hf__request *request = requests[i];

        embedded_perform(store, request);
        request->on_done(request);
    }
}

/* ----------------------------------------------------------------- events */

static const char *embedded_inbox(hf__store *store)
{
    return self_of(store)->ear.id;
}

static uint32_t embedded_event_seq(hf__store *store, hf_bytes topic,
                                   int64_t deadline_ms)
{
    /* The inbox is listened to from the moment the store is open. */
    (void)deadline_ms;
    return hf__ear_seq(&self_of(store)->ear, topic);
}

static bool embedded_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                                int64_t until_ms)
{
    return hf__ear_wait(&self_of(store)->ear, topic, seq, until_ms);
}

static hf_status embedded_event_watch(hf__store *store, hf_bytes topic,
                                      hf__watch *watch, hf_error *err)
{
    embedded *self = self_of(store);

    if (self->generation != hf__fork_generation())
        return hf__fail(err, HF_SYSTEM, "the client was opened before fork()");
    return hf__ear_watch(&self->ear, topic, watch, err);
}

static void embedded_event_unwatch(hf__store *store, hf__watch *watch)
{
    embedded *self = self_of(store);

    if (self->generation == hf__fork_generation())
        hf__ear_unwatch(&self->ear, watch);
}

static uint32_t embedded_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* --------------------------------------------------------------- describe */

static void say_number(hf__describe_fn line, void *user, const char *name,
                       uint64_t value)
{
    char text[HF__NUMBER_SIZE];

    (void)hf__number_put_integer(text, (int64_t)value);
    line(user, name, text);
}

static void embedded_describe(hf__store *store, hf__describe_fn line,
                              void *user)
{
    embedded *self = self_of(store);
    hf__env *env = self->env;
    MDB_envinfo info;
    MDB_stat stat;

    if (self->generation != hf__fork_generation())
        return;
    line(user, "store", "embedded");
    line(user, "path", env->path);
    line(user, "mode",
         env->mode == HF__MODE_DURABLE ? "durable (commit)" : "volatile");
    line(user, "engine", mdb_version(NULL, NULL, NULL));
    line(user, "script engine", "Lua 5.1");
    say_number(line, user, "format", HF__FORMAT_VERSION);
    pthread_rwlock_rdlock(&env->map_lock);
    if (!env->broken && mdb_env_info(env->mdb, &info) == MDB_SUCCESS &&
        mdb_env_stat(env->mdb, &stat) == MDB_SUCCESS) {
        say_number(line, user, "bytes in use",
                   (stat.ms_branch_pages + stat.ms_leaf_pages +
                    stat.ms_overflow_pages) *
                       (uint64_t)stat.ms_psize);
        say_number(line, user, "records", stat.ms_entries);
        say_number(line, user, "bytes touched",
                   (info.me_last_pgno + 1) * (uint64_t)stat.ms_psize);
    }
    pthread_rwlock_unlock(&env->map_lock);
    say_number(line, user, "bytes allocated", env->sidecar.map->allocated_size);
    say_number(line, user, "bytes at most", env->sidecar.map->max_size);
    line(user, "inbox", self->ear.id);
}

/* ------------------------------------------------------------------- life */

static hf_status listen(embedded *self, int64_t deadline_ms, hf_error *err)
{
    hf__env *env = self->env;
    hf_status status = hf__env_lock(env, deadline_ms, err);

    if (status != HF_OK)
        return status;
    status =
        hf__inbox_claim(&env->sidecar, &self->ear.index, self->ear.id, err);
    hf__env_unlock(env);
    return status;
}

static hf_status embedded_open(const hf__store_config *config,
                               hf__store **store, hf_error *err)
{
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    embedded *self;
    hf__place place;
    hf_status status = hf__files_place(config->url, &place, err);

    if (status != HF_OK)
        return status;
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->base.ops = &hf__embedded_store_ops;
    self->base.capabilities = HF__CAP_EVENTS | HF__CAP_LOCAL;
    if (place.mode == HF__MODE_DURABLE)
        self->base.capabilities |= HF__CAP_DURABLE;
    self->generation = hf__fork_generation();
    self->budget_ms = config->script_budget_ms > 0 ? config->script_budget_ms
                                                   : BUDGET_DEFAULT_MS;
    status = hf__env_open(&place, deadline_ms, &self->env, err);
    if (status != HF_OK)
        goto free_self;
    self->ear.env = self->env;
    self->ear.loop = config->loop;
    status = listen(self, deadline_ms, err);
    if (status != HF_OK)
        goto unref_env;
    *store = &self->base;
    return HF_OK;

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

    /* In a forked child the environment is the parent's: closing it would
     * erase the parent's reader slots. */
    if (self->generation == hf__fork_generation()) {
        hf__ear_close(&self->ear);
        if (hf__env_lock(env, hf__clock_boot_ms() + CLOSE_MS, NULL) == HF_OK) {
            hf__inbox_release(&env->sidecar, self->ear.index);
            hf__env_unlock(env);
        }
        hf__env_unref(env);
    }
    hf__free(self);
}

const hf__store_ops hf__embedded_store_ops = {
    embedded_open,        embedded_perform,       embedded_submit,
    embedded_inbox,       embedded_event_seq,     embedded_event_wait,
    embedded_event_watch, embedded_event_unwatch, embedded_shard,
    embedded_describe,    embedded_close};
