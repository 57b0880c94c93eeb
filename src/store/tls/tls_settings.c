/* SPDX-License-Identifier: Apache-2.0 */
/* tls_settings.c - from parameters and options to one set of settings. */
#include "store/tls/tls_settings.h"

#include <string.h>

#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

/* The values, not copied yet. */
typedef struct tls_words {
    const char *files[HF__TLS_FILES];
    const char *ca_dir;
    const char *key_password;
    const char *name;
    const char *verify;
} tls_words;

const char *hf__tls_file_name(hf__tls_file file)
{
    static const char *const names[] = {"tls_ca", "tls_cert", "tls_key",
                                        "tls_key_password_file"};

    return names[file];
}

/* An option overrides the URL's parameter. */
static hf_status find_word(const char **to, const char *option,
                           const hf__url *url, const char *name, hf_error *err)
{
    *to = option != NULL ? option : hf__url_param_get(url, name);
    if (*to != NULL && (*to)[0] == '\0')
        return hf__fail(err, HF_INVALID, "%s is empty", name);
    return HF_OK;
}

static hf_status find_all(tls_words *words, const hf__url *url,
                          const hf_tls_options *options, hf_error *err)
{
    static const hf_tls_options none = HF_TLS_OPTIONS_INIT;
    const hf_tls_options *from = options != NULL ? options : &none;
    const char *const files[] = {from->ca, from->cert, from->key,
                                 from->key_password_file};
    hf_status status = HF_OK;

    for (hf__tls_file at = 0; status == HF_OK && at < HF__TLS_FILES; at++)
        status = find_word(&words->files[at], files[at], url,
                           hf__tls_file_name(at), err);
    if (status == HF_OK)
        status =
            find_word(&words->ca_dir, from->ca_dir, url, "tls_ca_dir", err);
    if (status == HF_OK)
        status = find_word(&words->name, from->name, url, "tls_name", err);
    if (status == HF_OK)
        status =
            find_word(&words->verify, from->verify, url, "tls_verify", err);
    if (words->verify == NULL)
        words->verify = "full";
    words->key_password = from->key_password;
    return status;
}

/* ----------------------------------------------------------------- checks */

static hf_status check_verify(const tls_words *words, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    const char *ca = words->files[HF__TLS_CA];

    if (strcmp(words->verify, "full") == 0)
        return HF_OK;
    if (strcmp(words->verify, "ca") != 0 && strcmp(words->verify, "none") != 0)
        return hf__fail(err, HF_INVALID,
                        "tls_verify: %s is not full, ca or none",
                        hf__quoted(quoted, hf_str(words->verify)));
    if (words->name != NULL)
        return hf__fail(err, HF_INVALID,
                        "tls_name has no effect with tls_verify=%s",
                        words->verify);
    if (strcmp(words->verify, "none") == 0 &&
        (ca != NULL || words->ca_dir != NULL))
        return hf__fail(err, HF_INVALID,
                        "%s has no effect with tls_verify=none",
                        ca != NULL ? "tls_ca" : "tls_ca_dir");
    return HF_OK;
}

static hf_status check_words(const tls_words *words, hf_error *err)
{
    bool cert = words->files[HF__TLS_CERT] != NULL;
    bool key = words->files[HF__TLS_KEY] != NULL;
    bool file = words->files[HF__TLS_KEY_PASSWORD] != NULL;

    if (cert != key)
        return hf__fail(err, HF_INVALID, "%s without %s",
                        cert ? "tls_cert" : "tls_key",
                        cert ? "tls_key" : "tls_cert");
    if (!key && (file || words->key_password != NULL))
        return hf__fail(err, HF_INVALID, "%s without tls_key",
                        file ? "tls_key_password_file" : "key_password");
    if (words->name != NULL && strlen(words->name) >= HF__URL_HOST_SIZE)
        return hf__fail(err, HF_INVALID, "tls_name is longer than %d bytes",
                        HF__URL_HOST_SIZE - 1);
    return check_verify(words, err);
}

/* ------------------------------------------------------------------- copy */

static bool copy_text(char **to, const char *from)
{
    if (from == NULL)
        return true;
    *to = hf__strdup(from);
    return *to != NULL;
}

static bool copy_all(hf__tls_settings *settings, const tls_words *words)
{
    for (hf__tls_file at = 0; at < HF__TLS_FILES; at++) {
        if (!copy_text(&settings->files[at], words->files[at]))
            return false;
    }
    settings->verifies = strcmp(words->verify, "none") != 0;
    settings->wants_name = strcmp(words->verify, "full") == 0;
    return copy_text(&settings->ca_dir, words->ca_dir) &&
           copy_text(&settings->key_password, words->key_password) &&
           copy_text(&settings->name, words->name);
}

hf_status hf__tls_settings_init(hf__tls_settings *settings, const hf__url *url,
                                const hf_tls_options *options, hf_error *err)
{
    tls_words words = {.verify = NULL};
    hf_status status = find_all(&words, url, options, err);

    memset(settings, 0, sizeof(*settings));
    if (status == HF_OK)
        status = check_words(&words, err);
    if (status == HF_OK && !copy_all(settings, &words))
        status = hf__fail(err, HF_NO_MEMORY, "out of memory");
    return status;
}

hf_status hf__tls_settings_init_server(hf__tls_settings *settings,
                                       const hf_tls_options *options,
                                       hf_error *err)
{
    const hf__url none = {.scheme = ""};
    hf_status status = HF_OK;

    if (options->name != NULL || options->verify != NULL)
        status = hf__fail(err, HF_INVALID,
                          "tls_name and tls_verify have no effect on a server");
    else if (options->cert == NULL)
        status = hf__fail(err, HF_INVALID, "a server needs a tls_cert");
    if (status != HF_OK) {
        memset(settings, 0, sizeof(*settings));
        return status;
    }
    status = hf__tls_settings_init(settings, &none, options, err);
    settings->serves = true;
    settings->verifies =
        settings->files[HF__TLS_CA] != NULL || settings->ca_dir != NULL;
    return status;
}

void hf__tls_settings_done(hf__tls_settings *settings)
{
    for (hf__tls_file at = 0; at < HF__TLS_FILES; at++)
        hf__free(settings->files[at]);
    hf__free(settings->ca_dir);
    if (settings->key_password != NULL)
        explicit_bzero(settings->key_password, strlen(settings->key_password));
    hf__free(settings->key_password);
    hf__free(settings->name);
    memset(settings, 0, sizeof(*settings));
}
