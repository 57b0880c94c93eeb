/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.c - hf_store_dump(): all keys of a store as a stream of bytes.
 *
 * 1. A page of names comes by SCAN (key_walk.c). A pattern is matched here: it
 *    is one of users' keys, and other keys belong to these.
 * 2. One batch reads the keys of that page, each by key_read, and fetches the
 *    next page: a round trip for some 250 keys.
 * 3. Small keys came whole. The others are read by themselves (dump_key.c).
 *
 * There are three such walks: what several objects share comes first; then each
 * object of several keys, what belongs to a key before that key, so that a load
 * never makes one without the others; then all other keys.
 *
 * No request is under way and nothing of the store is held while write() runs.
 */
#include "transfer/dump.h"

#include "core/own_key.h"
#include "util/arena.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/glob.h"
#include "util/mem.h"
#include "util/options.h"

/* What a key of a batch may have to come whole: a batch is 16 MiB at most. */
#define SMALL_ELEMENTS "128"
#define SMALL_BYTES "65536"
#define BATCH_BYTES (HF__BATCH_MAX << 16)

/* Objects of a batch, whose keys may all exist. */
#define OBJECTS_MAX ((HF__BATCH_MAX - 1) / (HF__BELONGING_COUNT + 1))

typedef struct reads {
    hf__request requests[HF__BATCH_MAX];
    hf__read_words words[HF__BATCH_MAX];
    hf__request *list[HF__BATCH_MAX];
} reads;

/* ----------------------------------------------------- for loads as well */

hf_status hf__transfer_check(const hf_client *client,
                             const hf_store_transfer *result, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status != HF_OK)
        return status;
    if (client->prefix_size > 0)
        return hf__fail(err, HF_INVALID,
                        "a dump has whole names of keys; open a client "
                        "without a prefix");
    if (result != NULL && result->struct_size < sizeof(*result))
        return hf__fail(err, HF_INVALID,
                        "start result with HF_STORE_TRANSFER_INIT");
    if (hf__loop_here(client->loop))
        return hf__fail(err, HF_INVALID,
                        "a call that waits was made by a callback");
    return HF_OK;
}

void hf__transfer_give(const hf_store_transfer *so_far,
                       hf_store_transfer *result)
{
    size_t struct_size;

    if (result == NULL)
        return;
    struct_size = result->struct_size;
    *result = *so_far;
    result->struct_size = struct_size;
}

/* A word of TIME's answer. */
static int64_t number_of(const hf_reply *reply)
{
    hf_bytes word = hf_reply_bytes(reply);
    const char *digits = word.data;
    int64_t value = 0;

    for (size_t i = 0; i < word.size && i < 15; i++)
        value = value * 10 + (digits[i] - '0');
    return value;
}

hf_status hf__store_unix_ms(hf_client *client, int64_t *unix_ms, hf_error *err)
{
    hf_bytes word;
    hf__request request;
    hf_status status =
        hf__run_operation(client, &hf__op_time, &word, 1, &request, err);

    if (status == HF_OK)
        *unix_ms = number_of(hf_reply_at(&request.reply, 0)) * 1000 +
                   number_of(hf_reply_at(&request.reply, 1)) / 1000;
    hf__request_done(&request);
    return status;
}

hf_status hf__transfer_field_times(hf_client *client,
                                   const hf__operation *operation,
                                   hf_bytes none, bool *has, hf_error *err)
{
    hf_bytes words[6] = {hf_str(""), none};
    size_t count = 2;
    hf_error detail = HF_ERROR_INIT;
    hf__request request;
    hf_status status;

    if (operation == &hf__op_hpexpireat)
        words[count++] = hf_str("1");
    words[count++] = hf_str("FIELDS");
    words[count++] = hf_str("1");
    words[count++] = hf_str("f");
    status =
        hf__run_operation(client, operation, words, count, &request, &detail);
    if (status == HF_OK && hf_reply_count(&request.reply) != 1)
        status = hf__bad_reply(operation->command, &detail);
    hf__request_done(&request);
    *has = status == HF_OK;
    if (status == HF_OK || status == HF_UNSUPPORTED)
        return HF_OK;
    return hf__fail_copy(err, &detail);
}

bool hf__is_token(hf_bytes name)
{
    return hf__own_key_of(name, NULL) == HF__OWN_TOKEN;
}

/* ------------------------------------------------------------------- keys */

static hf_status dump_key(hf__dump *dump, hf_bytes name,
                          const hf__request *request, hf_error *err)
{
    hf__facts facts;
    hf_status status;

    if (!hf__is_key_size(name.size)) {
        hf__dump_leave_out(dump, name, hf_str("key with too long a name"));
        return HF_OK;
    }
    /* So many bytes that the script was stopped: piece by piece, then. */
    if (request->status == HF_SCRIPT || request->status == HF_NO_MEMORY)
        return hf__dump_large(dump, name, err);
    if (request->status != HF_OK)
        return hf__fail_copy(err, &request->error);
    status = hf__facts_read(&request->reply, &facts, err);
    if (status != HF_OK)
        return status;
    if (facts.found && facts.content_count > 0)
        return hf__dump_whole(dump, name, &request->reply, &facts, err);
    if (facts.found)
        return hf__dump_large(dump, name, err);
    if (facts.type_name.size != 4 ||
        memcmp(facts.type_name.data, "none", 4) != 0)
        hf__dump_leave_out(dump, name, facts.type_name);
    return HF_OK;
}

static hf_status dump_keys(hf__dump *dump, const hf_bytes *names,
                           const hf__request *requests, size_t count,
                           hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; i < count && status == HF_OK; i++)
        status = dump_key(dump, names[i], &requests[i], err);
    return status;
}

/* `count` names and, if `scan` is set, the next page. */
static hf_status dump_batch(hf__dump *dump, reads *room, const hf_bytes *names,
                            size_t count, bool scan, hf_error *err)
{
    size_t total = count;
    hf_status status;

    for (size_t i = 0; i < count; i++) {
        hf__dump_ask(dump, &room->requests[i], &room->words[i], names[i],
                     SMALL_ELEMENTS, SMALL_BYTES);
        room->list[i] = &room->requests[i];
    }
    if (scan)
        room->list[total++] = hf__key_walk_request(&dump->walk);
    hf__run_all(dump->client, room->list, total, HF__EXTRA_MS(BATCH_BYTES));
    status = dump_keys(dump, names, room->requests, count, err);
    for (size_t i = 0; i < count; i++)
        hf__request_done(&room->requests[i]);
    hf__dump_report(dump);
    return status;
}

static bool key_matches(const hf__dump *dump, hf_bytes name)
{
    hf_bytes pattern = dump->options->pattern;

    return pattern.size == 0 || hf__glob_fits(pattern, name) ||
           hf__glob_fits(pattern, hf__own_key_owner(name));
}

/* The keys of some objects: first all that belong to another. */
typedef struct object_keys {
    hf_bytes names[HF__BATCH_MAX];
    size_t count;
    hf_bytes owners[OBJECTS_MAX];
    size_t owner_count;
    hf__arena arena;
} object_keys;

/* Add what may belong to the owner of `name`, which belongs to it. */
static hf_status add_belongings(const hf__dump *dump, object_keys *keys,
                                hf_bytes name, const hf__belonging *of,
                                hf_error *err)
{
    const char *rest = (const char *)name.data + of->prefix_size;
    size_t rest_size = name.size - of->prefix_size - strlen(of->role);

    for (size_t i = 0; i < HF__BELONGING_COUNT; i++) {
        const char *role = hf__belonging_roles[i];
        size_t role_size = strlen(role);
        size_t size = of->prefix_size + role_size + rest_size;
        char *text = hf__arena_alloc(&keys->arena, size);

        if (text == NULL)
            return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
        memcpy(text, name.data, of->prefix_size);
        memcpy(text + of->prefix_size, role, role_size);
        memcpy(text + size - rest_size, rest + strlen(of->role), rest_size);
        if (hf__is_key_size(size) && key_matches(dump, hf_view(text, size)))
            keys->names[keys->count++] = hf_view(text, size);
    }
    return HF_OK;
}

/* An object is met where the first of its belongings is. */
static hf_status add_object(hf__dump *dump, object_keys *keys, hf_bytes name,
                            hf_error *err)
{
    hf__belonging of = {.role = ""};
    bool fresh = false;
    hf_status status;

    (void)hf__find_belonging(name, &of);
    if (!hf__is_key_size(name.size) || hf__is_own_key(of.owner)) {
        keys->names[keys->count++] = name; /* too long, or made by hand */
        return HF_OK;
    }
    status = hf__name_set_add(&dump->walk.met, of.owner, &fresh, err);
    if (status != HF_OK || !fresh)
        return status;
    if (key_matches(dump, of.owner))
        keys->owners[keys->owner_count++] = of.owner;
    return add_belongings(dump, keys, name, &of, err);
}

static hf_status dump_objects(hf__dump *dump, reads *room,
                              const hf_bytes *names, size_t count, bool scan,
                              hf_error *err)
{
    object_keys keys = {.count = 0};
    hf_status status = HF_OK;

    hf__arena_init(&keys.arena);
    for (size_t i = 0; i < count && status == HF_OK; i++)
        status = add_object(dump, &keys, names[i], err);
    for (size_t i = 0; i < keys.owner_count; i++)
        keys.names[keys.count++] = keys.owners[i];
    if (status == HF_OK)
        status = dump_batch(dump, room, keys.names, keys.count, scan, err);
    hf__arena_free(&keys.arena);
    return status;
}

/* A page may have more names than were asked for. */
static hf_status dump_page(hf__dump *dump, reads *room, hf_error *err)
{
    bool objects = dump->turn == HF__TURN_OBJECTS;
    size_t most = objects ? OBJECTS_MAX : HF__BATCH_MAX - 1;
    const hf_bytes *names = dump->walk.names;
    size_t count = dump->walk.count;
    bool scan = !dump->walk.over;
    hf_status status = HF_OK;

    do {
        size_t part = count < most ? count : most;
        bool last = part == count;

        status = (objects ? dump_objects : dump_batch)(dump, room, names, part,
                                                       scan && last, err);
        count -= part;
        if (count > 0) /* `names` is NULL if there are none */
            names += part;
    } while (status == HF_OK && count > 0);
    return status;
}

static hf__dump_turn turn_of(hf_bytes name)
{
    hf__belonging of;

    if (hf__is_token(name))
        return HF__TURN_SHARED;
    if (!hf__find_belonging(name, &of))
        return HF__TURN_REST;
    return strcmp(of.role, HF__ROLE_TAG) == 0 ? HF__TURN_SHARED
                                              : HF__TURN_OBJECTS;
}

static bool wants_name(void *user, hf_bytes name)
{
    const hf__dump *dump = user;

    return turn_of(name) == dump->turn && key_matches(dump, name);
}

typedef struct pass {
    hf__dump *dump;
    reads *room;
} pass;

static hf_status walk_once(void *user, hf_error *err)
{
    hf__dump *dump = ((pass *)user)->dump;
    reads *room = ((pass *)user)->room;
    hf_status status = hf__key_walk_start(&dump->walk, dump->client, err);

    if (status == HF_OK)
        status = dump_batch(dump, room, NULL, 0, true, err);
    if (status == HF_OK)
        status = hf__key_walk_turn(&dump->walk, err);
    while (status == HF_OK) {
        bool over = dump->walk.over;

        status = dump_page(dump, room, err);
        if (over || status != HF_OK)
            break;
        status = hf__key_walk_turn(&dump->walk, err);
    }
    return status;
}

/* ------------------------------------------------------------------- call */

static uint64_t count_part(hf_client *client, uint32_t part)
{
    hf_bytes word;
    hf__request request;
    uint64_t count = 0;

    hf__operation_request(&request, &hf__op_dbsize, &word, 1);
    request.part = part;
    if (hf__run(client, &request, INT64_MAX, NULL) == HF_OK)
        count = (uint64_t)hf_reply_integer(&request.reply);
    hf__request_done(&request);
    return count;
}

/* Only for progress: a server that does not allow it is no reason to fail, nor
 * parts that are being changed. */
static uint64_t count_keys(hf__dump *dump)
{
    const hf__parts *parts = &dump->walk.parts;
    uint64_t count = 0;

    if (hf__key_walk_start(&dump->walk, dump->client, NULL) != HF_OK)
        return 0;
    if (parts->count == 0)
        return count_part(dump->client, 0);
    for (size_t i = 0; i < parts->count; i++)
        count += count_part(dump->client, parts->ids[i]);
    return count;
}

/* What FUNCTION DUMP replies, of the first part: each has all libraries. Only
 * a tail: there are none; or this server has no functions, or they may not be
 * read. */
#define FUNCTIONS_NONE 10u
static hf_status ask_functions(const hf__dump *dump, hf__request *request,
                               hf_bytes *functions, hf_error *err)
{
    hf_status status;

    if (dump->walk.parts.count > 0)
        request->part = dump->walk.parts.ids[0];
    status = hf__run(dump->client, request, INT64_MAX, err);
    if (status == HF_UNSUPPORTED || status == HF_DENIED)
        return HF_OK;
    if (status == HF_OK)
        *functions = hf_reply_bytes(&request->reply);
    return status;
}

static hf_status put_functions(hf__dump_writer *writer, hf_bytes functions,
                               hf_error *err)
{
    hf_status status =
        hf__dump_writer_key(writer, HF__DUMP_FUNCTIONS, 0, hf_str(""), err);

    if (status == HF_OK)
        status = hf__dump_writer_element(writer, functions, err);
    return status == HF_OK ? hf__dump_writer_key_end(writer, err) : status;
}

/* The head, and the libraries unless there is a pattern. */
static hf_status begin_dump(hf__dump *dump, int64_t unix_ms, hf_error *err)
{
    hf_bytes words[2] = {hf_str(""), hf_str("DUMP")};
    hf_bytes functions = hf_view(NULL, 0);
    hf__request request;
    hf_status status = HF_OK;

    hf__operation_request(&request, &hf__op_function_dump, words, 2);
    if (dump->options->pattern.size == 0)
        status = ask_functions(dump, &request, &functions, err);
    if (functions.size > FUNCTIONS_NONE)
        dump->writer.flags = HF__DUMP_HAS_FUNCTIONS;
    if (status == HF_OK)
        status = hf__dump_writer_begin(&dump->writer, unix_ms, err);
    if (status == HF_OK && dump->writer.flags != 0)
        status = put_functions(&dump->writer, functions, err);
    hf__request_done(&request);
    return status;
}

static hf_status run_dump(hf__dump *dump, hf_error *err)
{
    reads *room = hf__alloc(sizeof(*room));
    int64_t unix_ms = 0;
    hf_status status;

    if (room == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a dump");
    status = hf__store_unix_ms(dump->client, &unix_ms, err);
    if (status == HF_OK)
        status = hf__transfer_field_times(dump->client, &hf__op_hpexpiretime,
                                          hf_str(HF__ROLE_LOAD),
                                          &dump->fields_expire, err);
    if (status == HF_OK) {
        dump->so_far.keys_total = count_keys(dump);
        status = begin_dump(dump, unix_ms, err);
    }
    for (int turn = HF__TURN_SHARED; turn <= HF__TURN_REST && status == HF_OK;
         turn++) {
        dump->turn = (hf__dump_turn)turn;
        /* The keys of the walks before are not met again. */
        status = hf__key_walk_until_whole(
            &dump->walk, dump->client, walk_once, &(pass){dump, room},
            "keys went from server to server meanwhile; try again when that "
            "is over",
            err);
    }
    if (status == HF_OK)
        status = hf__dump_writer_end(&dump->writer, err);
    dump->so_far.complete = status == HF_OK;
    hf__free(room);
    return status;
}

static hf_status load_options(hf_store_dump_options *options,
                              const hf_store_dump_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_store_dump_options", err);

    if (status == HF_OK && options->pattern.data == NULL &&
        options->pattern.size > 0)
        status = hf__fail(err, HF_INVALID, "pattern is NULL");
    if (status == HF_OK && options->pattern.size > HF_NAME_MAX)
        status = hf__fail(err, HF_INVALID, "pattern is %zu bytes; at most %d",
                          options->pattern.size, HF_NAME_MAX);
    return status;
}

hf_status hf_store_dump(hf_client *client, const hf_store_dump_options *opts,
                        hf_store_write_fn write, void *user,
                        hf_store_transfer *result, hf_error *err)
{
    hf_store_dump_options options;
    hf__dump dump = {.client = client, .options = &options, .user = user};
    hf__visit visit;
    hf_status status = hf__transfer_check(client, result, err);

    if (status == HF_OK && write == NULL)
        status = hf__fail(err, HF_INVALID, "write is NULL");
    if (status == HF_OK)
        status = load_options(&options, opts, err);
    if (status == HF_OK)
        status = hf__client_visit(client, &visit, err);
    if (status != HF_OK)
        return status;
    dump.left_out = (hf_error)HF_ERROR_INIT;
    dump.writer.write = write;
    dump.writer.user = user;
    hf__key_walk_begin(&dump.walk, hf_view(NULL, 0));
    dump.walk.wants = wants_name;
    dump.walk.user = &dump;
    status = run_dump(&dump, err);
    hf__dump_report(&dump);
    if (status == HF_OK && dump.writer.left_out > 0)
        status = hf__fail_copy(err, &dump.left_out);
    hf__key_walk_done(&dump.walk);
    hf__dump_writer_done(&dump.writer);
    hf__client_visit_end(client, &visit);
    hf__transfer_give(&dump.so_far, result);
    return status;
}
