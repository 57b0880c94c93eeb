/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what callers pass and get: limits, keys with their prefix, numbers
 * as words, replies as bytes.
 */
#ifndef HF__CORE_CHECK_H
#define HF__CORE_CHECK_H

#include "holdfast/async.h"
#include "store/reply.h"

/* HF_INVALID: empty or too long; `what` says of which kind the key is. Then the
 * key with the prefix, in memory of prefix_size + name.size bytes. */
hf_status hf__check_key(const hf_client *client, hf_bytes name,
                        const char *what, hf_error *err);
hf_bytes hf__key_put(const hf_client *client, hf_bytes name, char *at);

/* Limits on what callers pass. */
hf_status hf__check_field(hf_bytes field, hf_error *err);
hf_status hf__check_value(hf_bytes value, hf_error *err);
hf_status hf__check_ttl(int64_t ttl_ms, const char *what, hf_error *err);
hf_status hf__check_wait(int64_t wait_ms, hf_error *err);
hf_status hf__check_range(int64_t value, int64_t low, int64_t high,
                          const char *what, hf_error *err);
/* The same, from 1, for an option for which 0 means its default. */
hf_status hf__check_option(int64_t value, int64_t high, const char *what,
                           hf_error *err);

/* Of options that were loaded: HF_UNSUPPORTED, unless `flags` are among the
 * known ones and `reserved` is 0. */
hf_status hf__check_flags(uint32_t flags, uint32_t known, uint32_t reserved,
                          const char *type, hf_error *err);
/* HF_INVALID unless the caller began a struct for results with `init`. */
hf_status hf__check_struct(size_t struct_size, size_t least, const char *type,
                           const char *init, hf_error *err);
/* HF_INVALID "`what` is NULL", unless `pointer` points somewhere. */
hf_status hf__check_out(const void *pointer, const char *what, hf_error *err);

/* Decimal digits of a number, for a word of a request. */
#define HF__NUMBER_SIZE 24
hf_bytes hf__number(char text[HF__NUMBER_SIZE], int64_t value);

/* Copy the bytes of a reply; nil gives an empty buffer without data. */
hf_status hf__buffer_set(hf_buffer *buffer, const hf_reply *reply,
                         hf_error *err);

/* The same; a large one is taken out of the arena instead of copied. Nothing
 * may read it there afterwards. */
hf_status hf__buffer_take(hf_buffer *buffer, const hf_reply *reply,
                          hf__arena *arena, hf_error *err);

/* HF_CORRUPT: the reply is none that the script can give. */
hf_status hf__bad_reply(const char *what, hf_error *err);

#endif
