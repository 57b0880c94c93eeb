/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.h - a certificate authority of one test, in its own directory,
 * and what it issues: PEM files for servers and clients.
 */
#ifndef TESTS_SUPPORT_CERTIFICATES_H
#define TESTS_SUPPORT_CERTIFICATES_H

#include <stdbool.h>

#define CERTIFICATES_PATH_SIZE 128

typedef struct certificates certificates;

/* The content of a certificate. */
typedef struct certificate_spec {
    const char *file;      /* its files are <file>.pem and <file>.key */
    const char *common;    /* its common name */
    const char *alternate; /* "DNS:localhost,IP:127.0.0.1"; NULL: none */
    int from_days;         /* of its validity, from now */
    int to_days;           /* likewise; may lie in the past */
    bool self_signed;
} certificate_spec;

/* A new authority with its certificate in "ca.pem". NULL, with a line on
 * stderr: it could not be made. */
certificates *certificates_new(void);

/* Remove the files. NULL is allowed. */
void certificates_free(certificates *self);

/* Write <file>.pem and <file>.key; false, with a line on stderr: not done. */
bool certificates_issue(certificates *self, const certificate_spec *spec);

/* Write the key in `file` into the file `to`, encrypted. */
bool certificates_encrypt(const certificates *self, const char *file,
                          const char *to, const char *password);

/* For a server at 127.0.0.1 and localhost: "server.pem", "server.key". */
bool certificates_issue_server(certificates *self);

/* The path of a file; `path` is returned. */
const char *certificates_path(const certificates *self, const char *file,
                              char path[CERTIFICATES_PATH_SIZE]);

#endif
