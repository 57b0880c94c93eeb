/* SPDX-License-Identifier: Apache-2.0 */
/* pg_account.c - see pg_account.h. */
#include "records/postgres/pg_account.h"

#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

/* A connection whose other end is gone is noticed after so long. */
#define SILENCE_MS "10000"

/* No memory: its value is NULL. */
static void add_setting(hf__pg_account *account, const char *name,
                        const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    account->names[account->count] = name;
    account->values[account->count++] = hf__strdup(value);
}

/* Lists of both, as libpq has them. */
static hf_status add_hosts(hf__pg_account *account, const hf__url *url,
                           hf_error *err)
{
    char hosts[2048] = "";
    char ports[512] = "";
    char host[HF__URL_HOST_SIZE];
    size_t host_size = 0;
    size_t port_size = 0;
    int port;

    for (size_t i = 0; hf__url_host(url, i, host, &port); i++) {
        const char *comma = i > 0 ? "," : "";

        if (host_size + strlen(host) + 2 > sizeof(hosts) ||
            port_size + 8 > sizeof(ports))
            return hf__fail(err, HF_INVALID, "the URL has too many hosts");
        host_size += (size_t)snprintf(
            hosts + host_size, sizeof(hosts) - host_size, "%s%s", comma, host);
        port_size +=
            (size_t)snprintf(ports + port_size, sizeof(ports) - port_size,
                             "%s%d", comma, port > 0 ? port : 5432);
    }
    if (hosts[0] == '\0')
        return HF_OK;
    if (hf__url_param_get(url, "host") != NULL)
        return hf__fail(err, HF_INVALID,
                        "the URL has a host, and a parameter \"host\"");
    add_setting(account, "host", hosts);
    add_setting(account, "port", ports);
    return HF_OK;
}

/* Parameters of the URL: first those that libpq takes as they are. */
#define PASSED 8
static const char *const known[] = {
    "host",    "port",   "sslmode",          "sslrootcert",
    "sslcert", "sslkey", "application_name", "target_session_attrs",
    "schema",  "listen", "password_file",    NULL};

static hf_status add_params(hf__pg_account *account,
                            const hf__store_config *config, hf_error *err)
{
    const hf__url *url = config->url;

    for (size_t i = 0; i < PASSED; i++)
        add_setting(account, known[i], hf__url_param_get(url, known[i]));
    if (hf__url_param_get(url, "application_name") == NULL)
        add_setting(account, "application_name",
                    config->client_name != NULL ? config->client_name
                                                : "holdfast");
    if (hf__url_param_get(url, "target_session_attrs") == NULL)
        add_setting(account, "target_session_attrs", "read-write");
    return hf__url_check_params(url, known, err);
}

/* The first libpq that can trust the system's certificates. */
#define SYSTEM_CA_VERSION 160000
/* Where no file can be: it would verify a server by its default file. */
#define NO_CA "/dev/null/none"

static hf_status choose_trust(const hf_tls_options *tls, const char **mode,
                              const char **ca, hf_error *err)
{
    const char *verify = tls->verify != NULL ? tls->verify : "full";
    bool full = strcmp(verify, "full") == 0;
    char quoted[HF__QUOTED_SIZE];

    *mode = full ? "verify-full" : "verify-ca";
    *ca = tls->ca;
    if (strcmp(verify, "none") == 0) {
        *mode = "require";
        *ca = NO_CA;
        return tls->ca == NULL ? HF_OK
                               : hf__fail(err, HF_INVALID,
                                          "ca has no effect with verify none");
    }
    if (!full && strcmp(verify, "ca") != 0)
        return hf__fail(err, HF_INVALID, "verify: %s is not full, ca or none",
                        hf__quoted(quoted, hf_str(verify)));
    if (*ca != NULL)
        return HF_OK;
    *ca = "system";
    return full && PQlibVersion() >= SYSTEM_CA_VERSION
               ? HF_OK
               : hf__fail(err, HF_UNSUPPORTED,
                          "this libpq cannot trust the system's certificates "
                          "with verify %s: name a file by ca",
                          verify);
}

static hf_status add_tls(hf__pg_account *account, const hf_tls_options *tls,
                         const hf__url *url, hf_error *err)
{
    const char *mode = NULL;
    const char *ca = NULL;
    hf_status status;

    if (tls == NULL)
        return HF_OK;
    if (hf__url_param_get(url, "sslmode") != NULL)
        return hf__fail(err, HF_INVALID,
                        "options for TLS were given, and the URL has sslmode");
    if (tls->ca_dir != NULL || tls->name != NULL ||
        tls->key_password_file != NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "PostgreSQL has no ca_dir, name or key_password_file");
    status = choose_trust(tls, &mode, &ca, err);
    add_setting(account, "sslmode", mode);
    add_setting(account, "sslrootcert", ca);
    add_setting(account, "sslcert", tls->cert);
    add_setting(account, "sslkey", tls->key);
    add_setting(account, "sslpassword", tls->key_password);
    return status;
}

static void add_login(hf__pg_account *account, const hf__store_config *config)
{
    const char *path = config->url->path;

    account->connect_ms = config->connect_ms;
    add_setting(account, "user", config->username);
    add_setting(account, "password", config->password);
    add_setting(account, "dbname", path + (path[0] == '/'));
    add_setting(account, "client_encoding", "UTF8");
    add_setting(account, "keepalives_idle", "5");
    add_setting(account, "keepalives_interval", "2");
    add_setting(account, "tcp_user_timeout", SILENCE_MS);
}

static hf_status take_schema(hf__pg_account *account, const hf__url *url,
                             hf_error *err)
{
    const char *name = hf__url_param_get(url, "schema");
    char *to = account->schema;

    if (name == NULL)
        name = "holdfast";
    if (name[0] == '\0' || strlen(name) > 63)
        return hf__fail(err, HF_INVALID, "schema must be 1 to 63 bytes");
    if (strncmp(name, "pg_", 3) == 0)
        return hf__fail(err, HF_INVALID,
                        "schema must not begin with pg_, as those of "
                        "PostgreSQL do");
    *to++ = '"';
    for (; *name != '\0'; name++) {
        if (*name == '"')
            *to++ = '"';
        *to++ = *name;
    }
    *to++ = '"';
    *to = '\0';
    return HF_OK;
}

/* HOST or HOST:PORT; of an IPv6 address, HOST may be in brackets, and must be
 * before a port. */
static void take_listen(hf__pg_account *account, const char *param)
{
    char *text = param != NULL ? hf__strdup(param) : NULL;
    char *end, *colon;

    account->listen = text;
    if (text == NULL)
        return;
    end = text[0] == '[' ? strchr(text, ']') : NULL;
    colon = strrchr(end != NULL ? end : text, ':');
    if (end == NULL && colon != strchr(text, ':'))
        colon = NULL; /* an address of IPv6 alone */
    if (colon != NULL)
        *colon = '\0';
    if (end != NULL)
        *end = '\0';
    account->listen_host = text + (end != NULL);
    account->listen_port = colon != NULL ? colon + 1 : "5432";
}

/* Is what was to be copied there? */
static hf_status check_memory(const hf__pg_account *account, bool listens,
                              hf_error *err)
{
    bool good = !listens || account->listen != NULL;

    for (size_t i = 0; i < account->count; i++)
        good = good && account->values[i] != NULL;
    return good ? HF_OK : hf__fail(err, HF_NO_MEMORY, "out of memory");
}

hf_status hf__pg_account_init(hf__pg_account *account,
                              const hf__store_config *config, hf_error *err)
{
    const char *listen = hf__url_param_get(config->url, "listen");
    hf_status status;

    *account = (hf__pg_account){.count = 0};
    add_login(account, config);
    take_listen(account, listen);
    status = add_params(account, config, err);
    if (status == HF_OK)
        status = add_hosts(account, config->url, err);
    if (status == HF_OK)
        status = add_tls(account, config->tls, config->url, err);
    if (status == HF_OK)
        status = take_schema(account, config->url, err);
    if (status == HF_OK)
        status = check_memory(account, listen != NULL, err);
    if (status != HF_OK)
        hf__pg_account_done(account);
    return status;
}

void hf__pg_account_done(hf__pg_account *account)
{
    for (size_t i = 0; i < account->count; i++) {
        if (account->values[i] != NULL)
            explicit_bzero(account->values[i], strlen(account->values[i]));
        hf__free(account->values[i]);
    }
    hf__free(account->listen);
}

/* Classes of SQLSTATE, and what they mean. */
static const struct {
    const char *begins;
    hf_status status;
} meanings[] = {
    {"0A000", HF_UNSUPPORTED}, {"42501", HF_DENIED},  {"28", HF_DENIED},
    {"3F", HF_INVALID},        {"42883", HF_INVALID}, {"42P01", HF_INVALID},
    {"53100", HF_FULL},        {"54", HF_FULL},       {"53200", HF_UNAVAILABLE},
    {"XX001", HF_CORRUPT},     {"XX002", HF_CORRUPT}, {"", HF_UNAVAILABLE},
};

hf_status hf__pg_failed(const PGconn *conn, const PGresult *result,
                        hf_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    size_t i = 0;

    if (state == NULL)
        state = "";
    if (text == NULL)
        text = PQerrorMessage(conn);
    while (strncmp(state, meanings[i].begins, strlen(meanings[i].begins)) != 0)
        i++;
    if (meanings[i].status == HF_INVALID)
        return hf__fail(err, HF_INVALID,
                        "the database is not set up for Holdfast, see "
                        "`holdfast store setup`: %s",
                        text);
    return hf__fail(err, meanings[i].status, "PostgreSQL: %s", text);
}
