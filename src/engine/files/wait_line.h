/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_line.h - the threads of a process that wait for the writer lock.
 *
 * Only the first of them tries to take it, so that a transaction wakes at most
 * one: with 50 threads that all tried, each transaction cost two switches of
 * context and twice its processor time.
 */
#ifndef HF__ENGINE_WAIT_LINE_H
#define HF__ENGINE_WAIT_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct hf__line_place {
    pthread_cond_t turn;
    struct hf__line_place *next;
} hf__line_place;

typedef struct hf__wait_line {
    pthread_mutex_t mutex; /* of the rest */
    hf__line_place *first;
    hf__line_place *last;
} hf__wait_line;

void hf__wait_line_init(hf__wait_line *line);

/* Wait to be the first. false, and not in the line: not by deadline_ms of
 * hf__clock_boot_ms(). */
bool hf__wait_line_enter(hf__wait_line *line, hf__line_place *place,
                         int64_t deadline_ms);

/* Of the first. */
void hf__wait_line_leave(hf__wait_line *line);

#endif
