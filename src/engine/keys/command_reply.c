/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_reply.c - see command_reply.h.
 */
#include "engine/keys/command_reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/keys/number_text.h"

/* As in Redis, line ends are removed at the end of an error and replaced by
 * blanks elsewhere. */
static void make_line(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n'))
        text[--size] = '\0';
    for (; *text != '\0'; text++) {
        if (*text == '\r' || *text == '\n')
            *text = ' ';
    }
}

bool hf__reply_error(hf__tx *tx, const char *format, ...)
{
    va_list args;

    if (tx->out->failed)
        return false;
    tx->out->failed = true;
    va_start(args, format);
    (void)vsnprintf(tx->out->error, sizeof(tx->out->error), format, args);
    va_end(args);
    make_line(tx->out->error);
    return false;
}

bool hf__reply_wrong_type(hf__tx *tx)
{
    return hf__reply_error(
        tx, "WRONGTYPE Operation against a key holding the wrong "
            "kind of value");
}

bool hf__reply_arity(hf__tx *tx, const char *name)
{
    return hf__reply_error(tx, "ERR wrong number of arguments for '%s' command",
                           name);
}

bool hf__reply_words(hf__tx *tx, const char *command, hf_bytes name)
{
    return hf__reply_error(tx,
                           "ERR unknown subcommand or wrong number of "
                           "arguments for '%.*s'. Try %s HELP.",
                           HF__SHOWN(name), command);
}

void hf__reply_double(hf__tx *tx, double value)
{
    char text[HF__NUMBER_TEXT_SIZE];

    if (tx->out->ops->score != NULL)
        tx->out->ops->score(tx->out, value);
    else if (tx->out->resp3)
        tx->out->ops->real(tx->out, value);
    else
        hf__reply_bytes(tx, text, hf__number_put_double(text, value));
}
