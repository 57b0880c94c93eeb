/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_exec.c - executing a transaction: one script, txn_run, with the bodies of
 * the scripts that its operations are.
 *
 * The reply is lost rarely. Where it can be, the script keeps what it returned
 * in a dedup record, so that it may be sent again (core/cas_session.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/client.h"
#include "core/own_key.h"
#include "data/txn.h"
#include "holdfast/txn.h"
#include "util/error.h"
#include "util/mem.h"

/* Life of a dedup record, in request_ms; see core/cas.c. */
#define RECORD_LIVES 2

/* ------------------------------------------------------------------- words */

static bool is_atomic(const hf_txn *txn)
{
    return (txn->base.client->store->capabilities & HF__CAP_ATOMIC) != 0;
}

static bool only_reads(const hf_txn *txn)
{
    for (size_t i = 0; i < txn->operation_count; i++) {
        if (!txn->operations[i].reads)
            return false;
    }
    return true;
}

/* How many operations may have to be undone: those before the last that can
 * fail, and that one if it can have changed something. */
static size_t count_saved(const hf_txn *txn)
{
    for (size_t i = txn->operation_count; i > 0; i--) {
        const hf__txn_operation *one = &txn->operations[i - 1];

        if (!one->sure)
            return one->in_parts ? i : i - 1;
    }
    return 0;
}

/* See txn_run. A store that undoes a failed script needs none. */
static const char *mode_of(const hf_txn *txn, size_t at)
{
    const hf__txn_operation *one = &txn->operations[at];

    if (is_atomic(txn))
        return "";
    if (at < txn->saved && !one->reads)
        return "s";
    return txn->operation_count > 1 && one->sure ? "c" : "";
}

static bool has_modes(const hf_txn *txn)
{
    for (size_t i = 0; i < txn->operation_count; i++) {
        if (mode_of(txn, i)[0] != '\0')
            return true;
    }
    return false;
}

static void add_all_keys(hf_call *call, const hf_txn *txn)
{
    for (size_t i = 0; i < txn->condition_count; i++)
        hf__add_whole_key(call, txn->conditions[i].key);
    for (size_t i = 0; i < txn->operation_count; i++) {
        const hf__txn_operation *one = &txn->operations[i];

        for (size_t j = 0; j < one->key_count; j++)
            hf__add_whole_key(call, one->keys[j]);
    }
}

static void add_program(hf_call *call, const hf_txn *txn, const size_t *numbers)
{
    for (size_t i = 0; i < txn->condition_count; i++) {
        for (size_t j = 0; j < HF__TXN_CONDITION_WORDS; j++)
            hf__add(call, txn->conditions[i].words[j]);
    }
    for (size_t i = 0; i < txn->operation_count; i++) {
        const hf__txn_operation *one = &txn->operations[i];
        const hf__request *request = &one->call->request;
        size_t from = one->body != NULL ? one->key_count : 0;

        hf__add_number(call, (int64_t)numbers[i]);
        hf__add(call, hf_str(mode_of(txn, i)));
        hf__add_number(call, (int64_t)one->key_count);
        hf__add_number(call, (int64_t)(request->word_count - from));
        for (size_t j = from; j < request->word_count; j++)
            hf__add(call, request->words[j]);
    }
}

/* The dedup record's key, if there is one, and the words about it. */
static hf_bytes take_session(hf_call *call, hf_txn *txn)
{
    hf_client *client = call->client;
    hf_bytes none = hf_str("");

    if (is_atomic(txn) || (txn->flags & HF_TXN_ONCE) != 0 || only_reads(txn) ||
        txn->key_count == 0)
        return none;
    txn->session = hf__cas_session_take(&client->txn_sessions);
    if (txn->session == NULL) {
        call->prepared = hf__fail(call->form.err, HF_NO_MEMORY, "a call");
        return none;
    }
    hf__add_whole_key(
        call, hf__cas_session_key(txn->session, client->store, txn->key));
    return hf__cas_session_number(txn->session);
}

static void add_words(hf_call *call, hf_txn *txn, const size_t *numbers)
{
    hf_bytes number;

    txn->saved = count_saved(txn);
    hf__reserve(call, txn->word_count + 6);
    number = take_session(call, txn);
    add_all_keys(call, txn);
    hf__add(call, number);
    hf__add_number(call, RECORD_LIVES * call->client->request_ms);
    hf__add(call, hf_str(has_modes(txn) ? "1" : "0"));
    hf__add_number(call, (int64_t)txn->condition_count);
    hf__add_number(call, (int64_t)txn->operation_count);
    add_program(call, txn, numbers);
    txn->script.repeatable = number.size > 0 || only_reads(txn);
    call->words_stay = true;
}

/* ------------------------------------------------------------------ errors */

/* Cut " [what N]" off the message, and what follows: lines of the script. */
static bool cut_mark(hf_error *error, const char *what, size_t *number)
{
    char mark[16];
    char *at = NULL;

    (void)snprintf(mark, sizeof(mark), " [%s ", what);
    for (char *next = strstr(error->message, mark); next != NULL;
         next = strstr(next + 1, mark))
        at = next;
    if (at == NULL)
        return false;
    *number = strtoul(at + strlen(mark), NULL, 10);
    *at = '\0';
    return *number > 0;
}

/* "operation 1 (INCRBY)" */
static void prefix_operation(hf_txn *txn, hf_error *error)
{
    const hf__txn_operation *one = &txn->operations[txn->failed];
    char name[HF__QUOTED_SIZE];

    if (one->body != NULL)
        hf__fail_prefix(error, "operation %zu (%s)", txn->failed,
                        one->body->name);
    else
        hf__fail_prefix(error, "operation %zu (%s)", txn->failed,
                        hf__quoted(name, one->call->request.words[0]));
}

/* A command's error in a script is that of the script for drivers. */
static hf_status command_status(const hf_txn *txn, const hf_error *error)
{
    if (error->status != HF_SCRIPT || txn->operations[txn->failed].body != NULL)
        return error->status;
    if (strstr(error->message, "nknown Redis command") != NULL ||
        strstr(error->message, "nknown command") != NULL)
        return HF_UNSUPPORTED;
    return HF_INVALID;
}

/* The condition that the script calls so, from 1; `failed` is its number for
 * the caller. */
static const hf__txn_condition *find_failed(hf_txn *txn, size_t number)
{
    size_t at = 0;

    txn->failed = 0;
    for (size_t i = 1; i < number; i++) {
        if (txn->conditions[i].joined)
            continue;
        at = i;
        txn->failed++;
    }
    return &txn->conditions[at];
}

static void rewrite_error(hf_txn *txn, const hf_call *call)
{
    hf_error *error = &txn->error;
    char key[HF__QUOTED_SIZE];
    size_t number;

    if (cut_mark(error, "op", &number) && number <= txn->operation_count) {
        txn->failed = number - 1;
        txn->outcome = HF__TXN_ONE_FAILED;
        error->status = command_status(txn, error);
        prefix_operation(txn, error);
    } else if (cut_mark(error, "if", &number) &&
               number <= txn->condition_count) {
        hf__quoted(key, find_failed(txn, number)->key);
        hf__fail_prefix(error, "condition %zu (key %s)", txn->failed, key);
    } else if (cut_mark(error, "key", &number) &&
               number <= call->request.key_count) {
        (void)hf__fail(error, HF_UNSUPPORTED,
                       "key %s is too large to be restored if a later "
                       "operation failed; write it in the last one",
                       hf__quoted(key, call->request.words[number - 1]));
    }
}

static void exec_answered(hf_call *call)
{
    hf_txn *txn = call->context;
    hf__request *request = &call->request;

    if (request->status == HF_OK)
        return;
    txn->error = request->error;
    rewrite_error(txn, call);
    request->error = txn->error;
    txn->status = request->status = txn->error.status;
    atomic_store(&txn->state, HF__TXN_DONE);
}

/* It is done once the results are written, not when the reply has arrived. */
static hf_status finish_done(hf_call *call, hf_error *err)
{
    hf_txn *txn = call->context;
    hf_status status = txn->inner(call, err);

    atomic_store(&txn->state, HF__TXN_DONE);
    return status;
}

/* ----------------------------------------------------------------- results */

static bool is_word(hf_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static hf_status fail_condition(hf_txn *txn, size_t number, hf_error *err)
{
    const hf__txn_condition *one = find_failed(txn, number);
    char key[HF__QUOTED_SIZE], field[HF__QUOTED_SIZE];

    hf__quoted(key, one->key);
    if (is_word(one->words[0], "exists"))
        return hf__fail(
            err, HF_CONFLICT, "condition %zu: key %s %s", txn->failed, key,
            is_word(one->words[3], "1") ? "does not exist" : "exists");
    if (is_word(one->words[0], "held") || is_word(one->words[0], "shared"))
        return hf__fail(err, HF_CONFLICT,
                        "condition %zu: the lease of %s is no longer held",
                        txn->failed, key);
    if (is_word(one->words[0], "token"))
        return hf__fail(err, HF_CONFLICT,
                        "condition %zu: %s is not held with token %.*s",
                        txn->failed, key, (int)one->words[1].size,
                        (const char *)one->words[1].data);
    if (is_word(one->words[0], "fence"))
        return hf__fail(
            err, HF_CONFLICT,
            "condition %zu: a write of %s with a higher fencing "
            "token than %.*s came before",
            txn->failed, hf__quoted(key, hf__own_key_owner(one->key)),
            (int)one->words[1].size, (const char *)one->words[1].data);
    if (!is_word(one->words[0], "hget"))
        return hf__fail(err, HF_CONFLICT,
                        "condition %zu: key %s does not have the expected %s",
                        txn->failed, key,
                        is_word(one->words[0], "get") ? "value" : "version");
    return hf__fail(err, HF_CONFLICT, "condition %zu: field %s of key %s %s",
                    txn->failed, hf__quoted(field, one->words[1]), key,
                    is_word(one->words[2], "1")
                        ? "does not have the expected value"
                        : "exists");
}

static hf_status finish_number(hf_txn *txn, int64_t number, hf_error *err)
{
    if (number > 0)
        return fail_condition(txn, (size_t)number, err);
    if (number == 0)
        return hf__fail(err, HF_INDETERMINATE,
                        "it was applied, but the reply was lost, and its "
                        "results were too large to be kept");
    return hf__fail(err, HF_INDETERMINATE,
                    "a later call of this client overtook this one; outcome "
                    "unknown");
}

/* An integer that Lua would have rounded is the status ":NUMBER". */
static hf_reply exact_integer(const hf__txn_operation *one,
                              const hf_reply *reply)
{
    hf_reply number = *reply;

    if (one->body == NULL && reply->kind == HF_REPLY_STATUS &&
        reply->bytes.size > 1 && reply->bytes.data[0] == ':')
        hf__reply_set_integer(&number,
                              strtoll(reply->bytes.data + 1, NULL, 10));
    return number;
}

static bool copy_reply(hf_reply *to, const hf_reply *from, hf__arena *arena)
{
    *to = *from;
    switch (from->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
    case HF_REPLY_INTEGER:
        return true;
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        return hf__reply_set_bytes(to, from->kind, from->bytes.data,
                                   from->bytes.size, arena);
    case HF_REPLY_ARRAY:
        break;
    }
    if (!hf__reply_set_array(to, from->array.count, arena))
        return false;
    for (size_t i = 0; i < from->array.count; i++) {
        if (!copy_reply(&to->array.items[i], &from->array.items[i], arena))
            return false;
    }
    return true;
}

/* With its own part of the reply, whose bytes outlive the call unless the
 * operation hands its reply out. */
static hf_status finish_one(hf_call *call, const hf_reply *reply, hf_error *err)
{
    hf__request *request = &call->request;

    request->status = HF_OK;
    request->reply = *reply;
    if (!hf__request_accepts(request))
        return hf__fail_copy(err, &request->error);
    if (call->operation->reply_stays &&
        !copy_reply(&request->reply, reply, &request->arena))
        return hf__fail(err, HF_NO_MEMORY, "the reply");
    return call->finish != NULL ? call->finish(call, err) : HF_OK;
}

/* All were applied: the first that has no answer is the transaction's. */
static hf_status finish_operations(hf_txn *txn, const hf_reply *reply,
                                   hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < txn->operation_count; i++) {
        hf__txn_operation *one = &txn->operations[i];
        hf_reply own = exact_integer(one, &reply->array.items[i]);
        hf_kind kind;

        one->status = finish_one(one->call, &own, &one->error);
        kind = hf_status_kind(one->status);
        if (status == HF_OK && kind != HF_KIND_OK && kind != HF_KIND_NO) {
            txn->failed = i;
            status = hf__fail(err, one->status, "operation %zu: %s", i,
                              one->error.message);
        }
    }
    txn->outcome = HF__TXN_ALL_ANSWERED;
    return status;
}

static hf_status finish_exec(hf_call *call, hf_error *err)
{
    hf_txn *txn = call->context;
    const hf_reply *reply = &call->request.reply;

    if (reply->kind == HF_REPLY_INTEGER)
        txn->status = finish_number(txn, reply->integer, err);
    else
        txn->status = finish_operations(txn, reply, err);
    return txn->status;
}

static bool exec_wrote(const hf__request *request)
{
    return request->reply.kind == HF_REPLY_ARRAY;
}

static const hf__operation exec_writing = {
    .wrote = exec_wrote,
    .finish = finish_exec,
    .alone = true,
};
static const hf__operation exec_reading = {
    .finish = finish_exec,
    .alone = true,
};

/* --------------------------------------------------------------- execution */

static void release_txn(hf_call *call)
{
    hf_txn *txn = call->owned;

    if (txn->session != NULL)
        hf__cas_session_release(&call->client->txn_sessions, txn->session);
    txn->session = NULL;
    hf__txn_unref(txn);
}

static void claim_txn(hf_call *call, hf_txn *txn)
{
    atomic_store(&txn->state, HF__TXN_CLAIMED);
    txn->status = HF_INDETERMINATE; /* unless one of the hooks says more */
    atomic_fetch_add(&txn->references, 1);
    call->owned = txn;
    call->context = txn;
    call->release = release_txn;
    call->answered = exec_answered;
    call->script = &txn->script;
}

static bool is_empty(const hf_txn *txn)
{
    return txn->operation_count + txn->condition_count == 0;
}

/* Its operations, behind one another. */
static void fill_exec(hf_call *call, hf_txn *txn)
{
    size_t *numbers =
        hf__call_alloc(call, (txn->operation_count + 1) * sizeof(*numbers));

    if (numbers == NULL ||
        !HF__TRY(call, hf__txn_make_script(txn, numbers, call->form.err)))
        return;
    claim_txn(call, txn);
    add_words(call, txn, numbers);
    if (call->prepared != HF_OK)
        return;
    if (is_empty(txn)) {
        atomic_store(&txn->state, HF__TXN_DONE);
        txn->outcome = HF__TXN_ALL_ANSWERED;
        call->skips_store = true;
        return;
    }
    hf__fill(call);
    txn->inner = call->finish;
    call->finish = finish_done;
}

static hf_status run_exec(hf__form form, hf_txn *txn)
{
    hf_status status = hf__txn_check(txn, form.err);
    hf_call here, *call;

    if (status != HF_OK)
        return status;
    call =
        hf__begin(&here, form, only_reads(txn) ? &exec_reading : &exec_writing,
                  txn->base.client);
    fill_exec(call, txn);
    atomic_fetch_add(&txn->references, 1);
    status = hf__end(call);
    if (status != HF_OK && atomic_load(&txn->state) == HF__TXN_CLAIMED)
        atomic_store(&txn->state, HF__TXN_OPEN); /* it was not sent */
    hf__txn_unref(txn);
    return status;
}

HF__FORMS(hf_txn_exec, run_exec(form, txn), hf_txn *txn);
