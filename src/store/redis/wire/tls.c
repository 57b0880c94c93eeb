/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - the certificates of a store: from URL parameters to OpenSSL's
 * context, and from that to one connection's checks.
 *
 * The default is strict: TLS 1.2 or newer, a chain to a trusted certificate,
 * and the host's name or IP address among the certificate's alternative names;
 * the common name, which RFC 9525 no longer allows, is not looked at. Messages
 * name files and reasons, never what is in a file.
 *
 * OpenSSL is told not to clean up at exit: our loop thread may be in the
 * middle of it when a program ends with a client open.
 */
#include "store/redis/wire/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/redis/wire/address.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

struct hf__tls {
    SSL_CTX *context;
    bool verifies;            /* the chain */
    bool wants_name;          /* and the name */
    char name[HF__HOST_SIZE]; /* instead of the host's; "": none */
};

/* What a URL says. */
typedef struct tls_params {
    const char *ca;
    const char *ca_dir;
    const char *cert;
    const char *key;
    const char *name;
    const char *verify;
} tls_params;

bool hf__tls_is_wanted(const struct hf__url *url)
{
    size_t size = strcspn(url->scheme, "+");

    return (size == 6 && memcmp(url->scheme, "rediss", 6) == 0) ||
           (size == 7 && memcmp(url->scheme, "valkeys", 7) == 0);
}

/* OpenSSL's reason of the last failure; empties its queue. */
static const char *last_reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = NULL;

    if (ERR_SYSTEM_ERROR(code))
        reason = strerror(ERR_GET_REASON(code));
    else
        reason = ERR_reason_error_string(code);
    ERR_clear_error();
    return reason != NULL ? reason : "no reason is known";
}

static hf_status bad_file(const char *param, const char *path, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID, "%s: cannot use %s: %s", param,
                    hf__quoted(quoted, hf_str(path)), last_reason());
}

/* OpenSSL says no more than "system lib" of a file that it cannot open. */
static hf_status check_file(const char *param, const char *path, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;

    if (fd < 0)
        return hf__fail_errno(err, ours ? HF_SYSTEM : HF_INVALID, errno,
                              "%s: cannot open %s", param,
                              hf__quoted(quoted, hf_str(path)));
    close(fd);
    return HF_OK;
}

/* ------------------------------------------------------------- parameters */

static hf_status check_verify(const tls_params *params, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (strcmp(params->verify, "full") == 0)
        return HF_OK;
    if (strcmp(params->verify, "ca") != 0 &&
        strcmp(params->verify, "none") != 0)
        return hf__fail(err, HF_INVALID,
                        "tls_verify: %s is not full, ca or "
                        "none",
                        hf__quoted(quoted, hf_str(params->verify)));
    if (params->name != NULL)
        return hf__fail(err, HF_INVALID,
                        "tls_name has no effect with tls_verify=%s",
                        params->verify);
    if (strcmp(params->verify, "none") == 0 &&
        (params->ca != NULL || params->ca_dir != NULL))
        return hf__fail(err, HF_INVALID,
                        "%s has no effect with tls_verify=none",
                        params->ca != NULL ? "tls_ca" : "tls_ca_dir");
    return HF_OK;
}

static hf_status read_params(const hf__url *url, tls_params *params,
                             hf_error *err)
{
    size_t at;

    for (at = 0; at < url->param_count; at++) {
        if (strncmp(url->params[at].name, "tls_", 4) == 0 &&
            url->params[at].value[0] == '\0')
            return hf__fail(err, HF_INVALID, "%s is empty",
                            url->params[at].name);
    }
    params->ca = hf__url_param_get(url, "tls_ca");
    params->ca_dir = hf__url_param_get(url, "tls_ca_dir");
    params->cert = hf__url_param_get(url, "tls_cert");
    params->key = hf__url_param_get(url, "tls_key");
    params->name = hf__url_param_get(url, "tls_name");
    params->verify = hf__url_param_get(url, "tls_verify");
    if (params->verify == NULL)
        params->verify = "full";
    if ((params->cert == NULL) != (params->key == NULL))
        return hf__fail(err, HF_INVALID, "%s without %s",
                        params->cert != NULL ? "tls_cert" : "tls_key",
                        params->cert != NULL ? "tls_key" : "tls_cert");
    if (params->name != NULL && strlen(params->name) >= HF__HOST_SIZE)
        return hf__fail(err, HF_INVALID, "tls_name is longer than %d bytes",
                        HF__HOST_SIZE - 1);
    return check_verify(params, err);
}

/* ---------------------------------------------------------------- context */

static hf_status trust(SSL_CTX *context, const tls_params *params,
                       hf_error *err)
{
    hf_status status = HF_OK;
    struct stat info;

    if (params->ca == NULL && params->ca_dir == NULL) {
        if (SSL_CTX_set_default_verify_paths(context) != 1)
            return hf__fail(err, HF_SYSTEM,
                            "cannot use the system's certificates: %s",
                            last_reason());
        return HF_OK;
    }
    if (params->ca != NULL)
        status = check_file("tls_ca", params->ca, err);
    if (status != HF_OK)
        return status;
    if (params->ca != NULL &&
        SSL_CTX_load_verify_file(context, params->ca) != 1)
        return bad_file("tls_ca", params->ca, err);
    if (params->ca_dir == NULL)
        return HF_OK;
    /* OpenSSL looks into it only when it needs a certificate. */
    if (stat(params->ca_dir, &info) != 0 || !S_ISDIR(info.st_mode)) {
        char quoted[HF__QUOTED_SIZE];

        return hf__fail(err, HF_INVALID, "tls_ca_dir: %s is no directory",
                        hf__quoted(quoted, hf_str(params->ca_dir)));
    }
    if (SSL_CTX_load_verify_dir(context, params->ca_dir) != 1)
        return bad_file("tls_ca_dir", params->ca_dir, err);
    return HF_OK;
}

/* Nobody is there to be asked for the password of a key. */
static int no_password(char *text, int size, int writes, void *user)
{
    (void)text;
    (void)size;
    (void)writes;
    (void)user;
    return -1;
}

static hf_status identify(SSL_CTX *context, const tls_params *params,
                          hf_error *err)
{
    hf_status status;

    if (params->cert == NULL)
        return HF_OK;
    status = check_file("tls_cert", params->cert, err);
    if (status == HF_OK)
        status = check_file("tls_key", params->key, err);
    if (status != HF_OK)
        return status;
    SSL_CTX_set_default_passwd_cb(context, no_password);
    if (SSL_CTX_use_certificate_chain_file(context, params->cert) != 1)
        return bad_file("tls_cert", params->cert, err);
    if (SSL_CTX_use_PrivateKey_file(context, params->key, SSL_FILETYPE_PEM) !=
        1)
        return bad_file("tls_key", params->key, err);
    if (SSL_CTX_check_private_key(context) != 1)
        return bad_file("tls_key", params->key, err);
    return HF_OK;
}

static hf_status set_up(hf__tls *tls, const tls_params *params, hf_error *err)
{
    SSL_CTX *context = tls->context;
    hf_status status = HF_OK;

    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return hf__fail(err, HF_SYSTEM, "OpenSSL has no TLS 1.2: %s",
                        last_reason());
    /* The end of a reply is known without a close_notify, and a connection
     * that has ended in the middle of one is lost in any case. */
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    tls->verifies = strcmp(params->verify, "none") != 0;
    tls->wants_name = strcmp(params->verify, "full") == 0;
    if (params->name != NULL)
        memcpy(tls->name, params->name, strlen(params->name) + 1);
    SSL_CTX_set_verify(context,
                       tls->verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    if (tls->verifies)
        status = trust(context, params, err);
    if (status == HF_OK)
        status = identify(context, params, err);
    return status;
}

hf_status hf__tls_new(const hf__url *url, hf__tls **tls, hf_error *err)
{
    tls_params params = {0};
    hf__tls *made;
    hf_status status = read_params(url, &params, err);

    if (status != HF_OK)
        return status;
    made = hf__calloc(1, sizeof(*made));
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    made->context = SSL_CTX_new(TLS_client_method());
    if (made->context == NULL)
        status =
            hf__fail(err, HF_SYSTEM, "cannot set up TLS: %s", last_reason());
    else
        status = set_up(made, &params, err);
    if (status == HF_OK)
        *tls = made;
    else
        hf__tls_free(made);
    return status;
}

void hf__tls_free(hf__tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    hf__free(tls);
}

const char *hf__tls_describe(const hf__tls *tls)
{
    if (!tls->verifies)
        return "encrypted; the server's certificate is not verified";
    if (!tls->wants_name)
        return "the certificate's chain is verified, its name is not";
    return "the certificate's chain and name are verified";
}

/* ------------------------------------------------------------- connection */

static bool is_ip_address(const char *host)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, host, bytes) == 1 ||
           inet_pton(AF_INET6, host, bytes) == 1;
}

/* No certificate has an address's zone, nor a name's last dot. */
static void take_name(char name[HF__HOST_SIZE], const char *host)
{
    size_t size = strcspn(host, "%");

    if (size > 1 && host[size - 1] == '.')
        size--;
    memcpy(name, host, size);
    name[size] = '\0';
}

/* Server Name Indication is for names only (RFC 6066, 3). */
static bool expect(SSL *ssl, const hf__tls *tls, const char *host)
{
    char name[HF__HOST_SIZE];
    bool is_ip;

    take_name(name, tls->name[0] != '\0' ? tls->name : host);
    is_ip = is_ip_address(name);
    if (!is_ip && SSL_set_tlsext_host_name(ssl, name) != 1)
        return false;
    if (!tls->wants_name)
        return true;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (is_ip)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set1_host(ssl, name) == 1;
}

struct ssl_st *hf__tls_begin(const hf__tls *tls, const char *host)
{
    SSL *ssl;

    ERR_clear_error();
    ssl = SSL_new(tls->context);
    if (ssl == NULL)
        return NULL;
    if (!expect(ssl, tls, host)) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

const char *hf__tls_distrust(const struct ssl_st *ssl)
{
    long result = SSL_get_verify_result(ssl);

    if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE || result == X509_V_OK)
        return NULL;
    return X509_verify_cert_error_string(result);
}

void hf__tls_tell(const struct ssl_st *ssl, hf__tls_facts *facts)
{
    const X509 *certificate = SSL_get0_peer_certificate(ssl);
    int days = 0, seconds = 0;

    memset(facts, 0, sizeof(*facts));
    facts->protocol = SSL_get_version(ssl);
    facts->cipher = SSL_get_cipher_name(ssl);
    facts->is_dated = certificate != NULL &&
                      ASN1_TIME_diff(&days, &seconds, NULL,
                                     X509_get0_notAfter(certificate)) == 1;
    facts->expires_s = (int64_t)days * 86400 + seconds;
}
