/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.c - any command, word by word.
 *
 * The store's error reply is handed out like every other reply; its status is
 * that of the call.
 */
#include "holdfast/command.h"
#include "core/client.h"
#include "core/form.h"
#include "store/known_commands.h"
#include "util/error.h"
#include "util/mem.h"

/* ------------------------------------------------------------------- words */

static hf_status check_words(size_t argc, const hf_bytes *argv, hf_error *err)
{
    if (argc == 0 || argv == NULL)
        return hf__fail(err, HF_INVALID, "a command needs at least its name");
    if (argc > HF_COMMAND_WORDS_MAX)
        return hf__fail(err, HF_INVALID, "%zu words; at most %d", argc,
                        HF_COMMAND_WORDS_MAX);
    if (argv[0].size == 0)
        return hf__fail(err, HF_INVALID, "the name of the command is empty");
    for (size_t i = 0; i < argc; i++) {
        if (argv[i].data == NULL && argv[i].size > 0)
            return hf__fail(err, HF_INVALID, "word %zu is NULL", i);
        if (argv[i].size > HF_VALUE_MAX)
            return hf__fail(err, HF_INVALID,
                            "word %zu is %zu bytes; at most %d", i,
                            argv[i].size, HF_VALUE_MAX);
    }
    return HF_OK;
}

static hf_status check_command(const hf_client *client,
                               const hf__known_command *known, size_t argc,
                               const hf_bytes *argv, hf_error *err)
{
    char name[HF__QUOTED_SIZE];

    if (hf__known_binds(known, argv, argc))
        return hf__fail(err, HF_UNSUPPORTED,
                        "%s changes the state of its connection or is about "
                        "it, but other calls share it",
                        hf__quoted(name, argv[0]));
    if (client->prefix_size == 0 || hf__known_is_confined(known, argv, argc))
        return HF_OK;
    if (known == NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "%s is unknown to the library, which cannot add the "
                        "client's prefix to its keys",
                        hf__quoted(name, argv[0]));
    return hf__fail(err, HF_UNSUPPORTED,
                    "%s reaches keys without the client's prefix",
                    hf__quoted(name, argv[0]));
}

/* A command that waits, with a limit of its own, is sent alone. */
static hf_status check_wait(const hf_call *call, const hf__known_command *known,
                            hf_bytes name, hf_error *err)
{
    const hf_client *client = call->client;
    const char *why = NULL;
    char quoted[HF__QUOTED_SIZE];

    if (call->form.is_item)
        why = "cannot be one of many";
    else if (call->form.kind == HF__FORM_QUEUED)
        why = "cannot be part of a transaction";
    else if ((client->store->capabilities & HF__CAP_WAITS) == 0)
        why = "is not supported by this store";
    else if (client->replicas.count > 0 &&
             (known->flags & HF__KNOWN_READS) == 0)
        why = "cannot be used by a client that waits for replicas";
    if (why == NULL)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED, "%s waits for an element, and so %s",
                    hf__quoted(quoted, name), why);
}

/* Replace keys by those with the prefix, all in one piece of memory. */
static hf_status add_prefix(hf_call *call, const hf__known_command *known)
{
    const hf_client *client = call->client;
    hf_bytes *words = call->words;
    hf__key_words keys;
    size_t size = 0;
    char *to;

    hf__known_keys(known, words, call->count, &keys);
    for (size_t at = hf__key_words_begin(&keys); at != 0;
         at = hf__key_words_next(&keys, at))
        size += client->prefix_size + words[at].size;
    to = call->owned = size == 0 ? NULL : hf__alloc(size);
    if (size > 0 && to == NULL)
        return hf__fail(call->form.err, HF_NO_MEMORY, "keys of %zu bytes",
                        size);
    for (size_t at = hf__key_words_begin(&keys); at != 0;
         at = hf__key_words_next(&keys, at)) {
        words[at] = hf__key_put(client, words[at], to);
        to += words[at].size;
    }
    return HF_OK;
}

static void add_words(hf_call *call, const hf__known_command *known,
                      size_t argc, const hf_bytes *argv)
{
    hf_error *err = call->form.err;

    if (!HF__TRY(call, check_words(argc, argv, err)) ||
        !HF__TRY(call, check_command(call->client, known, argc, argv, err)))
        return;
    call->note = hf__known_wait_ms(known, argv, argc);
    if (call->note != 0 &&
        !HF__TRY(call, check_wait(call, known, argv[0], err)))
        return;
    hf__reserve(call, argc);
    for (size_t i = 0; i < argc; i++)
        hf__add(call, argv[i]);
    if (call->client->prefix_size > 0)
        (void)HF__TRY(call, add_prefix(call, known));
}

/* --------------------------------------------------------------- operation */

/* The call becomes the reply's home, as that of a script does. */
static hf_status finish_command(hf_call *call, hf_error *err)
{
    hf__request *request = &call->request;

    if (call->out != NULL) {
        *(hf_reply **)call->out = &request->reply;
        hf__call_keep(call);
    }
    return request->reply.kind == HF_REPLY_ERROR
               ? hf__fail_copy(err, &request->error)
               : HF_OK;
}

static bool wrote_command(const hf__request *request)
{
    return request->reply.kind != HF_REPLY_ERROR;
}

static const hf__operation reading = {
    .repeatable = true,
    .finish = finish_command,
    .reply_stays = true,
};
static const hf__operation writing = {
    .wrote = wrote_command,
    .finish = finish_command,
    .reply_stays = true,
};

static const hf__known_command *find_command(size_t argc, const hf_bytes *argv)
{
    if (argc == 0 || argv == NULL || argv[0].data == NULL)
        return NULL;
    return hf__known_find(argv[0]);
}

static hf_status run_command(hf__form form, hf_client *client, size_t argc,
                             const hf_bytes *argv, hf_reply **reply)
{
    const hf__known_command *known = find_command(argc, argv);
    bool reads = known != NULL && (known->flags & HF__KNOWN_READS) != 0;
    hf_call here,
        *call = hf__begin(&here, form, reads ? &reading : &writing, client);

    if (reply != NULL)
        *reply = NULL;
    hf__set_out(call, reply, NULL);
    add_words(call, known, argc, argv);
    if (call->prepared == HF_OK) {
        hf__fill(call);
        call->request.answer = NULL;
        call->request.keeps_error = true;
        call->request.wait_ms = call->note;
    }
    return hf__end(call);
}

HF__FORMS(hf_command, run_command(form, client, argc, argv, reply),
          hf_client *client, size_t argc, const hf_bytes *argv,
          hf_reply **reply);

HF__MANY_OF(hf_command_many, client, (HF__NEEDS(items), HF__NEEDS(replies)),
            run_command(form, client, items[i].argc, items[i].argv,
                        &replies[i]),
            hf_client *client, const hf_command_item *items, size_t count,
            hf_reply **replies);
