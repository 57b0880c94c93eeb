/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ceiling_redis.c - see ceiling.h. The scripts are those of the library, which
 * runs first and loads them into the server.
 */
#include "ceiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "script/script.h"

#define LOCK "bench-ceiling"
#define OWNER "0123456789abcdef0123456789abcdef"

typedef struct message {
    char text[512];
    size_t size;
} message;

struct ceiling_redis {
    int fd;
    message acquire;
    message release; /* empty: none */
};

static void add_word(message *m, const char *word)
{
    int size = snprintf(m->text + m->size, sizeof(m->text) - m->size,
                        "$%zu\r\n%s\r\n", strlen(word), word);

    m->size += (size_t)size;
}

static void begin_message(message *m, int words, uint32_t script,
                          const char *keys)
{
    m->size = (size_t)snprintf(m->text, sizeof(m->text), "*%d\r\n", words);
    add_word(m, "EVALSHA");
    add_word(m, hf__scripts[script].sha1);
    add_word(m, keys);
    add_word(m, LOCK);
}

static void format_limiter(ceiling_redis *ceiling)
{
    message *m = &ceiling->acquire;

    begin_message(m, 9, HF__SCRIPT_LIMITER_TAKE, "1");
    add_word(m, "1");
    add_word(m, "0");
    add_word(m, "1000000");
    add_word(m, "1000000");
    add_word(m, "0");
}

static void format_messages(ceiling_redis *ceiling)
{
    message *m = &ceiling->acquire;

    begin_message(m, 11, HF__SCRIPT_LOCK_ACQUIRE, "3");
    add_word(m, "hf:token");
    add_word(m, "hf:wait:{" LOCK "}");
    add_word(m, OWNER);
    add_word(m, "30000");
    add_word(m, "");
    add_word(m, "0");
    add_word(m, "0");
    m = &ceiling->release;
    begin_message(m, 7, HF__SCRIPT_LOCK_RELEASE, "3");
    add_word(m, "hf:token");
    add_word(m, "hf:wait:{" LOCK "}");
    add_word(m, OWNER);
}

int ceiling_redis_connect(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && strlen(socket_path) < sizeof(address.sun_path)) {
        memcpy(address.sun_path, socket_path, strlen(socket_path));
        if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
            return fd;
    }
    if (fd >= 0)
        close(fd);
    bench_fail("cannot connect to %s", socket_path);
    return -1;
}

static ceiling_redis *open_at(const char *socket_path)
{
    ceiling_redis *ceiling = calloc(1, sizeof(*ceiling));

    if (ceiling == NULL)
        return NULL;
    ceiling->fd = ceiling_redis_connect(socket_path);
    if (ceiling->fd < 0) {
        ceiling_redis_close(ceiling);
        return NULL;
    }
    return ceiling;
}

ceiling_redis *ceiling_redis_open(const char *socket_path)
{
    ceiling_redis *ceiling = open_at(socket_path);

    if (ceiling != NULL)
        format_messages(ceiling);
    return ceiling;
}

ceiling_redis *ceiling_redis_open_limiter(const char *socket_path)
{
    ceiling_redis *ceiling = open_at(socket_path);

    if (ceiling != NULL)
        format_limiter(ceiling);
    return ceiling;
}

/* The scripts reply with integers, in one packet. */
static bool round_trip(int fd, const message *m)
{
    char reply[512];
    ssize_t size;

    if (send(fd, m->text, m->size, MSG_NOSIGNAL) != (ssize_t)m->size)
        return bench_fail("cannot send");
    size = recv(fd, reply, sizeof(reply) - 1, 0);
    if (size < 4 || (reply[0] != ':' && reply[0] != '*') ||
        reply[size - 1] != '\n') {
        reply[size > 0 ? size : 0] = '\0';
        return bench_fail("unexpected reply: %s", reply);
    }
    return true;
}

bool ceiling_redis_run(void *user, int64_t count)
{
    ceiling_redis *ceiling = user;

    for (int64_t i = 0; i < count; i++) {
        if (!round_trip(ceiling->fd, &ceiling->acquire) ||
            (ceiling->release.size > 0 &&
             !round_trip(ceiling->fd, &ceiling->release)))
            return false;
    }
    return true;
}

void ceiling_redis_close(ceiling_redis *ceiling)
{
    if (ceiling == NULL)
        return;
    if (ceiling->fd >= 0)
        close(ceiling->fd);
    free(ceiling);
}
