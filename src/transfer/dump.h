/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - what the files of a dump and of a load share. */
#ifndef HF__TRANSFER_DUMP_H
#define HF__TRANSFER_DUMP_H

#include "core/batch.h"
#include "core/key_walk.h"
#include "holdfast/store.h"
#include "transfer/dump_writer.h"

/* One key as key_read tells it. */
typedef struct hf__facts {
    hf__dump_type type;
    bool found;              /* else `type_name` is "none" or none of ours */
    hf_bytes type_name;      /* in the reply */
    int64_t expires_unix_ms; /* 0: never */
    int64_t count;           /* of elements; of bytes of a string */
    char mark[80];           /* of a list: digests of its ends */
    size_t content_at;       /* where the elements begin in the reply */
    size_t content_count;    /* 0: they were not read */
} hf__facts;

/* HF_CORRUPT: key_read does not answer so. */
hf_status hf__facts_read(const hf_reply *reply, hf__facts *facts,
                         hf_error *err);

/* What a walk over the names picks out, in the order of a dump. */
typedef enum hf__dump_turn {
    HF__TURN_SHARED,  /* tokens, and tags of cache entries */
    HF__TURN_OBJECTS, /* keys to which others belong, with those */
    HF__TURN_REST
} hf__dump_turn;

typedef struct hf__dump {
    hf_client *client;
    const hf_store_dump_options *options;
    void *user;
    hf_store_transfer so_far;
    hf__key_walk walk;
    hf__dump_turn turn;
    hf__dump_writer writer;
    hf_error left_out;  /* names the first key that was */
    bool fields_expire; /* the store has HPEXPIRE */
    bool timed;         /* a field of the hash that is read in pieces expires */
} hf__dump;

/* Room for the words of key_read. */
typedef struct hf__read_words {
    hf_bytes words[4];
} hf__read_words;

/* Fill a request that reads a key by key_read. `name` must stay. */
void hf__dump_ask(const hf__dump *dump, hf__request *request,
                  hf__read_words *words, hf_bytes name,
                  const char *most_elements, const char *most_bytes);

/* Does the store have `operation`, HPEXPIRETIME or HPEXPIREAT? The key `none`
 * does not exist. */
hf_status hf__transfer_field_times(hf_client *client,
                                   const hf__operation *operation,
                                   hf_bytes none, bool *has, hf_error *err);

/* Dump a key whose content key_read has given. */
hf_status hf__dump_whole(hf__dump *dump, hf_bytes name, const hf_reply *reply,
                         const hf__facts *facts, hf_error *err);

/* Dump a key that is too large for the batch. */
hf_status hf__dump_large(hf__dump *dump, hf_bytes name, hf_error *err);

/* Count a key that no dump can hold. */
void hf__dump_leave_out(hf__dump *dump, hf_bytes name, hf_bytes type_name);

/* Report the progress. */
void hf__dump_report(hf__dump *dump);

/* What any of these calls checks first, and what it gives back at the end. */
hf_status hf__transfer_check(const hf_client *client,
                             const hf_store_transfer *result, hf_error *err);
void hf__transfer_give(const hf_store_transfer *so_far,
                       hf_store_transfer *result);

/* Unix time of the store, ms. */
hf_status hf__store_unix_ms(hf_client *client, int64_t *unix_ms, hf_error *err);

/* Is it the key of a fencing token? */
bool hf__is_token(hf_bytes name);

#endif
