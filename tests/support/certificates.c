/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.c - makes keys (P-256) and certificates with libcrypto, so that
 * no test needs a file that would expire.
 */
#include "support/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/remove_tree.h"

#define DAY_S (24L * 60 * 60)

struct certificates {
    char dir[CERTIFICATES_PATH_SIZE - 32];
    EVP_PKEY *key;
    X509 *certificate;
    long serial;
};

const char *certificates_path(const certificates *self, const char *file,
                              char path[CERTIFICATES_PATH_SIZE])
{
    snprintf(path, CERTIFICATES_PATH_SIZE, "%s/%.30s", self->dir, file);
    return path;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid,
                          const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;
    bool added;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

/* A certificate without a signature. */
static X509 *draw_up(certificates *self, const certificate_spec *spec,
                     EVP_PKEY *key, X509 *issuer)
{
    X509 *made = X509_new();
    X509_NAME *name = X509_get_subject_name(made);

    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++self->serial);
    X509_gmtime_adj(X509_getm_notBefore(made), spec->from_days * DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(made), spec->to_days * DAY_S);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               (const unsigned char *)spec->common, -1, -1, 0);
    X509_set_issuer_name(made,
                         issuer != NULL ? X509_get_subject_name(issuer) : name);
    X509_set_pubkey(made, key);
    return made;
}

static bool save_pair(const certificates *self, const char *file, EVP_PKEY *key,
                      X509 *certificate)
{
    char name[32];
    char path[CERTIFICATES_PATH_SIZE];
    FILE *out;
    bool saved;

    snprintf(name, sizeof(name), "%.24s.pem", file);
    out = fopen(certificates_path(self, name, path), "w");
    saved = out != NULL && PEM_write_X509(out, certificate) == 1;
    saved = out != NULL && fclose(out) == 0 && saved;
    snprintf(name, sizeof(name), "%.24s.key", file);
    out = fopen(certificates_path(self, name, path), "w");
    saved = saved && out != NULL &&
            PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1;
    return out != NULL && fclose(out) == 0 && saved;
}

bool certificates_issue(certificates *self, const certificate_spec *spec)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *issuer = spec->self_signed ? NULL : self->certificate;
    X509 *made = draw_up(self, spec, key, issuer);
    bool issued = spec->alternate == NULL ||
                  add_extension(made, issuer != NULL ? issuer : made,
                                NID_subject_alt_name, spec->alternate);

    issued =
        issued &&
        X509_sign(made, issuer != NULL ? self->key : key, EVP_sha256()) > 0 &&
        save_pair(self, spec->file, key, made);
    if (!issued)
        fprintf(stderr, "cannot issue the certificate %s\n", spec->file);
    X509_free(made);
    EVP_PKEY_free(key);
    return issued;
}

bool certificates_encrypt(const certificates *self, const char *file,
                          const char *to, const char *password)
{
    char path[CERTIFICATES_PATH_SIZE];
    FILE *in = fopen(certificates_path(self, file, path), "r");
    EVP_PKEY *key = in != NULL ? PEM_read_PrivateKey(in, NULL, NULL, NULL) : 0;
    FILE *out = fopen(certificates_path(self, to, path), "w");
    bool saved =
        key != NULL && out != NULL &&
        PEM_write_PKCS8PrivateKey(out, key, EVP_aes_256_cbc(), password,
                                  (int)strlen(password), NULL, NULL) == 1;

    if (in != NULL)
        fclose(in);
    EVP_PKEY_free(key);
    return out != NULL && fclose(out) == 0 && saved;
}

bool certificates_issue_server(certificates *self)
{
    static const certificate_spec spec = {.file = "server",
                                          .common = "a server",
                                          .alternate =
                                              "DNS:localhost,IP:127.0.0.1",
                                          .from_days = -1,
                                          .to_days = 30};

    return certificates_issue(self, &spec);
}

static bool make_authority(certificates *self)
{
    static const certificate_spec spec = {
        .common = "an authority", .from_days = -10, .to_days = 30};

    self->key = EVP_EC_gen("P-256");
    if (self->key == NULL)
        return false;
    self->certificate = draw_up(self, &spec, self->key, NULL);
    return add_extension(self->certificate, self->certificate,
                         NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(self->certificate, self->certificate, NID_key_usage,
                         "critical,keyCertSign,cRLSign") &&
           X509_sign(self->certificate, self->key, EVP_sha256()) > 0 &&
           save_pair(self, "ca", self->key, self->certificate);
}

certificates *certificates_new(void)
{
    const char *base = getenv("TMPDIR");
    certificates *self = calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    if (base == NULL || strlen(base) > 60)
        base = "/tmp";
    snprintf(self->dir, sizeof(self->dir), "%s/hf-ca-XXXXXX", base);
    if (mkdtemp(self->dir) != NULL && make_authority(self))
        return self;
    fprintf(stderr, "cannot make a certificate authority in %s\n", self->dir);
    certificates_free(self);
    return NULL;
}

void certificates_free(certificates *self)
{
    if (self == NULL)
        return;
    (void)remove_tree(self->dir);
    X509_free(self->certificate);
    EVP_PKEY_free(self->key);
    free(self);
}
