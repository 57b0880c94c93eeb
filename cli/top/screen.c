/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.c - see screen.h. The screen, from above: the store; figures; totals;
 * an error; titles; the locks; the selected lock and its holder; keys, or what
 * is asked.
 */
#include "top/screen.h"

#include <inttypes.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "complain.h"
#include "exit.h"
#include "lease_clock.h"
#include "top/cell.h"
#include "top/state.h"

#define HEAD_LINES 5
#define FOOT_LINES 3

/* A screen with fewer lines shows only locks.
 */
#define LINES_MIN 10

/* A narrower one asks nothing. */
#define COLUMNS_MIN 40

/* Columns before the name, and between it and the holder. */
#define CELLS_WIDTH 25
#define GAP 2

/* Room for a line of the widest terminal. */
#define LINE_TEXT_SIZE 4096

#define ESCAPE_MS 50

/* A sample that is so much late is reported, once in a second. */
#define LATE_MS 1000
#define REDRAW_MS 1000

/* ----------------------------------------------------------------- drawing */

/* `bytes` at a place, cut at the right edge; the column after it. */
static int put_bytes(int line, int column, hf_bytes bytes)
{
    char text[LINE_TEXT_SIZE];
    size_t used;

    if (column >= COLS)
        return column;
    used = cell_text(text, sizeof(text), bytes, (size_t)(COLS - column));
    mvaddstr(line, column, text);
    return column + (int)used;
}

static int put_text(int line, int column, const char *text)
{
    return put_bytes(line, column, hf_str(text));
}

static hf_bytes name_of(const struct lock_row *row)
{
    return hf_view(row->name, row->name_size);
}

/* An error, or that a sample is late, behind the interval. */
static void draw_trouble(const struct top_state *state, int column)
{
    const struct lock_sample *sample = state->sample;
    char late[CELL_TIME_SIZE];
    int64_t late_ms = 0;

    if (sample != NULL && !state->paused)
        late_ms = now_ms() - sample->ended_ms -
                  top_pause_ms(sample, state->interval_ms);
    attron(A_BOLD);
    if (state->status != HF_OK) {
        put_text(3, column, state->err.message);
    } else if (late_ms > LATE_MS) {
        cell_time(late, late_ms);
        put_text(3, put_text(3, column, "no reply for "), late);
    }
    attroff(A_BOLD);
}

static void draw_head(const struct top_state *state)
{
    char text[TOP_LINE_SIZE], every[CELL_TIME_SIZE];
    int column;

    attron(A_BOLD);
    column = put_text(0, 0, "holdfast top");
    attroff(A_BOLD);
    put_text(0, column + GAP, state->store);
    if (state->sample != NULL)
        top_totals(state->sample, text);
    else
        snprintf(text, sizeof(text), "reading the locks");
    put_text(1, 0, state->figures);
    put_text(2, 0, text);
    cell_time(every, state->interval_ms);
    snprintf(text, sizeof(text), "%s%s, by %s",
             state->paused ? "paused" : "every ", state->paused ? "" : every,
             top_sorts[state->sort]);
    column = put_text(3, 0, text);
    if (state->filter[0] != '\0' && state->mode != TOP_FILTER) {
        snprintf(text, sizeof(text), ", %zu with ", state->view.count);
        column = put_text(3, column, text);
        column = put_text(3, column, state->filter);
    }
    draw_trouble(state, column + GAP);
}

/* Columns for names: as many as the rows on the screen need, at most half. */
static int name_width(const struct top_state *state, size_t first, size_t end)
{
    size_t most =
        COLS > CELLS_WIDTH + 20 ? (size_t)(COLS - CELLS_WIDTH) / 2 : 8;
    size_t width = strlen("LOCK");
    char text[LINE_TEXT_SIZE];

    for (size_t i = first; i < end && i < state->view.count; i++) {
        size_t used =
            cell_text(text, sizeof(text), name_of(state->view.rows[i]), most);

        width = used > width ? used : width;
    }
    return (int)width;
}

static void draw_row(int line, const struct lock_row *row, int width)
{
    char cells[TOP_LINE_SIZE], name[LINE_TEXT_SIZE], holder[HOLDER_TEXT_SIZE];
    int column;

    top_cells(row, cells);
    column = put_text(line, 0, cells) + GAP;
    if (row == NULL) {
        put_text(line, column, "LOCK");
        put_text(line, column + width + GAP, "HOLDER");
        return;
    }
    cell_text(name, sizeof(name), name_of(row), (size_t)width);
    put_text(line, column, name);
    top_holder(row, holder);
    put_text(line, column + width + GAP, holder);
}

/* `room` lines from `line` on. */
static void draw_rows(struct top_state *state, int line, int room)
{
    size_t page = room > 0 ? (size_t)room : 0;
    size_t first = 0;
    int width;

    state->page = page;
    if (page > 0)
        first = state->selected / page * page;
    width = name_width(state, first, first + page);
    if (line > 0) {
        attron(A_REVERSE);
        mvhline(line - 1, 0, ' ', COLS);
        draw_row(line - 1, NULL, width);
        attroff(A_REVERSE);
    }
    for (size_t i = 0; i < page && first + i < state->view.count; i++) {
        draw_row(line + (int)i, state->view.rows[first + i], width);
        if (first + i == state->selected)
            mvchgat(line + (int)i, 0, -1, A_REVERSE, 0, NULL);
    }
}

/* A lock, from this line on, in two. */
static void draw_lock(int line, const char *before, const struct lock_row *row)
{
    char holder[HOLDER_TEXT_SIZE], token[64];
    int column;

    put_bytes(line, put_text(line, 0, before), name_of(row));
    top_holder(row, holder);
    column = put_text(line + 1, 0, "held by ");
    column = put_text(line + 1, column, holder);
    snprintf(token, sizeof(token), ", token %" PRIu64, row->info.token);
    if (row->info.token > 0)
        put_text(line + 1, column, token);
}

static void draw_foot(const struct top_state *state, bool whole)
{
    const struct lock_row *row = top_state_selected(state);
    int last = LINES - 1;

    if (state->mode == TOP_CONFIRM) {
        for (int i = 0; i < FOOT_LINES; i++) {
            move(last - i, 0);
            clrtoeol();
        }
        attron(A_BOLD);
        draw_lock(last - 2, "Break lock: ", &state->target);
        put_text(last, 0, "y: break this lock; any other key: leave it");
        attroff(A_BOLD);
        return;
    }
    if (whole && row != NULL)
        draw_lock(last - 2, "", row);
    if (state->mode == TOP_FILTER)
        put_text(last, put_text(last, 0, "filter: "), state->filter);
    else if (state->message[0] != '\0')
        put_text(last, 0, state->message);
    else if (whole)
        put_text(last, 0,
                 "? help  q quit  s sort  / filter  p pause  +- interval  "
                 "b break");
}

/* What `?` shows; a title is a line that does not begin with a space. */
static const char *const help_lines[] = {
    "Keys",
    "  Up Down k j      select a lock",
    "  PgUp PgDn        a screen up, down",
    "  Home End g G     the first, the last",
    "  s                order: time held, waiters, name",
    "  /                only names or holders with a text; Enter, Esc",
    "  p                pause, continue",
    "  + -              longer, shorter interval",
    "  b                break the selected lock, after a question",
    "  ? h              this help",
    "  q                quit",
    "",
    "Columns",
    "  HELD             for so long; > if only known to be longer",
    "  LEFT             of the lease; - if it does not expire",
    "  WAITERS          clients in the queue",
    "",
    "Lines at the top",
    "  keys, used       of the store; commands and hits of its server",
    "  hand-overs       locks that had another owner in the sample before",
    "  losses           holders that vanished after missing a renewal",
};

static void draw_help(void)
{
    int count = (int)(sizeof(help_lines) / sizeof(help_lines[0]));

    for (int i = 0; i < count && i < LINES - 1; i++) {
        bool title = help_lines[i][0] != ' ';

        if (title)
            attron(A_BOLD);
        put_text(i, 0, help_lines[i]);
        if (title)
            attroff(A_BOLD);
    }
    put_text(LINES - 1, 0, "q quit; any other key: back");
    curs_set(0);
    refresh();
}

static void draw_screen(struct top_state *state)
{
    bool whole = LINES >= LINES_MIN;

    erase();
    if (state->mode == TOP_HELP) {
        draw_help();
        return;
    }
    if (whole)
        draw_head(state);
    draw_rows(state, whole ? HEAD_LINES : 0,
              LINES - (whole ? HEAD_LINES + FOOT_LINES + 1 : 1));
    draw_foot(state, whole);
    curs_set(state->mode == TOP_FILTER);
    refresh();
}

/* -------------------------------------------------------------------- loop */

/* Is there room for a question that names a lock and its holder? */
static bool can_ask(void)
{
    return LINES >= FOOT_LINES && COLS >= COLUMNS_MIN;
}

/* All keys that were typed. What was typed before a question is shown does not
 * answer it. */
static bool read_keys(struct top_state *state)
{
    bool done = true;
    int key;

    while (done && (key = getch()) != ERR) {
        enum top_mode before = state->mode;

        if (key == KEY_RESIZE || key == ('l' & 0x1f))
            clearok(curscr, TRUE);
        else
            done = top_state_key(state, key);
        if (state->mode == TOP_CONFIRM && !can_ask())
            state->mode = TOP_LIST;
        if (state->mode == TOP_CONFIRM && before != TOP_CONFIRM)
            flushinp();
    }
    return done;
}

/* Before the first sample an error that will not pass ends it. */
static bool is_hopeless(const struct top_state *state)
{
    hf_kind kind = hf_status_kind(state->status);

    return state->sample == NULL && state->status != HF_OK &&
           kind != HF_KIND_RETRY && kind != HF_KIND_UNKNOWN;
}

/* The exit code. */
static int follow_keys(struct top_state *state, int signals)
{
    struct pollfd polled[] = {{STDIN_FILENO, POLLIN, 0},
                              {top_worker_fd(state->worker), POLLIN, 0},
                              {signals, POLLIN, 0}};
    struct signalfd_siginfo info;

    while (!state->quit && !is_hopeless(state)) {
        draw_screen(state);
        (void)poll(polled, 3, REDRAW_MS);
        if (read(signals, &info, sizeof(info)) == sizeof(info))
            return EXIT_SIGNAL + (int)info.ssi_signo;
        if (!top_state_receive(state) || !read_keys(state))
            return EXIT_SYSTEM;
        if ((polled[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            return EXIT_SIGNAL + SIGHUP;
    }
    return EXIT_YES;
}

/* NULL: an error was printed. */
static SCREEN *open_screen(const struct call *call)
{
    const char *name = call->command->grammar.name;
    const char *type = getenv("TERM");
    SCREEN *screen = NULL;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        complain(name, "standard input and output must be a terminal; use "
                       "--once or --json");
        return NULL;
    }
    if (type != NULL && type[0] != '\0')
        screen = newterm(NULL, stdout, stdin);
    if (screen != NULL && tigetstr("cup") != NULL)
        return screen;
    if (screen != NULL) {
        endwin();
        delscreen(screen);
    }
    complain(name,
             "cannot use a terminal of type \"%s\" (TERM); use --once or "
             "--json",
             type == NULL ? "" : type);
    return NULL;
}

static void set_up(void)
{
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
}

static int show_screen(struct call *call, struct top_state *state, int signals)
{
    SCREEN *screen = open_screen(call);
    int code;

    if (screen == NULL)
        return EXIT_USAGE;
    set_up();
    code = follow_keys(state, signals);
    endwin();
    delscreen(screen);
    if (is_hopeless(state))
        code = call_failed(call, state->status, &state->err);
    else if (code == EXIT_SYSTEM)
        complain(call->command->grammar.name, "out of memory");
    return code;
}

int top_screen(struct call *call, hf_bytes pattern, int64_t interval_ms,
               enum top_sort sort)
{
    struct top_state state = {.sort = sort, .interval_ms = interval_ms};
    int signals, code;

    lock_sample_store(call->client, state.store);
    signals = call_end_signals(call);
    if (signals < 0)
        return EXIT_SYSTEM;
    state.worker = top_worker_start(call->client, pattern, interval_ms);
    if (state.worker == NULL) {
        complain(call->command->grammar.name, "cannot start a thread");
        return EXIT_SYSTEM;
    }
    code = show_screen(call, &state, signals);
    if (!top_worker_stop(state.worker))
        _exit(code); /* a request may take seconds */
    top_state_free(&state);
    close(signals);
    return code;
}
