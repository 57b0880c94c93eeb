/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - trust and certificates of connections: those of a store, or those
 * that a server accepts. Created when that is opened; used by all threads.
 */
#ifndef HF__STORE_TLS_H
#define HF__STORE_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/client.h"

struct hf__url;
struct ssl_st;

/* Parameters that a URL with TLS may have, for hf__url_check_params(). */
#define HF__TLS_PARAMS                                                         \
    "tls_ca", "tls_ca_dir", "tls_cert", "tls_key", "tls_key_password_file",    \
        "tls_name", "tls_verify"

typedef struct hf__tls hf__tls;

/* Does the scheme say TLS: "rediss", "valkeys", and these with "+..."? */
bool hf__tls_is_wanted(const struct hf__url *url);

/*
 * From the parameters of a URL, each overridden by the option of its name if
 * that is given (`options` may be NULL):
 *     tls_ca=FILE      trust these certificates (PEM) instead of the system's
 *     tls_ca_dir=DIR   the same, a directory made by `openssl rehash`
 *     tls_cert=FILE    our certificate with its chain (PEM), with tls_key=FILE
 *     tls_key_password_file=FILE   whose first line is the key's password
 *     tls_name=NAME    the name or IP address that the server's certificate
 *                      must have; default: the host that is connected to
 *     tls_verify=full|ca|none   chain and name, the chain only, or nothing
 * HF_INVALID names the parameter: unknown, missing its companion, without
 * effect because of tls_verify, an invalid file.
 */
hf_status hf__tls_new(const struct hf__url *url, const hf_tls_options *options,
                      hf__tls **tls, hf_error *err);
/*
 * For a server: `cert` with `key`, and `ca` or `ca_dir`, by which clients must
 * have a certificate.
 */
hf_status hf__tls_new_server(const hf_tls_options *options, hf__tls **tls,
                             hf_error *err);
/* Must clients have a certificate? */
bool hf__tls_wants_clients(const hf__tls *tls);
void hf__tls_free(hf__tls *tls); /* NULL is allowed */

/* What is verified of a server's certificate, for description. */
const char *hf__tls_describe(const hf__tls *tls);

/* HF_INVALID: the files have changed, and their new contents are not used, for
 * this reason. */
hf_status hf__tls_state(hf__tls *tls, hf_error *err);

/* The path of our key, or of its password; NULL: none. */
const char *hf__tls_key_path(const hf__tls *tls, bool of_password);

/*
 * A connection's state, ready for a handshake with `host` (no brackets; of a
 * server unused), from the current files. NULL: out of memory. Free it with
 * SSL_free().
 */
struct ssl_st *hf__tls_begin(hf__tls *tls, const char *host);

/* Why a connection's certificate is not trusted; NULL: it is, or was not
 * checked. */
const char *hf__tls_distrust(const struct ssl_st *ssl);

/* The result of a handshake; the texts are OpenSSL's and static. */
typedef struct hf__tls_facts {
    const char *protocol;
    const char *cipher;
    bool is_dated;     /* the server's certificate expires ... */
    int64_t expires_s; /* ... so far from now */
} hf__tls_facts;
void hf__tls_tell(const struct ssl_st *ssl, hf__tls_facts *facts);

#endif
