/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_url.c - any text as a store's URL, and what the server drivers parse
 * from it. No message shows the password.
 */
#include <string.h>

#include "fuzz.h"
#include "store/redis/wire/address.h"
#include "util/url.h"

#define TEXT_MAX 4096

/* Placeholder for the password; an input that has it elsewhere is skipped. */
#define SECRET "zQ9zQ9zQ9"

static void check_numbers(const char *text)
{
    int64_t value;

    if (hf__parse_int(text, -7, 70000, "it", &value, NULL) == HF_OK)
        PROMISE(value >= -7 && value <= 70000);
    if (hf__parse_size(text, 1, (int64_t)1 << 40, "it", &value, NULL) == HF_OK)
        PROMISE(value >= 1 && value <= (int64_t)1 << 40);
}

static void check_hosts(const hf__url *url)
{
    char host[HF__URL_HOST_SIZE];
    int port;

    for (size_t at = 0; at < TEXT_MAX && hf__url_host(url, at, host, &port);
         at++) {
        PROMISE(strlen(host) < sizeof(host));
        PROMISE(port >= 0 && port <= 65535);
        PROMISE(at < strlen(url->host) + 1);
    }
}

/* TLS would read the files named in the text. */
static void check_address(const hf__url *url, bool has_secret)
{
    hf_error err = HF_ERROR_INIT;
    hf__store_config config = {.url = url,
                               .username = url->username,
                               .password = url->password,
                               .connect_ms = 1000};
    hf__redis_address address;

    if (strncmp(url->scheme, "rediss", 6) == 0 ||
        strncmp(url->scheme, "valkeys", 7) == 0)
        return;
    if (hf__redis_address_init(&address, &config, &err) != HF_OK) {
        PROMISE(err.message[0] != '\0');
        PROMISE(!has_secret || strstr(err.message, "zQ9") == NULL);
        return;
    }
    PROMISE((address.where.host == NULL) != (address.where.path == NULL));
    PROMISE(!has_secret || strstr(address.where.text, "zQ9") == NULL);
    PROMISE(address.where.path != NULL ||
            (address.where.port > 0 && address.where.port <= 65535));
    PROMISE(address.account.db >= 0);
    hf__redis_address_done(&address);
}

static void check_params(const hf__url *url)
{
    static const char *const known[] = {"db", "max_size", NULL};
    hf_error err = HF_ERROR_INIT;

    PROMISE(url->param_count <= HF__URL_PARAM_MAX);
    for (size_t i = 0; i < url->param_count; i++)
        PROMISE(strcmp(hf__url_param_get(url, url->params[i].name),
                       url->params[i].value) == 0);
    if (hf__url_check_params(url, known, &err) != HF_OK)
        PROMISE(err.status == HF_INVALID && strlen(err.message) < 240);
}

static void check_url(const char *text, bool has_secret)
{
    hf_error err = HF_ERROR_INIT;
    hf__url url;

    if (hf__url_parse(text, &url, &err) != HF_OK) {
        PROMISE(err.status == HF_INVALID && err.message[0] != '\0');
        PROMISE(!has_secret || strstr(err.message, "zQ9") == NULL);
        return;
    }
    PROMISE(url.scheme != NULL && url.path != NULL);
    PROMISE(url.port >= 0 && url.port <= 65535);
    if (url.host != NULL)
        check_hosts(&url);
    check_params(&url);
    check_address(&url, has_secret);
    hf__url_done(&url);
}

/* Do these bytes end where a password begins: scheme://user: ? */
static bool precede_password(const uint8_t *data, size_t size)
{
    const uint8_t *colon = size == 0 ? NULL : memchr(data, ':', size);
    size_t at;

    if (colon == NULL || (size_t)(colon - data) + 4 > size ||
        memcmp(colon, "://", 3) != 0 || data[size - 1] != ':' ||
        memmem(data, size, "zQ9", 3) != NULL)
        return false;
    for (at = (size_t)(colon - data) + 3; at < size; at++) {
        if (data[at] == '\0' || strchr("/?#@", data[at]) != NULL)
            return false;
    }
    return true;
}

/* The byte 1 stands for the password. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + sizeof(SECRET)];
    const uint8_t *mark = size == 0 ? NULL : memchr(data, 1, size);
    size_t before, after;

    if (size > TEXT_MAX - 1)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_numbers(text);
    if (mark == NULL) {
        check_url(text, false);
        return 0;
    }
    before = (size_t)(mark - data);
    after = size - before - 1;
    memcpy(text + before, SECRET, sizeof(SECRET) - 1);
    memcpy(text + before + sizeof(SECRET) - 1, mark + 1, after);
    text[size + sizeof(SECRET) - 2] = '\0';
    check_url(text, precede_password(data, before) && after > 0 &&
                        mark[1] == '@' &&
                        memmem(mark, after + 1, "zQ9", 3) == NULL);
    return 0;
}
