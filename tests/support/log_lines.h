/* SPDX-License-Identifier: Apache-2.0 */
/* log_lines.h - what a client says to hf_client_options::on_log. */
#ifndef TESTS_SUPPORT_LOG_LINES_H
#define TESTS_SUPPORT_LOG_LINES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "holdfast/client.h"

#define LOG_LINES_MAX 512
#define LOG_LINE_SIZE 512

typedef struct log_lines {
    pthread_mutex_t mutex;
    size_t count;
    hf_log_level levels[LOG_LINES_MAX];
    char texts[LOG_LINES_MAX][LOG_LINE_SIZE];
} log_lines;

/* Empty, for a test; there is one, which outlives its clients. */
log_lines *log_lines_new(void);

/* hf_log_fn; `user` is them. */
void log_lines_take(void *user, hf_log_level level, const char *message);

size_t log_lines_count(log_lines *lines);

/* Has one with this level and part of a text come? Level 0: any. */
bool log_lines_has(log_lines *lines, int level, const char *part);

/* The options of a client whose messages are taken, of every level. */
hf_client_options log_lines_options(log_lines *lines);

#endif
