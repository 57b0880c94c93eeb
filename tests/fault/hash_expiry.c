/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_expiry.c - ways to write a hash with an expiry, each by clients that
 * die: after each of its steps, then by kill -9 at random instants. A hash
 * without a time to live, or without all of its fields, breaks a way.
 *
 *     hash_expiry [--kills N] [--store server|volatile|file]
 *
 * The ways are those of docs/howto/atomic-hash.md. Of those that must break,
 * one that does not is a violation, too: the test would see nothing.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/test_clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TTL_S "1000"
#define TTL_MS 1000000
#define WORDS_MAX 16
#define START_MS 60000 /* for a client to write on a busy machine */

/* As the article printed it, but for the line ends. */
#define SCRIPT                                                                 \
    "local fieldIndex=3;local valueIndex=4;local key=KEYS[1];"                 \
    "local fieldCount=ARGV[1];local expired=ARGV[2];"                          \
    "for i=1,fieldCount,1 do "                                                 \
    "redis.pcall('HSET',key,ARGV[fieldIndex],ARGV[valueIndex]) "               \
    "fieldIndex=fieldIndex+2 valueIndex=valueIndex+2 end;"                     \
    "redis.pcall('EXPIRE',key,expired);"

#define FIELDS "field1", "value1", "field2", "value2"

/* A client that writes; "K" stands for the key. */
typedef struct step {
    const char *words[WORDS_MAX];
    int lines; /* of the reply */
} step;

typedef struct way {
    const char *name;
    bool breaks;
    step steps[6]; /* none: hf_hash_put() */
} way;

static const way ways[] = {
    {"two commands",
     true,
     {{{"HSET", "K", FIELDS}, 1}, {{"EXPIRE", "K", TTL_S}, 1}}},
    {"placeholder",
     true,
     {{{"HSET", "K", "expiryPlaceHolder", "expiryPlaceHolder"}, 1},
      {{"EXPIRE", "K", TTL_S}, 1},
      {{"HSET", "K", FIELDS}, 1},
      {{"HDEL", "K", "expiryPlaceHolder"}, 1}}},
    {"transaction",
     false,
     {{{"MULTI"}, 1},
      {{"HSET", "K", "field1", "value1"}, 1},
      {{"HSET", "K", "field2", "value2"}, 1},
      {{"EXPIRE", "K", TTL_S}, 1},
      {{"EXEC"}, 4}}},
    {"script", false, {{{"EVAL", SCRIPT, "1", "K", "2", TTL_S, FIELDS}, 1}}},
    {"hf_hash_put", false, {{{NULL}, 0}}},
};

static struct shared {
    atomic_long begun; /* number of the latest key */
    atomic_long done;
} * shared;

static const char *url;
static const char *socket_path;

static void key_of(const way *how, long number, char text[64])
{
    snprintf(text, 64, "%s:%ld", how->name, number);
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "hash_expiry: %s\n", what);
    _exit(2);
}

/* -------------------------------------------------------------- the clients */

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
    if (fd < 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        give_up("cannot connect");
    return fd;
}

static void await_lines(int fd, int lines)
{
    char before = '\n';
    char c;

    for (; lines > 0; before = c) {
        if (read(fd, &c, 1) != 1)
            give_up("no reply");
        if (c == '-' && before == '\n')
            give_up("an error reply");
        lines -= c == '\n';
    }
}

static void run_step(int fd, const step *one, const char *key)
{
    char text[1024];
    size_t size, count = 0;

    while (count < WORDS_MAX && one->words[count] != NULL)
        count++;
    size = (size_t)snprintf(text, sizeof(text), "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        const char *word =
            strcmp(one->words[i], "K") == 0 ? key : one->words[i];

        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "$%zu\r\n%s\r\n", strlen(word), word);
    }
    if (write(fd, text, size) != (ssize_t)size)
        give_up("cannot write");
    await_lines(fd, one->lines);
}

static void put(hf_client *client, const char *key)
{
    hf_field fields[] = {{hf_str("field1"), hf_str("value1")},
                         {hf_str("field2"), hf_str("value2")}};
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    opts.ttl_ms = TTL_MS;
    if (hf_hash_put(client, hf_str(key), fields, 2, &opts, &err) != HF_OK)
        give_up(err.message);
}

/* Write keys until killed; or one key, and die after so many steps. */
static _Noreturn void write_keys(const way *how, int last_step)
{
    hf_client *client = NULL;
    bool raw = how->steps[0].lines > 0;
    int fd = raw ? dial() : -1;
    char key[64];

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!raw && hf_client_open(url, NULL, &client, NULL) != HF_OK)
        give_up("cannot open the store");
    for (;;) {
        key_of(how, atomic_fetch_add(&shared->begun, 1) + 1, key);
        for (int i = 0; raw && how->steps[i].lines > 0; i++) {
            run_step(fd, &how->steps[i], key);
            if (i + 1 == last_step)
                (void)raise(SIGKILL);
        }
        if (!raw)
            put(client, key);
        if (!raw && last_step == 1)
            (void)raise(SIGKILL);
        atomic_fetch_add(&shared->done, 1);
    }
}

/* ---------------------------------------------------------------- the check */

/* What is wrong with a key; NULL: nothing, or there is none. */
static const char *wrong(hf_client *client, const char *key)
{
    hf_fields fields = HF_FIELDS_INIT;
    hf_error err = HF_ERROR_INIT;
    int64_t ttl_ms = 0;
    hf_status status = hf_key_ttl(client, hf_str(key), &ttl_ms, &err);
    size_t count;

    if (status == HF_NOT_FOUND)
        return NULL;
    if (status != HF_OK ||
        hf_hash_get_all(client, hf_str(key), &fields, &err) != HF_OK)
        give_up(err.message);
    count = fields.count;
    hf_fields_free(&fields);
    if (ttl_ms < 0)
        return "has no time to live";
    return count == 2 ? NULL : "does not have its fields";
}

static const char killed[] = "killed";

/* Of those from `first` on. */
static long count_broken(hf_client *client, const way *how, long first,
                         const char *after)
{
    long broken = 0;
    char key[64];

    for (; first <= atomic_load(&shared->begun); first++) {
        const char *what;

        key_of(how, first, key);
        what = wrong(client, key);
        if (what != NULL && how->breaks && after != killed)
            printf("  %s: the key %s\n", after, what);
        else if (what != NULL && !how->breaks)
            printf("violation: %s, %s: %s %s\n", how->name, after, key, what);
        broken += what != NULL;
    }
    return broken;
}

static pid_t start(const way *how, int last_step)
{
    pid_t pid = fork();

    if (pid == 0)
        write_keys(how, last_step);
    return pid;
}

/* false: it did not die by SIGKILL. */
static bool reap(pid_t pid)
{
    int status = 0;

    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

static int step_count(const way *how)
{
    int count = 0;

    while (how->steps[count].lines > 0)
        count++;
    return count > 0 ? count : 1;
}

static long die_after_each_step(hf_client *client, const way *how)
{
    long broken = 0;

    for (int i = 1; i <= step_count(how); i++) {
        long first = atomic_load(&shared->begun) + 1;
        char after[32];

        if (!reap(start(how, i)))
            give_up("a client did not die");
        snprintf(after, sizeof(after), "dead after step %d", i);
        broken += count_broken(client, how, first, after);
    }
    return broken;
}

/* Each dies within some writes. */
static long die_at_random(hf_client *client, const way *how, long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);
    long broken = 0;

    for (long i = 0; i < kills; i++) {
        long first = atomic_load(&shared->begun) + 1;
        long done = atomic_load(&shared->done);
        int64_t limit_ms = test_now_ms() + START_MS;
        pid_t pid = start(how, 0);

        while (atomic_load(&shared->done) == done && test_now_ms() < limit_ms)
            (void)usleep(100);
        (void)usleep((useconds_t)prng_below(&random, 1000));
        (void)kill(pid, SIGKILL);
        if (!reap(pid))
            give_up("a client ended by itself");
        broken += count_broken(client, how, first, killed);
    }
    return broken;
}

/* Does it what is expected of it? */
static bool try_way(const way *how, long kills)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    long begun = atomic_load(&shared->begun);
    long by_step, by_kill;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK)
        give_up(err.message);
    by_step = die_after_each_step(client, how);
    by_kill = die_at_random(client, how, kills);
    hf_client_close(client);
    printf("%s: %ld writes; broken by a death after a step: %ld of %d, by %ld "
           "kills: %ld\n",
           how->name, atomic_load(&shared->begun) - begun, by_step,
           step_count(how), kills, by_kill);
    if (how->breaks && by_step == 0)
        printf("violation: %s does not break\n", how->name);
    return how->breaks ? by_step > 0 : by_step + by_kill == 0;
}

static bool on_server(long kills)
{
    redis_server *server = redis_server_start(NULL);
    bool good = server != NULL;

    if (server == NULL)
        return false;
    url = redis_server_unix_url(server);
    socket_path = redis_server_socket_path(server);
    for (size_t i = 0; i < COUNT(ways); i++)
        good = try_way(&ways[i], kills) && good;
    redis_server_stop(server);
    return good;
}

static bool on_embedded(const char *scheme, long kills)
{
    place at;
    bool good;

    place_make(&at, scheme, "");
    url = at.url;
    good = try_way(&ways[COUNT(ways) - 1], kills);
    place_remove(&at);
    return good;
}

int main(int argc, char **argv)
{
    const char *store = "server";
    long kills = 15;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kills") == 0)
            kills = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--store") == 0)
            store = argv[i + 1];
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        give_up("no memory");
    return (strcmp(store, "server") == 0 ? on_server(kills)
                                         : on_embedded(store, kills))
               ? 0
               : 1;
}
