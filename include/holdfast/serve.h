/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/serve.h - serving an embedded store to clients of Redis.
 *
 * Contents:
 * - hf_server_options
 * - hf_server_open(), hf_server_stop(), hf_server_close()
 * - hf_server_address(), hf_server_reload()
 * - hf_server_read_stats(), hf_server_read_commands(), hf_server_find_user()
 *
 * @code
 * hf_status serve(hf_server **server, hf_error *err)
 * {
 *     const char *listen[] = {"unix:app.sock"};
 *     hf_server_options options = HF_SERVER_OPTIONS_INIT;
 *
 *     options.listen = listen;
 *     options.listen_count = 1;
 *     return hf_server_open("volatile:", &options, server, err);
 * }
 * @endcode
 *
 * These functions are in a library of their own, which programs that serve no
 * store need not load: link with `pkg-config --libs holdfast-serve`
 * (-lholdfast-serve -lholdfast), or with holdfast::serve of the CMake package.
 * holdfast.h does not include this header. The two libraries must be of the
 * same version; if not, the loader says so and the program does not start.
 *
 * A server speaks the protocol of Redis (RESP2 and RESP3) and runs the commands
 * of its clients on an embedded store. Other processes may use that store at
 * the same time, by its files or through servers of their own. A server has one
 * thread, on which all of this happens.
 */
#ifndef HOLDFAST_SERVE_H
#define HOLDFAST_SERVE_H

#include "holdfast/base.h"
#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A server in operation. */
typedef struct hf_server hf_server;

/** Most addresses of a server. */
#define HF_SERVER_LISTEN_MAX 16

/** Options of hf_server_open(). */
typedef struct hf_server_options {
    size_t struct_size; /**< #HF_SERVER_OPTIONS_INIT sets it */
    /**
     * Where to listen:
     * - `unix:PATH`, with mode 0600; `unix:PATH?mode=0660&group=NAME`. `unix:`
     *   is a path in the user's runtime directory, named after the store. A
     *   socket left there by a process that has ended is replaced.
     * - `HOST:PORT`, all addresses of the host (`[ADDRESS]:PORT` for IPv6; port
     *   0: any that is free)
     * - `tls:HOST:PORT`, encrypted; needs `tls`
     * - `fd:N`, `tls:fd:N`: a socket that the process inherited
     *
     * An address that other machines can reach is refused unless every user
     * needs a password, or TLS a client's certificate. One of the loopback
     * interface is open to every user of this machine: `on_log` says so.
     */
    const char *const *listen;
    size_t listen_count; /**< 1..#HF_SERVER_LISTEN_MAX */
    /** Most connections at a time; 0: 10000; range 1..1000000. */
    int64_t max_clients;
    /** Largest word of a request, bytes; 0: 512 MiB, which is also the
     *  maximum. */
    int64_t request_max;
    /** Most memory of the buffers of all connections, bytes; those that have
     *  most are closed. 0: 1 GiB. */
    int64_t buffers_max;
    /** In this time an incomplete request must be complete, or 1 MiB of it must
     *  arrive; else its connection is closed. 0: 60000. */
    int64_t request_ms;
    /** Close connections that have sent nothing for so long, unless they wait
     *  for something. 0: never. */
    int64_t idle_ms;
    /** Refuse commands that write. */
    bool read_only;
    /** A file of users: lines `user NAME RULE...` with the rules of Redis's
     *  ACL SETUSER, see docs/reference/server.md. NULL: only the user
     * "default", who may do everything. An address may send ten wrong
     * passwords, then two a second. */
    const char *users_file;
    /** A file whose first line is the password of that user; not with
     *  `users_file`. NULL: none is needed. */
    const char *password_file;
    /** The certificate for `tls:` addresses (`cert`, `key`), and whose clients'
     *  certificates are wanted (`ca`, `ca_dir`; NULL: none). `name` and
     *  `verify` must be NULL. Files that change are read again. */
    const hf_tls_options *tls;
    /** Called with a line for the operator, which has no newline and never a
     *  secret, by hf_server_open() and on the server's thread; must not
     *  block. */
    void (*on_log)(const char *line, void *user);
    void *log_user; /**< for `on_log` */
    /** Called on the server's thread, at most once, when a client has sent
     *  SHUTDOWN and may: the program is to end the server, from another thread.
     *  Must not block, nor use the store: a script may be running in it.
     *  NULL: SHUTDOWN is refused. */
    void (*on_shutdown)(void *user);
    void *shutdown_user; /**< for `on_shutdown` */
} hf_server_options;

/* clang-format off */
#define HF_SERVER_OPTIONS_INIT \
    { sizeof(hf_server_options), NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }
/* clang-format on */

/**
 * Open an embedded store and serve it until hf_server_close().
 *
 * @param url     of an embedded store (`volatile:`, `file:`); NULL: as for
 *                hf_client_open()
 * @param options copied
 * @param server  set on HF_OK
 * @param err     details; may be NULL
 * @retval HF_OK      it accepts connections
 * @retval HF_INVALID an option, or the URL
 * @retval HF_SYSTEM  an address is in use, or cannot be listened on
 * @return what hf_client_open() returns for the store
 */
HF_API HF_MUST_USE hf_status hf_server_open(const char *url,
                                            const hf_server_options *options,
                                            hf_server **server, hf_error *err);

/**
 * An address that it listens on, in the form of hf_server_options::listen, with
 * the port that was chosen.
 *
 * @param server the server
 * @param index  0, 1, ...
 * @return valid until hf_server_close(); NULL: there are fewer
 */
HF_API const char *hf_server_address(const hf_server *server, size_t index);

/** Ranges of hf_server_stats::round_sizes. */
#define HF_SERVER_SIZES 16

/** Counters since the server was opened. */
typedef struct hf_server_stats {
    size_t struct_size;   /**< #HF_SERVER_STATS_INIT sets it */
    uint64_t connections; /**< open now */
    uint64_t connections_total;
    uint64_t connections_refused; /**< too many, or no memory */
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t commands;
    uint64_t failed; /**< of these, with an error as the reply */
    uint64_t rounds; /**< transactions, of the commands of many connections */
    uint64_t units;  /**< commands in them; an EXEC counts as one */
    uint64_t undone; /**< rounds that had to be run again */
    /** Rounds of at most 2^i units, but more than 2^(i-1), undone or not; in
     * the last one all that had more. */
    uint64_t round_sizes[HF_SERVER_SIZES];
    /** Reads that found their key, and that did not. INFO has them as
     *  keyspace_hits and keyspace_misses. */
    uint64_t hits;
    uint64_t misses;
} hf_server_stats;

/* clang-format off */
#define HF_SERVER_STATS_INIT \
    { sizeof(hf_server_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0, 0 }
/* clang-format on */

/**
 * Read the counters. Any thread.
 *
 * @param server the server
 * @param stats  filled; its `struct_size` is set
 * @param err    details; may be NULL
 * @retval HF_OK      read
 * @retval HF_INVALID `struct_size`
 */
HF_API HF_MUST_USE hf_status hf_server_read_stats(hf_server *server,
                                                  hf_server_stats *stats,
                                                  hf_error *err);

/** Ranges of time of hf_server_command. */
#define HF_SERVER_TIMES 24

/** What a server counts of a command. Some runs are timed: the first of each
 *  turn of the server's loop, and one of 17 others. */
typedef struct hf_server_command {
    size_t struct_size; /**< set */
    const char *name;   /**< lower case; valid as long as the program runs */
    uint64_t calls;
    uint64_t failed;   /**< of these, with an error as the reply */
    uint64_t timed;    /**< of these, timed */
    uint64_t timed_ns; /**< what those took, without their commit */
    /** Timed runs that took less than 2^i us, but not less than 2^(i-1); in the
     *  last one all that took longer. */
    uint64_t times[HF_SERVER_TIMES];
} hf_server_command;

/**
 * Receives what was counted of a command, on the calling thread.
 *
 * @param user    as passed to hf_server_read_commands()
 * @param command valid until the function returns
 */
typedef void (*hf_server_command_fn)(void *user,
                                     const hf_server_command *command);

/**
 * Read the counters of each command that was run. Any thread.
 *
 * @param server the server
 * @param report called for each command, in no order
 * @param user   passed to `report`
 * @param err    details; may be NULL
 * @retval HF_OK        all were reported
 * @retval HF_NO_MEMORY none was
 */
HF_API HF_MUST_USE hf_status hf_server_read_commands(
    hf_server *server, hf_server_command_fn report, void *user, hf_error *err);

/**
 * Read the file of users or the password again. Connections of users that have
 * changed are closed. Any thread.
 *
 * @param server the server
 * @param err    details, with the line; may be NULL
 * @retval HF_OK      these users may log in from now on
 * @retval HF_INVALID the file cannot be read, a line, an address that needs a
 *                    password, or a changed certificate; nothing has changed
 */
HF_API HF_MUST_USE hf_status hf_server_reload(hf_server *server, hf_error *err);

/**
 * Is there a user of this name, and have the users changed? Any thread.
 *
 * @param server  the server
 * @param name    of the user
 * @param changes set on HF_OK and HF_NOT_FOUND: how often users have been
 *                changed since the server was opened; may be NULL
 * @param err     details; may be NULL
 * @retval HF_OK        there is
 * @retval HF_NOT_FOUND there is not
 * @retval HF_INVALID   an argument is NULL
 */
HF_API HF_MUST_USE hf_status hf_server_find_user(hf_server *server,
                                                 const char *name,
                                                 uint64_t *changes,
                                                 hf_error *err);

/**
 * Accept no further connections and requests, reply to those received, and
 * close the connections. Any thread.
 *
 * @param server  the server; it can only be closed then
 * @param wait_ms how long clients may take to read their replies, ms
 * @param err     details; may be NULL
 * @retval HF_OK      all connections are closed
 * @retval HF_TIMEOUT some are still open
 */
HF_API HF_MUST_USE hf_status hf_server_stop(hf_server *server, int64_t wait_ms,
                                            hf_error *err);

/**
 * Close the connections and the store, and free the server.
 *
 * @param server NULL is allowed
 */
HF_API void hf_server_close(hf_server *server);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SERVE_H */
