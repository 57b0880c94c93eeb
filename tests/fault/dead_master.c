/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_master.c - see dead_master.h. The log is written before a reply is sent,
 * though not to the disk, so it has all that was acknowledged.
 */
#include "dead_master.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test_clock.h"

#define LOG_DIR "appendonlydir"
#define PATH_SIZE 600
#define LIMIT_MS 10000

struct dead_master {
    char dir[200]; /* has a copy of the log */
    const char *more[8];
    redis_server *server;
};

static bool is_logging(const redis_server *server)
{
    char info[4096];

    return redis_server_command(server, "INFO persistence", info,
                                sizeof(info)) &&
           strstr(info, "aof_enabled:1") != NULL &&
           strstr(info, "aof_rewrite_in_progress:0") != NULL &&
           strstr(info, "aof_rewrite_scheduled:0") != NULL;
}

bool dead_master_log(redis_server *server)
{
    int64_t until_ms = test_now_ms() + LIMIT_MS;
    char answer[64];

    if (!redis_server_command(server, "CONFIG SET appendfsync no", answer,
                              sizeof(answer)) ||
        !redis_server_command(server, "CONFIG SET appendonly yes", answer,
                              sizeof(answer)))
        return false;
    while (!is_logging(server)) {
        if (test_now_ms() > until_ms)
            return false;
        test_rest();
    }
    return true;
}

static bool copy_file(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    bool whole = in != NULL && out != NULL;
    size_t got;

    while (whole && (got = fread(bytes, 1, sizeof(bytes), in)) > 0)
        whole = fwrite(bytes, 1, got, out) == got;
    if (in != NULL)
        fclose(in);
    return out != NULL && fclose(out) == 0 && whole;
}

/* Copy, or with `from` NULL remove, the files of the log. */
static bool each_file(const char *from, const char *to)
{
    char source[PATH_SIZE], target[PATH_SIZE];
    DIR *dir = opendir(from != NULL ? from : to);
    const struct dirent *entry;
    bool whole = dir != NULL;

    while (whole && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        whole = from != NULL ? copy_file(source, target) : unlink(target) == 0;
    }
    if (dir != NULL)
        closedir(dir);
    return whole;
}

static bool copy_log(dead_master *self, const redis_server *server)
{
    const char *parent = getenv("TMPDIR");
    char from[PATH_SIZE], to[PATH_SIZE];

    snprintf(self->dir, sizeof(self->dir), "%s/hf-log-XXXXXX",
             parent == NULL ? "/tmp" : parent);
    if (mkdtemp(self->dir) == NULL) {
        self->dir[0] = '\0';
        return false;
    }
    snprintf(from, sizeof(from), "%s", redis_server_socket_path(server));
    snprintf(strrchr(from, '/'), sizeof(LOG_DIR) + 1, "/" LOG_DIR);
    snprintf(to, sizeof(to), "%s/" LOG_DIR, self->dir);
    return mkdir(to, 0700) == 0 && each_file(from, to);
}

dead_master *dead_master_read(const redis_server *server)
{
    dead_master *self = calloc(1, sizeof(*self));
    const char *more[] = {"--dir", NULL, "--appendonly", "yes", NULL};

    if (self == NULL)
        return NULL;
    memcpy(self->more, more, sizeof(more));
    self->more[1] = self->dir;
    if (copy_log(self, server))
        self->server = redis_server_start_with(NULL, NULL, self->more);
    if (self->server != NULL)
        return self;
    fprintf(stderr, "the dead master's log could not be read\n");
    dead_master_free(self);
    return NULL;
}

void dead_master_free(dead_master *self)
{
    char path[PATH_SIZE];

    if (self == NULL)
        return;
    redis_server_stop(self->server);
    if (self->dir[0] != '\0') {
        snprintf(path, sizeof(path), "%s/" LOG_DIR, self->dir);
        each_file(NULL, path);
        rmdir(path);
        rmdir(self->dir);
    }
    free(self);
}

const char *dead_master_url(const dead_master *self)
{
    return redis_server_unix_url(self->server);
}
