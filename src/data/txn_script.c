/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn_script.c - the script that runs a transaction: txn_run, in whose table
 * `bodies` are the scripts that its operations are, each as a function.
 *
 * They are in the order of their digests, so that the same scripts make the
 * same text, which a store compiles once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/txn.h"
#include "holdfast/script.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/mem.h"

/* The line of txn_run that is replaced. */
#define NO_BODIES "local bodies = {}\n"

static const hf__script *library_script(void)
{
    return HF__SCRIPT(TXN_RUN);
}

static int compare_bodies(const void *a, const void *b)
{
    const hf__script *const *one = a, *const *other = b;

    return strcmp((*one)->sha1, (*other)->sha1);
}

/* Each script once, sorted; returns how many. */
static size_t collect_bodies(const hf_txn *txn, const hf__script **bodies)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < txn->operation_count; i++) {
        if (txn->operations[i].body != NULL)
            bodies[count++] = txn->operations[i].body;
    }
    qsort(bodies, count, sizeof(*bodies), compare_bodies);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || strcmp(bodies[kept - 1]->sha1, bodies[i]->sha1) != 0)
            bodies[kept++] = bodies[i];
    }
    return kept;
}

static void set_numbers(const hf_txn *txn, const hf__script *const *bodies,
                        size_t count, size_t *numbers)
{
    for (size_t i = 0; i < txn->operation_count; i++) {
        const hf__script *body = txn->operations[i].body;

        numbers[i] = 0;
        for (size_t j = 0; body != NULL && j < count; j++) {
            if (strcmp(bodies[j]->sha1, body->sha1) == 0)
                numbers[i] = j + 1;
        }
    }
}

static void put_bytes(char **at, const char *text, size_t size)
{
    memcpy(*at, text, size);
    *at += size;
}

#define BEGIN "function(KEYS, ARGV, ...)\n"
#define END "\nend,\n"

static size_t size_with(const hf__script *const *bodies, size_t count)
{
    size_t size =
        library_script()->source_size + sizeof("local bodies = {}\n\n");

    for (size_t i = 0; i < count; i++)
        size += bodies[i]->source_size + sizeof(BEGIN) + sizeof(END);
    return size;
}

/* Returns its size, without the NUL. */
static size_t put_text(char *text, const hf__script *const *bodies,
                       size_t count)
{
    const char *source = library_script()->source;
    const char *line = strstr(source, NO_BODIES);
    char *at = text;

    put_bytes(&at, source, (size_t)(line - source));
    put_bytes(&at, "local bodies = {\n", strlen("local bodies = {\n"));
    for (size_t i = 0; i < count; i++) {
        put_bytes(&at, BEGIN, strlen(BEGIN));
        put_bytes(&at, bodies[i]->source, bodies[i]->source_size);
        put_bytes(&at, END, strlen(END));
    }
    put_bytes(&at, "}\n", 2);
    line += strlen(NO_BODIES);
    put_bytes(&at, line, strlen(line) + 1);
    return (size_t)(at - text) - 1;
}

static void use_script(hf_txn *txn, const char *source, size_t size,
                       const char *sha1)
{
    txn->script = (hf__script)HF__USER_SCRIPT(source, size, sha1);
    txn->script.name = library_script()->name;
    txn->script.undoes = true;
}

static hf_status make_text(hf_txn *txn, const hf__script *const *bodies,
                           size_t count, hf_error *err)
{
    size_t size = size_with(bodies, count);

    if (size > HF_SCRIPT_MAX)
        return hf__fail(err, HF_INVALID,
                        "the scripts of the transaction have %zu bytes; at "
                        "most %d are allowed",
                        size, HF_SCRIPT_MAX);
    hf__free(txn->text);
    txn->text = hf__alloc(size);
    if (txn->text == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a script of %zu bytes", size);
    size = put_text(txn->text, bodies, count);
    hf__sha1_hex(txn->text, size, txn->sha1);
    use_script(txn, txn->text, size, txn->sha1);
    return HF_OK;
}

/* What an operation returns; an integer may be a status (txn_run.lua). */
static hf__shape shape_of(const hf__txn_operation *one)
{
    static const hf__shape any = HF__SHAPE_KIND(HF__IS_ANY);
    const hf__shape *known =
        one->body != NULL ? one->body->shape : one->call->request.answer;
    hf__shape shape = known != NULL ? *known : any;

    if (one->body == NULL && (shape.kinds & HF__IS_INTEGER) != 0)
        shape.kinds |= HF__IS_STATUS;
    return shape;
}

/* The results, or the number of a condition, 0 or -1. */
static hf_status make_shape(hf_txn *txn, hf_error *err)
{
    size_t count = txn->operation_count;
    hf__shape *shapes =
        hf__arena_alloc(&txn->arena, (count + 1) * sizeof(*shapes));

    if (shapes == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a transaction");
    for (size_t i = 0; i < count; i++)
        shapes[i] = shape_of(&txn->operations[i]);
    txn->shape = (hf__shape){.kinds = HF__IS_INTEGER | HF__IS_ARRAY,
                             .low = -1,
                             .high = (int64_t)txn->condition_count,
                             .items = shapes,
                             .item_count = count,
                             .count_min = count};
    txn->script.shape = &txn->shape;
    return HF_OK;
}

hf_status hf__txn_make_script(hf_txn *txn, size_t *numbers, hf_error *err)
{
    const hf__script **bodies =
        hf__calloc(txn->operation_count + 1, sizeof(hf__script *));
    hf_status status = HF_OK;
    size_t count;

    if (bodies == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a transaction");
    count = collect_bodies(txn, bodies);
    set_numbers(txn, bodies, count, numbers);
    if (count == 0) {
        use_script(txn, library_script()->source, library_script()->source_size,
                   library_script()->sha1);
        txn->script.native = library_script()->index;
    } else {
        status = make_text(txn, bodies, count, err);
    }
    hf__free(bodies);
    return status == HF_OK ? make_shape(txn, err) : status;
}
