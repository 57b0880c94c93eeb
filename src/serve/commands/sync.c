/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.c - see sync.h. SYNC, PSYNC and REPLCONF.
 *
 *  1. The command opens a file without a name, and a thread writes the copy to
 *     it. The connection runs nothing any more; others do not wait.
 *  2. A tick sees that the copy is made, and announces its size, or the error.
 *  3. Each time that the socket takes more, a piece follows from the file.
 *  4. Once it has taken the last one, the connection is closed: there is no
 *     stream of changes.
 *
 * A replica would begin again, and is refused.
 */
#include "serve/commands/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/thread.h"

#define LOOK_MS 5
#define PIECE_SIZE (256u * 1024)

static int open_file(void)
{
    const char *folder = secure_getenv("TMPDIR");
    char name[PATH_MAX];
    int fd;

    (void)snprintf(name, sizeof(name), "%s/holdfast-rdb-XXXXXX",
                   folder != NULL ? folder : "/var/tmp");
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name);
    return fd;
}

static void *make_copy(void *user)
{
    hf_server *server = user;
    hf__sync *sync = &server->sync;

    sync->status =
        hf__rdb_file_write(hf__embedded_env(server->store), sync->fd,
                           &sync->cancelled, &sync->size, &sync->error);
    atomic_store(&sync->made, true);
    return NULL;
}

static void look_again(hf_server *server)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->sync.tick,
                 hf__clock_boot_ms() + LOOK_MS);
}

/* The connection is closed, or gets no copy. */
static void end_copy(hf__sync *sync)
{
    if (sync->conn != NULL)
        sync->conn->copies = sync->conn->supplied = false;
    sync->conn = NULL;
    if (sync->making) /* the tick looks */
        return;
    hf__tick_stop(&sync->tick);
    (void)close(sync->fd);
}

/* The thread has ended. */
static void announce_copy(hf__conn *conn)
{
    hf__sync *sync = &conn->server->sync;

    if (sync->status != HF_OK) {
        hf__conn_count_error(conn, "ERR");
        (void)hf__buf_print(&conn->out, "-ERR %s\r\n", sync->error.message);
        end_copy(sync);
    } else {
        (void)hf__buf_print(&conn->out, "$%" PRIu64 "\r\n", sync->size);
        (void)lseek(sync->fd, 0, SEEK_SET);
        sync->left = sync->size;
        sync->seen_ms = hf__clock_boot_ms();
        conn->supplied = true;
    }
    hf__conn_write(conn);
}

/* Not only a client that takes whole pieces takes something. */
static uint64_t untaken_size(const hf__sync *sync)
{
    return sync->left + hf__buf_size(&sync->conn->out);
}

static void look_at(hf__tick *tick)
{
    hf_server *server = tick->user;
    hf__sync *sync = &server->sync;
    int64_t now_ms = hf__clock_boot_ms();

    look_again(server);
    if (sync->making && atomic_load(&sync->made)) {
        (void)pthread_join(sync->thread, NULL);
        sync->making = false;
        if (sync->conn != NULL)
            announce_copy(sync->conn);
        else
            end_copy(sync);
    } else if (!sync->making && untaken_size(sync) != sync->seen) {
        sync->seen = untaken_size(sync);
        sync->seen_ms = now_ms;
    } else if (!sync->making &&
               now_ms - sync->seen_ms > server->options.request_ms) {
        hf__conn_close(sync->conn);
        return;
    }
    if (sync->conn != NULL)
        sync->conn->active_ms = now_ms;
}

static void supply_piece(hf__conn *conn)
{
    hf__sync *sync = &conn->server->sync;
    void *room = hf__buf_reserve(&conn->out, PIECE_SIZE);
    ssize_t got = room == NULL ? -1 : read(sync->fd, room, PIECE_SIZE);

    if (got <= 0 || (uint64_t)got > sync->left) {
        hf__conn_close(conn);
        return;
    }
    hf__buf_added(&conn->out, (size_t)got);
    sync->left -= (uint64_t)got;
    if (sync->left == 0) /* it is closed once it has taken all of it */
        conn->copies = conn->supplied = false;
    hf__conn_count(conn);
}

static const char *begin_copy(hf__conn *conn)
{
    hf_server *server = conn->server;
    hf__sync *sync = &server->sync;

    if (conn->replica)
        return "this server has no replicas";
    /* Its messages would get into the copy. */
    if (conn->followed != NULL || conn->tracker != NULL || conn->monitors)
        return "no copy for a client with subscriptions, CLIENT TRACKING or "
               "MONITOR";
    if (sync->conn != NULL || sync->making)
        return "another client receives a copy; try again later";
    *sync = (hf__sync){.conn = conn, .fd = open_file()};
    sync->error.struct_size = sizeof(sync->error);
    sync->tick = (hf__tick){.ring = look_at, .user = server};
    if (sync->fd < 0) {
        sync->conn = NULL;
        return "cannot create a file in TMPDIR or /var/tmp";
    }
    if (hf__thread_start(&sync->thread, make_copy, server) != 0) {
        end_copy(sync);
        return "cannot start a thread";
    }
    sync->making = true;
    look_again(server);
    return NULL;
}

/* Each PSYNC asks for all of it. */
static void run_sync(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const char *refusal = begin_copy(conn);

    if (refusal != NULL) {
        hf__answer_error(&conn->answer, "ERR %s", refusal);
        return;
    }
    conn->copies = conn->closing = true;
    if (count > 1 && hf__arg_is(words[0], "psync"))
        (void)hf__buf_print(&conn->out, "+FULLRESYNC %s 0\r\n",
                            conn->server->info.run_id);
}

static void run_replconf(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const char *error = count % 2 == 0 ? HF__ERROR_SYNTAX : NULL;

    for (size_t i = 1; i + 1 < count && error == NULL; i += 2) {
        if (hf__arg_is(words[i], "rdb-filter-only"))
            error = "ERR a copy has all keys and functions";
        conn->replica |=
            hf__arg_is(words[i], "capa") && hf__arg_is(words[i + 1], "psync2");
    }
    if (error != NULL)
        hf__answer_error(&conn->answer, "%s", error);
    else
        hf__answer_line(&conn->answer, "OK");
}

static void leave_copy(hf__conn *conn)
{
    hf__sync *sync = &conn->server->sync;

    if (sync->conn != conn)
        return;
    atomic_store(&sync->cancelled, true);
    end_copy(sync);
}

void hf__sync_close_server(hf_server *server)
{
    hf__sync *sync = &server->sync;

    if (!sync->making)
        return;
    atomic_store(&sync->cancelled, true);
    (void)pthread_join(sync->thread, NULL);
    sync->making = false;
    end_copy(sync);
}

const hf__part hf__sync_part = {.closed = leave_copy, .supply = supply_piece};

const hf__served_entry hf__served_sync[] = {{"sync", 0, run_sync},
                                            {"psync", 0, run_sync},
                                            {"replconf", 0, run_replconf},
                                            {NULL, 0, NULL}};
