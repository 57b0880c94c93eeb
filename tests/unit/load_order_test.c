/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_order_test.c - dumps in which a key comes before what belongs to it, as
 * earlier versions wrote them: the same is loaded.
 */
#include <stdlib.h>

#include "embedded_store.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "support/dump_tape.h"
#include "support/test.h"
#include "transfer/dump_writer.h"

typedef struct row {
    const char *key;
    hf__dump_type type;
    const char *elements[2]; /* the second: NULL if it is a string */
} row;

/* The key of a timeline is amid what belongs to it. */
static const row rows[] = {
    {"hf:items:{t}", HF__DUMP_HASH, {"id", "text"}},
    {"t", HF__DUMP_ZSET, {"id", "1000"}},
    {"plain", HF__DUMP_STRING, {"v"}},
    {"hf:due:{t}", HF__DUMP_ZSET, {"id", "4000000000000"}},
    {"hf:order:{t}", HF__DUMP_ZSET, {"\1", "0"}},
    {"f", HF__DUMP_STRING, {"v"}},
    {"hf:fence:{f}", HF__DUMP_STRING, {"9"}},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void write_rows(dump_tape *to)
{
    hf__dump_writer writer = {.write = dump_tape_put, .user = to};

    assert_int_equal(hf__dump_writer_begin(&writer, 1000, NULL), HF_OK);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        assert_int_equal(hf__dump_writer_key(&writer, rows[i].type, 0,
                                             hf_str(rows[i].key), NULL),
                         HF_OK);
        for (size_t k = 0; k < 2 && rows[i].elements[k] != NULL; k++)
            assert_int_equal(hf__dump_writer_element(
                                 &writer, hf_str(rows[i].elements[k]), NULL),
                             HF_OK);
        assert_int_equal(hf__dump_writer_key_end(&writer, NULL), HF_OK);
    }
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    hf__dump_writer_done(&writer);
}

static void load_rows(hf_client *client, dump_tape *from, uint32_t flags)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;

    from->at = 0;
    opts.flags = flags;
    assert_int_equal(
        hf_store_load(client, &opts, dump_tape_take, from, &result, NULL),
        HF_OK);
    assert_int_equal(result.keys, ROW_COUNT);
    assert_int_equal(
        hf_timeline_get(client, hf_str("t"), hf_str("id"), &items, NULL),
        HF_OK);
    assert_int_equal(items.count, 1);
    hf_timeline_items_free(&items);
}

TEST(dump_of_another_order_is_loaded)
{
    dump_tape dump = {.size = 0};
    hf_client *client = NULL;
    place at;

    make_place(&at, "volatile", "");
    assert_int_equal(hf_client_open(at.url, NULL, &client, NULL), HF_OK);
    write_rows(&dump);
    load_rows(client, &dump, 0);
    load_rows(client, &dump, HF_LOAD_REPLACE);
    hf_client_close(client);
    remove_place(&at);
    free(dump.data);
}
