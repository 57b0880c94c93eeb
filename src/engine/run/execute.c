/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.c - one request within an open transaction: a command with its reply,
 * or a script.
 */
#include "engine/run/execute.h"

#include "engine/keys/command_out.h"
#include "engine/keys/tx_life.h"
#include "engine/lua/eval.h"
#include "engine/lua/machine.h"
#include "engine/native/native.h"
#include "engine/run/command_table.h"

bool hf__block_keep(hf__block *block, hf__arena *arena)
{
    hf_bytes *ids;

    if (block->ids == NULL)
        return true;
    ids = hf__arena_alloc(arena, block->count * sizeof(*ids));
    for (size_t i = 0; ids != NULL && i < block->count; i++) {
        const hf_bytes *id = &block->ids[i];
        char *text = hf__arena_copy(arena, id->data, id->size);

        if (text == NULL)
            return false;
        ids[i] = hf_view(text, id->size);
    }
    block->ids = ids;
    return ids != NULL;
}

static void ask_ready(hf__tx *tx, const hf__job *job)
{
    const hf_bytes *words = job->request->words;
    hf__block *block = job->block;
    hf__record *record = hf__key_find(tx, words[block->first]);

    block->blocked =
        record != NULL && record->type == block->type &&
        !block->ready(tx, record, words[block->first + 1], block, words);
}

static void run_command(hf__tx *tx, const hf__job *job)
{
    const hf__command *command = job->command;
    hf__request *request = job->request;
    hf__out_tree tree;

    hf__out_tree_init(&tree, &request->reply, &request->arena);
    tx->out = &tree.out;
    tx->block = (hf__block){.blocked = false};
    if (hf__command_arity_fits(command, request->word_count)) {
        hf__command_run(tx, command, request->words, request->word_count);
    } else {
        tx->command = command;
        hf__reply_arity(tx, command->name);
    }
    if (job->block != NULL) {
        *job->block = tx->block;
        tree.no_memory =
            !hf__block_keep(job->block, &request->arena) || tree.no_memory;
    }
    if (tree.no_memory)
        hf__tx_no_memory(tx);
    if (tree.out.failed && tx->fatal == HF_OK) {
        hf_bytes line = hf_str(tree.out.error);

        hf__command_fail(tx->env, tree.out.error, false, &request->error);
        hf__request_error(request, line);
    }
}

static bool is_users(const hf__job *job)
{
    return job->command != NULL ||
           job->request->script->native == HF__SCRIPT_USER;
}

static void run_script(hf__tx *tx, const hf__job *job)
{
    if (is_users(job))
        (void)hf__machine_run(tx->env->users, tx, job->request,
                              job->request->script->reads, job->budget_ms);
    else
        hf__native_run(tx->native, tx, job->request, job->budget_ms);
}

void hf__execute(hf__tx *tx, const hf__job *job)
{
    const hf__command *command = job->command;
    hf__request *request = job->request;

    request->status = HF_OK;
    request->sends = 1;
    tx->database = job->database;
    if (request->script != NULL)
        run_script(tx, job);
    else if ((command->flags & HF__COMMAND_EVAL) != 0 &&
             hf__command_arity_fits(command, request->word_count))
        hf__eval_run(tx->env->users, tx, command, request, job->budget_ms);
    else if (job->block != NULL && job->block->asks)
        ask_ready(tx, job);
    else
        run_command(tx, job);
    if (request->status == HF_OK && tx->fatal == HF_OK)
        (void)hf__request_accepts(request);
}

bool hf__execute_prepare_native(hf__tx *tx)
{
    if (tx->native == NULL)
        tx->native = hf__native_new(hf__command_find);
    return tx->native != NULL;
}

static bool prepare_users(hf__env *env)
{
    if (env->users != NULL && hf__machine_is_spoilt(env->users)) {
        hf__machine_free(env->users);
        env->users = NULL;
    }
    if (env->users == NULL)
        env->users = hf__machine_new(hf__command_find);
    return env->users != NULL;
}

bool hf__execute_prepare(hf__env *env, const hf__job *job)
{
    if (env->write_tx == NULL)
        env->write_tx = hf__tx_new(env, true);
    if (env->write_tx == NULL)
        return false;
    if (job == NULL || (job->command != NULL &&
                        (job->command->flags & HF__COMMAND_MACHINE) == 0))
        return true;
    return is_users(job) ? prepare_users(env)
                         : hf__execute_prepare_native(env->write_tx);
}

void hf__execute_unknown(const hf__env *env, hf__request *request)
{
    char text[HF__OUT_ERROR_SIZE];

    hf__unknown_text(text, request->words, request->word_count);
    hf__command_fail(env, text, false, &request->error);
    hf__request_error(request, hf_str(text));
}

void hf__execute_drop_reply(hf__request *request)
{
    hf__arena_free(&request->arena);
    hf__reply_set_nil(&request->reply);
}
