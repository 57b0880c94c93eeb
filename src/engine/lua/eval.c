/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eval.c - scripts in the arguments of a command, and functions named there.
 * After parsing they run like a request's script; the machine finds the text
 * for a SHA-1.
 */
#include "engine/lua/eval.h"

#include <stdio.h>
#include <string.h>

#include "engine/keys/number_text.h"
#include "engine/lua/functions.h"
#include "engine/lua/shebang.h"
#include "store/error_line.h"

/* The name of the command, the script, the number of keys. */
#define WORDS_BEFORE 3u

static void fail_request(hf__request *request, hf_status status,
                         const char *text)
{
    (void)hf__error_line(&request->error, status, hf_str(text), NULL);
    hf__request_error(request, hf_str(text));
}

/* As for a server: load the script and try again. */
static void fail_noscript(hf__request *request)
{
    fail_request(request, HF_UNAVAILABLE,
                 "NOSCRIPT No matching script. Please use EVAL.");
}

static bool read_key_count(hf__request *request, const char *no_number,
                           size_t *key_count)
{
    int64_t number;

    if (!hf__number_integer(request->words[2], &number)) {
        fail_request(request, HF_SCRIPT, no_number);
        return false;
    }
    if (number > (int64_t)(request->word_count - WORDS_BEFORE)) {
        fail_request(request, HF_SCRIPT,
                     "ERR Number of keys can't be greater than number of args");
        return false;
    }
    if (number < 0) {
        fail_request(request, HF_SCRIPT,
                     "ERR Number of keys can't be negative");
        return false;
    }
    *key_count = (size_t)number;
    return true;
}

/* Run it with the arguments after the number of keys; the request is
 * restored. */
static void run_script(hf__machine *machine, hf__tx *tx, hf__request *request,
                       const hf__script *script, int function, size_t key_count,
                       bool read_only, int64_t budget_ms)
{
    const hf_bytes *words = request->words;
    size_t word_count = request->word_count;

    request->script = script;
    request->words = words + WORDS_BEFORE;
    request->word_count = word_count - WORDS_BEFORE;
    request->key_count = key_count;
    (void)hf__machine_run_function(machine, tx, request, function, read_only,
                                   budget_ms);
    request->script = NULL;
    request->words = words;
    request->word_count = word_count;
    request->key_count = 0;
}

/* It may be of a library that could not be loaded here. */
static void fail_no_function(hf__request *request,
                             const hf__functions *functions)
{
    const hf__library *library = hf__functions_unloaded(functions);
    char text[2 * HF__OUT_ERROR_SIZE] = "ERR Function not found";

    if (library != NULL)
        (void)snprintf(text, sizeof(text),
                       "ERR Function not found; the library '%.*s' was not "
                       "loaded: %s",
                       (int)library->name.size,
                       (const char *)library->name.data, library->why);
    fail_request(request, HF_SCRIPT, text);
}

/* FCALL and FCALL_RO. As Redis does, it looks for the function first. */
static void call_function(hf__tx *tx, hf__request *request, bool read_only,
                          int64_t budget_ms)
{
    hf__functions *functions = hf__functions_current(tx);
    const hf__function *function;
    hf__script script;
    size_t key_count;

    if (functions == NULL)
        return;
    function = hf__functions_find(functions, request->words[1]);
    if (function == NULL) {
        fail_no_function(request, functions);
        return;
    }
    if (!read_key_count(request, "ERR Bad number of keys provided", &key_count))
        return;
    if (read_only && (function->flags & HF__SCRIPT_NO_WRITES) == 0) {
        fail_request(request, HF_SCRIPT, HF__ERROR_SCRIPT_WRITES);
        return;
    }
    script = (hf__script)HF__USER_SCRIPT("", 0, function->name.data);
    run_script(functions->machine, tx, request, &script, function->reference,
               key_count, (function->flags & HF__SCRIPT_NO_WRITES) != 0,
               budget_ms);
}

void hf__eval_run(hf__machine *machine, hf__tx *tx, const hf__command *command,
                  hf__request *request, int64_t budget_ms)
{
    char sha1[HF__SHA1_HEX_SIZE];
    hf__script script = HF__USER_SCRIPT(NULL, 0, sha1);
    bool read_only = strstr(command->name, "_ro") != NULL;
    hf_bytes text = request->words[1];
    size_t key_count;

    if (command->name[0] == 'f') {
        call_function(tx, request, read_only, budget_ms);
        return;
    }
    if (strncmp(command->name, "evalsha", 7) == 0) {
        /* Redis checks the digest's length before the number of keys. */
        if (text.size != HF__SHA1_HEX_SIZE - 1) {
            fail_noscript(request);
            return;
        }
        if (!read_key_count(request, HF__ERROR_INTEGER, &key_count))
            return;
        if (!hf__machine_has(machine, text, sha1)) {
            fail_noscript(request);
            return;
        }
    } else {
        if (!read_key_count(request, HF__ERROR_INTEGER, &key_count))
            return;
        script.source = text.data != NULL ? text.data : "";
        script.source_size = text.size;
        hf__sha1_hex(script.source, script.source_size, sha1);
    }
    run_script(machine, tx, request, &script, HF__NO_FUNCTION, key_count,
               read_only, budget_ms);
}

bool hf__eval_only_reads(hf__machine *machine, hf__tx *tx,
                         const hf__command *command, hf_bytes name)
{
    char sha1[HF__SHA1_HEX_SIZE];
    const hf__functions *functions;
    const hf__function *function;

    if (command->name[0] != 'f')
        return hf__machine_only_reads(machine, name, sha1);
    functions = hf__functions_current(tx);
    if (functions == NULL)
        return false;
    function = hf__functions_find(functions, name);
    return function != NULL && (function->flags & HF__SCRIPT_NO_WRITES) != 0;
}
