/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_place.c - see fault_place.h.
 */
#include "fault_place.h"
#include "support/await_child.h"
#include "support/redis_server.h"
#include "support/remove_tree.h"
#include "support/test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/value.h"

/* Exit statuses of expect_other()'s child in addition to those of hf_status. */
enum { CHILD_READ = 101, CHILD_WRITE = 102, CHILD_MESSAGE = 103 };

void place_make(place *at, const char *scheme, const char *parameters)
{
    memset(at, 0, sizeof(*at));
    (void)snprintf(at->folder, sizeof(at->folder), "/dev/shm/hf-fault-XXXXXX");
    assert_non_null(mkdtemp(at->folder));
    (void)snprintf(at->dir, sizeof(at->dir), "%s/s", at->folder);
    (void)snprintf(at->url, sizeof(at->url), "%s:%s%s", scheme, at->dir,
                   parameters);
}

void place_remove(place *at)
{
    place_close(at);
    (void)remove_tree(at->folder);
}

bool place_run(const char *store, bool (*act)(const char *url, long kills),
               long kills)
{
    redis_server *server;
    place at;
    bool fine;

    if (strcmp(store, "server") != 0) {
        place_make(&at, store, "");
        fine = act(at.url, kills);
        place_remove(&at);
        return fine;
    }
    server = redis_server_start(NULL);
    fine = server != NULL && act(redis_server_unix_url(server), kills);
    redis_server_stop(server);
    return fine;
}

void place_open(place *at)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(at->url, NULL, &at->client, &err) != HF_OK)
        fail_msg("%s: %s", at->url, err.message);
}

void place_close(place *at)
{
    hf_client_close(at->client);
    at->client = NULL;
}

const char *place_file(const place *at, const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", at->dir, name);
    return path;
}

hf_status try_open(const char *url, hf_error *err)
{
    hf_client *client;
    hf_status status = hf_client_open(url, NULL, &client, err);

    if (status == HF_OK)
        hf_client_close(client);
    return status;
}

hf_status set_number(hf_client *client, int number)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", number);
    return hf_value_set(client, hf_str("a"), hf_str(text), NULL, NULL, NULL);
}

int get_number(hf_client *client)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(client, hf_str("a"), &value, NULL);
    int number;

    if (status != HF_OK)
        return status == HF_NOT_FOUND ? -1 : -2;
    number = (int)strtol(value.data, NULL, 10);
    hf_buffer_free(&value);
    return number;
}

/* --------------------------------------------------------------- processes */

pid_t start_child(int (*act)(const place *at), const place *at)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        /* cmocka handles them, and would continue with the tests. */
        (void)signal(SIGBUS, SIG_DFL);
        (void)signal(SIGSEGV, SIG_DFL);
        (void)signal(SIGABRT, SIG_DFL);
        _exit(act(at));
    }
    return pid;
}

void kill_child(pid_t pid)
{
    if (pid <= 0)
        return;
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

kill_options kill_options_of(int argc, char **argv, long kills)
{
    kill_options opts = {"volatile", kills, false};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cheat") == 0)
            opts.cheats = true;
        else if (i + 1 < argc && strcmp(argv[i], "--kills") == 0)
            opts.kills = strtol(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--store") == 0)
            opts.store = argv[++i];
    }
    return opts;
}

void *share_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        exit(1);
    return memory;
}

int in_child(int (*act)(const place *at), const place *at)
{
    pid_t pid = start_child(act, at);
    int status;

    assert_int_equal(await_child(pid, &status), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The expected part of the message; "" for any. */
static const char *wanted_part;

/* An hf_status does not fit an exit status: its hundreds and units do, as tens
 * and units. */
static int code_of(hf_status status)
{
    return (int)status / 100 * 10 + (int)status % 100;
}

static int open_and_use(const place *at)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status = hf_client_open(at->url, NULL, &client, &err);
    int number;

    if (status != HF_OK) {
        if (strstr(err.message, wanted_part) != NULL)
            return code_of(status);
        (void)fprintf(stderr, "unexpected message: %s\n", err.message);
        return CHILD_MESSAGE;
    }
    number = get_number(client);
    if (number == -2)
        return CHILD_READ;
    if (set_number(client, number + 1) != HF_OK)
        return CHILD_WRITE;
    hf_client_close(client);
    return 0;
}

void expect_other(const place *at, hf_status want, const char *part)
{
    wanted_part = part;
    assert_int_equal(in_child(open_and_use, at), code_of(want));
}

/* -------------------------------------------------------------- namespaces */

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

static bool become_root(void)
{
    char map[64];
    unsigned long uid = geteuid(), gid = getegid();

    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    (void)write_text("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "0 %lu 1", gid);
    if (!write_text("/proc/self/gid_map", map))
        return false;
    (void)snprintf(map, sizeof(map), "0 %lu 1", uid);
    return write_text("/proc/self/uid_map", map);
}

bool own_tmpfs(const place *at, const char *options)
{
    return become_root() &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", at->folder, "tmpfs", 0, options) == 0;
}
