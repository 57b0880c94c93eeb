/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_load.c - any bytes as a dump, loaded into a volatile store: what is
 * loaded, the store keeps (support/kept.h), and HF_LOAD_CHECK says beforehand
 * whether the dump is damaged.
 *
 * The first byte chooses the flags of the load, whether keys of the same names
 * exist, and how much is checked. If its high bit is set, the rest is the
 * records of a dump (dump_frame.h), otherwise the dump itself.
 */
#include "dump_frame.h"
#include "fuzz.h"
#include "holdfast/command.h"
#include "holdfast/store.h"
#include "kept_stores.h"
#include "support/dump_tape.h"

static kept *stores;

/* Part of what the store holds before a load, if the flags are about keys that
 * exist. */
static void put_existing(void)
{
    static const char *const names[] = {"k", "h", "l", "s", "z"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        hf_bytes words[] = {hf_str("rpush"), hf_str(names[i]), hf_str("x")};

        PROMISE(hf_command(stores->client, 3, words, NULL, NULL) == HF_OK);
    }
}

static hf_status load(dump_tape *tape, uint32_t flags, uint64_t *keys)
{
    hf_store_load_options options = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer done = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    tape->at = 0;
    options.flags = flags;
    status = hf_store_load(stores->client, &options, dump_tape_take, tape,
                           &done, &err);
    PROMISE(status == HF_OK || err.message[0] != '\0');
    PROMISE(done.bytes <= tape->size);
    *keys = done.keys;
    return status;
}

/* Statuses of a dump that is itself good. */
static bool is_good(hf_status status)
{
    return status == HF_OK || status == HF_UNSUPPORTED;
}

static void load_and_check(dump_tape *tape, uint32_t flags, bool whole)
{
    uint64_t keys, checked;
    hf_status check = load(tape, HF_LOAD_CHECK, &checked);
    hf_status status = load(tape, flags, &keys);

    PROMISE(check == HF_OK || status != HF_OK);
    PROMISE(!is_good(check) || status != HF_CORRUPT);
    PROMISE(keys <= checked || !is_good(check));
    if (keys > 0 || flags != 0)
        kept_stores_check(stores, whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t flags[] = {0, HF_LOAD_REPLACE, HF_LOAD_SKIP, 0};
    static unsigned char framed[DUMP_FRAME_MAX];
    dump_tape tape = {0};
    unsigned choice;

    if (size < 1)
        return 0;
    if (stores == NULL)
        stores = kept_stores_open("volatile");
    choice = data[0];
    tape.data = (unsigned char *)(uintptr_t)(data + 1);
    tape.size = size - 1;
    if (choice & 0x80) {
        tape.size = dump_frame(framed, data + 1, size - 1);
        tape.data = framed;
    }
    kept_stores_empty(stores);
    if (choice & 4)
        put_existing();
    load_and_check(&tape, flags[choice % 4], KEPT_STORES_WHOLE(choice));
    return 0;
}
