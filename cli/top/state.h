/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what holdfast top shows, and what its keys do. Drawing is in
 * screen.c.
 */
#ifndef HOLDFAST_CLI_TOP_STATE_H
#define HOLDFAST_CLI_TOP_STATE_H

#include "top/shown_rows.h"
#include "top/worker.h"

#define TOP_FILTER_SIZE 128

enum top_mode {
    TOP_LIST,    /* keys are commands */
    TOP_FILTER,  /* keys are the filter's characters */
    TOP_CONFIRM, /* a key says whether `target` is broken */
    TOP_HELP     /* the keys are shown, until one is pressed */
};

struct top_state {
    char store[LOCK_STORE_TEXT_SIZE];
    struct top_worker *worker;
    struct lock_sample *sample; /* NULL: none yet */
    char figures[TOP_FIGURES_SIZE];
    struct top_view view;
    enum top_sort sort;
    char filter[TOP_FILTER_SIZE];
    enum top_mode mode;
    size_t selected; /* a row of the view, if it has any */
    bool follows;    /* the selected lock, wherever it goes */
    size_t page;     /* rows on the screen */
    int64_t interval_ms;
    bool paused;
    bool quit;
    hf_status status; /* of the newest sample */
    hf_error err;
    char message[HF_ERROR_MESSAGE_SIZE + 32]; /* until the next key */
    struct lock_row target; /* the lock to be broken, its name is owned */
};

/* Show what the worker has. False: out of memory. */
bool top_state_receive(struct top_state *state);

/* A key as from getch(). False: out of memory. */
bool top_state_key(struct top_state *state, int key);

/* NULL: no lock is shown. */
const struct lock_row *top_state_selected(const struct top_state *state);

void top_state_free(struct top_state *state);

#endif
