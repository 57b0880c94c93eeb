/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_command.c - hf_command() with the commands of redis-benchmark.
 *
 * On the embedded store next to a loaded script of the one command; on a server
 * next to a blocking socket with a request that was formatted beforehand, the
 * reply read and not parsed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ceiling.h"
#include "figures.h"
#include "holdfast/command.h"
#include "holdfast/script.h"
#include "support/redis_server.h"

#define KEY_COUNT 1000
#define VALUE "a value of 32 bytes, in each key"
#define WORDS_MAX 5

/* The command without its key, and what a script of it is. */
typedef struct sample {
    const char *name;
    const char *keys;                 /* what their names begin with */
    const char *words[WORDS_MAX - 2]; /* after the key */
    const char *script;
} sample;

static const sample samples[] = {
    {"SET", "SET", {VALUE}, "return redis.call('SET', KEYS[1], ARGV[1])"},
    {"GET", "SET", {NULL}, "return redis.call('GET', KEYS[1])"},
    {"INCR", "INC", {NULL}, "return redis.call('INCR', KEYS[1])"},
    {"LPUSH", "LPU", {VALUE}, "return redis.call('LPUSH', KEYS[1], ARGV[1])"},
    {"HSET",
     "HSE",
     {"field", VALUE},
     "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])"},
    {"ZADD",
     "ZAD",
     {"17", "member"},
     "return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])"},
};

#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

typedef struct subject {
    hf_client *client;
    hf_script *script;
    hf_bytes words[WORDS_MAX]; /* the name, the key, the others */
    size_t count;
    const char *keys;
    char name[BENCH_NAME_SIZE];
    int next;
} subject;

static void take_words(subject *self, const sample *of)
{
    self->keys = of->keys;
    self->words[0] = hf_str(of->name);
    self->count = 2;
    for (size_t i = 0; i < WORDS_MAX - 2 && of->words[i] != NULL; i++)
        self->words[self->count++] = hf_str(of->words[i]);
}

static void next_key(subject *self)
{
    self->next = (self->next + 1) % KEY_COUNT;
    (void)snprintf(self->name, sizeof(self->name), "%s:%06d", self->keys,
                   self->next);
    self->words[1] = hf_str(self->name);
}

static bool by_command(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    subject *self = user;
    hf_reply *reply;

    for (int64_t i = 0; i < count; i++) {
        next_key(self);
        if (hf_command(self->client, self->count, self->words, &reply,
                       &error) != HF_OK)
            return bench_fail("%s", error.message);
        hf_reply_free(reply);
    }
    return true;
}

static bool by_script(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    subject *self = user;
    hf_reply *reply;

    for (int64_t i = 0; i < count; i++) {
        next_key(self);
        if (hf_script_run(self->script, &self->words[1], 1, self->words + 2,
                          self->count - 2, &reply, &error) != HF_OK)
            return bench_fail("%s", error.message);
        hf_reply_free(reply);
    }
    return true;
}

static bool measure_one(const bench_run *run, subject *self, const sample *of)
{
    char name[BENCH_NAME_SIZE];
    const bench_figure figure = {.name = name,
                                 .store = "volatile",
                                 .ceiling = "the same by hf_script_run",
                                 .threads = 1,
                                 .asked_ratio = 1.2};
    const bench_subject ours = {.run = by_command, .user = self, .busy = true};
    const bench_subject script = {.run = by_script, .user = self, .busy = true};
    hf_error error = HF_ERROR_INIT;
    bench_result result;
    bool ok;

    (void)snprintf(name, sizeof(name), "command %s", of->name);
    take_words(self, of);
    if (hf_script_load(self->client, hf_str(of->script), &self->script,
                       &error) != HF_OK)
        return bench_fail("%s", error.message);
    ok = bench_compare(run, &ours, &script, &result);
    if (ok)
        bench_print(run, &figure, &result);
    hf_script_free(self->script);
    return ok;
}

bool figure_command(const bench_run *run)
{
    hf_error error = HF_ERROR_INIT;
    char url[BENCH_PATH_SIZE];
    subject self = {.next = 0};
    bool ok = true;

    (void)snprintf(url, sizeof(url), "volatile:%s/command", run->memory);
    if (hf_client_open(url, NULL, &self.client, &error) != HF_OK)
        return bench_fail("%s", error.message);
    for (size_t i = 0; ok && i < SAMPLE_COUNT; i++)
        ok = measure_one(run, &self, &samples[i]);
    hf_client_close(self.client);
    return ok;
}

/* ------------------------------------------------------------------ server */

/* The request of one key, and the size of its reply. */
typedef struct socket_load {
    int fd;
    const char *request;
    size_t reply_size;
} socket_load;

static bool by_socket(void *user, int64_t count)
{
    const socket_load *self = user;
    size_t size = strlen(self->request);
    char reply[128];

    for (int64_t i = 0; i < count; i++) {
        if (send(self->fd, self->request, size, MSG_NOSIGNAL) !=
                (ssize_t)size ||
            recv(self->fd, reply, self->reply_size, MSG_WAITALL) !=
                (ssize_t)self->reply_size)
            return bench_fail("the server did not reply");
    }
    return true;
}

static bool measure_server(const bench_run *run, const char *name,
                           subject *self, socket_load *load)
{
    const bench_figure figure = {.name = name,
                                 .store = "redis-unix",
                                 .ceiling = "blocking socket",
                                 .threads = 1};
    const bench_subject ours = {.run = by_command, .user = self};
    const bench_subject raw = {.run = by_socket, .user = load};
    bench_result result;

    if (!bench_compare(run, &ours, &raw, &result))
        return false;
    bench_print(run, &figure, &result);
    return true;
}

static bool measure_both(const bench_run *run, subject *self, int fd)
{
    socket_load set = {fd,
                       "*3\r\n$3\r\nSET\r\n$10\r\nSET:000001\r\n"
                       "$32\r\n" VALUE "\r\n",
                       5};
    socket_load get = {fd, "*2\r\n$3\r\nGET\r\n$10\r\nSET:000001\r\n", 32 + 7};
    bool ok;

    take_words(self, &samples[0]);
    ok = measure_server(run, "command_redis SET", self, &set);
    take_words(self, &samples[1]);
    return ok && measure_server(run, "command_redis GET", self, &get);
}

bool figure_command_redis(const bench_run *run)
{
    redis_server *server = redis_server_start(NULL);
    hf_error error = HF_ERROR_INIT;
    subject self = {.next = 0};
    bool ok = false;
    int fd;

    if (server == NULL)
        return false;
    fd = ceiling_redis_connect(redis_server_socket_path(server));
    if (fd >= 0 && hf_client_open(redis_server_unix_url(server), NULL,
                                  &self.client, &error) == HF_OK)
        ok = measure_both(run, &self, fd);
    hf_client_close(self.client);
    if (fd >= 0)
        close(fd);
    redis_server_stop(server);
    return ok;
}
