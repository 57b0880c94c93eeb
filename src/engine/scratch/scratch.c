/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.c - see scratch.h.
 *
 * The transaction is one of LMDB on an empty file in memory, of which nothing
 * but its header is ever written: its pages are memory of this process. LMDB
 * keeps those that were used until its environment is closed, so it is after a
 * run that has used many, and opened for the next. Only elements of large
 * collections go there; a record stays in the transaction's context, which is
 * sealed once all are loaded. A record that is dirty after a request was
 * changed by it.
 */
#include "engine/scratch/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/commands/payload.h"
#include "engine/files/header.h"
#include "engine/files/name.h"
#include "engine/files/rights.h"
#include "engine/keys/command_out.h"
#include "engine/keys/record_cache.h"
#include "engine/keys/tx_life.h"
#include "engine/keys/type_string.h"
#include "engine/lua/machine.h"
#include "engine/native/native.h"
#include "engine/run/command_table.h"
#include "engine/run/execute.h"
#include "util/buf.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* Elements of large collections. */
#define PAGES_SIZE (UINT64_C(256) << 20)
/* Of them, what is kept between two runs. */
#define PAGES_KEPT (UINT64_C(4) << 20)
/* Of one request, as on an embedded store. */
#define MESSAGES_SIZE (size_t)(2u << 20)

_Static_assert(HF__SCRATCH_KEYS <= HF__RECORD_MAX - HF__RECORD_HEADROOM,
               "all records are in memory");

struct hf__scratch {
    hf__outside outside; /* first: see self_of() */
    hf__env env;
    hf__scratch_call *call;
    bool running;     /* its transaction is under way */
    hf__buf messages; /* hf__scratch_message */
    size_t message_size;
    const hf__record *loaded[HF__SCRATCH_KEYS]; /* the caller's records */
    size_t loaded_count;
    /* Who changed a record last, in the order of the transaction's. */
    const hf__request *by[HF__SCRATCH_KEYS];
    hf__scratch_record changed[HF__SCRATCH_KEYS];
};

static hf__scratch *self_of(hf__outside *outside)
{
    return (hf__scratch *)(void *)outside;
}

/* --------------------------------------------------------------- messages */

static bool copy_bytes(hf__scratch *self, hf_bytes *bytes)
{
    const char *copy =
        hf__arena_copy(self->call->arena, bytes->data, bytes->size);

    bytes->data = copy;
    return copy != NULL;
}

static bool is_listening(hf__outside *outside, hf_bytes channel)
{
    const hf__scratch_call *call = self_of(outside)->call;

    return call->listens != NULL && call->listens(call->user, channel);
}

static int64_t publish_message(hf__outside *outside, hf_bytes channel,
                               hf_bytes text)
{
    hf__scratch *self = self_of(outside);
    hf__scratch_message message = {channel, text};

    if (!is_listening(outside, channel))
        return 0;
    self->message_size += channel.size + text.size;
    if (self->message_size > MESSAGES_SIZE ||
        !copy_bytes(self, &message.channel) ||
        !copy_bytes(self, &message.text) ||
        !hf__buf_append(&self->messages, &message, sizeof(message)))
        return -1;
    return 1;
}

/* ---------------------------------------------------------------- records */

/* false: fatal. */
static bool load_record(hf__tx *tx, const hf__scratch_record *from)
{
    char quoted[HF__QUOTED_SIZE];
    hf__arena arena;
    hf_reply reply;
    hf__out_tree tree;

    if (from->payload.size == 0 ||
        (from->expire_ms != 0 && from->expire_ms <= tx->now_ms))
        return hf__key_record(tx, from->key) != NULL;
    hf__arena_init(&arena);
    hf__out_tree_init(&tree, &reply, &arena);
    tx->out = &tree.out;
    hf__payload_get(tx, from->key, from->payload, from->expire_ms);
    if (tree.out.failed && tx->fatal == HF_OK)
        tx->fatal =
            hf__fail(&tx->error, HF_CORRUPT, "the record of key %s is damaged",
                     hf__quoted(quoted, from->key));
    hf__arena_free(&arena);
    hf__arena_free(&tx->arena);
    return tx->fatal == HF_OK;
}

/* From here on what is dirty was changed by the request. */
static void seal_records(hf__scratch *self, uint32_t from)
{
    hf__tx *tx = self->env.write_tx;

    for (uint32_t i = from; i < tx->record_count; i++) {
        tx->records[i]->stored = tx->records[i]->live;
        tx->records[i]->dirty = false;
        tx->records[i]->used = false;
        self->by[i] = NULL;
    }
    tx->sealed = true;
    tx->watched = HF__EVENT_TOUCHED;
}

/* Those that are not. false: fatal. */
static bool load_records(hf__scratch *self)
{
    hf__tx *tx = self->env.write_tx;
    const hf__scratch_call *call = self->call;
    uint32_t sealed_count = tx->record_count;

    if (call->record_count > HF__SCRATCH_KEYS) {
        tx->fatal =
            hf__fail(&tx->error, HF_INVALID, "more than %u keys in one request",
                     HF__SCRATCH_KEYS);
        return false;
    }
    tx->sealed = false;
    tx->watched = 0;
    for (; self->loaded_count < call->record_count; self->loaded_count++) {
        const hf__scratch_record *from = &call->records[self->loaded_count];

        if (!load_record(tx, from))
            return false;
        self->loaded[self->loaded_count] = hf__key_record(tx, from->key);
    }
    seal_records(self, sealed_count);
    return true;
}

/* The request has run. What the next one changes is then dirty again. */
static void note_changes(hf__scratch *self, const hf__request *request)
{
    hf__tx *tx = self->env.write_tx;
    hf__scratch_call *call = self->call;

    call->changed_bytes = 0;
    for (uint32_t i = 0; i < tx->record_count; i++) {
        hf__record *record = tx->records[i];

        if (record->dirty && (record->live || record->stored)) {
            self->by[i] = request;
            call->wrote = true;
        }
        record->dirty = false;
        record->stored = record->live;
        if (self->by[i] != NULL)
            call->changed_bytes += record->type == HF__TYPE_STRING
                                       ? hf__string_size(record)
                                       : record->content_size;
    }
    hf__arena_free(&tx->arena);
    hf__tx_drop_gathered(tx);
}

/* false: fatal. */
static bool copy_changed(hf__scratch *self, hf__record *record,
                         const hf__request *by)
{
    hf__tx *tx = self->env.write_tx;
    hf__scratch_record *to = &self->changed[self->call->changed_count++];

    *to = (hf__scratch_record){.key = hf__record_key(record), .by = by};
    if (record->live) {
        to->payload = hf__payload_put(tx, record);
        to->expire_ms = record->expire_ms;
        to->sorted = record->type == HF__TYPE_ZSET;
    }
    if (tx->fatal == HF_OK &&
        (!copy_bytes(self, &to->key) ||
         (record->live && !copy_bytes(self, &to->payload))))
        hf__tx_no_memory(tx);
    return tx->fatal == HF_OK;
}

static void collect_changes(hf__scratch *self)
{
    hf__tx *tx = self->env.write_tx;
    hf__scratch_call *call = self->call;
    size_t size;

    for (uint32_t i = 0; i < tx->record_count; i++) {
        if (self->by[i] != NULL &&
            !copy_changed(self, tx->records[i], self->by[i]))
            return;
    }
    for (size_t i = 0; i < call->record_count; i++)
        call->records[i].used = self->loaded[i]->used;
    size = hf__buf_size(&self->messages);
    call->messages = (const void *)hf__arena_copy(
        call->arena, hf__buf_front(&self->messages), size);
    call->message_count = size / sizeof(hf__scratch_message);
    call->changed = self->changed;
    if (call->messages == NULL)
        hf__tx_no_memory(tx);
}

/* ------------------------------------------------------------------ pages */

static int write_header(hf__env *env)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);

    if (rc != MDB_SUCCESS)
        return rc;
    rc = hf__name_open(txn, &env->dbi);
    if (rc == MDB_SUCCESS)
        rc = hf__header_put(txn, env->dbi, env->mode);
    if (rc == MDB_SUCCESS)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

static hf_status open_pages(hf__env *env, hf_error *err)
{
    const unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS | MDB_NOSYNC;
    int fd = memfd_create("holdfast", MFD_CLOEXEC);
    char path[HF__FD_PATH_SIZE];
    MDB_stat stat;
    int rc = mdb_env_create(&env->mdb);

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot create a file in memory");
    hf__rights_fd_path(path, fd);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_set_mapsize(env->mdb, (size_t)PAGES_SIZE);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_open(env->mdb, path, flags, 0600);
    close(fd);
    if (rc == MDB_SUCCESS)
        rc = write_header(env);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_get_fd(env->mdb, &env->data_fd);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_stat(env->mdb, &stat);
    if (rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, rc, "cannot open a file in memory");
    env->page_size = stat.ms_psize;
    (void)fcntl(env->data_fd, F_SETFD, FD_CLOEXEC);
    return HF_OK;
}

static void close_pages(hf__env *env)
{
    if (env->mdb != NULL)
        mdb_env_close(env->mdb);
    env->mdb = NULL;
}

/* Has the run used more than is kept? Its transaction is under way. */
static bool is_large(const hf__tx *tx)
{
    MDB_stat stat;

    return mdb_stat(tx->txn, tx->env->dbi, &stat) != MDB_SUCCESS ||
           (stat.ms_branch_pages + stat.ms_leaf_pages +
            stat.ms_overflow_pages) *
                   stat.ms_psize >
               PAGES_KEPT;
}

/* ---------------------------------------------------------------- running */

/* false: the request has failed. */
static bool prepare_job(hf__scratch *self, hf__job *job)
{
    hf__request *request = job->request;

    request->tries = (hf__script_tries){0};
    if (request->script == NULL) {
        if (request->word_count > 0)
            job->command = hf__command_find(request->words[0]);
        if (job->command == NULL) {
            hf__execute_unknown(&self->env, request);
            return false;
        }
    }
    if (hf__execute_prepare(&self->env, job))
        return true;
    hf__request_fail(request, HF_NO_MEMORY, "out of memory");
    return false;
}

/* Of all records: whether the reply depends on them. */
static void use_records(hf__scratch_call *call, bool used)
{
    for (size_t i = 0; i < call->record_count; i++)
        call->records[i].used = used;
}

static void start_run(hf__scratch *self)
{
    hf__tx *tx = self->env.write_tx;

    hf__tx_start(tx, hf__clock_boot_ms());
    tx->sealed = false;
    tx->now_ms = self->call->now_us / 1000;
    tx->unix_us = self->call->now_us;
    self->loaded_count = 0;
    self->running = true;
}

static void take_missing(hf__scratch *self)
{
    hf__tx *tx = self->env.write_tx;

    if (tx->missing_key == NULL)
        return;
    self->call->missing = hf_view(
        hf__arena_copy(self->call->arena, tx->missing_key, tx->missing_size),
        tx->missing_size);
    hf__free(tx->missing_key);
    tx->missing_key = NULL;
}

/* Undo all of it in memory. Returns why it has failed. */
static hf_status undo_run(hf__scratch *self)
{
    hf__tx *tx = self->env.write_tx;
    hf_status status = tx->fatal;
    bool large = is_large(tx);

    if (status == HF_OK)
        tx->fatal = HF_UNAVAILABLE;
    tx->sealed = false;
    (void)hf__tx_finish(tx);
    if (large)
        close_pages(tx->env);
    self->running = false;
    return status;
}

static hf_status end_run(hf__scratch *self, hf_error *err)
{
    hf_status status = undo_run(self);

    if (status == HF_OK)
        return status;
    self->call->changed_count = self->call->message_count = 0;
    use_records(self->call, true); /* any may be why */
    if (status == HF_FULL)
        return hf__fail(err, status,
                        "the request needs more than %u MiB of memory",
                        (unsigned)(PAGES_SIZE >> 20));
    return hf__fail(err, status, "%s", self->env.write_tx->error.message);
}

/* false: the request has failed. */
static bool begin_pages(hf__tx *tx, hf__request *request)
{
    hf_error error = HF_ERROR_INIT;
    hf_status status = HF_OK;
    int rc;

    if (tx->env->mdb == NULL)
        status = open_pages(tx->env, &error);
    rc = status == HF_OK ? mdb_txn_begin(tx->env->mdb, NULL, 0, &tx->txn) : 0;
    if (rc != MDB_SUCCESS)
        status = hf__fail(&error, HF_SYSTEM, "cannot begin a transaction: %s",
                          mdb_strerror(rc));
    if (status == HF_OK)
        return true;
    close_pages(tx->env);
    hf__request_fail(request, status, "%s", error.message);
    return false;
}

void hf__scratch_begin(hf__scratch *self, hf__scratch_call *call)
{
    if (self->running)
        (void)undo_run(self);
    hf__buf_clear(&self->messages);
    self->message_size = 0;
    self->call = call;
    call->changed = NULL;
    call->messages = NULL;
    call->changed_count = call->message_count = call->changed_bytes = 0;
    call->undone = false;
    use_records(call, false);
}

void hf__scratch_next(hf__scratch *self, hf__request *request,
                      hf__scratch_call *call)
{
    hf__tx *tx = self->env.write_tx;
    hf__job job = {.request = request, .budget_ms = call->budget_ms};
    size_t message_size = hf__buf_size(&self->messages);
    hf_error error = HF_ERROR_INIT;

    call->missing = hf_view(NULL, 0);
    call->wrote = false;
    if (!prepare_job(self, &job) ||
        (!self->running && !begin_pages(tx, request)))
        return;
    if (!self->running)
        start_run(self);
    if (load_records(self))
        hf__execute(tx, &job);
    call->wrote = hf__buf_size(&self->messages) > message_size;
    call->undone = tx->fatal != HF_OK;
    if (!call->undone) {
        note_changes(self, request);
        return;
    }
    hf__execute_drop_reply(request);
    hf__request_fail(request, end_run(self, &error), "%s", error.message);
    take_missing(self);
}

hf_status hf__scratch_end(hf__scratch *self, hf__scratch_call *call,
                          hf_error *err)
{
    (void)call;
    if (!self->running)
        return HF_OK;
    collect_changes(self);
    return end_run(self, err);
}

/* ------------------------------------------------------------------- life */

static hf_status open_env(hf__env *env, hf_error *err)
{
    hf_status status;

    env->mode = HF__MODE_DURABLE; /* its clock is Unix time */
    env->data_fd = env->lock_fd = env->dir_fd = env->sidecar.fd = -1;
    status = hf__sidecar_private(env->mode, &env->sidecar, err);
    if (status == HF_OK)
        status = open_pages(env, err);
    if (status != HF_OK)
        return status;
    env->map_size = env->sidecar.map->max_size = PAGES_SIZE;
    env->sidecar.map->allocated_size = PAGES_SIZE;
    env->write_tx = hf__tx_new(env, true);
    if (env->write_tx == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    /* Records of the last run must not be found in the next. */
    hf__record_cache_free(env->write_tx->cache);
    env->write_tx->cache = NULL;
    return HF_OK;
}

hf_status hf__scratch_open(hf__scratch **scratch, hf_error *err)
{
    hf__scratch *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->outside.publish = publish_message;
    self->outside.listens = is_listening;
    hf__buf_init(&self->messages, MESSAGES_SIZE);
    status = open_env(&self->env, err);
    if (status != HF_OK) {
        hf__scratch_close(self);
        return status;
    }
    self->env.write_tx->outside = &self->outside;
    *scratch = self;
    return HF_OK;
}

void hf__scratch_close(hf__scratch *self)
{
    hf__env *env = &self->env;

    if (self->running)
        (void)undo_run(self);
    if (env->users != NULL)
        hf__machine_free(env->users);
    if (env->write_tx != NULL) {
        hf__native_free(env->write_tx->native);
        hf__tx_free(env->write_tx);
    }
    close_pages(env);
    if (env->sidecar.fd >= 0)
        hf__sidecar_close(&env->sidecar);
    hf__buf_done(&self->messages);
    hf__free(self);
}
