/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login.c - AUTH, HELLO 2, SELECT, CLIENT SETNAME, all in one write.
 *
 * HELLO 2 asks for RESP2 and tells the version. It and the name may be refused
 * by an access list or a managed service, which is no reason not to work. The
 * steps behind a refused one have been sent already: harmless, as the
 * connection is closed then.
 */
#include "store/redis/login.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/errors.h"
#include "store/redis/resp.h"
#include "util/error.h"

#define VERSION_MIN 7

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool put_auth(hf__login *login, hf__buf *out)
{
    const char *with_user[] = {"AUTH", login->address->username,
                               login->address->password};
    const char *without[] = {"AUTH", login->address->password};

    login->steps[login->count++] = HF__LOGIN_AUTH;
    if (login->address->username != NULL)
        return hf__resp_put_words(out, with_user, COUNT(with_user));
    return hf__resp_put_words(out, without, COUNT(without));
}

static bool put_select(hf__login *login, hf__buf *out)
{
    char db[24];
    const char *words[] = {"SELECT", db};

    snprintf(db, sizeof(db), "%lld", (long long)login->address->db);
    login->steps[login->count++] = HF__LOGIN_SELECT;
    return hf__resp_put_words(out, words, COUNT(words));
}

bool hf__login_begin(hf__login *login, const hf__redis_address *address,
                     hf__buf *out)
{
    static const char *const hello[] = {"HELLO", "2"};
    static const char *const name[] = {"CLIENT", "SETNAME", "holdfast"};

    memset(login, 0, sizeof(*login));
    login->address = address;
    if (address->password != NULL && !put_auth(login, out))
        return false;
    login->steps[login->count++] = HF__LOGIN_HELLO;
    if (!hf__resp_put_words(out, hello, COUNT(hello)))
        return false;
    if (address->db != 0 && !put_select(login, out))
        return false;
    login->steps[login->count++] = HF__LOGIN_SETNAME;
    return hf__resp_put_words(out, name, COUNT(name));
}

static bool is_text(const hf_reply *reply, const char *text)
{
    return reply->kind == HF_REPLY_STRING &&
           reply->bytes.size == strlen(text) &&
           memcmp(reply->bytes.data, text, reply->bytes.size) == 0;
}

/* The answer is a list of names and values. */
static const hf_reply *find_field(const hf_reply *reply, const char *name)
{
    size_t at;

    if (reply->kind != HF_REPLY_ARRAY)
        return NULL;
    for (at = 0; at + 1 < reply->array.count; at += 2) {
        if (is_text(&reply->array.items[at], name))
            return &reply->array.items[at + 1];
    }
    return NULL;
}

static hf_status check_version(const hf_reply *reply, hf_error *err)
{
    const hf_reply *version = find_field(reply, "version");
    int major = 0;
    size_t at;

    if (version == NULL || version->kind != HF_REPLY_STRING)
        return HF_OK;
    for (at = 0; at < version->bytes.size && at < 4; at++) {
        if (version->bytes.data[at] < '0' || version->bytes.data[at] > '9')
            break;
        major = major * 10 + (version->bytes.data[at] - '0');
    }
    if (at == 0 || major >= VERSION_MIN)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "the server is version %.20s; %d.0 or later is needed",
                    version->bytes.data, VERSION_MIN);
}

/* The server's own words about a password are not shown: an old or foreign
 * one might repeat it. */
static hf_status auth_refused(hf_bytes line, hf_error *err)
{
    hf_error detail = HF_ERROR_INIT;

    hf__redis_error(line, false, &detail);
    if (detail.status == HF_UNAVAILABLE)
        return hf__fail_copy(err, &detail);
    if (line.size > 4 && memcmp(line.data, "ERR ", 4) == 0)
        return hf__fail(err, HF_DENIED,
                        "a password was given, but the server has none for "
                        "this user");
    return hf__fail(err, HF_DENIED, "the server refused the password");
}

static hf_status refused(hf__login_step step, hf_bytes line, hf_error *err)
{
    hf_error detail = HF_ERROR_INIT;

    if (step == HF__LOGIN_AUTH)
        return auth_refused(line, err);
    hf__redis_error(line, false, &detail);
    if (line.size >= 6 && memcmp(line.data, "NOAUTH", 6) == 0)
        return hf__fail(err, HF_DENIED, "the server asks for a password");
    if (detail.status == HF_UNAVAILABLE || step == HF__LOGIN_SELECT)
        return hf__fail_copy(err, &detail);
    if (detail.status == HF_UNSUPPORTED && step == HF__LOGIN_HELLO)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the server does not know HELLO; version %d.0 or "
                        "later is needed",
                        VERSION_MIN);
    if (detail.status == HF_DENIED && memcmp(line.data, "NOPERM", 6) != 0)
        return hf__fail_copy(err, &detail);
    return HF_OK;
}

hf_status hf__login_answer(hf__login *login, const hf_reply *reply,
                           hf_error *err)
{
    hf__login_step step = login->steps[login->answered++];

    if (reply->kind == HF_REPLY_ERROR)
        return refused(step, hf_view(reply->bytes.data, reply->bytes.size),
                       err);
    if (step == HF__LOGIN_HELLO)
        return check_version(reply, err);
    return HF_OK;
}
