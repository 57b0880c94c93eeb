/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_key.c - one key of a dump on its way into the store.
 *
 * The elements of a key are gathered as they come. If all of it fits into one
 * step, that step creates the key: SET, key_write, or token_raise for a fencing
 * token, which only ever grows, and which is another key where there are other
 * slots. Else
 *
 * 1. EXISTS, unless the key is to be replaced: who will be refused shall not
 *    send much first.
 * 2. key_build adds step by step to `hf:load:<mark>:{key}`, a name of this load
 *    alone, and renews its time to live each time.
 * 3. When the dump says that the key is whole, and all steps are known to have
 *    been applied, key_place gives it its name and its expiry.
 *
 * What belongs to a key is in a dump before that key, and is known to be stored
 * before that key gets its name; what is about to be replaced loses its owner
 * first. So no one sees a key with belongings that are missing, or of another.
 *
 * A load that fails unlinks what it was building; one that was killed leaves it
 * to its time to live. A string goes to an embedded store in one piece, as
 * adding to it would copy it each time.
 */
#include "core/own_key.h"
#include "holdfast/store.h"
#include "transfer/load.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* How long what is being built lives without another step. */
#define BUILD_TTL "600000"

/* ------------------------------------------------------------------ order */

/* Remove the old owner of what is about to be replaced. One that this load has
 * written is not old: earlier versions wrote dumps in any order. */
static hf_status remove_owner(hf__loader *self, const hf__belonging *of,
                              hf_error *err)
{
    hf__load_words words = {.step = HF__LOAD_REMOVE,
                            .script = HF__SCRIPT_COUNT,
                            .key = of->owner,
                            .operation = &hf__op_unlink,
                            .before = {hf_str(""), of->owner},
                            .before_count = 2};

    if ((self->options.flags & HF_LOAD_REPLACE) == 0 ||
        !hf__is_content_role(of->role) ||
        hf__name_set_has(&self->owners, of->owner))
        return HF_OK;
    return hf__load_add(self->batch, &words, NULL, err);
}

/* Before a key is written: what belongs to it must be known to be there. */
static hf_status keep_order(hf__loader *self, bool *belongs, hf_error *err)
{
    hf__belonging of;
    bool fresh;
    hf_status status = HF_OK;

    *belongs = hf__find_belonging(self->key, &of);
    if (*belongs)
        return remove_owner(self, &of, err);
    if (self->batch->belongings)
        status = hf__load_flush(self->batch, err);
    if (status == HF_OK && (self->options.flags & HF_LOAD_REPLACE) != 0)
        status = hf__name_set_add(&self->owners, self->key, &fresh, err);
    return status;
}

/* ------------------------------------------------------------------ steps */

static const char *mode_of(const hf__loader *self)
{
    return (self->options.flags & HF_LOAD_REPLACE) != 0 ? "" : "nx";
}

static hf_status add_string(hf__loader *self, hf_error *err)
{
    hf__load_words words = {.step = HF__LOAD_SET,
                            .script = HF__SCRIPT_COUNT,
                            .key = self->key,
                            .operation = &hf__op_load_set,
                            .before = {hf_str(""), self->key},
                            .before_count = 2};

    if (strcmp(self->expires, "0") != 0) {
        words.behind[words.behind_count++] = hf_str("PXAT");
        words.behind[words.behind_count++] = hf_str(self->expires);
    }
    if (mode_of(self)[0] != '\0')
        words.behind[words.behind_count++] = hf_str("NX");
    return hf__load_add(self->batch, &words, self->elements, err);
}

static hf_status raise_token(hf__loader *self, hf__load_step step, hf_bytes key,
                             hf_error *err)
{
    hf_bytes token = hf_view(hf__buf_front(&self->elements->bytes),
                             hf__buf_size(&self->elements->bytes));
    hf__load_words words = {.step = step,
                            .script = HF__SCRIPT_TOKEN_RAISE,
                            .key_count = 1,
                            .key = self->key,
                            .before = {key, token, hf_str(self->expires)},
                            .before_count = 3};

    return hf__load_add(self->batch, &words, NULL, err);
}

/* A slot's token raises that slot's, or, where there are none, the only one;
 * the token of a whole store those of all slots: the names of the locks that
 * it was issued for are not known. */
static hf_status add_token(hf__loader *self, hf_error *err)
{
    const hf__store *store = self->client->store;
    size_t prefix_size;
    bool has_slot;
    char *name, *end;
    hf_status status;

    (void)hf__own_key_of(self->key, &prefix_size);
    has_slot = self->key.size > prefix_size + sizeof(HF__ROLE_TOKEN) - 1;
    if (has_slot && store->ops->tag != NULL)
        return raise_token(self, HF__LOAD_RAISE, self->key, err);
    name = hf__alloc(prefix_size + HF__TOKEN_KEY_SIZE);
    if (name == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    memcpy(name, self->key.data, prefix_size);
    for (uint32_t shard = 0; shard == 0 || shard < store->shards; shard++) {
        end = hf__own_token_key(store, shard, name + prefix_size);
        status =
            raise_token(self, shard == 0 ? HF__LOAD_RAISE : HF__LOAD_RAISE_MORE,
                        hf_view(name, (size_t)(end - name)), err);
        if (status != HF_OK)
            break;
    }
    hf__free(name);
    return status;
}

static hf_status add_collection(hf__loader *self, hf_error *err)
{
    hf_bytes name;
    char *owned = hf__load_name(self->key, self->mark, &name);
    hf__load_words words = {.step = HF__LOAD_WRITE,
                            .script = HF__SCRIPT_KEY_WRITE,
                            .key_count = 2,
                            .key = self->key,
                            .before = {self->key, name, hf_str(mode_of(self)),
                                       hf_str(hf__dump_type_name(self->type)),
                                       hf_str(self->expires)},
                            .before_count = 5,
                            .swap = self->type == HF__DUMP_ZSET};
    hf_status status;

    if (owned == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    status = hf__load_add(self->batch, &words, self->elements, err);
    hf__free(owned);
    return status;
}

/* Decimal and below 2^53: else it is no token of ours. */
static bool holds_token(const hf__loader *self)
{
    const char *digits = (const char *)hf__buf_front(&self->elements->bytes);
    size_t size = hf__buf_size(&self->elements->bytes);
    uint64_t value = 0;

    if (!hf__is_token(self->key) || self->type != HF__DUMP_STRING ||
        size == 0 || size > 16)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(digits[i] - '0');
    }
    return value < UINT64_C(1) << 53;
}

static hf_status add_build(hf__loader *self, uint64_t at, hf_error *err)
{
    char number[HF__NUMBER_SIZE];
    hf__load_words words = {.step = HF__LOAD_BUILD,
                            .script = HF__SCRIPT_KEY_BUILD,
                            .key_count = 1,
                            .key = self->key,
                            .before = {self->built, hf_str(BUILD_TTL),
                                       hf_str(hf__dump_type_name(self->type)),
                                       hf__number(number, (int64_t)at)},
                            .before_count = 4,
                            .swap = self->type == HF__DUMP_ZSET};

    return hf__load_add(self->batch, &words, self->elements, err);
}

static hf_status add_key_place(hf__loader *self, hf_error *err)
{
    hf__load_words words = {.step = HF__LOAD_PLACE,
                            .script = HF__SCRIPT_KEY_PLACE,
                            .key_count = 2,
                            .key = self->key,
                            .before = {self->built, self->key,
                                       hf_str(mode_of(self)),
                                       hf_str(self->expires)},
                            .before_count = 4};

    return hf__load_add(self->batch, &words, NULL, err);
}

void hf__load_drop_parts(hf__loader *self)
{
    hf_bytes words[] = {hf_str(""), self->built};
    hf__request request;

    if (self->built_owned == NULL)
        return;
    if (hf__run_operation(self->client, &hf__op_unlink, words, 2, &request,
                          NULL) != HF_OK)
        request.status = HF_OK; /* its time to live ends it */
    hf__request_done(&request);
    hf__free(self->built_owned);
    self->built_owned = NULL;
}

/* -------------------------------------------------------------- large keys */

static hf_status check_exists(hf__loader *self, bool *exists, hf_error *err)
{
    hf_bytes words[] = {hf_str(""), self->key};
    hf__request request;
    hf_status status = hf__run_operation(self->client, &hf__op_exists, words, 2,
                                         &request, err);

    *exists = status == HF_OK && hf_reply_integer(&request.reply) == 1;
    hf__request_done(&request);
    return status;
}

static hf_status begin_build(hf__loader *self, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    bool exists = false;
    hf_status status = HF_OK;

    if (mode_of(self)[0] != '\0')
        status = check_exists(self, &exists, err);
    if (status != HF_OK)
        return status;
    if (exists && (self->options.flags & HF_LOAD_SKIP) == 0)
        return hf__fail(err, HF_CONFLICT,
                        "key %s already exists; not overwritten",
                        hf__quoted(quoted, self->key));
    if (exists) {
        self->fate = HF__FATE_EXISTING;
        hf__buf_clear(&self->elements->bytes);
        self->elements->count = 0;
        return HF_OK;
    }
    self->built_owned = hf__load_name(self->key, self->mark, &self->built);
    if (self->built_owned == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    self->built_count = 0;
    return HF_OK;
}

/* Send what has been gathered. */
static hf_status build_step(hf__loader *self, hf_error *err)
{
    size_t count = self->elements->count;
    hf_status status = HF_OK;

    if (self->built_owned == NULL)
        status = begin_build(self, err);
    if (status != HF_OK || self->fate != HF__FATE_LOAD)
        return status;
    if (self->type == HF__DUMP_STRING)
        count = hf__buf_size(&self->elements->bytes);
    status = add_build(self, self->built_count, err);
    self->built_count += count;
    return status;
}

/* A server would copy a growing string again and again: first its last byte,
 * so that it has its length. */
static hf_status build_length(hf__loader *self, size_t total, hf_error *err)
{
    hf_status status = begin_build(self, err);

    if (status != HF_OK || self->fate != HF__FATE_LOAD)
        return status;
    if (!hf__buf_append(&self->elements->bytes, "", 1))
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    self->elements->sizes[0] = 1;
    self->elements->count = 1;
    self->built_count = 0;
    status = add_build(self, 0, err);
    if (status != HF_OK || total <= 1)
        return status;
    if (!hf__buf_append(&self->elements->bytes, "", 1))
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    self->elements->sizes[0] = 1;
    self->elements->count = 1;
    return add_build(self, total - 1, err);
}

static hf_status take_string_piece(hf__loader *self, hf_error *err)
{
    const hf__dump_reader *reader = &self->reader;
    hf_status status = HF_OK;

    if (reader->offset == 0)
        status = build_length(self, reader->total, err);
    if (status != HF_OK || self->fate != HF__FATE_LOAD)
        return status;
    if (!hf__buf_append(&self->elements->bytes, reader->piece.data,
                        reader->piece.size))
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    self->elements->sizes[0] = (uint32_t)reader->piece.size;
    self->elements->count = 1;
    return build_step(self, err);
}

/* ------------------------------------------------------------------- keys */

/* An instant of expiry that has come on the store's clock. */
static bool is_over(const hf__loader *self, int64_t expires_unix_ms)
{
    return expires_unix_ms != 0 &&
           expires_unix_ms <= hf__clock_boot_ms() + self->ahead_ms;
}

static hf_status ask_field_times(hf__loader *self, hf_error *err)
{
    hf_bytes none;
    char *owned = hf__load_name(self->key, self->mark, &none);
    hf_status status;

    if (owned == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    status = hf__transfer_field_times(self->client, &hf__op_hpexpireat, none,
                                      &self->fields_expire, err);
    hf__free(owned);
    self->asked = status == HF_OK;
    return status;
}

/* A store whose fields do not expire would keep them. */
static hf_status check_field_times(hf__loader *self, hf_error *err)
{
    uint32_t flags = self->options.flags;
    char quoted[HF__QUOTED_SIZE];
    hf_status status = HF_OK;

    if (self->type == HF__DUMP_TIMED_HASH && !self->asked)
        status = ask_field_times(self, err);
    if (status != HF_OK || self->type != HF__DUMP_TIMED_HASH ||
        self->fields_expire)
        return status;
    if ((flags & HF_LOAD_DROP_FIELD_TTL) != 0) {
        self->type = HF__DUMP_HASH;
        return HF_OK;
    }
    self->fate = HF__FATE_REFUSED;
    self->so_far.refused++;
    if (self->options.refused != NULL)
        self->options.refused(self->user, self->key,
                              "a hash with fields that expire");
    if ((flags & (HF_LOAD_CHECK | HF_LOAD_CONTINUE)) != 0)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "key %s has fields that expire, and this server has no "
                    "HPEXPIRE; the key was not loaded",
                    hf__quoted(quoted, self->key));
}

static hf_status take_name(hf__loader *self, hf_error *err)
{
    const hf__dump_reader *reader = &self->reader;
    char *copy = hf__memdup(reader->key.data, reader->key.size);

    hf__free((void *)(uintptr_t)self->key.data);
    self->key = hf_view(copy, copy == NULL ? 0 : reader->key.size);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a key of a dump");
    self->type = reader->type;
    self->field_part = 0;
    return HF_OK;
}

/* A fencing token is raised, so that its key exists is no obstacle. */
static hf_status look_up(hf__loader *self, hf_error *err)
{
    uint32_t flags = self->options.flags;
    bool exists = false;
    hf_status status;

    if (is_over(self, self->reader.expires_unix_ms)) {
        self->so_far.expired++;
        return HF_OK;
    }
    if (holds_token(self))
        return HF_OK;
    status = check_exists(self, &exists, err);
    if (!exists)
        return status;
    self->so_far.existing++;
    if ((flags & (HF_LOAD_REPLACE | HF_LOAD_SKIP)) == 0 &&
        self->options.refused != NULL)
        self->options.refused(self->user, self->key, "exists already");
    return HF_OK;
}

/* ---------------------------------------------------------------- functions */

/* One part of the store has them, or has what hinders. */
static hf_status judge_functions(hf__loader *self, hf_status status,
                                 const hf_error *detail)
{
    uint32_t flags = self->options.flags;

    if (status == HF_UNSUPPORTED && (flags & HF_LOAD_CONTINUE) != 0) {
        self->fate = HF__FATE_REFUSED;
        return HF_OK;
    }
    if (status != HF_OK && strstr(detail->message, "already exists") != NULL) {
        self->fate = HF__FATE_EXISTING;
        return (flags & HF_LOAD_SKIP) != 0 ? HF_OK : HF_CONFLICT;
    }
    return status;
}

/* `have` of `total` parts have them. */
static hf_status fail_functions(hf_status status, const hf_error *detail,
                                size_t have, size_t total, hf_error *err)
{
    if (have == 0)
        return hf__fail(err, status,
                        "libraries of functions: %s; nothing of the dump was "
                        "loaded",
                        detail->message);
    return hf__fail(err, status,
                    "libraries of functions: %s; %zu of %zu servers have them "
                    "now, and no key was loaded",
                    detail->message, have, total);
}

/* All libraries in one step, or none, in each part. */
static hf_status load_functions(hf__loader *self, hf_error *err)
{
    bool replace = (self->options.flags & HF_LOAD_REPLACE) != 0;
    hf_bytes words[] = {hf_str(""), hf_str("RESTORE"),
                        hf_view(hf__buf_front(&self->elements->bytes),
                                hf__buf_size(&self->elements->bytes)),
                        hf_str(replace ? "REPLACE" : "APPEND")};
    hf_error detail = HF_ERROR_INIT;
    hf__key_walk walk; /* for its parts */
    size_t have = 0;
    hf_status status;

    hf__key_walk_begin(&walk, hf_view(NULL, 0));
    status = hf__key_walk_start(&walk, self->client, err);
    for (size_t i = 0; status == HF_OK && (i == 0 || i < walk.parts.count);
         i++) {
        hf__request request;

        hf__operation_request(&request, &hf__op_function_restore, words, 4);
        request.part = walk.parts.count > 0 ? walk.parts.ids[i] : 0;
        status = hf__run(self->client, &request, INT64_MAX, &detail);
        have += status == HF_OK;
        status = judge_functions(self, status, &detail);
        if (status != HF_OK)
            (void)fail_functions(status, &detail, have, walk.parts.count, err);
        hf__request_done(&request);
    }
    hf__key_walk_done(&walk);
    self->so_far.existing += self->fate == HF__FATE_EXISTING;
    self->so_far.refused += self->fate == HF__FATE_REFUSED;
    self->so_far.keys += self->fate == HF__FATE_LOAD && status == HF_OK;
    if (self->fate == HF__FATE_REFUSED && self->options.refused != NULL)
        self->options.refused(self->user, self->key, "functions");
    return status;
}

hf_status hf__load_key_check(hf__loader *self, hf_error *err)
{
    uint64_t refused = self->so_far.refused;
    hf_status status = take_name(self, err);

    if (status == HF_OK)
        status = check_field_times(self, err);
    if (status == HF_OK && (self->options.flags & HF_LOAD_LOOK_UP) != 0 &&
        self->type != HF__DUMP_FUNCTIONS && self->so_far.refused == refused)
        status = look_up(self, err);
    return status;
}

hf_status hf__load_key(hf__loader *self, hf_error *err)
{
    const hf__dump_reader *reader = &self->reader;
    hf_status status = take_name(self, err);

    if (status != HF_OK)
        return status;
    hf__number(self->expires, reader->expires_unix_ms);
    self->fate = is_over(self, reader->expires_unix_ms) ? HF__FATE_EXPIRED
                                                        : HF__FATE_LOAD;
    hf__buf_clear(&self->elements->bytes);
    self->elements->count = 0;
    if (self->fate != HF__FATE_LOAD)
        return HF_OK;
    return check_field_times(self, err);
}

static void drop_elements(hf__load_elements *elements, size_t count)
{
    for (; count > 0; count--)
        elements->bytes.end -= elements->sizes[--elements->count];
}

/* A field with its value and deadline is whole: drop it if its time is over,
 * and its deadline if the store has none. */
static void end_element(hf__loader *self)
{
    size_t size = hf__dump_group(self->type);

    if (self->reader.type != HF__DUMP_TIMED_HASH || ++self->field_part < 3)
        return;
    self->field_part = 0;
    drop_elements(self->elements, 3 - size);
    if (is_over(self, self->reader.deadline_unix_ms))
        drop_elements(self->elements, size);
}

static bool is_full(const hf__loader *self)
{
    const hf__load_elements *elements = self->elements;

    return self->field_part == 0 &&
           elements->count % hf__dump_group(self->type) == 0 &&
           (elements->count >= HF__LOAD_STEP_ELEMENTS ||
            hf__buf_size(&elements->bytes) >= HF__LOAD_STEP_BYTES);
}

hf_status hf__load_piece(hf__loader *self, hf_error *err)
{
    const hf__dump_reader *reader = &self->reader;
    hf__load_elements *elements = self->elements;
    bool local = (self->client->store->capabilities & HF__CAP_LOCAL) != 0;

    if (self->fate != HF__FATE_LOAD)
        return HF_OK;
    if (self->type == HF__DUMP_STRING && !local &&
        reader->total > HF__LOAD_STEP_BYTES)
        return take_string_piece(self, err);
    /* What was gathered is sent as soon as more comes, not before: it may be
     * all. */
    if (reader->offset == 0 && is_full(self)) {
        hf_status status = build_step(self, err);

        if (status != HF_OK || self->fate != HF__FATE_LOAD)
            return status;
    }
    if (!hf__buf_append(&elements->bytes, reader->piece.data,
                        reader->piece.size))
        return hf__fail(err, HF_NO_MEMORY, "an element of %zu bytes",
                        reader->total);
    if (reader->offset + reader->piece.size < reader->total)
        return HF_OK;
    elements->sizes[elements->count++] = (uint32_t)reader->total;
    end_element(self);
    return HF_OK;
}

static hf_status finish_key(hf__loader *self, hf_error *err)
{
    hf_status status = HF_OK;

    if (self->elements->count > 0)
        status = build_step(self, err);
    /* Only what is known to be whole gets its name. */
    if (status == HF_OK)
        status = hf__load_flush(self->batch, err);
    if (status == HF_OK)
        status = add_key_place(self, err);
    if (status == HF_OK)
        status = hf__load_flush(self->batch, err);
    if (status == HF_OK) {
        hf__free(self->built_owned);
        self->built_owned = NULL;
    }
    return status;
}

static hf_status write_key(hf__loader *self, hf_error *err)
{
    if (self->built_owned != NULL)
        return finish_key(self, err);
    if (holds_token(self))
        return add_token(self, err);
    if (self->type == HF__DUMP_STRING)
        return add_string(self, err);
    return add_collection(self, err);
}

hf_status hf__load_key_end(hf__loader *self, hf_error *err)
{
    bool belongs;
    hf_status status;

    switch (self->fate) {
    case HF__FATE_EXPIRED:
        self->so_far.expired++;
        return HF_OK;
    case HF__FATE_EXISTING:
        self->so_far.existing++;
        return HF_OK;
    case HF__FATE_REFUSED:
        return HF_OK;
    case HF__FATE_LOAD:
        break;
    }
    if (self->built_owned == NULL &&
        self->elements->count == 0) { /* all its fields have expired */
        self->so_far.expired++;
        return HF_OK;
    }
    if (self->type == HF__DUMP_FUNCTIONS)
        return load_functions(self, err);
    status = keep_order(self, &belongs, err);
    if (status == HF_OK)
        status = write_key(self, err);
    if (belongs && self->batch->count > 0)
        self->batch->belongings = true;
    return status;
}

/* The dump's source could not read it whole; it may come again. */
hf_status hf__load_key_drop(hf__loader *self, hf_error *err)
{
    hf_status status = hf__load_flush(self->batch, err);

    hf__load_drop_parts(self);
    return status;
}
