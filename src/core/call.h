/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - what every primitive does around its script or command: check what
 * the caller gave, run one request, read the reply.
 */
#ifndef HF__CORE_CALL_H
#define HF__CORE_CALL_H

#include "store/store.h"

/* A key as the store knows it: the client's prefix and the caller's name. */
typedef struct hf__key {
    hf_bytes bytes;
    char *owned; /* NULL: bytes are the caller's */
} hf__key;

/* HF_INVALID: empty or too long, `what` says of which kind it is. End it with
 * hf__key_done() on HF_OK. */
hf_status hf__key_init(const hf_client *client, hf_bytes name, const char *what,
                       hf__key *key, hf_error *err);
void hf__key_done(hf__key *key);

/* Limits on what callers pass. */
hf_status hf__check_field(hf_bytes field, hf_error *err);
hf_status hf__check_value(hf_bytes value, hf_error *err);
hf_status hf__check_ttl(int64_t ttl_ms, const char *what, hf_error *err);

/* HF_INVALID "`what` is NULL", unless `pointer` points somewhere. */
hf_status hf__check_out(const void *pointer, const char *what, hf_error *err);

/*
 * Run a script, one of our own by its index, or a command (words[0] is its
 * name), and wait for the reply. `request` is initialised here and must be
 * ended with hf__request_done() whatever the status.
 */
hf_status hf__run_words(hf_client *client, const hf__script *script,
                        const hf_bytes *words, size_t count, size_t key_count,
                        hf__request *request, hf_error *err);
hf_status hf__run_script(hf_client *client, uint32_t index,
                         const hf_bytes *words, size_t count, size_t key_count,
                         hf__request *request, hf_error *err);
/* The same, but not past limit_ms; INT64_MAX: by request_ms alone. */
hf_status hf__run_script_by(hf_client *client, uint32_t index,
                            const hf_bytes *words, size_t count,
                            size_t key_count, int64_t limit_ms,
                            hf__request *request, hf_error *err);
hf_status hf__run_command(hf_client *client, const hf_bytes *words,
                          size_t count, bool repeatable, hf__request *request,
                          hf_error *err);

/*
 * A call on one key. After hf__call_begin(), whatever its status, comes at most
 * one run and then hf__call_end().
 */
typedef struct hf__call {
    hf_client *client;
    hf__key key;
    hf__request request; /* its reply, after a run that gave HF_OK */
} hf__call;

/* HF_INVALID: a client from before fork(), a bad key. */
hf_status hf__call_begin(hf__call *call, hf_client *client, hf_bytes key,
                         hf_error *err);
void hf__call_end(hf__call *call);

/* words[0] is the command's name; words[1] is set to the key here. */
hf_status hf__call_command(hf__call *call, hf_bytes *words, size_t count,
                           bool repeatable, hf_error *err);

/* words[0] is set to the key, the script's only one, here. */
hf_status hf__call_script(hf__call *call, uint32_t index, hf_bytes *words,
                          size_t count, hf_error *err);

/* Delete a key by a script that leaves other types of keys alone. */
hf_status hf__delete(hf_client *client, hf_bytes key, uint32_t index,
                     hf_error *err);

/* Decimal digits of a number, for a word of a request. */
#define HF__NUMBER_SIZE 24
hf_bytes hf__number(char text[HF__NUMBER_SIZE], int64_t value);

/* Copy the bytes of a reply; nil gives an empty buffer without data. */
hf_status hf__buffer_set(hf_buffer *buffer, const hf_reply *reply,
                         hf_error *err);

/* HF_CORRUPT: the reply is none that the script can give. */
hf_status hf__bad_reply(const char *what, hf_error *err);

#endif
