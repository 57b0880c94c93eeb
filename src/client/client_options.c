/* SPDX-License-Identifier: Apache-2.0 */
/* client_options.c - see client_options.h. */
#include "client/client_options.h"

#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "holdfast/lock.h"
#include "store/store.h"
#include "util/error.h"
#include "util/options.h"
#include "util/url.h"

#define WAIT_MS_MAX 3600000
#define CALLS_DEFAULT 65536
#define CALLS_MAX 1000000
#define CALL_BYTES_DEFAULT ((int64_t)64 << 20)
#define CALL_BYTES_MAX ((int64_t)1 << 40)

static hf_status check_prefix(const char *prefix, hf_error *err)
{
    if (prefix == NULL)
        return HF_OK;
    if (strlen(prefix) > HF__PREFIX_MAX)
        return hf__fail(err, HF_INVALID,
                        "prefix is %zu bytes; at most %d are allowed",
                        strlen(prefix), HF__PREFIX_MAX);
    if (strpbrk(prefix, "{}") != NULL)
        return hf__fail(err, HF_INVALID,
                        "prefix has a brace, which would move every key to "
                        "one hash slot");
    return HF_OK;
}

static hf_status check_log(hf_client_options *options, hf_error *err)
{
    hf_status status =
        hf__check_option(options->log_level, HF_LOG_DEBUG, "log_level", err);

    if (status == HF_OK && options->reserved1 != 0)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "hf_client_options: reserved1 is not 0");
    if (options->log_level == 0)
        options->log_level = HF_LOG_INFO;
    return status;
}

hf_status hf__client_options_load(hf_client_options *options,
                                  const hf_client_options *from, hf_error *err)
{
    hf_status status;

    status = hf__options_load(options, sizeof(*options), sizeof(*options), from,
                              "hf_client_options", err);
    if (status == HF_OK && options->prefix == NULL)
        options->prefix = getenv("HOLDFAST_PREFIX");
    if (status == HF_OK)
        status = check_prefix(options->prefix, err);
    if (status == HF_OK && options->description == NULL)
        options->description = getenv("HOLDFAST_DESCRIPTION");
    if (status == HF_OK && options->description != NULL &&
        strlen(options->description) >= HF_HOLDER_TEXT_SIZE)
        status = hf__fail(
            err, HF_INVALID, "description is %zu bytes; at most %d are allowed",
            strlen(options->description), HF_HOLDER_TEXT_SIZE - 1);
    if (status == HF_OK)
        status = hf__check_option(options->request_ms, WAIT_MS_MAX,
                                  "request_ms", err);
    if (status == HF_OK)
        status = hf__check_option(options->connect_ms, WAIT_MS_MAX,
                                  "connect_ms", err);
    if (status == HF_OK)
        status =
            hf__check_option(options->script_budget_ms, HF_SCRIPT_BUDGET_MAX_MS,
                             "script_budget_ms", err);
    if (status == HF_OK)
        status =
            hf__check_option(options->max_calls, CALLS_MAX, "max_calls", err);
    if (status == HF_OK)
        status = hf__check_option(options->max_call_bytes, CALL_BYTES_MAX,
                                  "max_call_bytes", err);
    if (status == HF_OK)
        status = check_log(options, err);
    if (options->max_calls == 0)
        options->max_calls = CALLS_DEFAULT;
    if (options->max_call_bytes == 0)
        options->max_call_bytes = CALL_BYTES_DEFAULT;
    return status;
}

static hf_status take_time(hf__url *url, const char *name, int64_t *ms,
                           hf_error *err)
{
    const char *text = hf__url_param_take(url, name);
    int64_t given = 0;
    hf_status status;

    if (text == NULL)
        return HF_OK;
    status = hf__parse_int(text, 1, WAIT_MS_MAX, name, &given, err);
    if (status == HF_OK && *ms == 0)
        *ms = given;
    return status;
}

hf_status hf__client_times_of_url(hf_client_options *options, hf__url *url,
                                  hf_error *err)
{
    hf_status status = take_time(url, "request_ms", &options->request_ms, err);

    if (status == HF_OK)
        status = take_time(url, "connect_ms", &options->connect_ms, err);
    return status;
}

hf_status hf__client_password(const hf_client_options *options,
                              const hf__url *url, char text[HF__SECRET_SIZE],
                              const char **password, hf_error *err)
{
    const char *path = getenv("HOLDFAST_PASSWORD_FILE");
    hf_status status;

    *password = options->password;
    if (*password != NULL)
        return HF_OK;
    if (options->password_file != NULL) {
        *password = text;
        return hf__secret_read("password_file", options->password_file, text,
                               err);
    }
    status = hf__url_secret(url, text, password, err);
    if (status != HF_OK || *password != NULL)
        return status;
    if (path != NULL && path[0] != '\0') {
        *password = text;
        return hf__secret_read("HOLDFAST_PASSWORD_FILE", path, text, err);
    }
    *password = getenv("HOLDFAST_PASSWORD");
    return HF_OK;
}
