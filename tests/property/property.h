/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property.h - random sequences of calls, run on a store and on a model of it
 * in memory, which must agree about each result and about what is in the store.
 *
 * A call is a row of a table: the letters of its arguments, a function that
 * makes the call, and one that does the same to the model. Both write what the
 * call gave as text, which is compared. An argument is a small number, 0 the
 * plainest, so that a failing sequence is shrunk by leaving calls out and by
 * lowering numbers.
 *
 * Times to live are whole multiples of TTL_UNIT_MS, which are read back exactly
 * as long as a sequence takes less than one, or end at once (TTL_BRIEF).
 */
#ifndef PROPERTY_H
#define PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/timeline.h"

#define ARGUMENTS 6 /* most of a call */
#define STEPS_MAX 400
#define TEXT_SIZE 2000

/* -------------------------------------------------------------------- model */

#define KEYS 3
#define FIELDS 4
#define BLOB_SIZE 256

#define TTL_UNIT_MS INT64_C(1000000)
#define TTL_NONE 0
#define TTL_BRIEF 100 /* 1 ms; 1..3: that many units */

typedef enum model_type { MODEL_NONE, MODEL_STRING, MODEL_HASH } model_type;

typedef struct blob {
    bool there;
    size_t size;
    unsigned char data[BLOB_SIZE];
} blob;

typedef struct model_key {
    model_type type;
    int ttl;
    blob value;
    blob fields[FIELDS];
} model_key;

#define ITEMS 4

/* An item of the one timeline. */
typedef struct model_item {
    bool there;
    int64_t at_ms;
    int ttl;
    blob payload;
    hf_attribute attributes[2]; /* of different names */
    size_t attribute_count;
} model_item;

/* A member of the one set, or of the one rank. */
typedef struct model_member {
    bool there;
    int ttl;
    double score;
} model_member;

#define ENTRIES 2

/* An entry of the cache; without a value: it is known that there is none. */
typedef struct model_entry {
    bool there;
    bool tagged;
    int ttl;
    blob value;
} model_entry;

/* The revision of a value, which counts while the key holds these bytes. The
 * first of a trial is 1, the next 2. */
typedef struct model_stamp {
    uint64_t revision; /* 0: none */
    int ttl;
    blob value;
} model_stamp;

typedef struct model {
    model_key keys[KEYS];
    uint64_t fences[KEYS]; /* highest tokens; they outlive the keys */
    model_stamp stamps[KEYS];
    uint64_t revisions; /* the last one */
    model_item items[ITEMS];
    model_entry entries[ENTRIES];
    model_member set[ITEMS];
    model_member rank[ITEMS];
    bool lacks_dumps;  /* the store has none: HF_UNSUPPORTED */
    const char *cheat; /* a rule that is wrong on purpose; NULL: none */
} model;

/* Is it the rule to break? */
bool model_cheats(const model *m, const char *rule);
/* Forget what has TTL_BRIEF; was there anything? */
bool model_expire(model *m);
/* A hash without fields does not exist. */
void model_tidy(model_key *key);
void model_delete(model_key *key);
void model_unstamp(model *m, size_t key);

blob blob_of(hf_bytes bytes);
bool blob_is(const blob *a, hf_bytes bytes);

/* --------------------------------------------------------------------- text */

typedef struct text {
    char at[TEXT_SIZE];
    size_t size;
} text;

void text_add(text *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Quoted, with what cannot be printed as \xNN. */
void text_bytes(text *out, hf_bytes bytes);
void text_blob(text *out, const blob *bytes);
void text_ttl(text *out, int64_t left_ms); /* " ttl=units"; -1: nothing */
void text_status(text *out, hf_status status);
/* What a call put into a buffer, which is freed. */
void text_buffer(text *out, hf_buffer *buffer);

/* -------------------------------------------------------------------- calls */

typedef struct step {
    uint16_t call; /* row of the table */
    uint8_t n[ARGUMENTS];
    bool starts; /* the asynchronous form */
} step;

typedef struct place {
    hf_client *client;
    bool starts;
    bool lacks_dumps; /* see model */
} place;

typedef struct call {
    const char *name;
    const char *arguments; /* a letter for each; see arguments.c */
    void (*run)(place *at, const step *s, text *out);
    void (*expect)(model *m, const step *s, text *out);
} call;

/* Run `function(...)`, or start it and await its end. */
#define CALL(at, function, ...)                                                \
    ((at)->starts                                                              \
         ? call_await((at), function##_start(__VA_ARGS__, call_begin(), NULL)) \
         : function(__VA_ARGS__, NULL))
const hf_async *call_begin(void);
hf_status call_await(place *at, hf_status started);

/* An options structure with some members, as an argument. */
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})

/* Arguments: what number `i` of a step stands for. */
size_t key_at(const step *s, size_t i);
hf_bytes key_name(size_t key);
size_t field_at(const step *s, size_t i);
hf_bytes field_name(size_t field);
hf_bytes value_at(const step *s, size_t i);
/* NULL: absent. */
const hf_bytes *expected_at(const step *s, size_t i);
int ttl_at(const step *s, size_t i);
int64_t ttl_ms(int ttl);
uint32_t set_flags_at(const step *s, size_t i);
uint32_t put_flags_at(const step *s, size_t i);
int64_t delta_at(const step *s, size_t i);
/* Bounds of a counter, as flags and limits. */
hf_add_options bounds_at(const step *s, size_t i);

/* Of the timeline: ids, times, sets of attributes named "a" and "b". */
hf_bytes timeline_name(void);
size_t item_at(const step *s, size_t i);
hf_bytes item_id(size_t item);
int64_t at_ms_at(const step *s, size_t i);
int item_ttl_at(const step *s, size_t i);
size_t attributes_at(const step *s, size_t i);
const hf_attribute *attributes_of(size_t set, size_t *count);
/* "name a=... b=..." */
void step_show(const step *s, text *out);

extern const call value_calls[], revised_calls[], hash_calls[], key_calls[],
    counter_calls[], timeline_calls[], txn_calls[], fenced_calls[],
    cache_calls[], member_calls[];
extern const size_t value_call_count, revised_call_count, hash_call_count,
    key_call_count, counter_call_count, timeline_call_count, txn_call_count,
    fenced_call_count, cache_call_count, member_call_count;

/* All of the timeline, as text; and nothing left of it. */
void timeline_read_store(hf_client *client, text *out);
void timeline_read_model(const model *m, text *out);
void timeline_empty(hf_client *client);
/* The same of the cache. */
void cache_read_store(hf_client *client, text *out);
void cache_read_model(model *m, text *out);
void cache_empty(hf_client *client);
/* And of the set and the rank. */
void members_read_store(hf_client *client, text *out);
void members_read_model(const model *m, text *out);
void members_empty(hf_client *client);
/* Forget the tokens of fenced writes. */
void fences_empty(hf_client *client);
/* The revisions that are stored. */
void revisions_read_store(hf_client *client, text *out);
void revisions_read_model(const model *m, text *out);
void revisions_empty(hf_client *client);

/* All rows, as one list. */
size_t call_count(void);
const call *call_at(size_t i);

/* ------------------------------------------------------------------- trials */

typedef struct sequence {
    step steps[STEPS_MAX];
    size_t count;
} sequence;

typedef struct difference {
    size_t index; /* of the step */
    text wanted;
    text found;
} difference;

/* Run it from an empty store, to the end or the first difference. true: there
 * is one. */
bool trial_differs(place *at, const sequence *steps, const char *cheat,
                   difference *found);

/* Make a sequence that differs as short and plain as possible. false: it does
 * not differ when it is run again. */
bool shrink(place *at, sequence *steps, const char *cheat, difference *found);

#endif
