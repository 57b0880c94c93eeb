/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - a server's address and how to log in. */
#ifndef HF__STORE_REDIS_ADDRESS_H
#define HF__STORE_REDIS_ADDRESS_H

#include <stdint.h>

#include "holdfast/base.h"
#include "store/store.h"

/* A host name has at most 253 bytes (RFC 1035); a bracketed IPv6 address with
 * a zone is shorter, and so is the path of a unix socket. */
#define HF__HOST_SIZE 256
#define HF__WHERE_SIZE (HF__HOST_SIZE + 16)

/* Parameters that every URL of a server may have, for hf__url_check_params().
 */
#define HF__ACCOUNT_PARAMS "client_name", "password_file"

/* A server's address. */
typedef struct hf__redis_where {
    char *host; /* NULL: a unix socket */
    char *path; /* of the unix socket; NULL: TCP */
    int port;
    char *text; /* "host:port" or the path, for people */
} hf__redis_where;

/* How to log in; the same for all servers of a store. Read without a lock by
 * all connections. */
typedef struct hf__redis_account {
    int64_t db;
    char *username;      /* NULL: the default user */
    char *password;      /* NULL: no login */
    char *password_file; /* from the URL; NULL: not from a file */
    char *client_name;   /* for CLIENT SETNAME; NULL: ours */
    bool master_only;    /* treat a replica (ROLE) as unreachable */
    struct hf__tls *tls; /* NULL: plain */
} hf__redis_account;

typedef struct hf__redis_address {
    hf__redis_where where;
    hf__redis_account account;
} hf__redis_address;

/*
 * Read the URL of one server:
 *     redis://host[:port][/db]        also valkey:
 *     rediss://host[:port][/db]       also valkeys:, with parameters of tls.h
 *     redis+unix:///path[?db=N]       also valkey+unix:
 * HF_INVALID names the part that is wrong. End it with
 * hf__redis_address_done() on HF_OK.
 */
hf_status hf__redis_address_init(hf__redis_address *address,
                                 const hf__store_config *config, hf_error *err);

/* Passwords are wiped. */
void hf__redis_address_done(hf__redis_address *address);

/* The parts, for topologies of several servers. A `where` of a host: port 1 to
 * 65535, host not longer than HF__HOST_SIZE allows, without brackets. The
 * account takes `tls` from the URL's scheme and parameters and the options, but
 * leaves it to the caller to refuse unknown parameters; `db` stays 0. */
hf_status hf__redis_where_init(hf__redis_where *where, const char *host,
                               int port, hf_error *err);
void hf__redis_where_done(hf__redis_where *where);
/* Copy a word from a reply: printable ASCII without spaces, not empty. false:
 * invalid, or longer than `size` with a NUL. */
bool hf__redis_word_read(hf_bytes text, char *word, size_t size);
/* The same for a host; removes the brackets of an IPv6 address. */
bool hf__redis_host_read(hf_bytes text, char host[HF__HOST_SIZE]);
hf_status hf__redis_account_init(hf__redis_account *account,
                                 const hf__store_config *config, hf_error *err);
void hf__redis_account_done(hf__redis_account *account);

#endif
