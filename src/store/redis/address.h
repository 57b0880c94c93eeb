/* SPDX-License-Identifier: Apache-2.0 */
/* address.h - where one server is and how to log in to it. */
#ifndef HF__STORE_REDIS_ADDRESS_H
#define HF__STORE_REDIS_ADDRESS_H

#include <stdint.h>

#include "holdfast.h"
#include "store/store.h"

typedef struct hf__redis_address {
    char *host; /* NULL: a unix socket */
    char *path; /* of the unix socket; NULL: TCP */
    int port;
    int64_t db;
    char *username; /* NULL: the default user */
    char *password; /* NULL: no login */
    char *text;     /* "host:port" or the path, for people */
} hf__redis_address;

/*
 * Take the address of one server out of a URL:
 *     redis://host[:port][/db]        also valkey:
 *     redis+unix:///path[?db=N]       also valkey+unix:
 * HF_INVALID names the part that is wrong. End it with
 * hf__redis_address_done() on HF_OK.
 */
hf_status hf__redis_address_init(hf__redis_address *address,
                                 const hf__store_config *config, hf_error *err);

/* Passwords are wiped. */
void hf__redis_address_done(hf__redis_address *address);

#endif
