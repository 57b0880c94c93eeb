/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_words.c - holdfast command WORD...
 */
#include "cmd.h"

#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/command.h"

/* The words, and `last` if its data is not NULL; NULL: out of memory. */
static hf_bytes *list_words(const struct options *options, hf_bytes last)
{
    size_t count = (size_t)options->tail_count;
    hf_bytes *words = calloc(count + 1, sizeof(*words));

    if (words == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        words[i] = hf_str(options->tail[i]);
    words[count] = last;
    return words;
}

/* The store's own words on stderr: redis-cli's "(error)". */
static int print_error(struct call *call, hf_status status,
                       const hf_reply *reply, const hf_error *err)
{
    const char *what = call->command->grammar.name;

    if (hf_reply_type(reply) != HF_REPLY_ERROR)
        return call_failed(call, status, err);
    if (call->json)
        call_print_reply(call, reply);
    complain(what, "%s", (const char *)hf_reply_bytes(reply).data);
    return exit_code_of(status);
}

static int run_words(struct call *call, hf_bytes last)
{
    const struct options *options = call->options;
    size_t count = (size_t)options->tail_count + (last.data != NULL);
    hf_bytes *words = list_words(options, last);
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    hf_status status = HF_NO_MEMORY;
    int code = EXIT_YES;

    if (words != NULL)
        status = hf_command(call->client, count, words, &reply, &err);
    if (status == HF_OK)
        call_print_reply(call, reply);
    else
        code = print_error(call, status, reply, &err);
    hf_reply_free(reply);
    free(words);
    return code;
}

static int run_command(struct call *call)
{
    hf_buffer input = HF_BUFFER_INIT;
    int code;

    if (call->options->tail_count == 0)
        return call_usage(call, "missing argument WORD");
    if (!call->options->given[OPT_STDIN])
        return run_words(call, hf_view(NULL, 0));
    code = call_read_stdin(call, HF_VALUE_MAX, &input);
    if (code == EXIT_YES)
        code = run_words(call, hf_view(input.data, input.size));
    free(input.data);
    return code;
}

const struct command command_commands[] = {
    {.grammar = {.name = "command",
                 .accepts = OPTIONS_WRITE | OPTION(STDIN) | OPTION(RAW) |
                            OPTION(NO_RAW) | OPTION(BUDGET),
                 .tail = TAIL_COMMAND,
                 .operands = "WORD..."},
     .run = run_command},
    COMMAND_END,
};
