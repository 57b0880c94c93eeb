/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_key.c - reading one key for a dump.
 *
 * 1. key_read gives type, expiry and content in one step if that is not much.
 * 2. A long string is one GET, a long stream one DUMP; the facts are read
 * before and after.
 * 3. A large collection is read in pieces between two readings of its facts.
 *
 * Where the facts differ afterwards, what was written is dropped and the key
 * read again; after TRIES of that it is counted as changed. A hash is begun as
 * one without deadlines of fields; the first deadline found in it drops that,
 * too.
 */
#include <assert.h>
#include <stdio.h>

#include "transfer/dump.h"
#include "util/error.h"
#include "util/mem.h"

/* How often a key is read in all. */
#define TRIES 4

/* What is still read in one step, which holds the server up for a few ms. */
#define WHOLE_ELEMENTS "4096"
#define WHOLE_BYTES "1048576"
#define WHOLE_SIZE (1u << 20)

/* Elements asked for at a time: as many as make up PIECE_SIZE, going by those
 * read last, so that large ones do not fill the memory. */
#define COUNT_FIRST 64
#define COUNT_MAX 4096
#define PIECE_SIZE (1u << 20)

/* A scan seldom gives an element twice. One that gives so many more than there
 * were, or so many empty pieces, never comes to an end. */
#define ELEMENTS_MAX(count) (16 * (uint64_t)(count) + (1u << 20))
#define PIECES_MAX (1u << 24)

/* What an answer may be beyond what was planned, for its deadline. */
#define PIECE_EXTRA_MS HF__EXTRA_MS(16 * PIECE_SIZE)

/* The Unix time of an embedded store's expiry is computed when it is asked. */
#define SAME_INSTANT_MS 2

void hf__dump_report(hf__dump *dump)
{
    dump->so_far.keys = dump->writer.keys;
    dump->so_far.bytes = dump->writer.bytes;
    dump->so_far.left_out = dump->writer.left_out;
    dump->so_far.changed = dump->writer.changed;
    if (dump->options->progress != NULL)
        dump->options->progress(dump->user, &dump->so_far);
}

void hf__dump_leave_out(hf__dump *dump, hf_bytes name, hf_bytes type_name)
{
    char quoted[HF__QUOTED_SIZE];
    char type[64];

    hf__quoted(quoted, name);
    (void)snprintf(type, sizeof(type), "%.*s", (int)type_name.size,
                   (const char *)type_name.data);
    if (dump->writer.left_out++ == 0)
        hf__fail(&dump->left_out, HF_UNSUPPORTED,
                 "the dump is not complete: key %s is a %s", quoted, type);
    if (dump->options->left_out != NULL)
        dump->options->left_out(dump->user, name, type);
}

/* ------------------------------------------------------------------ facts */

static hf__dump_type type_of(hf_bytes name)
{
    for (hf__dump_type type = HF__DUMP_STRING; type <= HF__DUMP_STREAM;
         type++) {
        const char *known = hf__dump_type_name(type);

        if (strlen(known) == name.size &&
            memcmp(known, name.data, name.size) == 0)
            return type;
    }
    return 0;
}

hf_status hf__facts_read(const hf_reply *reply, hf__facts *facts, hf_error *err)
{
    size_t count = hf_reply_count(reply);
    hf_bytes mark;
    int64_t expires;

    memset(facts, 0, sizeof(*facts));
    facts->type_name = hf_reply_bytes(hf_reply_at(reply, 0));
    facts->type = type_of(facts->type_name);
    facts->found = facts->type != 0;
    if (facts->found != (count > 1))
        return hf__bad_reply("key_read", err);
    if (!facts->found)
        return HF_OK;
    mark = hf_reply_bytes(hf_reply_at(reply, 3));
    if (mark.size > sizeof(facts->mark))
        return hf__bad_reply("key_read", err);
    memcpy(facts->mark, mark.data, mark.size);
    expires = hf_reply_integer(hf_reply_at(reply, 1));
    facts->expires_unix_ms = expires > 0 ? expires : 0;
    facts->count = hf_reply_integer(hf_reply_at(reply, 2));
    facts->content_at = 4;
    facts->content_count = count - 4;
    if (facts->content_count % hf__dump_group(facts->type) != 0)
        return hf__bad_reply("key_read", err);
    return HF_OK;
}

static bool is_same(const hf__facts *before, const hf__facts *after)
{
    int64_t moved = after->expires_unix_ms - before->expires_unix_ms;

    return after->type == before->type && after->count == before->count &&
           moved >= -SAME_INSTANT_MS && moved <= SAME_INSTANT_MS &&
           (moved == 0 ||
            (after->expires_unix_ms > 0 && before->expires_unix_ms > 0)) &&
           memcmp(after->mark, before->mark, sizeof(after->mark)) == 0;
}

void hf__dump_ask(const hf__dump *dump, hf__request *request,
                  hf__read_words *words, hf_bytes name,
                  const char *most_elements, const char *most_bytes)
{
    words->words[0] = name;
    words->words[1] = hf_str(most_elements);
    words->words[2] = hf_str(most_bytes);
    words->words[3] = hf_str(dump->fields_expire ? "1" : "");
    hf__request_script(request, &hf__scripts[HF__SCRIPT_KEY_READ], words->words,
                       4, 1);
}

static hf_status ask_key(hf__dump *dump, hf_bytes name,
                         const char *most_elements, hf__request *request,
                         hf__facts *facts, hf_error *err)
{
    hf__read_words words;

    hf__dump_ask(dump, request, &words, name, most_elements, WHOLE_BYTES);
    hf__run_one(dump->client, request, PIECE_EXTRA_MS);
    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    return hf__facts_read(&request->reply, facts, err);
}

static hf_status ask_facts(hf__dump *dump, hf_bytes name, hf__facts *facts,
                           hf_error *err)
{
    hf__request request;
    hf_status status = ask_key(dump, name, "0", &request, facts, err);

    facts->type_name = hf_view(NULL, 0); /* the reply goes */
    if (dump->timed && facts->type == HF__DUMP_HASH)
        facts->type = HF__DUMP_TIMED_HASH;
    hf__request_done(&request);
    return status;
}

/* ------------------------------------------------------------------ whole */

static hf_status put_elements(hf__dump *dump, const hf_reply *reply,
                              size_t first, size_t count, hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < count && status == HF_OK; i++) {
        hf_bytes element = hf_reply_bytes(hf_reply_at(reply, first + i));

        if (!hf__is_value_size(element.size))
            return hf__bad_reply("a key", err);
        status = hf__dump_writer_element(&dump->writer, element, err);
    }
    return status;
}

hf_status hf__dump_whole(hf__dump *dump, hf_bytes name, const hf_reply *reply,
                         const hf__facts *facts, hf_error *err)
{
    hf_status status = hf__dump_writer_key(&dump->writer, facts->type,
                                           facts->expires_unix_ms, name, err);

    if (status == HF_OK)
        status = put_elements(dump, reply, facts->content_at,
                              facts->content_count, err);
    if (status == HF_OK)
        status = hf__dump_writer_key_end(&dump->writer, err);
    return status;
}

/* ----------------------------------------------------------------- pieces */

/* Reading a collection piece by piece. */
typedef struct pieces {
    hf__dump *dump;
    hf_bytes name;
    hf__dump_type type;
    int64_t count; /* to ask for next */
    int64_t at;    /* list: elements read */
    uint64_t total;
    uint32_t pieces;
    bool over;
    char cursor[HF__NUMBER_SIZE];
} pieces;

static void adapt_batch(pieces *self, const hf_reply *list)
{
    size_t got = hf_reply_count(list);
    size_t size = 1;
    int64_t wanted;

    for (size_t i = 0; i < got; i++)
        size += hf_reply_bytes(hf_reply_at(list, i)).size;
    if (got == 0)
        return;
    wanted = (int64_t)((uint64_t)PIECE_SIZE * got / size);
    /* What was read is no promise of what comes: at most four times more. */
    if (wanted > self->count * 4)
        wanted = self->count * 4;
    self->count = wanted < 1 ? 1 : wanted > COUNT_MAX ? COUNT_MAX : wanted;
}

/* The elements of an answer, and where the next piece begins. */
static const hf_reply *take_piece(pieces *self, const hf_reply *reply)
{
    hf_bytes cursor;

    if (self->type == HF__DUMP_LIST) {
        self->at += (int64_t)hf_reply_count(reply);
        self->over = hf_reply_count(reply) == 0;
        return reply;
    }
    cursor = hf_reply_bytes(hf_reply_at(reply, 0));
    assert(cursor.size < sizeof(self->cursor));
    memcpy(self->cursor, cursor.data, cursor.size);
    self->cursor[cursor.size] = '\0';
    self->over = strcmp(self->cursor, "0") == 0;
    return hf_reply_at(reply, 1);
}

static const hf__operation *piece_operation(hf__dump_type type)
{
    if (type == HF__DUMP_LIST)
        return &hf__op_lrange;
    if (type == HF__DUMP_HASH || type == HF__DUMP_TIMED_HASH)
        return &hf__op_hscan;
    return type == HF__DUMP_SET ? &hf__op_sscan : &hf__op_zscan;
}

static void fill_piece(pieces *self, hf__request *request, hf_bytes words[5],
                       char numbers[2][HF__NUMBER_SIZE])
{
    words[1] = self->name;
    if (self->type == HF__DUMP_LIST) {
        words[2] = hf__number(numbers[0], self->at);
        words[3] = hf__number(numbers[1], self->at + self->count - 1);
    } else {
        words[2] = hf_str(self->cursor);
        words[3] = hf_str("COUNT");
        words[4] = hf__number(numbers[0], self->count);
    }
    hf__operation_request(request, piece_operation(self->type), words,
                          self->type == HF__DUMP_LIST ? 4 : 5);
}

static bool one_expires(const hf_reply *deadlines)
{
    for (size_t i = 0; i < hf_reply_count(deadlines); i++) {
        if (hf_reply_integer(hf_reply_at(deadlines, i)) >= 0)
            return true;
    }
    return false;
}

/* The fields of a piece but those that are gone by now. */
static hf_status put_fields(pieces *self, const hf_reply *list,
                            const hf_reply *deadlines, hf_error *err)
{
    bool timed = self->type == HF__DUMP_TIMED_HASH;
    char number[HF__NUMBER_SIZE];
    hf_status status = HF_OK;

    for (size_t i = 0; i < hf_reply_count(deadlines) && status == HF_OK; i++) {
        int64_t at = hf_reply_integer(hf_reply_at(deadlines, i));

        if (at == -2)
            continue;
        status = put_elements(self->dump, list, 2 * i, 2, err);
        if (status == HF_OK && timed)
            status = hf__dump_writer_element(
                &self->dump->writer, hf__number(number, at < 0 ? 0 : at), err);
    }
    return status;
}

static hf_status take_deadlines(pieces *self, const hf_reply *list,
                                const hf__request *request, hf_error *err)
{
    const hf_reply *deadlines = &request->reply;

    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    if (hf_reply_count(deadlines) != hf_reply_count(list) / 2)
        return hf__bad_reply("HPEXPIRETIME", err);
    if (self->type == HF__DUMP_HASH && one_expires(deadlines)) {
        self->dump->timed = true;
        self->over = true;
        return HF_OK;
    }
    return put_fields(self, list, deadlines, err);
}

/* A piece of a hash, of a store whose fields may expire. */
static hf_status put_timed(pieces *self, const hf_reply *list, hf_error *err)
{
    size_t count = hf_reply_count(list) / 2;
    char number[HF__NUMBER_SIZE];
    hf__request request;
    hf_bytes *words;
    hf_status status;

    if (count == 0)
        return HF_OK;
    words = hf__alloc((4 + count) * sizeof(*words));
    if (words == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a dump");
    words[1] = self->name;
    words[2] = hf_str("FIELDS");
    words[3] = hf__number(number, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        words[4 + i] = hf_reply_bytes(hf_reply_at(list, 2 * i));
    hf__operation_request(&request, &hf__op_hpexpiretime, words, 4 + count);
    hf__run_one(self->dump->client, &request, PIECE_EXTRA_MS);
    status = take_deadlines(self, list, &request, err);
    hf__request_done(&request);
    hf__free(words);
    return status;
}

static bool may_expire(const pieces *self)
{
    return self->dump->fields_expire &&
           (self->type == HF__DUMP_HASH || self->type == HF__DUMP_TIMED_HASH);
}

static hf_status put_piece(pieces *self, const hf_reply *list, hf_error *err)
{
    adapt_batch(self, list);
    self->total += hf_reply_count(list);
    if (may_expire(self))
        return put_timed(self, list, err);
    return put_elements(self->dump, list, 0, hf_reply_count(list), err);
}

static hf_status next_piece(pieces *self, hf_error *err)
{
    char numbers[2][HF__NUMBER_SIZE];
    const hf_reply *list = NULL;
    hf_bytes words[5];
    hf__request request;
    hf_status status = HF_OK;

    fill_piece(self, &request, words, numbers);
    hf__run_one(self->dump->client, &request, PIECE_EXTRA_MS);
    if (request.status != HF_OK)
        status = hf__fail_copy(err, &request.error);
    else
        list = take_piece(self, &request.reply);
    if (list != NULL)
        status = put_piece(self, list, err);
    hf__request_done(&request);
    hf__dump_report(self->dump);
    return status;
}

/* *some: there was at least one element. HF_WRONG_TYPE: it has changed. */
static hf_status put_pieces(hf__dump *dump, hf_bytes name,
                            const hf__facts *facts, bool *some, hf_error *err)
{
    pieces self = {.dump = dump,
                   .name = name,
                   .type = facts->type,
                   .count = COUNT_FIRST,
                   .cursor = "0"};
    hf_status status = HF_OK;

    /* A list that grows as fast as it is read would never end. */
    while (status == HF_OK && !self.over &&
           (facts->type != HF__DUMP_LIST || self.at < facts->count)) {
        status = next_piece(&self, err);
        if (++self.pieces == PIECES_MAX ||
            self.total > ELEMENTS_MAX(facts->count))
            return hf__bad_reply("a scan of a key", err);
    }
    *some = dump->writer.pending > 0;
    return status;
}

/* A long string or stream. */
static hf_status put_string(hf__dump *dump, hf_bytes name,
                            const hf__facts *facts, bool *some, hf_error *err)
{
    hf_bytes words[] = {hf_str(""), name};
    hf__request request;
    hf_status status = HF_OK;

    hf__operation_request(
        &request, facts->type == HF__DUMP_STREAM ? &hf__op_dump : &hf__op_get,
        words, 2);
    hf__run_one(dump->client, &request,
                PIECE_EXTRA_MS + HF__EXTRA_MS(facts->count));
    *some = request.status == HF_OK && request.reply.kind == HF_REPLY_STRING;
    if (*some && !hf__is_value_size(request.reply.bytes.size)) {
        hf__dump_leave_out(dump, name, hf_str("stream of more than 512 MiB"));
        *some = false;
    }
    if (request.status != HF_OK)
        status = hf__fail_copy(err, &request.error);
    else if (*some)
        status = hf__dump_writer_element(&dump->writer,
                                         hf_reply_bytes(&request.reply), err);
    hf__request_done(&request);
    return status;
}

/* ------------------------------------------------------------------ large */

/* One reading. *same: nothing is known to have changed meanwhile; *some: there
 * is something to keep. The key is open in the writer afterwards. */
static hf_status read_large(hf__dump *dump, hf_bytes name,
                            const hf__facts *before, bool *some, bool *same,
                            hf_error *err)
{
    hf_error detail = HF_ERROR_INIT;
    hf__facts after;
    hf_status status = hf__dump_writer_key(&dump->writer, before->type,
                                           before->expires_unix_ms, name, err);

    if (status != HF_OK)
        return status;
    if (hf__dump_is_one(before->type))
        status = put_string(dump, name, before, some, &detail);
    else
        status = put_pieces(dump, name, before, some, &detail);
    if (status == HF_WRONG_TYPE) {
        *some = false;
        *same = false;
        return HF_OK;
    }
    if (status != HF_OK)
        return hf__fail_copy(err, &detail);
    status = ask_facts(dump, name, &after, err);
    *same = *some && status == HF_OK && is_same(before, &after);
    return status;
}

/* *over: it is dumped, or gone. */
static hf_status try_large(hf__dump *dump, hf_bytes name, bool last, bool *over,
                           hf_error *err)
{
    bool some = false, same = false, timed = dump->timed;
    hf__facts facts;
    hf_status status = ask_facts(dump, name, &facts, err);

    *over = true;
    if (status != HF_OK || !facts.found)
        return status;
    status = read_large(dump, name, &facts, &some, &same, err);
    if (status != HF_OK)
        return status;
    last = last && timed == dump->timed;
    *over = same || last;
    if (last && !same)
        dump->writer.changed++;
    if (some && *over)
        return hf__dump_writer_key_end(&dump->writer, err);
    return hf__dump_writer_drop(&dump->writer, err);
}

/* In one step after all, if it is not that large. */
static hf_status try_whole(hf__dump *dump, hf_bytes name, bool *over,
                           hf_error *err)
{
    hf_error detail = HF_ERROR_INIT;
    hf__request request;
    hf__facts facts;
    hf_status status =
        ask_key(dump, name, WHOLE_ELEMENTS, &request, &facts, &detail);

    *over = false;
    if (status == HF_OK && facts.found && facts.content_count > 0) {
        *over = true;
        status = hf__dump_whole(dump, name, &request.reply, &facts, err);
    } else if (status == HF_SCRIPT || status == HF_NO_MEMORY) {
        status = HF_OK;
    } else if (status != HF_OK) {
        hf__fail_copy(err, &detail);
    }
    hf__request_done(&request);
    return status;
}

hf_status hf__dump_large(hf__dump *dump, hf_bytes name, hf_error *err)
{
    bool over = false;
    uint64_t left_out = dump->writer.left_out;
    hf_status status = try_whole(dump, name, &over, err);

    dump->timed = false;
    for (int i = 1; status == HF_OK && !over && i <= TRIES + dump->timed &&
                    dump->writer.left_out == left_out;
         i++)
        status = try_large(dump, name, i == TRIES + dump->timed, &over, err);
    return status;
}
