/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - see state.h. */
#include "top/state.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "top/cell.h"

#define KEY_ESCAPE 27
#define KEY_DELETE 127
#define CONTROL(letter) ((letter)&0x1f)

/* Columns of a name in a message. */
#define NAME_SHOWN 60

static const int64_t intervals_ms[] = {100,  200,   500,   1000, 2000,
                                       5000, 10000, 30000, 60000};

#define INTERVAL_COUNT (sizeof(intervals_ms) / sizeof(intervals_ms[0]))

/* ----------------------------------------------------------- what is shown */

const struct lock_row *top_state_selected(const struct top_state *state)
{
    return state->selected < state->view.count
               ? state->view.rows[state->selected]
               : NULL;
}

static hf_bytes name_of(const struct lock_row *row)
{
    return hf_view(row->name, row->name_size);
}

/* Select the lock of `was`, if it is shown; else stay at the same row. */
static void select_again(struct top_state *state, const struct lock_row *was)
{
    const struct lock_row *is = NULL;

    if (state->follows && was != NULL)
        is = lock_sample_find(state->sample, name_of(was));
    for (size_t i = 0; is != NULL && i < state->view.count; i++) {
        if (state->view.rows[i] == is) {
            state->selected = i;
            return;
        }
    }
    if (state->selected >= state->view.count)
        state->selected = state->view.count > 0 ? state->view.count - 1 : 0;
}

/* Fill the view again; `was` is the selected row, maybe of an older sample. */
static bool show_sample(struct top_state *state, const struct lock_row *was)
{
    if (state->sample == NULL)
        return true;
    if (!top_view_fill(&state->view, state->sample, state->sort, state->filter))
        return false;
    select_again(state, was);
    return true;
}

static void say_broken(struct top_state *state, const struct top_news *news)
{
    char name[4 * NAME_SHOWN];

    cell_text(name, sizeof(name), name_of(&state->target), NAME_SHOWN);
    if (news->break_status == HF_OK)
        snprintf(state->message, sizeof(state->message), "broken: %s", name);
    else
        snprintf(state->message, sizeof(state->message), "not broken: %.200s",
                 news->break_err.message);
}

bool top_state_receive(struct top_state *state)
{
    const struct lock_row *was = top_state_selected(state);
    struct lock_sample *old = state->sample;
    struct top_news news;
    bool done = true;

    top_worker_next(state->worker, &news);
    if (news.tried) {
        state->status = news.status;
        state->err = news.err;
    }
    if (news.broke)
        say_broken(state, &news);
    if (news.sample != NULL) {
        state->sample = news.sample;
        memcpy(state->figures, news.figures, sizeof(state->figures));
        done = show_sample(state, was);
        lock_sample_free(old);
    }
    return done;
}

void top_state_free(struct top_state *state)
{
    top_view_free(&state->view);
    lock_sample_free(state->sample);
    free(state->target.name);
}

/* -------------------------------------------------------------------- keys */

static void move_to(struct top_state *state, size_t row)
{
    state->selected = row;
    state->follows = row > 0;
    select_again(state, NULL);
}

static void move_back(struct top_state *state, size_t rows)
{
    move_to(state, state->selected > rows ? state->selected - rows : 0);
}

static void change_interval(struct top_state *state, bool longer)
{
    size_t i = 0;

    while (i < INTERVAL_COUNT - 1 && intervals_ms[i] < state->interval_ms)
        i++;
    if (!longer && i > 0)
        i--;
    else if (longer && intervals_ms[i] <= state->interval_ms &&
             i < INTERVAL_COUNT - 1)
        i++;
    state->interval_ms = intervals_ms[i];
    top_worker_set(state->worker, state->interval_ms, state->paused);
}

/* The lock may be gone in the next sample, so it is copied. */
static bool ask_to_break(struct top_state *state)
{
    const struct lock_row *row = top_state_selected(state);
    char *name;

    if (row == NULL)
        return true;
    name = malloc(row->name_size + 1);
    if (name == NULL)
        return false;
    memcpy(name, row->name, row->name_size + 1);
    free(state->target.name);
    state->target = *row;
    state->target.name = name;
    state->mode = TOP_CONFIRM;
    return true;
}

static void confirm_break(struct top_state *state, int key)
{
    state->mode = TOP_LIST;
    if (key == 'y')
        top_worker_break(state->worker, name_of(&state->target),
                         holder_owner(&state->target.info));
    else
        snprintf(state->message, sizeof(state->message), "not broken");
}

/* Drop the last character, of one byte or more. */
static void shorten_text(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && ((unsigned char)text[--size] & 0xc0) == 0x80)
        ;
    text[size] = '\0';
}

static bool edit_filter(struct top_state *state, int key)
{
    size_t size = strlen(state->filter);

    if (key == '\r' || key == '\n' || key == KEY_ENTER) {
        state->mode = TOP_LIST;
    } else if (key == KEY_ESCAPE) {
        state->mode = TOP_LIST;
        state->filter[0] = '\0';
    } else if (key == KEY_BACKSPACE || key == KEY_DELETE ||
               key == CONTROL('h')) {
        shorten_text(state->filter);
    } else if (key == CONTROL('u')) {
        state->filter[0] = '\0';
    } else if (key >= ' ' && key <= 0xff && size + 1 < TOP_FILTER_SIZE) {
        state->filter[size] = (char)key;
        state->filter[size + 1] = '\0';
    }
    return show_sample(state, top_state_selected(state));
}

/* False: not one of these. */
static bool move_by(struct top_state *state, int key)
{
    size_t page = state->page > 0 ? state->page : 1;

    if (key == KEY_UP || key == 'k')
        move_back(state, 1);
    else if (key == KEY_DOWN || key == 'j')
        move_to(state, state->selected + 1);
    else if (key == KEY_PPAGE)
        move_back(state, page);
    else if (key == KEY_NPAGE)
        move_to(state, state->selected + page);
    else if (key == KEY_HOME || key == 'g')
        move_to(state, 0);
    else if (key == KEY_END || key == 'G')
        move_to(state, state->view.count);
    else
        return false;
    return true;
}

bool top_state_key(struct top_state *state, int key)
{
    const struct lock_row *was = top_state_selected(state);

    state->message[0] = '\0';
    if (state->mode == TOP_FILTER)
        return edit_filter(state, key);
    if (state->mode == TOP_CONFIRM)
        confirm_break(state, key);
    else if (state->mode == TOP_HELP && key != 'q')
        state->mode = TOP_LIST;
    else if (key == '?' || key == 'h')
        state->mode = TOP_HELP;
    else if (move_by(state, key))
        ;
    else if (key == 'q')
        state->quit = true;
    else if (key == '/')
        state->mode = TOP_FILTER;
    else if (key == '+' || key == '-')
        change_interval(state, key == '+');
    else if (key == 'b')
        return ask_to_break(state);
    else if (key == 's' || key == KEY_ESCAPE) {
        state->sort = key == 's' ? (state->sort + 1) % TOP_SORTS : state->sort;
        if (key == KEY_ESCAPE)
            state->filter[0] = '\0';
        return show_sample(state, was);
    } else if (key == 'p' || key == ' ') {
        state->paused = !state->paused;
        top_worker_set(state->worker, state->interval_ms, state->paused);
    }
    return true;
}
