/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - the certificates of a store: OpenSSL's context from the settings, and
 * the checks of each connection.
 *
 * The default is strict: TLS 1.2 or newer, a chain to a trusted certificate,
 * and the host's name or IP address among the certificate's alternative names;
 * the common name, which RFC 9525 no longer allows, is ignored. Messages name
 * files and reasons, never a file's contents.
 *
 * Changed files are reread by the next connection, as certificates may expire
 * before a program ends. Two files cannot be replaced atomically, so files that
 * do not match, or are incomplete, are reread when they change again; until
 * then the previous context is used. Connections keep theirs. OpenSSL reads
 * tls_ca_dir when it needs a certificate.
 *
 * Locks: `mutex`, also held while files are read, which is rare.
 *
 * OpenSSL does not clean up at exit: our loop thread may be using it when a
 * program ends with an open client.
 */
#include "store/tls/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/tls/openssl.h"
#include "store/tls/tls_settings.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/secret.h"
#include "util/url.h"

/* Equal stamps: the same file, unmodified. */
typedef struct file_stamp {
    uint64_t device;
    uint64_t number;
    int64_t size;
    struct timespec modified;
    struct timespec changed;
} file_stamp;

typedef struct file_stamps {
    file_stamp of[HF__TLS_FILES];
} file_stamps;

struct hf__tls {
    hf__tls_settings settings;
    pthread_mutex_t mutex; /* guards what follows */
    SSL_CTX *context;
    file_stamps stamps; /* of the files read last, usable or not */
    hf_error error;     /* why the latest files are unusable; HF_OK: used */
};

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

/* For a file that cannot be opened OpenSSL reports only "system lib". */
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

/* ---------------------------------------------------------------- context */

static hf_status trust_file(SSL_CTX *context, const char *path, hf_error *err)
{
    hf_status status = check_file("tls_ca", path, err);

    if (status == HF_OK && SSL_CTX_load_verify_file(context, path) != 1)
        status = bad_file("tls_ca", path, err);
    return status;
}

/* OpenSSL reads it only when it needs a certificate. */
static hf_status trust_directory(SSL_CTX *context, const char *path,
                                 hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return hf__fail(err, HF_INVALID, "tls_ca_dir: %s is not a directory",
                        hf__quoted(quoted, hf_str(path)));
    if (SSL_CTX_load_verify_dir(context, path) != 1)
        return bad_file("tls_ca_dir", path, err);
    return HF_OK;
}

static hf_status load_authorities(SSL_CTX *context,
                                  const hf__tls_settings *settings,
                                  hf_error *err)
{
    const char *file = settings->files[HF__TLS_CA];
    hf_status status = HF_OK;

    if (file == NULL && settings->ca_dir == NULL) {
        if (SSL_CTX_set_default_verify_paths(context) != 1)
            return hf__fail(err, HF_SYSTEM,
                            "cannot use the system's certificates: %s",
                            last_reason());
        return HF_OK;
    }
    if (file != NULL)
        status = trust_file(context, file, err);
    if (status == HF_OK && settings->ca_dir != NULL)
        status = trust_directory(context, settings->ca_dir, err);
    return status;
}

/* ---------------------------------------------------------------- our key */

typedef struct key_password {
    const char *text; /* NULL: there is none */
    bool asked;       /* the key is encrypted */
} key_password;

/* OpenSSL would prompt on the terminal. */
static int give_password(char *text, int size, int writes, void *user)
{
    key_password *password = user;
    size_t length;

    (void)writes;
    password->asked = true;
    if (password->text == NULL)
        return -1;
    length = strlen(password->text);
    if (length > (size_t)size)
        return -1;
    memcpy(text, password->text, length);
    return (int)length;
}

static hf_status bad_key(const char *path, const key_password *password,
                         hf_error *err)
{
    bool no_pair = ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509;
    char quoted[HF__QUOTED_SIZE];

    if (!password->asked || no_pair)
        return bad_file("tls_key", path, err);
    ERR_clear_error();
    hf__quoted(quoted, hf_str(path));
    if (password->text == NULL)
        return hf__fail(err, HF_INVALID,
                        "tls_key: %s is encrypted; give its password by "
                        "tls_key_password_file",
                        quoted);
    return hf__fail(err, HF_INVALID,
                    "tls_key: cannot decrypt %s: is the password wrong?",
                    quoted);
}

static hf_status use_key(SSL_CTX *context, const char *path,
                         const char *password_text, hf_error *err)
{
    key_password password = {.text = password_text};
    hf_status status = HF_OK;

    SSL_CTX_set_default_passwd_cb(context, give_password);
    SSL_CTX_set_default_passwd_cb_userdata(context, &password);
    if (SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1)
        status = bad_key(path, &password, err);
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    return status;
}

static hf_status use_key_with_file(SSL_CTX *context,
                                   const hf__tls_settings *settings,
                                   hf_error *err)
{
    const char *path = settings->files[HF__TLS_KEY_PASSWORD];
    char text[HF__SECRET_SIZE];
    hf_status status = hf__secret_read(hf__tls_file_name(HF__TLS_KEY_PASSWORD),
                                       path, text, err);

    if (status == HF_OK)
        status = use_key(context, settings->files[HF__TLS_KEY], text, err);
    explicit_bzero(text, sizeof(text));
    return status;
}

static hf_status load_certificate(SSL_CTX *context,
                                  const hf__tls_settings *settings,
                                  hf_error *err)
{
    const char *cert = settings->files[HF__TLS_CERT];
    const char *key = settings->files[HF__TLS_KEY];
    hf_status status;

    if (cert == NULL)
        return HF_OK;
    status = check_file("tls_cert", cert, err);
    if (status == HF_OK)
        status = check_file("tls_key", key, err);
    if (status != HF_OK)
        return status;
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return bad_file("tls_cert", cert, err);
    if (settings->key_password == NULL &&
        settings->files[HF__TLS_KEY_PASSWORD] != NULL)
        return use_key_with_file(context, settings, err);
    return use_key(context, key, settings->key_password, err);
}

/* ---------------------------------------------------------------- renew */

static int verify_mode(const hf__tls_settings *settings)
{
    if (!settings->verifies)
        return SSL_VERIFY_NONE;
    return settings->serves ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                            : SSL_VERIFY_PEER;
}

/* Sessions are not resumed: a client's certificate is checked each time. Idle
 * connections have no buffers. */
static void set_up_server(SSL_CTX *context)
{
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_options(context,
                        SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static hf_status set_up(SSL_CTX *context, const hf__tls_settings *settings,
                        hf_error *err)
{
    hf_status status = HF_OK;

    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return hf__fail(err, HF_SYSTEM, "OpenSSL has no TLS 1.2: %s",
                        last_reason());
    /* The end of a reply is known without a close_notify, and a connection that
     * ends within one is lost anyway. */
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_verify(context, verify_mode(settings), NULL);
    if (settings->serves)
        set_up_server(context);
    if (settings->verifies)
        status = load_authorities(context, settings, err);
    if (status == HF_OK)
        status = load_certificate(context, settings, err);
    return status;
}

static hf_status make_context(const hf__tls_settings *settings,
                              SSL_CTX **context, hf_error *err)
{
    SSL_CTX *made;
    hf_status status;

    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    made = SSL_CTX_new(settings->serves ? TLS_server_method()
                                        : TLS_client_method());
    if (made == NULL)
        return hf__fail(err, HF_SYSTEM, "cannot set up TLS: %s", last_reason());
    status = set_up(made, settings, err);
    if (status == HF_OK)
        *context = made;
    else
        SSL_CTX_free(made);
    return status;
}

/* All zero for missing files. */
static void take_stamps(const hf__tls_settings *settings, file_stamps *stamps)
{
    struct stat info;

    memset(stamps, 0, sizeof(*stamps));
    for (hf__tls_file at = 0; at < HF__TLS_FILES; at++) {
        file_stamp *stamp = &stamps->of[at];

        if (settings->files[at] == NULL ||
            stat(settings->files[at], &info) != 0)
            continue;
        stamp->device = (uint64_t)info.st_dev;
        stamp->number = (uint64_t)info.st_ino;
        stamp->size = (int64_t)info.st_size;
        stamp->modified = info.st_mtim;
        stamp->changed = info.st_ctim;
    }
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool are_same(const file_stamps *a, const file_stamps *b)
{
    for (size_t i = 0; i < HF__TLS_FILES; i++) {
        const file_stamp *x = &a->of[i];
        const file_stamp *y = &b->of[i];

        if (x->device != y->device || x->number != y->number ||
            x->size != y->size || !is_same_time(&x->modified, &y->modified) ||
            !is_same_time(&x->changed, &y->changed))
            return false;
    }
    return true;
}

/* The stamps are taken before reading, so that no change is missed. A lack of
 * memory or descriptors is not the files' fault. */
static void renew_locked(hf__tls *tls)
{
    SSL_CTX *context = NULL;
    file_stamps stamps;
    hf_status status;

    take_stamps(&tls->settings, &stamps);
    if (are_same(&stamps, &tls->stamps))
        return;
    tls->error = (hf_error)HF_ERROR_INIT;
    status = make_context(&tls->settings, &context, &tls->error);
    if (status == HF_OK || status == HF_INVALID)
        tls->stamps = stamps;
    if (status != HF_OK)
        return;
    SSL_CTX_free(tls->context);
    tls->context = context;
}

/* ----------------------------------------------------------- open and close */

/* `url` NULL: for a server. */
static hf_status make_tls(const hf__url *url, const hf_tls_options *options,
                          hf__tls **tls, hf_error *err)
{
    hf__tls *made = hf__calloc(1, sizeof(*made));
    hf_status status;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    pthread_mutex_init(&made->mutex, NULL);
    made->error = (hf_error)HF_ERROR_INIT;
    if (url != NULL)
        status = hf__tls_settings_init(&made->settings, url, options, err);
    else
        status = hf__tls_settings_init_server(&made->settings, options, err);
    take_stamps(&made->settings, &made->stamps);
    if (status == HF_OK)
        status = hf__openssl_load(err);
    if (status == HF_OK)
        status = make_context(&made->settings, &made->context, err);
    if (status == HF_OK)
        *tls = made;
    else
        hf__tls_free(made);
    return status;
}

hf_status hf__tls_new(const hf__url *url, const hf_tls_options *options,
                      hf__tls **tls, hf_error *err)
{
    return make_tls(url, options, tls, err);
}

hf_status hf__tls_new_server(const hf_tls_options *options, hf__tls **tls,
                             hf_error *err)
{
    return make_tls(NULL, options, tls, err);
}

bool hf__tls_wants_clients(const hf__tls *tls)
{
    return tls->settings.verifies;
}

void hf__tls_free(hf__tls *tls)
{
    if (tls == NULL)
        return;
    if (tls->context != NULL) /* OpenSSL was loaded */
        SSL_CTX_free(tls->context);
    hf__tls_settings_done(&tls->settings);
    pthread_mutex_destroy(&tls->mutex);
    hf__free(tls);
}

hf_status hf__tls_state(hf__tls *tls, hf_error *err)
{
    hf_status status;

    pthread_mutex_lock(&tls->mutex);
    renew_locked(tls);
    status = tls->error.status;
    if (status != HF_OK)
        hf__fail_copy(err, &tls->error);
    pthread_mutex_unlock(&tls->mutex);
    return status;
}

const char *hf__tls_key_path(const hf__tls *tls, bool of_password)
{
    return tls->settings
        .files[of_password ? HF__TLS_KEY_PASSWORD : HF__TLS_KEY];
}

const char *hf__tls_describe(const hf__tls *tls)
{
    if (!tls->settings.verifies)
        return "encrypted; the server's certificate is not verified";
    if (!tls->settings.wants_name)
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

/* Certificates have neither an address's zone nor a name's trailing dot. */
static void take_name(char name[HF__URL_HOST_SIZE], const char *host)
{
    size_t size = strcspn(host, "%");

    if (size > 1 && host[size - 1] == '.')
        size--;
    memcpy(name, host, size);
    name[size] = '\0';
}

/* Server Name Indication is for names only (RFC 6066, 3). */
static bool expect_name(SSL *ssl, const hf__tls *tls, const char *host)
{
    char name[HF__URL_HOST_SIZE];
    bool is_ip;

    take_name(name, tls->settings.name != NULL ? tls->settings.name : host);
    is_ip = is_ip_address(name);
    if (!is_ip && SSL_set_tlsext_host_name(ssl, name) != 1)
        return false;
    if (!tls->settings.wants_name)
        return true;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (is_ip)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set1_host(ssl, name) == 1;
}

struct ssl_st *hf__tls_begin(hf__tls *tls, const char *host)
{
    SSL *ssl;

    ERR_clear_error();
    pthread_mutex_lock(&tls->mutex);
    renew_locked(tls);
    ssl = SSL_new(tls->context);
    pthread_mutex_unlock(&tls->mutex);
    if (ssl == NULL)
        return NULL;
    if (tls->settings.serves) {
        SSL_set_accept_state(ssl);
        return ssl;
    }
    if (!expect_name(ssl, tls, host)) {
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
