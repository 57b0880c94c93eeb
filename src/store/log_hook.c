/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_hook.c - see log_hook.h.
 *
 * A server that is down for an hour is to be one line a minute, so the pause of
 * a text that is repeated doubles, from a second to a minute. Different texts
 * are limited too: by the room of the queue in a turn of the loop, and by
 * LINES_MAX in a second. Those left out are counted.
 *
 * Locks: `mutex` guards the queue, for moments. It may be taken with any other
 * held, and none is taken under it. A fork() may leave it locked in the child,
 * which therefore never takes it.
 */
#include "store/log_hook.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/poll.h"

/* An error's message and what is put around it. */
#define TEXT_SIZE (HF_ERROR_MESSAGE_SIZE + 144)

#define QUEUE_MAX 64
#define LINES_MAX 64
#define SECOND_MS 1000

/* Texts whose repetition is noticed: more than a cluster in trouble has. */
#define RECENT_MAX 16
#define PAUSE_MAX_MS 60000

typedef struct log_message {
    hf_log_level level;
    char text[TEXT_SIZE];
} log_message;

/* A text that was reported. */
typedef struct recent_text {
    log_message message;
    uint64_t left_out; /* times since then */
    int64_t until_ms;  /* when the pause ends; 0: unused */
    int64_t pause_ms;
} recent_text;

struct hf__log_hook {
    hf__loop *loop;
    hf_log_fn on_log;
    void *user;
    hf_log_level least;
    uint32_t fork_generation;

    pthread_mutex_t mutex; /* guards these */
    log_message queue[QUEUE_MAX];
    size_t first;
    size_t count;
    uint64_t full; /* times that the queue had no room */
    bool posted;
    bool closed;

    /* The loop thread's. */
    hf__task task;
    hf__task close_task;
    hf__tick tick;
    recent_text recent[RECENT_MAX];
    uint64_t skipped;  /* different texts that were left out */
    int64_t second_ms; /* when the present second began, and its lines */
    unsigned lines;
};

/* -------------------------------------------------------- the loop thread */

static void call_program(hf__log_hook *hook, const log_message *message,
                         uint64_t more)
{
    char line[TEXT_SIZE + 40];

    if (more == 0) {
        hook->on_log(hook->user, message->level, message->text);
        return;
    }
    (void)snprintf(line, sizeof(line), "%s (%llu more %s)", message->text,
                   (unsigned long long)more, more == 1 ? "time" : "times");
    hook->on_log(hook->user, message->level, line);
}

static void report_skipped(hf__log_hook *hook)
{
    log_message message = {.level = HF_LOG_WARNING};

    if (hook->skipped == 0)
        return;
    (void)snprintf(message.text, sizeof(message.text),
                   "too many messages at once: %llu were left out",
                   (unsigned long long)hook->skipped);
    hook->skipped = 0;
    call_program(hook, &message, 0);
}

static void report_again(hf__log_hook *hook, recent_text *recent)
{
    uint64_t more = recent->left_out;

    recent->left_out = 0;
    if (more > 0)
        call_program(hook, &recent->message, more);
}

static void report_counts(hf__log_hook *hook)
{
    for (size_t i = 0; i < RECENT_MAX; i++)
        report_again(hook, &hook->recent[i]);
}

/* Ring when a pause, or the second, ends with something left out. */
static void set_tick(hf__log_hook *hook)
{
    int64_t at_ms = hook->skipped > 0 ? hook->second_ms + SECOND_MS : INT64_MAX;

    for (size_t i = 0; i < RECENT_MAX; i++) {
        if (hook->recent[i].left_out > 0)
            at_ms = hf__at_most(at_ms, hook->recent[i].until_ms);
    }
    if (at_ms != INT64_MAX)
        hf__tick_set(hf__loop_poller(hook->loop), &hook->tick, at_ms);
}

static void on_tick(hf__tick *tick)
{
    hf__log_hook *hook = hf__container_of(tick, hf__log_hook, tick);
    int64_t now_ms = hf__clock_boot_ms();

    for (size_t i = 0; i < RECENT_MAX; i++) {
        recent_text *recent = &hook->recent[i];

        if (recent->left_out == 0 || now_ms < recent->until_ms)
            continue;
        report_again(hook, recent);
        recent->pause_ms = hf__at_most(2 * recent->pause_ms, PAUSE_MAX_MS);
        recent->until_ms = now_ms + recent->pause_ms;
    }
    if (now_ms >= hook->second_ms + SECOND_MS)
        report_skipped(hook);
    set_tick(hook);
}

/* The one with this text, else the one whose pause ends first, or is over. */
static recent_text *find_recent(hf__log_hook *hook, const log_message *message)
{
    recent_text *oldest = &hook->recent[0];

    for (size_t i = 0; i < RECENT_MAX; i++) {
        recent_text *recent = &hook->recent[i];

        if (recent->until_ms != 0 && recent->message.level == message->level &&
            strcmp(recent->message.text, message->text) == 0)
            return recent;
        if (recent->until_ms < oldest->until_ms)
            oldest = recent;
    }
    report_again(hook, oldest);
    oldest->until_ms = 0;
    return oldest;
}

/* false: this second has had its lines. */
static bool count_line(hf__log_hook *hook, int64_t now_ms)
{
    if (now_ms >= hook->second_ms + SECOND_MS) {
        report_skipped(hook);
        hook->second_ms = now_ms;
        hook->lines = 0;
    }
    return hook->lines++ < LINES_MAX;
}

static void report_message(hf__log_hook *hook, const log_message *message)
{
    int64_t now_ms = hf__clock_boot_ms();
    recent_text *recent = find_recent(hook, message);

    /* The tick may be late. */
    if (now_ms < recent->until_ms || recent->left_out > 0) {
        recent->left_out++;
        return;
    }
    if (!count_line(hook, now_ms)) {
        hook->skipped++;
        return;
    }
    /* That it works again comes after how often it did not. */
    if (message->level == HF_LOG_INFO)
        report_counts(hook);
    recent->message = *message;
    recent->pause_ms = SECOND_MS;
    recent->until_ms = now_ms + SECOND_MS;
    call_program(hook, message, 0);
}

/* false: there is none, and the next put() posts the task. */
static bool take_message(hf__log_hook *hook, log_message *message)
{
    bool any;

    pthread_mutex_lock(&hook->mutex);
    any = hook->count > 0;
    if (any) {
        *message = hook->queue[hook->first];
        hook->first = (hook->first + 1) % QUEUE_MAX;
        hook->count--;
    } else {
        hook->skipped += hook->full;
        hook->full = 0;
        hook->posted = false;
    }
    pthread_mutex_unlock(&hook->mutex);
    return any;
}

/* At most what the queue holds in a turn: the thread renews leases, too. */
static void run_reports(hf__task *task)
{
    hf__log_hook *hook = hf__container_of(task, hf__log_hook, task);
    log_message message;
    size_t turns = 0;
    bool any;

    while ((any = take_message(hook, &message))) {
        report_message(hook, &message);
        if (++turns == QUEUE_MAX)
            break;
    }
    set_tick(hook);
    if (any)
        hf__loop_post(hook->loop, task);
}

static void run_close(hf__task *task)
{
    hf__log_hook *hook = hf__container_of(task, hf__log_hook, close_task);
    log_message message;

    while (take_message(hook, &message))
        report_message(hook, &message);
    report_counts(hook);
    report_skipped(hook);
    hf__tick_stop(&hook->tick);
}

/* -------------------------------------------------------------- any thread */

static bool is_forked(const hf__log_hook *hook)
{
    return hook->fork_generation != hf__fork_generation();
}

/* true: post the task. */
static bool queue_message(hf__log_hook *hook, hf_log_level level,
                          const char *text)
{
    log_message *message;
    bool post = false;

    pthread_mutex_lock(&hook->mutex);
    if (hook->closed) {
        /* not reported any more */
    } else if (hook->count == QUEUE_MAX) {
        hook->full++;
    } else {
        message = &hook->queue[(hook->first + hook->count++) % QUEUE_MAX];
        message->level = level;
        (void)snprintf(message->text, sizeof(message->text), "%s", text);
        post = !hook->posted;
        hook->posted = true;
    }
    pthread_mutex_unlock(&hook->mutex);
    return post;
}

void hf__log_hook_put(hf__log_hook *hook, hf_log_level level,
                      const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    if (level > hook->least || is_forked(hook))
        return;
    va_start(args, format);
    if (vsnprintf(text, sizeof(text), format, args) < 0)
        text[0] = '\0';
    va_end(args);
    hf__make_one_line(text);
    if (queue_message(hook, level, text))
        hf__loop_post(hook->loop, &hook->task);
}

/* -------------------------------------------------------------------- life */

hf__log_hook *hf__log_hook_new(hf__loop *loop, hf_log_fn on_log, void *user,
                               hf_log_level least)
{
    hf__log_hook *hook = hf__calloc(1, sizeof(*hook));

    if (hook == NULL)
        return NULL;
    hook->loop = loop;
    hook->on_log = on_log;
    hook->user = user;
    hook->least = least;
    hook->fork_generation = hf__fork_generation();
    hook->task.run = run_reports;
    hook->close_task.run = run_close;
    hook->tick.ring = on_tick;
    pthread_mutex_init(&hook->mutex, NULL);
    return hook;
}

void hf__log_hook_close(hf__log_hook *hook)
{
    pthread_mutex_lock(&hook->mutex);
    hook->closed = true;
    pthread_mutex_unlock(&hook->mutex);
    hf__loop_call(hook->loop, &hook->close_task);
}

void hf__log_hook_free(hf__log_hook *hook)
{
    if (hook == NULL)
        return;
    if (!is_forked(hook))
        pthread_mutex_destroy(&hook->mutex);
    hf__free(hook);
}
