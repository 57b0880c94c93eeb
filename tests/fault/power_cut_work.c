/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_work.c - processes of several threads that do what the model says
 * and record a mark before and after each operation.
 *
 * Each process is this program again, under the recorder. It exits without
 * closing its store, as programs do; its locks stay held, and the next round
 * breaks them. After the second round the store is compacted; the third has a
 * new boot id, so that the store's volatile parts are created again.
 */
#include "power_cut_work.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "power_cut_found.h"
#include "power_cut_model.h"
#include "recorder.h"

/* Allowance for a loaded machine's disk. */
#define PATIENCE_MS 60000
/* Programs that have the time exit when all they wrote is durable. */
#define FLUSHED_US 1600000

#define SETTING_COUNT 5
#define SETTING_SIZE 1024
#define VARIABLE_MAX 256

static recorder_mark_fn mark; /* NULL: not recorded */

typedef struct worker {
    pthread_t thread;
    hf_client *client;
    hf_lock *lock;
    hf_script *move;
    hf_script *call;
    model model;
    uint64_t first; /* operation to begin with */
    uint64_t last;
    uint64_t pace_us;
    uint64_t token;
    unsigned char *bytes;
    hf_error err;
    bool failed;
} worker;

/* -------------------------------------------------------------- operations */

static hf_status run_words(worker *self, const char *command, const char *part,
                           const hf_bytes *rest, size_t count)
{
    hf_bytes words[64];
    char key[KEY_SIZE];
    hf_reply *reply;
    hf_status status;

    key_name(key, self->model.thread, part, 0);
    words[0] = hf_str(command);
    words[1] = hf_str(key);
    for (size_t i = 0; i < count; i++)
        words[i + 2] = rest[i];
    status = hf_script_run(self->call, NULL, 0, words, count + 2, &reply,
                           &self->err);
    if (status == HF_OK)
        hf_reply_free(reply);
    return status;
}

static hf_status run_value(worker *self, const op *next)
{
    bool big = next->kind == OP_BIG || next->kind == OP_BIG_DELETE;
    size_t at = big ? 0 : next->at;
    char key[KEY_SIZE];
    hf_status status;
    size_t size;

    key_name(key, self->model.thread, big ? "big" : "value", at);
    if (next->kind == OP_DELETE || next->kind == OP_BIG_DELETE) {
        status = hf_value_delete(self->client, hf_str(key), &self->err);
        return status == HF_NOT_FOUND ? HF_OK : status;
    }
    size = model_bytes(&self->model, next->number, at, big, self->bytes);
    return hf_value_set(self->client, hf_str(key), hf_view(self->bytes, size),
                        NULL, NULL, &self->err);
}

static hf_status put_fields(worker *self, const op *next, hf_bytes key)
{
    unsigned char *bytes = self->bytes;
    hf_field fields[3];
    char names[3][16];

    for (size_t i = 0; i < 3; i++) {
        size_t at = (next->at + i * 7) % MODEL_FIELDS;
        size_t size = model_bytes(&self->model, next->number, at, false, bytes);

        (void)snprintf(names[i], sizeof(names[i]), "f%zu", at);
        fields[i].name = hf_str(names[i]);
        fields[i].value = hf_view(bytes, size);
        bytes += size + 8;
    }
    return hf_hash_put(self->client, key, fields, 3, NULL, &self->err);
}

static hf_status run_hash(worker *self, const op *next)
{
    char key[KEY_SIZE];
    char name[16];
    hf_bytes view;
    hf_status status;

    key_name(key, self->model.thread, "hash", 0);
    if (next->kind == OP_FIELDS)
        return put_fields(self, next, hf_str(key));
    if (next->kind == OP_HASH_DELETE) {
        status = hf_hash_delete(self->client, hf_str(key), &self->err);
        return status == HF_NOT_FOUND ? HF_OK : status;
    }
    (void)snprintf(name, sizeof(name), "f%zu", next->at);
    view = hf_str(name);
    return hf_hash_delete_fields(self->client, hf_str(key), &view, 1, NULL,
                                 &self->err);
}

static hf_status run_list(worker *self, const op *next)
{
    char texts[32][24];
    hf_bytes items[32];

    if (next->kind != OP_PUSH)
        return run_words(self, next->kind == OP_POP ? "lpop" : "del", "list",
                         NULL, 0);
    for (size_t i = 0; i < next->to; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "%llu",
                       (unsigned long long)(self->model.list_end + i));
        items[i] = hf_str(texts[i]);
    }
    return run_words(self, "rpush", "list", items, next->to);
}

static hf_status run_member(worker *self, const op *next)
{
    char member[16];
    char score[24];
    hf_bytes words[2];

    (void)snprintf(member, sizeof(member), "m%zu", next->at);
    (void)snprintf(score, sizeof(score), "%llu",
                   (unsigned long long)next->number);
    words[0] = hf_str(score);
    words[1] = hf_str(member);
    if (next->kind == OP_SCORE)
        return run_words(self, "zadd", "scores", words, 2);
    if (next->kind == OP_UNSCORE)
        return run_words(self, "zrem", "scores", words + 1, 1);
    return run_words(self, self->model.members[next->at] ? "srem" : "sadd",
                     "set", words + 1, 1);
}

static hf_status run_lock(worker *self)
{
    char key[KEY_SIZE];
    hf_status status;

    if (!self->model.locked) {
        status = hf_lock_try(self->lock, &self->err);
        self->token = hf_lock_token(self->lock);
        return status;
    }
    if (hf_lock_is_held(self->lock))
        return hf_lock_release(self->lock, &self->err);
    key_name(key, self->model.thread, "lock", 0); /* of the round before */
    status = hf_lock_break(self->client, hf_str(key), &self->err);
    return status == HF_NOT_FOUND ? HF_OK : status;
}

static hf_status run_move(worker *self, const op *next)
{
    char texts[2][24];
    char key[KEY_SIZE];
    hf_bytes words[3];
    hf_reply *reply;
    hf_status status;

    (void)snprintf(texts[0], sizeof(texts[0]), "account:%zu", next->at);
    (void)snprintf(texts[1], sizeof(texts[1]), "account:%zu", next->to);
    key_name(key, self->model.thread, "moves", 0);
    words[0] = hf_str(texts[0]);
    words[1] = hf_str(texts[1]);
    words[2] = hf_str(key);
    status = hf_script_run(self->move, words, 3, NULL, 0, &reply, &self->err);
    if (status == HF_OK)
        hf_reply_free(reply);
    return status;
}

static hf_status run_temporary(worker *self, const op *next)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    char key[KEY_SIZE];

    opts.ttl_ms = 1;
    key_name(key, self->model.thread, "temporary", next->number);
    return hf_value_set(self->client, hf_str(key), hf_str(key), &opts, NULL,
                        &self->err);
}

static hf_status run_op(worker *self, const op *next)
{
    switch (next->kind) {
    case OP_FIELDS:
    case OP_FIELD_REMOVE:
    case OP_HASH_DELETE:
        return run_hash(self, next);
    case OP_PUSH:
    case OP_POP:
    case OP_LIST_DELETE:
        return run_list(self, next);
    case OP_SCORE:
    case OP_UNSCORE:
    case OP_MEMBER:
        return run_member(self, next);
    case OP_LOCK:
        return run_lock(self);
    case OP_MOVE:
        return run_move(self, next);
    case OP_TEMPORARY:
        return run_temporary(self, next);
    default:
        return run_value(self, next);
    }
}

/* ----------------------------------------------------------------- threads */

static void put_mark(uint32_t kind, const worker *self, uint64_t number,
                     uint64_t value)
{
    if (mark != NULL)
        mark(kind, self->model.thread, number, value);
}

static void *run_thread(void *user)
{
    worker *self = user;

    while (self->model.count < self->last) {
        op next = model_next(&self->model);

        if (next.number >= self->first) {
            put_mark(MARK_BEGUN, self, next.number, 0);
            if (run_op(self, &next) != HF_OK) {
                fprintf(stderr, "power_cut: thread %u, operation %llu: %s\n",
                        self->model.thread, (unsigned long long)next.number,
                        self->err.message);
                self->failed = true;
                return NULL;
            }
            put_mark(MARK_DONE, self, next.number, self->token);
        }
        model_apply(&self->model, &next);
        if (self->pace_us > 0 && next.number >= self->first)
            (void)usleep((useconds_t)self->pace_us);
    }
    return NULL;
}

static hf_status prepare(worker *self)
{
    static const char move[] =
        "redis.call('incrby', KEYS[1], -1) redis.call('incrby', KEYS[2], 1) "
        "return redis.call('incr', KEYS[3])";
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    char key[KEY_SIZE];
    hf_status status;

    opts.flags = HF_LOCK_NO_RENEW;
    opts.ttl_ms = HF_LOCK_TTL_MAX_MS;
    key_name(key, self->model.thread, "lock", 0);
    self->bytes = malloc(MODEL_SIZE_MAX + 64);
    if (self->bytes == NULL)
        return HF_NO_MEMORY;
    status =
        hf_lock_new(self->client, hf_str(key), &opts, &self->lock, &self->err);
    if (status == HF_OK)
        status =
            hf_script_load(self->client, hf_str(move), &self->move, &self->err);
    if (status == HF_OK)
        status = hf_script_load(self->client,
                                hf_str("return redis.call(unpack(ARGV))"),
                                &self->call, &self->err);
    return status;
}

bool work_here(hf_client *client, uint64_t seed, unsigned thread,
               uint64_t first, uint64_t last)
{
    worker self = {.client = client, .first = first, .last = last};
    bool worked;

    self.err = (hf_error)HF_ERROR_INIT;
    model_init(&self.model, seed, thread);
    worked = prepare(&self) == HF_OK;
    if (worked)
        run_thread(&self);
    hf_lock_free(self.lock);
    hf_script_free(self.move);
    hf_script_free(self.call);
    free(self.bytes);
    return worked && !self.failed;
}

/* --compact URL */
static int compact(const char *url)
{
    hf_store_compaction result = HF_STORE_COMPACTION_INIT;
    hf_error err = HF_ERROR_INIT;

    if (hf_store_compact(url, &result, &err) == HF_OK && result.rewritten)
        return 0;
    fprintf(stderr, "power_cut: not compacted: %s\n", err.message);
    return 1;
}

/* --work URL SEED FIRST LAST THREAD THREADS PACE */
int work_main(int argc, char **argv)
{
    static worker workers[MODEL_THREAD_MAX];
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    void *symbol = dlsym(RTLD_DEFAULT, "recorder_mark");
    hf_client *client;
    uint64_t numbers[6];

    if (argc == 3)
        return compact(argv[2]);
    if (argc != 9 || symbol == NULL)
        return 2;
    memcpy(&mark, &symbol, sizeof(symbol));
    for (size_t i = 0; i < 6; i++)
        numbers[i] = strtoull(argv[3 + i], NULL, 10);
    opts.request_ms = PATIENCE_MS;
    opts.connect_ms = PATIENCE_MS;
    if (hf_client_open(argv[2], &opts, &client, &err) != HF_OK) {
        fprintf(stderr, "power_cut: %s\n", err.message);
        return 1;
    }
    for (size_t i = 0; i < numbers[4]; i++) {
        worker *one = &workers[i];

        one->client = client;
        one->first = numbers[1];
        one->last = numbers[2];
        one->pace_us = numbers[5];
        one->err = (hf_error)HF_ERROR_INIT;
        model_init(&one->model, numbers[0], (unsigned)(numbers[3] + i));
        if (prepare(one) != HF_OK ||
            pthread_create(&one->thread, NULL, run_thread, one) != 0)
            return 2;
    }
    for (size_t i = 0; i < numbers[4]; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        if (workers[i].failed)
            return 1;
    }
    if (numbers[5] > 0)
        (void)usleep(FLUSHED_US);
    _exit(0);
}

/* --------------------------------------------------------------- processes */

/* This program's environment with what the recorder needs. */
static bool start(const work *self, char *const *argv, pid_t *pid)
{
    const char *sanitizer = getenv("ASAN_OPTIONS");
    char settings[SETTING_COUNT][SETTING_SIZE];
    char *variables[VARIABLE_MAX];
    size_t count = SETTING_COUNT;

    (void)snprintf(settings[0], SETTING_SIZE, "LD_PRELOAD=%s", self->recorder);
    (void)snprintf(settings[1], SETTING_SIZE, RECORDER_LOG "=%s", self->log);
    (void)snprintf(settings[2], SETTING_SIZE, RECORDER_ROOT "=%s", self->root);
    (void)snprintf(settings[3], SETTING_SIZE, RECORDER_BOOT "=%s", self->boot);
    /* The sanitizer's library must be loaded first. */
    (void)snprintf(
        settings[4], SETTING_SIZE, "ASAN_OPTIONS=%s%sverify_asan_link_order=0",
        sanitizer != NULL ? sanitizer : "", sanitizer != NULL ? ":" : "");
    for (size_t i = 0; i < SETTING_COUNT; i++)
        variables[i] = settings[i];
    for (size_t i = 0; environ[i] != NULL && count + 1 < VARIABLE_MAX; i++) {
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
            strncmp(environ[i], "ASAN_OPTIONS=", 13) != 0)
            variables[count++] = environ[i];
    }
    variables[count] = NULL;
    return posix_spawn(pid, self->program, NULL, NULL, argv, variables) == 0;
}

static const char work_option[] = "--work";
static const char compact_option[] = "--compact";

static bool run_round(const work *self, uint64_t first, uint64_t last)
{
    pid_t pids[MODEL_THREAD_MAX];
    bool worked = true;

    for (unsigned i = 0; i < self->processes; i++) {
        char texts[6][24];
        char *argv[10] = {(char *)(uintptr_t)self->program,
                          (char *)(uintptr_t)work_option,
                          (char *)(uintptr_t)self->url};
        const uint64_t numbers[6] = {self->seed,    first,
                                     last,          (uint64_t)i * self->threads,
                                     self->threads, self->pace_us};

        for (size_t j = 0; j < 6; j++) {
            (void)snprintf(texts[j], sizeof(texts[j]), "%llu",
                           (unsigned long long)numbers[j]);
            argv[3 + j] = texts[j];
        }
        if (!start(self, argv, &pids[i])) {
            fprintf(stderr, "power_cut: cannot start a process\n");
            pids[i] = -1;
        }
    }
    for (unsigned i = 0; i < self->processes; i++) {
        int status;

        if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] ||
            status != 0)
            worked = false;
    }
    return worked;
}

static bool run_compaction(const work *self)
{
    char *argv[] = {(char *)(uintptr_t)self->program,
                    (char *)(uintptr_t)compact_option,
                    (char *)(uintptr_t)self->url, NULL};
    int status;
    pid_t pid;

    return start(self, argv, &pid) && waitpid(pid, &status, 0) == pid &&
           status == 0;
}

/* Change the boot id. */
static bool write_boot(const char *path, char digit)
{
    char text[] = "00000000-0000-4000-8000-00000000000?\n";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool worked;

    if (fd < 0)
        return false;
    text[sizeof(text) - 3] = digit;
    worked = write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1;
    return close(fd) == 0 && worked;
}

bool work_run(const work *self)
{
    uint64_t third = self->ops / 3;

    return write_boot(self->boot, '1') && run_round(self, 1, third) &&
           run_round(self, third + 1, 2 * third) && run_compaction(self) &&
           write_boot(self->boot, '2') &&
           run_round(self, 2 * third + 1, self->ops);
}
