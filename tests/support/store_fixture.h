/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fixture.h - one suite, every store. HOLDFAST_TEST_STORE says which:
 * embedded-volatile, embedded-file, embedded-flush, redis-unix, redis-tcp,
 * redis-tls, served-volatile, served-file (`holdfast serve`), postgres, quorum
 * (five servers, two of them dead), redis-cluster (three masters),
 * redis-sentinel (a master, two replicas, three sentinels), or another of the
 * rows in store_fixture.c: with fewer rights, or Valkey. CTest runs each
 * program once per store.
 *
 * A program has one store: a fresh directory, and a fresh server if needed.
 * Each test has its own two clients and its own key names, so that no test sees
 * what another left. What a test creates through the fixture is freed when the
 * test ends, also when it fails.
 */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "support/certificates.h"
#include "support/expect.h"
#include "support/postgres_server.h"
#include "support/redis_cluster.h"
#include "support/redis_sentinel.h"
#include "support/redis_server.h"

/* Of holdfast/lock.h and script.h, which a test that uses them includes. */
struct hf_lock;
struct hf_lock_options;
struct hf_script;

typedef enum fixture_store {
    FIXTURE_EMBEDDED_VOLATILE,
    FIXTURE_EMBEDDED_FILE,
    FIXTURE_EMBEDDED_FLUSH, /* the same with durability=flush */
    FIXTURE_EMBEDDED_LOG,   /* and log */
    FIXTURE_REDIS_UNIX,
    FIXTURE_REDIS_TCP,
    FIXTURE_REDIS_TLS,
    FIXTURE_QUORUM,
    FIXTURE_REDIS_CLUSTER,
    FIXTURE_REDIS_SENTINEL,
    FIXTURE_SERVED_VOLATILE, /* the embedded stores, by `holdfast serve` */
    FIXTURE_SERVED_FILE,
    FIXTURE_POSTGRES
} fixture_store;

/* Our rights on a server. */
typedef enum fixture_rights {
    FIXTURE_RIGHTS_ALL,
    FIXTURE_RIGHTS_LEAST, /* the users of docs/howto/least-rights.md ... */
    FIXTURE_RIGHTS_DUMP   /* ... who may also dump and load */
} fixture_rights;

/* Servers of a quorum, and how many of them are dead. */
#define FIXTURE_QUORUM_SIZE 5
#define FIXTURE_QUORUM_DEAD 2

/* Most objects one test may make through the fixture. */
#define FIXTURE_OBJECT_MAX 640

/* Longest path or URL here; a unix socket's path is shorter still. */
#define FIXTURE_PATH_SIZE 256

typedef struct fixture {
    fixture_store store;
    fixture_rights rights;
    redis_server *server;                      /* NULL: an embedded store */
    redis_server *quorum[FIXTURE_QUORUM_SIZE]; /* NULL: no quorum */
    redis_cluster *cluster;                    /* NULL: no cluster */
    redis_sentinel *sentinel;  /* NULL: none; `server` is its master */
    postgres_server *postgres; /* NULL: none */
    certificates *issued;      /* for TLS; else NULL */
    redis_server_tls tls;
    char tls_paths[3][CERTIFICATES_PATH_SIZE];
    char url[FIXTURE_PATH_SIZE];
    char directory[FIXTURE_PATH_SIZE]; /* for the test's own use */
    hf_client *client;
    hf_client *other; /* a second client of the same store */

    unsigned test_number;
    char *keys[FIXTURE_OBJECT_MAX];
    size_t key_count;
    struct hf_lock *locks[FIXTURE_OBJECT_MAX];
    size_t lock_count;
    struct hf_script *scripts[FIXTURE_OBJECT_MAX];
    size_t script_count;
    hf_client *clients[FIXTURE_OBJECT_MAX];
    size_t client_count;
} fixture;

/* For cmocka: once for the program, once for each test. */
int fixture_start(void **state);
int fixture_stop(void **state);
int fixture_open(void **state);
int fixture_close(void **state);

/* In a file whose tests need nothing else around them. */
#define FIXTURE_TESTS()                                                        \
    ALL_TESTS_WITH(fixture_start, fixture_stop);                               \
    EACH_TEST_WITH(fixture_open, fixture_close)

/* `name` made unique to the running test; valid until the test ends. */
hf_bytes fixture_key(fixture *f, const char *name);

/* Objects that the fixture frees: locks, then scripts, then clients. */
hf_client *fixture_client(fixture *f, const hf_client_options *opts);
hf_client *fixture_client_at(fixture *f, const char *url,
                             const hf_client_options *opts);
struct hf_lock *fixture_lock(fixture *f, hf_client *client, hf_bytes name,
                             const struct hf_lock_options *opts);
struct hf_script *fixture_script(fixture *f, hf_client *client,
                                 const char *source);

/* A handle that was made otherwise becomes one of those; returns it. */
struct hf_lock *fixture_keep_lock(fixture *f, struct hf_lock *lock);

/* A client of another store, which is embedded and at first empty. */
hf_client *fixture_elsewhere(fixture *f, const char *name,
                             const hf_client_options *opts);

/* Free one of them, or close one of the clients, before the test ends. */
void fixture_free_lock(fixture *f, struct hf_lock *lock);
void fixture_free_script(fixture *f, struct hf_script *script);
void fixture_close_client(fixture *f, hf_client *client);

/* Write the path of `name` in the program's directory. */
void fixture_path(const fixture *f, const char *name,
                  char path[FIXTURE_PATH_SIZE]);

/* The URL of another embedded store of the kind under test; parameters may be
 * added with '&'. */
void fixture_embedded_url(const fixture *f, const char *name,
                          const char *max_size, char url[FIXTURE_PATH_SIZE]);

/* Run a command on the server, or on each of a cluster's; false: a reply was
 * not OK. */
bool fixture_server_command(const fixture *f, const char *command);

/* Run a command on running server `number`, from 0, as its owner; false: there
 * is no such server, or, with a line on stderr, it failed. */
bool fixture_server_run(const fixture *f, int number, const char *command);

/* Guards for what only one kind of store can do: on others the test is skipped.
 */
bool fixture_is_embedded(const fixture *f);
bool fixture_is_served(const fixture *f);
void fixture_only_embedded(const fixture *f);
void fixture_only_redis(const fixture *f);
void fixture_not_quorum(const fixture *f); /* which has locks only */
/* There, a lease is over once the client has seen it for as long as it lasts,
 * and what expires does up to 100 ms late (docs/adr/0121). */
void fixture_not_records(const fixture *f);

/* hf_lock_try(), again while the servers of a quorum are too late to vote: on a
 * busy machine they take longer than their 200 ms. */
hf_status fixture_try(struct hf_lock *lock, hf_error *err);
#define expect_taken(lock) expect_status(HF_OK, fixture_try((lock), ERR))

#endif
