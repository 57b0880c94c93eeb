/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - parsing a store URL (RFC 3986 shape, one parameter list). The driver
 * decides which parts are allowed. One scheme is known here: "redlock:" is
 * followed by a list of URLs, unchanged in `path`.
 */
#ifndef HF__UTIL_URL_H
#define HF__UTIL_URL_H

#include "holdfast/base.h"

#define HF__URL_PARAM_MAX 16

typedef struct hf__url_param {
    const char *name;
    const char *value;
} hf__url_param;

/* All strings are percent-decoded, NUL-terminated and live in `storage`. */
typedef struct hf__url {
    const char *scheme;   /* lower case, never NULL */
    const char *username; /* NULL: not given; "" possible */
    const char *password; /* NULL: not given */
    /* NULL: no "//"; without [] of an IPv6 literal. A list of hosts is
     * unchanged, "h1:26379,h2,[::1]:7"; see hf__url_host(). */
    const char *host;
    int port;         /* 0: not given, or a list */
    const char *path; /* "" or as given; with "//" it begins with '/' */
    hf__url_param params[HF__URL_PARAM_MAX];
    size_t param_count;
    char *storage;
} hf__url;

/*
 * HF_INVALID names the part: no scheme, bad port, bad percent code, a NUL,
 * a parameter given twice or without "=". The message never shows the
 * password. End it with hf__url_done() on HF_OK.
 */
hf_status hf__url_parse(const char *text, hf__url *url, hf_error *err);
void hf__url_done(hf__url *url); /* wipes the storage first */

/* Long enough for any host name or address. */
#define HF__URL_HOST_SIZE 256

/*
 * Host number `at` (0, 1, ...) of the URL, and its port or 0. false: there are
 * fewer, or it is too long for a host.
 */
bool hf__url_host(const hf__url *url, size_t at, char host[HF__URL_HOST_SIZE],
                  int *port);

/* Value of a parameter, or NULL. `_take`: and remove it. */
const char *hf__url_param_get(const hf__url *url, const char *name);
const char *hf__url_param_take(hf__url *url, const char *name);

/*
 * HF_INVALID naming the first parameter that is not in `known`, a list that
 * ends with NULL.
 */
hf_status hf__url_check_params(const hf__url *url, const char *const *known,
                               hf_error *err);

/* Decimal number in low..high; HF_INVALID names `what`. */
hf_status hf__parse_int(const char *text, int64_t low, int64_t high,
                        const char *what, int64_t *value, hf_error *err);

/* Bytes with an optional suffix K, M or G (powers of 1024). */
hf_status hf__parse_size(const char *text, int64_t low, int64_t high,
                         const char *what, int64_t *size, hf_error *err);

#endif
