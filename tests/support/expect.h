/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.h - assertions about holdfast.h that say what failed. Only for the
 * thread that runs the test: a failed assertion longjmps out of it.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "holdfast/client.h"
#include "support/test.h"
#include "support/test_clock.h"

/*
 * Fail, with both names and the error's message, unless `call` returns `want`.
 * Pass ERR as the call's last argument: then the promise about hf_error is
 * checked too (filled on every status but HF_OK, left alone on HF_OK).
 */
#define expect_status(want, call)                                              \
    expect_status_at((want), (call), #call, __FILE__, __LINE__)
#define ERR expect_error()

hf_error *expect_error(void);
void expect_status_at(hf_status want, hf_status got, const char *call,
                      const char *file, int line);

/* Message of the error that the last call marked with ERR has left. */
const char *expect_message(void);

/* View a string literal, also one with NUL bytes inside. */
#define bytes(literal) hf_view((literal), sizeof(literal) - 1)

/* Equality of bytes, with both shown if they differ. */
#define assert_bytes(want, got)                                                \
    assert_bytes_at((want), (got), __FILE__, __LINE__)
void assert_bytes_at(hf_bytes want, hf_bytes got, const char *file, int line);

/* What a call put into a buffer: these bytes, followed by a NUL. Frees it. */
#define assert_buffer(buffer, want)                                            \
    assert_buffer_at((buffer), (want), __FILE__, __LINE__)
void assert_buffer_at(hf_buffer *buffer, hf_bytes want, const char *file,
                      int line);

/* What a key holds, read back through the library. */
#define assert_value(client, key, want)                                        \
    assert_value_at((client), (key), (want), __FILE__, __LINE__)
void assert_value_at(hf_client *client, hf_bytes key, hf_bytes want,
                     const char *file, int line);
#define assert_field(client, key, field, want)                                 \
    assert_field_at((client), (key), (field), (want), __FILE__, __LINE__)
void assert_field_at(hf_client *client, hf_bytes key, hf_bytes field,
                     hf_bytes want, const char *file, int line);

/* The key does not exist, with any type. */
#define assert_no_key(client, key)                                             \
    expect_status(HF_NOT_FOUND, key_status((client), (key), ERR))

/* The key's time to live: at most high_ms and at least 2 s less (or 0), which
 * allows for a slow machine, more under a sanitizer; or none at all. */
#define assert_ttl(client, key, high_ms)                                       \
    assert_ttl_at((client), (key), (high_ms), __FILE__, __LINE__)
#define assert_no_ttl(client, key)                                             \
    assert_ttl_at((client), (key), -1, __FILE__, __LINE__)
void assert_ttl_at(hf_client *client, hf_bytes key, int64_t high_ms,
                   const char *file, int line);

/* HF_OK, or HF_NOT_FOUND: it does not exist, with any type. */
hf_status key_status(hf_client *client, hf_bytes key, hf_error *err);

/* Does the key no longer exist? For expect_soon(). */
bool key_is_gone(hf_client *client, hf_bytes key);

/* 0: there is no such key. */
size_t sorted_set_size(hf_client *client, hf_bytes key);

/* Let a lease end after so many ms, as another program may; 0: now. */
void cut_lease(hf_client *client, hf_bytes name, int64_t ms);

/* Set up what a test needs; these fail the test unless they succeed. */
void put_value(hf_client *client, hf_bytes key, hf_bytes value, int64_t ttl_ms);
void put_hash(hf_client *client, hf_bytes key, const char *const *words,
              int64_t ttl_ms);

/* The list of words of put_hash(): field, value, ..., in braces. */
#define words(...)                                                             \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }

#endif
