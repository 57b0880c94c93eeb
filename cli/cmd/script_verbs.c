/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_verbs.c - holdfast script run.
 */
#include "cmd.h"

#include <stdlib.h>

#include "exit.h"
#include "holdfast/script.h"

/* Views of `count` words; NULL if out of memory. */
static hf_bytes *view_words(char **words, int count)
{
    hf_bytes *views = calloc((size_t)count + 1, sizeof(*views));
    int i;

    for (i = 0; views != NULL && i < count; i++)
        views[i] = hf_str(words[i]);
    return views;
}

static int run_script(struct call *call, hf_script *script)
{
    const struct options *options = call->options;
    int key_count = options->operand_count - 1;
    hf_bytes *keys = view_words(options->operands + 1, key_count);
    hf_bytes *args = view_words(options->tail, options->tail_count);
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    hf_status status = HF_NO_MEMORY;
    int code = EXIT_YES;

    if (keys != NULL && args != NULL) {
        status = hf_script_run(script, keys, (size_t)key_count, args,
                               (size_t)options->tail_count, &reply, &err);
    }
    if (status == HF_OK)
        call_print_reply(call, reply);
    else
        code = call_failed(call, status, &err);
    hf_reply_free(reply);
    free(args);
    free(keys);
    return code;
}

static int load_and_run(struct call *call, hf_bytes source)
{
    hf_script *script = NULL;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_script_load(call->client, source, &script, &err);
    int code;

    if (status != HF_OK)
        return call_failed(call, status, &err);
    code = run_script(call, script);
    hf_script_free(script);
    return code;
}

static int script_run(struct call *call)
{
    hf_buffer source = HF_BUFFER_INIT;
    int code = call_read_file(call, call->options->operands[0], HF_SCRIPT_MAX,
                              &source);

    if (code == EXIT_YES)
        code = load_and_run(call, hf_view(source.data, source.size));
    free(source.data);
    return code;
}

const struct command script_commands[] = {
    {.grammar = {.name = "script run",
                 .accepts = OPTIONS_WRITE | OPTION(RAW) | OPTION(NO_RAW) |
                            OPTION(BUDGET),
                 .operands_min = 1,
                 .operands_max = -1,
                 .tail = TAIL_ARGUMENTS,
                 .operands = "FILE|- [KEY...] [-- ARGUMENT...]"},
     .run = script_run},
    COMMAND_END,
};
