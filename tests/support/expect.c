/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.c - see expect.h. A call marked with ERR gets a fresh hf_error of the
 * calling thread, which expect_status_at() then checks and clears.
 */
#include "support/expect.h"

#include <stdio.h>
#include <stdlib.h>

#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/value.h"

static __thread hf_error last_error;
static __thread bool error_passed;

hf_error *expect_error(void)
{
    last_error = (hf_error)HF_ERROR_INIT;
    error_passed = true;
    return &last_error;
}

const char *expect_message(void)
{
    return last_error.message;
}

/* What is wrong with the error that a call left, or NULL. */
static const char *error_fault(hf_status got)
{
    if (last_error.struct_size != sizeof(hf_error)) {
        return "struct_size of the error was changed";
    }
    if (last_error.status != got) {
        return "the error's status is not the call's";
    }
    if (memchr(last_error.message, '\0', HF_ERROR_MESSAGE_SIZE) == NULL) {
        return "the error's message has no end";
    }
    if ((got == HF_OK) != (last_error.message[0] == '\0')) {
        return "a message belongs to every status but HF_OK";
    }
    if (strpbrk(last_error.message, "\r\n") != NULL) {
        return "the error's message is more than a line";
    }
    return NULL;
}

void expect_status_at(hf_status want, hf_status got, const char *call,
                      const char *file, int line)
{
    const char *fault = error_passed ? error_fault(got) : NULL;

    if (got != want || fault != NULL) {
        print_error("%s\n  gave HF_%s, not HF_%s: %s\n", call,
                    hf_status_name(got), hf_status_name(want),
                    error_passed ? last_error.message : "(no detail)");
        print_error("%s%s", fault != NULL ? fault : "",
                    fault != NULL ? "\n" : "");
        _fail(file, line);
    }
    error_passed = false;
}

void assert_bytes_at(hf_bytes want, hf_bytes got, const char *file, int line)
{
    if (want.size == got.size &&
        (want.size == 0 || memcmp(want.data, got.data, want.size) == 0)) {
        return;
    }
    print_error("%zu bytes \"%.*s\", not %zu bytes \"%.*s\"\n", got.size,
                got.size < 80 ? (int)got.size : 80,
                got.size == 0 ? "" : (const char *)got.data, want.size,
                want.size < 80 ? (int)want.size : 80,
                want.size == 0 ? "" : (const char *)want.data);
    _fail(file, line);
}

void assert_buffer_at(hf_buffer *buffer, hf_bytes want, const char *file,
                      int line)
{
    if (buffer->data == NULL ||
        ((const char *)buffer->data)[buffer->size] != '\0') {
        print_error("a value came without the NUL behind it\n");
        _fail(file, line);
    }
    assert_bytes_at(want, hf_view(buffer->data, buffer->size), file, line);
    hf_buffer_free(buffer);
}

void assert_value_at(hf_client *client, hf_bytes key, hf_bytes want,
                     const char *file, int line)
{
    hf_buffer value = HF_BUFFER_INIT;

    expect_status_at(HF_OK, hf_value_get(client, key, &value, ERR),
                     "hf_value_get", file, line);
    assert_buffer_at(&value, want, file, line);
}

void assert_field_at(hf_client *client, hf_bytes key, hf_bytes field,
                     hf_bytes want, const char *file, int line)
{
    hf_buffer value = HF_BUFFER_INIT;

    expect_status_at(HF_OK, hf_hash_get(client, key, field, &value, ERR),
                     "hf_hash_get", file, line);
    assert_buffer_at(&value, want, file, line);
}

void assert_ttl_at(hf_client *client, hf_bytes key, int64_t high_ms,
                   const char *file, int line)
{
    int64_t ttl_ms = -99;
    int64_t slack_ms = 2000 * SLOWER;
    int64_t low_ms = high_ms > slack_ms ? high_ms - slack_ms : 0;

    expect_status_at(HF_OK, hf_key_ttl(client, key, &ttl_ms, ERR), "hf_key_ttl",
                     file, line);
    if (high_ms == -1) {
        low_ms = -1;
    }
    if (ttl_ms < low_ms || ttl_ms > high_ms) {
        print_error("%lld ms to live, not %lld..%lld\n", (long long)ttl_ms,
                    (long long)low_ms, (long long)high_ms);
        _fail(file, line);
    }
}

hf_status key_status(hf_client *client, hf_bytes key, hf_error *err)
{
    int64_t ttl_ms;

    return hf_key_ttl(client, key, &ttl_ms, err);
}

bool key_is_gone(hf_client *client, hf_bytes key)
{
    return key_status(client, key, NULL) == HF_NOT_FOUND;
}

size_t sorted_set_size(hf_client *client, hf_bytes key)
{
    hf_bytes words[] = {hf_str("ZCARD"), key};
    hf_reply *reply = NULL;
    size_t count;

    expect_status(HF_OK, hf_command(client, 2, words, &reply, ERR));
    count = (size_t)hf_reply_integer(reply);
    hf_reply_free(reply);
    return count;
}

void cut_lease(hf_client *client, hf_bytes name, int64_t ms)
{
    char number[32];
    int size = snprintf(number, sizeof(number), "%lld", (long long)ms);
    hf_bytes words[] = {hf_str("PEXPIRE"), name, hf_view(number, (size_t)size)};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_command(client, 3, words, &reply, ERR));
    assert_int_equal(hf_reply_integer(reply), 1);
    hf_reply_free(reply);
}

void put_value(hf_client *client, hf_bytes key, hf_bytes value, int64_t ttl_ms)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK, hf_value_set(client, key, value, &opts, NULL, ERR));
}

void put_hash(hf_client *client, hf_bytes key, const char *const *words,
              int64_t ttl_ms)
{
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_field fields[16];
    size_t count = 0;

    for (; words[2 * count] != NULL; count++) {
        assert_true(count < sizeof(fields) / sizeof(fields[0]));
        fields[count].name = hf_str(words[2 * count]);
        fields[count].value = hf_str(words[2 * count + 1]);
    }
    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK, hf_hash_put(client, key, fields, count, &opts, ERR));
}
