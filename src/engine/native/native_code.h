/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_code.h - what the C functions of scripts are made of: values of Lua
 * and operations on them.
 *
 * Memory is taken from the run and freed at its end, all at once. Strings are
 * never changed, so that a part of one is a view of it. Functions that can fail
 * do not return then: the run ends with an error as Lua's would, or out of
 * memory.
 */
#ifndef HF__ENGINE_NATIVE_CODE_H
#define HF__ENGINE_NATIVE_CODE_H

#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "engine/commands/script_end.h"
#include "engine/keys/command_out.h"
#include "engine/native/native.h"
#include "script/native_ids.h"

typedef enum hf__nv_tag {
    HF__NV_NIL, /* this and the next are not true */
    HF__NV_FALSE,
    HF__NV_TRUE,
    HF__NV_NUMBER,
    HF__NV_TEXT,
    HF__NV_SCORE, /* a text that is `number` in decimal, made when needed */
    HF__NV_TABLE,
    HF__NV_STATUS, /* {ok = text} */
    HF__NV_ERROR   /* {err = text} */
} hf__nv_tag;

/* A value of Lua. */
typedef struct hf__nv {
    uint32_t tag;  /* hf__nv_tag */
    uint32_t size; /* of a text, a status, an error */
    union {
        double number;
        const char *text;
        struct hf__native_table *table;
    };
} hf__nv;

struct hf__native_chunk;

struct hf__native {
    hf__command_finder *find;
    hf__tx *tx;
    hf__request *request;
    const hf_bytes *keys, *args;
    size_t key_count, arg_count;
    int line;             /* of the script */
    hf__script_time time; /* of a transaction */
    size_t used_size;     /* of all chunks */
    size_t words_size;    /* of all arguments */
    bool reads;           /* refuse writing commands */
    bool no_memory;
    unsigned char *next, *end;       /* of the newest chunk */
    struct hf__native_chunk *chunks; /* newest first; the last one is kept */
    jmp_buf unwind;
    char error[HF__OUT_ERROR_SIZE + 160];
};

/* Most memory of the run; what it reads does not count. */
static inline size_t hf__native_limit(const hf__native *run)
{
    return HF__SCRIPT_MEMORY_MAX + 2 * run->words_size +
           2 * run->tx->largest_size;
}
/* More memory, in addition to what there is; false: there is none. */
bool hf__native_add_chunk(hf__native *native, size_t size);
/* Free all but the first. */
void hf__native_drop_chunks(hf__native *native);

/* Memory, 16-byte aligned. */
void *hf__native_grow(hf__native *run, size_t size);
static inline void *hf__native_alloc(hf__native *run, size_t size)
{
    unsigned char *memory = run->next;

    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(run->end - memory))
        return hf__native_grow(run, size);
    run->next = memory + size;
    return memory;
}

/* A copy, with a NUL behind it. */
hf__nv hf__native_copy(hf__native *run, const void *data, size_t size);

/* End the run with an error of Lua. */
__attribute__((noreturn, format(printf, 2, 3))) void
hf__native_raise(hf__native *run, const char *format, ...);
/* The same with the error reply of a command. */
_Noreturn void hf__native_raise_reply(hf__native *run, const char *text);
/* End it as out of memory, or because tx->fatal is set. */
_Noreturn void hf__native_stop(hf__native *run, bool no_memory);
/* What an embedded store never comes to was reached. */
void hf__native_refuse(hf__native *run);

/* ------------------------------------------------------------------ values */

static inline hf__nv hf__nv_nil(void)
{
    return (hf__nv){.tag = HF__NV_NIL};
}
static inline hf__nv hf__nv_bool(bool value)
{
    return (hf__nv){.tag = value ? HF__NV_TRUE : HF__NV_FALSE};
}
static inline hf__nv hf__nv_number(double value)
{
    return (hf__nv){.tag = HF__NV_NUMBER, .number = value};
}
static inline hf__nv hf__nv_text(const char *text, size_t size)
{
    return (hf__nv){.tag = HF__NV_TEXT, .size = (uint32_t)size, .text = text};
}
static inline hf__nv hf__nv_bytes(hf_bytes word)
{
    return hf__nv_text(word.data != NULL ? word.data : "", word.size);
}
static inline bool hf__nv_is(hf__nv value)
{
    return value.tag > HF__NV_FALSE;
}
static inline bool hf__nv_is_table(hf__nv value)
{
    return value.tag >= HF__NV_TABLE;
}
static inline bool hf__nv_is_number(hf__nv value, double number)
{
    return value.tag == HF__NV_NUMBER && value.number == number;
}
static inline bool hf__nv_is_bool(hf__nv value, bool is)
{
    return value.tag == (is ? HF__NV_TRUE : HF__NV_FALSE);
}
static inline bool hf__nv_is_text(hf__nv value)
{
    return value.tag == HF__NV_TEXT || value.tag == HF__NV_SCORE;
}
static inline hf_bytes hf__nv_word(hf__nv text)
{
    return (hf_bytes){text.text, text.size};
}
/* Of two texts, one of them an HF__NV_SCORE. */
bool hf__nv_same_score(hf__nv one, hf__nv other);
/* == */
static inline bool hf__nv_same(hf__nv one, hf__nv other)
{
    if (one.tag != other.tag)
        return hf__nv_is_text(one) && hf__nv_is_text(other) &&
               hf__nv_same_score(one, other);
    switch (one.tag) {
    case HF__NV_SCORE:
        return hf__nv_same_score(one, other);
    case HF__NV_NUMBER:
        return one.number == other.number;
    case HF__NV_TEXT:
        return one.size == other.size &&
               memcmp(one.text, other.text, one.size) == 0;
    case HF__NV_TABLE:
        return one.table == other.table;
    case HF__NV_STATUS:
    case HF__NV_ERROR:
        return one.text == other.text;
    default:
        return true;
    }
}

/* ---------------------------------------------------------------- KEYS, ARGV
 */

hf__nv hf__native_keys(hf__native *run); /* as a table */
hf__nv hf__native_argv(hf__native *run);
hf__nv hf__native_keys_by(hf__native *run, double at);
hf__nv hf__native_argv_by(hf__native *run, double at);
/* Instead of a word: a value that is neither a string nor a number. The command
 * fails. */
#define HF__NATIVE_NO_WORD ((hf_bytes){NULL, SIZE_MAX})

static inline hf__nv hf__native_keys_at(const hf__native *run, size_t at)
{
    return at <= run->key_count ? hf__nv_bytes(run->keys[at - 1])
                                : hf__nv_nil();
}
static inline hf__nv hf__native_argv_at(const hf__native *run, size_t at)
{
    return at <= run->arg_count ? hf__nv_bytes(run->args[at - 1])
                                : hf__nv_nil();
}
static inline hf_bytes hf__native_keys_word(const hf__native *run, size_t at)
{
    return at <= run->key_count ? run->keys[at - 1] : HF__NATIVE_NO_WORD;
}
static inline hf_bytes hf__native_argv_word(const hf__native *run, size_t at)
{
    return at <= run->arg_count ? run->args[at - 1] : HF__NATIVE_NO_WORD;
}

/* --------------------------------------------------------- numbers and texts
 */

/* Operand of arithmetic. */
double hf__native_to_number(hf__native *run, hf__nv value);
static inline double hf__native_number(hf__native *run, hf__nv value)
{
    return value.tag == HF__NV_NUMBER ? value.number
                                      : hf__native_to_number(run, value);
}
/* Operand of < whose other one is a number. */
double hf__native_compared(hf__native *run, hf__nv value);
bool hf__native_less(hf__native *run, hf__nv one, hf__nv other);    /* < */
bool hf__native_at_most(hf__native *run, hf__nv one, hf__nv other); /* <= */
hf__nv hf__native_tonumber(hf__native *run, hf__nv value, int base);
hf__nv hf__native_tostring(hf__native *run, hf__nv value);
hf__nv hf__native_type(hf__nv value);
/* %0WIDTH.0f or, with base 16, %0WIDTHx. */
hf__nv hf__native_digits(hf__native *run, double number, int base, int width);
/* Argument of a function that takes a string. */
hf__nv hf__native_to_text(hf__native *run, hf__nv value);
static inline hf__nv hf__native_text(hf__native *run, hf__nv value)
{
    return value.tag == HF__NV_TEXT ? value : hf__native_to_text(run, value);
}
hf__nv hf__native_concat(hf__native *run, const hf__nv *parts, size_t count);
hf__nv hf__native_sub(hf__native *run, hf__nv text, double from, double to);
hf__nv hf__native_byte(hf__native *run, hf__nv text);
hf__nv hf__native_char(hf__native *run, hf__nv code);
hf__nv hf__native_lower(hf__native *run, hf__nv text);
hf__nv hf__native_sha1hex(hf__native *run, hf__nv text);
/* Where `what` begins, from 1; 0: nowhere. */
double hf__native_find(hf__native *run, hf__nv text, hf__nv what, double from);
double hf__native_length(hf__native *run, hf__nv value);

static inline double hf__native_modulo(double one, double other)
{
    return one - floor(one / other) * other;
}
static inline double hf__native_max(double one, double other)
{
    return other > one ? other : one;
}
static inline double hf__native_min(double one, double other)
{
    return other < one ? other : one;
}

/* ---------------------------------------------------------------- patterns */

typedef enum hf__step_kind {
    HF__STEP_START, /* ^: the match begins at the text's start */
    HF__STEP_ONE,   /* of the set */
    HF__STEP_ANY,   /* * */
    HF__STEP_SOME,  /* + */
    HF__STEP_FEW,   /* - */
    HF__STEP_MAYBE, /* ? */
    HF__STEP_OPEN,
    HF__STEP_CLOSE,
    HF__STEP_END, /* $ */
    HF__STEP_DONE /* its capture is the number of captures */
} hf__step_kind;

/* A pattern is an array of them. */
typedef struct hf__native_step {
    uint8_t kind;    /* hf__step_kind */
    uint8_t capture; /* number */
    const uint64_t *set;
} hf__native_step;

#define HF__NATIVE_CAPTURES 8

typedef struct hf__native_match {
    const char *text, *end;
    const char *next; /* where to look */
    const char *from, *to;
    const hf__native_step *steps;
    bool found;
    struct {
        const char *from, *to;
    } captures[HF__NATIVE_CAPTURES];
} hf__native_match;

void hf__native_match_begin(hf__native *run, hf__native_match *match,
                            hf__nv text, const hf__native_step *steps,
                            double from);
/* Find the next match. */
bool hf__native_match_next(hf__native *run, hf__native_match *match);
/* nil: there was no match. Without captures number 0 is the whole match. */
hf__nv hf__native_match_capture(const hf__native_match *match, size_t number);

static inline hf__nv hf__native_match_whole(const hf__native_match *match)
{
    return hf__nv_text(match->from, (size_t)(match->to - match->from));
}
static inline double hf__native_match_at(const hf__native_match *match)
{
    return (double)(match->from - match->text + 1);
}

/* A text that is made of another one, as by string.gsub(). */
typedef struct hf__native_joint {
    char *data;
    size_t used, size;
    size_t count;     /* of replacements */
    const char *from; /* what is not yet copied */
} hf__native_joint;

void hf__native_joint_begin(hf__native_joint *joint,
                            const hf__native_match *match);
/* The match is replaced by `text`; nil: it stays. */
void hf__native_joint_add(hf__native *run, hf__native_joint *joint,
                          const hf__native_match *match, hf__nv text);
hf__nv hf__native_joint_end(hf__native *run, hf__native_joint *joint,
                            const hf__native_match *match);

/* ------------------------------------------------------------------ tables */

typedef struct hf__native_pair {
    hf__nv key, value;
} hf__native_pair;

/* Items 1, 2 ... are in an array; what is under other keys in pairs, by their
 * hash. */
typedef struct hf__native_table {
    hf__nv *items;
    size_t count; /* items up to the first nil */
    size_t size;  /* of `items`; those beyond `count` are nil or set */
    hf__native_pair *pairs;
    size_t pair_count, pair_size;
} hf__native_table;

hf__native_table *hf__native_table_new(hf__native *run, size_t size);
hf__nv hf__native_table_of(hf__native *run, const hf__nv *items, size_t count);
/* {unpack(table, from, to)}; to -1: its last. */
hf__nv hf__native_part(hf__native *run, hf__nv table, double from, double to);
/* What unpack() and ipairs() get; fails if it is no table. */
hf__native_table *hf__native_unpacked(hf__native *run, hf__nv table);
hf__native_table *hf__native_listed(hf__native *run, hf__nv table);
static inline hf__nv hf__native_item(const hf__native_table *table, size_t at)
{
    return at <= table->size ? table->items[at - 1] : hf__nv_nil();
}
hf__nv hf__native_get(hf__native *run, hf__nv table, hf__nv key);
/* table.err, table.ok */
hf__nv hf__native_field(hf__native *run, hf__nv table, const char *name);
void hf__native_set(hf__native *run, hf__nv table, hf__nv key, hf__nv value);
/* The same by a number. */
hf__nv hf__native_get_at(hf__native *run, hf__nv table, double at);
void hf__native_set_at(hf__native *run, hf__nv table, double at, hf__nv value);
/* By one that has no fraction. */
hf__nv hf__native_get_item(hf__native *run, hf__nv table, int64_t at);
void hf__native_set_item(hf__native *run, hf__nv table, int64_t at,
                         hf__nv value);
hf__nv hf__native_failure(hf__native *run, hf__nv text); /* {err = text} */
hf__nv hf__native_status(hf__native *run, hf__nv text);  /* {ok = text} */

/* ---------------------------------------------------------------- commands */

typedef struct hf__native_words {
    const hf_bytes *words;
    size_t count;
} hf__native_words;

/* A value as an argument of a command. */
hf_bytes hf__native_word(hf__native *run, hf__nv value);
hf_bytes hf__native_number_word(hf__native *run, double number);
/* The words and unpack(table, from, to). */
hf__native_words hf__native_spread(hf__native *run, const hf_bytes *words,
                                   size_t count, hf__nv table, double from,
                                   double to);
/* redis.call(); the same without a result; redis.pcall(). `id` is one of
 * HF__NATIVE_..., or HF__NATIVE_ANY. */
hf__nv hf__native_call(hf__native *run, int id, const hf_bytes *words,
                       size_t count);
void hf__native_do(hf__native *run, int id, const hf_bytes *words,
                   size_t count);
hf__nv hf__native_pcall(hf__native *run, int id, const hf_bytes *words,
                        size_t count);
/* redis.acl_check_cmd() */
bool hf__native_may(hf__native *run, const hf_bytes *words, size_t count);

/* The result as a reply; false: no memory. */
bool hf__native_reply(hf_reply *reply, hf__nv value, hf__arena *arena);

/* By script; NULL: not translated. */
typedef hf__nv hf__native_function(hf__native *run);
extern hf__native_function *const hf__native_functions[];
/* Names of the commands that they run, by HF__NATIVE_... */
extern const char *const hf__native_names[];
/* Find them, once in a process. */
void hf__native_find_commands(hf__command_finder *find,
                              const char *const *names);

#endif
