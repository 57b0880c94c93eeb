/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.h - requests of clients: arrays of bulk strings, and lines typed by
 * people. Incremental: bytes are looked at once, however they arrive. The
 * texts of errors are Redis 7.0's.
 */
#ifndef HF__SERVE_PARSER_H
#define HF__SERVE_PARSER_H

#include "holdfast/base.h"
#include "util/buf.h"

/*
 * Most words of a request, as in Redis before 7.0, which takes 2147483647: all
 * other clients wait while one request runs.
 */
#define HF__PARSER_WORDS_MAX (1024 * 1024)
/* Of a client that has not logged in, as in Redis. */
#define HF__PARSER_STRANGER_WORDS 10
#define HF__PARSER_STRANGER_BULK 16384
/* Longest line. */
#define HF__PARSER_LINE_MAX (64u * 1024)

#define HF__PARSER_ERROR_SIZE 96

typedef enum hf__parse {
    HF__PARSE_DONE,  /* a request; without words: nothing to do */
    HF__PARSE_MORE,  /* incomplete */
    HF__PARSE_BROKEN /* `error`; what follows has no meaning */
} hf__parse;

typedef struct hf__span {
    size_t at, size;
} hf__span;

/* All zero: before a request. */
typedef struct hf__parser {
    hf__span *spans; /* of the words; the parser's */
    size_t count, capacity;
    size_t left;  /* words still to come */
    size_t at;    /* the next byte, counted from the request's start */
    size_t bulk;  /* size of the word that is being read */
    bool begun;   /* the number of words is known */
    bool in_bulk; /* `bulk` is known */
    bool is_line; /* the words are in `line`, not in the input */
    hf__buf line; /* words of a line, unquoted */
    const char *error;
    char error_text[HF__PARSER_ERROR_SIZE];
} hf__parser;

/* Limits, of which a stranger's are lower. */
typedef struct hf__parser_limits {
    bool stranger;
    size_t bulk_max; /* bytes of a word */
} hf__parser_limits;

/*
 * Continue with all bytes of the input from the request's start, those that
 * were there before included. DONE: `spans` and `count` are the words, `at` is
 * the size of the request; then hf__parser_next() for the next one.
 */
hf__parse hf__parser_go(hf__parser *parser, const unsigned char *bytes,
                        size_t size, const hf__parser_limits *limits);
void hf__parser_next(hf__parser *parser);

/* The words of a request; `bytes` as for go(). `words` has room for count. */
void hf__parser_words(const hf__parser *parser, const unsigned char *bytes,
                      hf_bytes *words);

/* How many bytes are missing at least of the word that is being read. */
size_t hf__parser_missing(const hf__parser *parser, size_t size);

/* Free its memory; it can be used again. */
void hf__parser_done(hf__parser *parser);

#endif
