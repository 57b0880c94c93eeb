/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login.c - AUTH, HELLO, SELECT, CLIENT SETNAME and SETINFO and, where only a
 * master will do, ROLE, all in one write.
 *
 * HELLO selects the protocol and returns the version. It and CLIENT may be
 * refused by an access list or a managed service, and SETINFO by servers before
 * 7.2; none of that is fatal. When a step fails, those after it have been sent
 * already, but the connection is closed.
 */
#include "store/redis/server/login.h"

#include <stdio.h>
#include <string.h>

#include "store/error_line.h"
#include "store/redis/wire/errors.h"
#include "store/redis/wire/resp.h"
#include "util/error.h"

#define VERSION_MIN 7

#define TEXT(number) #number
#define NUMBER_TEXT(number) TEXT(number)
#define LIBRARY_VERSION                                                        \
    NUMBER_TEXT(HF_VERSION_MAJOR)                                              \
    "." NUMBER_TEXT(HF_VERSION_MINOR) "." NUMBER_TEXT(HF_VERSION_PATCH)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool put_auth(hf__login *login, hf__buf *out)
{
    const char *with_user[] = {"AUTH", login->account->username,
                               login->account->password};
    const char *without[] = {"AUTH", login->account->password};

    login->steps[login->count++] = HF__LOGIN_AUTH;
    if (login->account->username != NULL)
        return hf__resp_put_words(out, with_user, COUNT(with_user));
    return hf__resp_put_words(out, without, COUNT(without));
}

static bool put_select(hf__login *login, hf__buf *out)
{
    char db[24];
    const char *words[] = {"SELECT", db};

    snprintf(db, sizeof(db), "%lld", (long long)login->account->db);
    login->steps[login->count++] = HF__LOGIN_SELECT;
    return hf__resp_put_words(out, words, COUNT(words));
}

/* Steps that do not depend on the account. */
static bool put_step(hf__login *login, hf__login_step step, hf__buf *out,
                     const char *const *words, size_t count)
{
    login->steps[login->count++] = step;
    return hf__resp_put_words(out, words, count);
}

static bool put_client(hf__login *login, hf__buf *out)
{
    const char *own = login->account->client_name;
    const char *const name[] = {"CLIENT", "SETNAME",
                                own != NULL ? own : "holdfast"};
    static const char *const library[] = {"CLIENT", "SETINFO", "LIB-NAME",
                                          "holdfast"};
    static const char *const version[] = {"CLIENT", "SETINFO", "LIB-VER",
                                          LIBRARY_VERSION};

    return put_step(login, HF__LOGIN_CLIENT, out, name, COUNT(name)) &&
           put_step(login, HF__LOGIN_CLIENT, out, library, COUNT(library)) &&
           put_step(login, HF__LOGIN_CLIENT, out, version, COUNT(version));
}

bool hf__login_begin(hf__login *login, const hf__redis_account *account,
                     bool resp3, hf__buf *out)
{
    const char *const hello[] = {"HELLO", resp3 ? "3" : "2"};
    static const char *const role[] = {"ROLE"};

    memset(login, 0, sizeof(*login));
    login->account = account;
    if (account->password != NULL && !put_auth(login, out))
        return false;
    if (!put_step(login, HF__LOGIN_HELLO, out, hello, COUNT(hello)))
        return false;
    if (account->db != 0 && !put_select(login, out))
        return false;
    if (!put_client(login, out))
        return false;
    return !account->master_only ||
           put_step(login, HF__LOGIN_ROLE, out, role, COUNT(role));
}

/* For 0 replicas it returns immediately. */
bool hf__login_add_wait(hf__login *login, hf__buf *out)
{
    static const char *const wait[] = {"WAIT", "0", "1"};

    return put_step(login, HF__LOGIN_WAIT, out, wait, COUNT(wait));
}

/* Read a number of at most 255 at *text, and skip it and its dot. */
static uint8_t take_number(const char **text)
{
    unsigned number = 0;

    while (**text >= '0' && **text <= '9' && number < 100)
        number = number * 10 + (unsigned)(*(*text)++ - '0');
    if (**text == '.')
        (*text)++;
    return number > 255 ? 255 : (uint8_t)number;
}

static hf__redis_mode read_mode(const hf_reply *mode)
{
    if (mode == NULL)
        return HF__REDIS_UNKNOWN;
    if (hf__reply_is(mode, "cluster"))
        return HF__REDIS_CLUSTER;
    if (hf__reply_is(mode, "sentinel"))
        return HF__REDIS_SENTINEL;
    return HF__REDIS_STANDALONE;
}

static hf_status read_hello(hf__login *login, const hf_reply *reply,
                            hf_error *err)
{
    hf__redis_traits *traits = &login->traits;
    const hf_reply *id = hf__reply_field(reply, "id");
    const hf_reply *version = hf__reply_field(reply, "version");
    const hf_reply *server = hf__reply_field(reply, "server");
    const hf_reply *role = hf__reply_field(reply, "role");
    const hf_reply *proto = hf__reply_field(reply, "proto");
    const char *text;

    if (id != NULL && id->kind == HF_REPLY_INTEGER)
        login->id = id->integer;
    traits->mode = (uint8_t)read_mode(hf__reply_field(reply, "mode"));
    traits->is_valkey = server != NULL && hf__reply_is(server, "valkey");
    traits->is_replica = role != NULL && !hf__reply_is(role, "master");
    traits->told_role = role != NULL;
    traits->resp3 =
        proto != NULL && proto->kind == HF_REPLY_INTEGER && proto->integer == 3;
    if (version == NULL || version->kind != HF_REPLY_STRING)
        return HF_OK;
    text = version->bytes.data;
    traits->major = take_number(&text);
    traits->minor = take_number(&text);
    traits->patch = take_number(&text);
    if (traits->major == 0 || traits->major >= VERSION_MIN)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "the server is version %.20s; %d.0 or later is needed",
                    version->bytes.data, VERSION_MIN);
}

/* The answer's first item is "master", "slave" or "sentinel". */
static hf_status check_role(const hf_reply *reply, hf_error *err)
{
    if (reply->kind == HF_REPLY_ARRAY && reply->array.count > 0 &&
        hf__reply_is(&reply->array.items[0], "master"))
        return HF_OK;
    return hf__fail(err, HF_UNAVAILABLE, "the server is not a master");
}

/* The server's error about a password is not shown: it might contain it. */
static hf_status auth_refused(hf_bytes line, const hf_error *detail,
                              hf_error *err)
{
    if (detail->status == HF_UNAVAILABLE)
        return hf__fail_copy(err, detail);
    if (line.size > 4 && memcmp(line.data, "ERR ", 4) == 0)
        return hf__fail(err, HF_DENIED,
                        "a password was given, but the server has none for "
                        "this user");
    return hf__fail(err, HF_DENIED, "the server refused the password");
}

static hf_status login_refused(hf__login_step step, hf_bytes line,
                               const hf_error *detail, hf_error *err)
{
    if (step == HF__LOGIN_AUTH)
        return auth_refused(line, detail, err);
    if (hf__text_begins(line, "NOAUTH"))
        return hf__fail(err, HF_DENIED, "the server requires a password");
    if (detail->status == HF_UNAVAILABLE || step == HF__LOGIN_SELECT)
        return hf__fail_copy(err, detail);
    if (hf__text_begins(line, "NOPROTO"))
        return HF_OK; /* it speaks RESP2 */
    if (detail->status == HF_UNSUPPORTED && step == HF__LOGIN_HELLO)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the server does not support HELLO; version %d.0 or "
                        "later is needed",
                        VERSION_MIN);
    if (detail->status == HF_DENIED && memcmp(line.data, "NOPERM", 6) != 0)
        return hf__fail_copy(err, detail);
    return HF_OK;
}

/* ROLE was refused, as some access lists and services do; use the role from
 * HELLO. Without either, no write is allowed. */
static hf_status without_role(const hf__login *login, hf_bytes line,
                              const hf_error *detail, hf_error *err)
{
    hf_status status = login_refused(HF__LOGIN_ROLE, line, detail, err);

    if (status != HF_OK)
        return status;
    if (!login->traits.told_role)
        return hf__fail(err, HF_DENIED,
                        "this user may run neither ROLE nor HELLO, so the "
                        "server's role is unknown");
    if (login->traits.is_replica)
        return hf__fail(err, HF_UNAVAILABLE, "the server is not a master");
    return HF_OK;
}

/* A replica refuses WAIT while it is one; its reply to the first write
 * counts. */
static hf_status without_wait(hf_bytes line, const hf_error *detail,
                              hf_error *err)
{
    static const char replica[] = "ERR WAIT cannot be used with replica";

    if (line.size >= sizeof(replica) - 1 &&
        memcmp(line.data, replica, sizeof(replica) - 1) == 0)
        return HF_OK;
    if (detail->status == HF_UNAVAILABLE)
        return hf__fail_copy(err, detail);
    if (detail->status == HF_DENIED)
        return hf__fail(
            err, HF_DENIED,
            "this user may not run WAIT, which is needed to wait for replicas");
    return hf__fail(err, HF_UNSUPPORTED,
                    "the server does not support WAIT, which is needed to wait "
                    "for replicas");
}

hf_status hf__login_answer(hf__login *login, const hf_reply *reply,
                           hf_error *err)
{
    hf__login_step step = login->steps[login->answered++];
    hf_bytes line;

    if (reply->kind == HF_REPLY_ERROR) {
        hf_error detail = HF_ERROR_INIT;

        line = hf_view(reply->bytes.data, reply->bytes.size);
        login->busy =
            hf__redis_error(line, false, &detail) == HF__VERDICT_BACK_OFF;
        if (step == HF__LOGIN_ROLE)
            return without_role(login, line, &detail, err);
        if (step == HF__LOGIN_WAIT)
            return without_wait(line, &detail, err);
        return login_refused(step, line, &detail, err);
    }
    if (step == HF__LOGIN_HELLO)
        return read_hello(login, reply, err);
    if (step == HF__LOGIN_ROLE)
        return check_role(reply, err);
    return HF_OK;
}

void hf__login_hint(const hf__login *login, hf_error *err)
{
    hf_error was;

    if (err == NULL || login->answered > 0 || login->account->tls != NULL)
        return;
    was = *err;
    hf__fail(err, was.status, "%s; is it a port for TLS?", was.message);
    err->sys_errno = was.sys_errno;
}
