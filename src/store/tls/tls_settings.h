/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_settings.h - TLS settings of a URL and a client's options, merged and
 * checked. Strings are copies; files are not opened here.
 */
#ifndef HF__STORE_TLS_SETTINGS_H
#define HF__STORE_TLS_SETTINGS_H

#include <stdbool.h>

#include "holdfast/client.h"

struct hf__url;

/* Files watched for changes. */
typedef enum hf__tls_file {
    HF__TLS_CA,
    HF__TLS_CERT,
    HF__TLS_KEY,
    HF__TLS_KEY_PASSWORD,
    HF__TLS_FILES
} hf__tls_file;

typedef struct hf__tls_settings {
    char *files[HF__TLS_FILES]; /* NULL: none */
    char *ca_dir;               /* NULL: none */
    char *key_password;         /* the password itself; NULL: none */
    char *name;                 /* instead of the host's; NULL: none */
    bool verifies;              /* the chain */
    bool wants_name;            /* and the name */
    bool serves;                /* for connections that we accept */
} hf__tls_settings;

/* The parameter that names a file, for messages. */
const char *hf__tls_file_name(hf__tls_file file);

/*
 * HF_INVALID names the parameter: empty, missing its companion, without effect
 * because of another. Call hf__tls_settings_done() in any case.
 */
hf_status hf__tls_settings_init(hf__tls_settings *settings,
                                const struct hf__url *url,
                                const hf_tls_options *options, hf_error *err);
/* For a server: its certificate, and which clients' ones it wants, if any. */
hf_status hf__tls_settings_init_server(hf__tls_settings *settings,
                                       const hf_tls_options *options,
                                       hf_error *err);
void hf__tls_settings_done(hf__tls_settings *settings);

#endif
