/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - hf_store_load(): reads a dump, hands what it tells to load_key.c,
 * and sees to it that a load that fails leaves whole keys only.
 */
#include "transfer/load.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rand.h"

#define FLAGS                                                                  \
    (HF_LOAD_REPLACE | HF_LOAD_SKIP | HF_LOAD_CHECK | HF_LOAD_DROP_FIELD_TTL | \
     HF_LOAD_CONTINUE | HF_LOAD_LOOK_UP)

static void tell_progress(hf__loader *self)
{
    self->so_far.bytes = self->reader.bytes;
    if (self->options.progress != NULL)
        self->options.progress(self->user, &self->so_far);
}

static hf_status take_event(hf__loader *self, hf__dump_event event,
                            hf_error *err)
{
    if ((self->options.flags & HF_LOAD_CHECK) != 0)
        return event == HF__DUMP_AT_KEY ? hf__load_key_check(self, err) : HF_OK;
    switch (event) {
    case HF__DUMP_AT_KEY:
        return hf__load_key(self, err);
    case HF__DUMP_AT_PIECE:
        return hf__load_piece(self, err);
    case HF__DUMP_AT_KEY_END:
        return hf__load_key_end(self, err);
    case HF__DUMP_AT_DROP:
        return hf__load_key_drop(self, err);
    case HF__DUMP_AT_END:
        break;
    }
    return hf__load_flush(self->batch, err);
}

static hf_status load_all(hf__loader *self, hf_error *err)
{
    uint64_t told = 0;
    hf__dump_event event = HF__DUMP_AT_KEY;
    hf_status status = HF_OK;

    while (status == HF_OK && event != HF__DUMP_AT_END) {
        status = hf__dump_reader_next(&self->reader, &event, err);
        if (status == HF_OK)
            status = take_event(self, event, err);
        if (self->reader.bytes - told >= HF__LOAD_STEP_BYTES) {
            told = self->reader.bytes;
            tell_progress(self);
        }
    }
    if ((self->options.flags & HF_LOAD_CHECK) != 0)
        self->so_far.keys = self->reader.keys;
    self->so_far.complete = status == HF_OK;
    self->so_far.left_out = self->reader.left_out;
    self->so_far.changed = self->reader.changed;
    return status;
}

/* What is left of a load that failed. The keys that were whole are loaded. */
static void give_up(hf__loader *self)
{
    if (self->batch->count > 0)
        (void)hf__load_flush(self->batch, NULL);
    hf__load_drop_parts(self);
}

static hf_status prepare_load(hf__loader *self, hf_error *err)
{
    int64_t unix_ms = 0;
    hf_status status = HF_OK;

    self->batch = hf__calloc(1, sizeof(*self->batch));
    self->elements = hf__calloc(1, sizeof(*self->elements));
    if (self->batch == NULL || self->elements == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a load");
    self->batch->client = self->client;
    self->batch->so_far = &self->so_far;
    self->batch->flags = self->options.flags;
    hf__buf_init(&self->elements->bytes,
                 (size_t)HF_VALUE_MAX + HF__LOAD_STEP_BYTES);
    hf__rand_hex(self->mark, (HF__LOAD_MARK_SIZE - 1) / 2);
    if ((self->options.flags & (HF_LOAD_CHECK | HF_LOAD_LOOK_UP)) !=
        HF_LOAD_CHECK)
        status = hf__store_unix_ms(self->client, &unix_ms, err);
    self->ahead_ms = unix_ms - hf__clock_boot_ms();
    return status;
}

static hf_status run_load(hf__loader *self, hf_error *err)
{
    hf_status status = prepare_load(self, err);

    if (status == HF_OK)
        status = hf__dump_reader_begin(&self->reader, err);
    if (status == HF_OK)
        status = load_all(self, err);
    if (status != HF_OK && self->batch != NULL && self->elements != NULL)
        give_up(self);
    tell_progress(self);
    return status;
}

static void free_loader(hf__loader *self)
{
    hf__dump_reader_done(&self->reader);
    hf__name_set_done(&self->owners);
    if (self->elements != NULL)
        hf__buf_done(&self->elements->bytes);
    hf__free(self->elements);
    hf__free(self->batch);
    hf__free((void *)(uintptr_t)self->key.data);
}

static hf_status load_options(hf_store_load_options *options,
                              const hf_store_load_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_store_load_options", err);

    if (status != HF_OK)
        return status;
    if ((options->flags & ~(uint32_t)FLAGS) != 0 || options->reserved0 != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "hf_store_load_options: unknown flag 0x%x",
                        (unsigned)options->flags);
    if ((options->flags & HF_LOAD_LOOK_UP) != 0 &&
        (options->flags & HF_LOAD_CHECK) == 0)
        return hf__fail(err, HF_INVALID,
                        "HF_LOAD_LOOK_UP without HF_LOAD_CHECK");
    if ((options->flags & HF_LOAD_REPLACE) != 0 &&
        (options->flags & HF_LOAD_SKIP) != 0)
        return hf__fail(err, HF_INVALID,
                        "HF_LOAD_REPLACE and HF_LOAD_SKIP exclude each other");
    return HF_OK;
}

/* The end was reached. */
static hf_status sum_up(const hf_store_transfer *so_far, hf_error *err)
{
    if (so_far->refused > 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "%llu keys have fields that expire, or are functions, "
                        "which this server has not",
                        (unsigned long long)so_far->refused);
    if (so_far->left_out > 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the dump is not complete: %llu keys of its source "
                        "were left out",
                        (unsigned long long)so_far->left_out);
    return HF_OK;
}

hf_status hf_store_load(hf_client *client, const hf_store_load_options *opts,
                        hf_store_read_fn read, void *user,
                        hf_store_transfer *result, hf_error *err)
{
    hf__loader self = {.client = client, .user = user};
    hf__visit visit;
    hf_status status = hf__transfer_check(client, result, err);

    if (status == HF_OK && read == NULL)
        status = hf__fail(err, HF_INVALID, "read is NULL");
    if (status == HF_OK)
        status = load_options(&self.options, opts, err);
    if (status == HF_OK)
        status = hf__client_visit(client, &visit, err);
    if (status != HF_OK)
        return status;
    self.reader.read = read;
    self.reader.user = user;
    status = run_load(&self, err);
    if (status == HF_OK)
        status = sum_up(&self.so_far, err);
    free_loader(&self);
    hf__client_visit_end(client, &visit);
    hf__transfer_give(&self.so_far, result);
    return status;
}
