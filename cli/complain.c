/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.c - one line on stderr, in one write, so that the lines of several
 * processes do not mix.
 *
 * The last complaint of any thread is kept for --json: a lease is acquired on
 * one, and those of a server log.
 */
#include "complain.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "colour.h"
#include "exit.h"

/* The longest message of the library, a truncated key, and text of our own. */
#define LINE_SIZE 1024
#define MESSAGE_SIZE (LINE_SIZE - 160)

/* The longest culprit: a name of a key may be longer, and is cut. */
#define CULPRIT_SIZE 256

struct complaint {
    bool any;
    char message[LINE_SIZE];
    const char *name;           /* of the status; NULL: of the exit code */
    char culprit[CULPRIT_SIZE]; /* "": none was given */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct complaint last;               /* guarded by mutex */
static _Thread_local struct complaint next; /* what is known of it */

static void print_line(char *line, size_t size)
{
    size_t length = strlen(line);

    if (length > size - 2)
        length = size - 2;
    line[length] = '\n';
    line[length + 1] = '\0';
    fputs(line, stderr);
}

static void clean_text(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static void print_message(const char *what, enum colour which, char *message)
{
    char line[LINE_SIZE];
    char name[128] = "";

    if (what != NULL)
        (void)snprintf(name, sizeof(name), " %.100s:", what);
    clean_text(name);
    clean_text(message);
    (void)snprintf(line, sizeof(line), "%sholdfast:%s%s %s",
                   colour(stderr, which), colour(stderr, COLOUR_END), name,
                   message);
    print_line(line, sizeof(line));
}

void complain_about(const char *culprit)
{
    (void)snprintf(next.culprit, sizeof(next.culprit), "%s", culprit);
}

void complain_of(hf_status status)
{
    next.name = hf_status_name(status);
}

/* The first text in quotes. */
static void find_culprit(const char *message)
{
    const char *from = strchr(message, '"');
    const char *until = from == NULL ? NULL : strchr(from + 1, '"');

    if (until != NULL)
        (void)snprintf(next.culprit, sizeof(next.culprit), "%.*s",
                       (int)(until - from - 1), from + 1);
}

void complain(const char *what, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    print_message(what, COLOUR_RED, message);
    next.any = true;
    (void)snprintf(next.message, sizeof(next.message), "%s%s%s",
                   what == NULL ? "" : what, what == NULL ? "" : ": ", message);
    if (next.culprit[0] == '\0')
        find_culprit(message);
    pthread_mutex_lock(&mutex);
    last = next;
    pthread_mutex_unlock(&mutex);
    next = (struct complaint){0};
}

void notice(const char *what, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    print_message(what, COLOUR_BOLD, message);
}

int complain_status(const char *what, hf_status status, const hf_error *err)
{
    const char *text = hf_status_text(status);

    if (err != NULL && err->message[0] != '\0')
        text = err->message;
    complain_of(status);
    complain(what, "%s", text);
    return exit_code_of(status);
}

static struct complaint last_complaint(void)
{
    struct complaint copy;

    pthread_mutex_lock(&mutex);
    copy = last;
    pthread_mutex_unlock(&mutex);
    return copy;
}

bool complained(void)
{
    return last_complaint().any;
}

void complain_json(struct json *json, int code)
{
    struct complaint is = last_complaint();

    json_open(json, "error", '{');
    json_integer(json, "code", code);
    json_text(json, "name", is.name != NULL ? is.name : exit_name(code));
    json_text(json, "message", is.message);
    if (is.culprit[0] != '\0')
        json_text(json, "culprit", is.culprit);
    else
        json_null(json, "culprit");
    json_close(json, '}');
}
