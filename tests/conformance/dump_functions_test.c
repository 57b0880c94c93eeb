/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_functions_test.c - libraries of functions in a dump.
 */
#include <stdlib.h>

#include "holdfast/command.h"
#include "holdfast/store.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define LIBRARY                                                                \
    "#!lua name=dumped\n"                                                      \
    "redis.register_function('dumped_f', function() return 7 end)"

static hf_status call(hf_client *client, hf_reply **reply,
                      const char *const *at)
{
    hf_bytes words[8];
    size_t count = 0;

    for (; at[count] != NULL; count++)
        words[count] = hf_str(at[count]);
    return hf_command(client, count, words, reply, ERR);
}
#define CALL(client, reply, ...)                                               \
    call(client, reply, (const char *const[]){__VA_ARGS__, NULL})

/* false: the server has no functions. */
static bool make_library(hf_client *client)
{
    hf_reply *reply = NULL;
    hf_status status =
        CALL(client, &reply, "FUNCTION", "LOAD", "REPLACE", LIBRARY);

    hf_reply_free(reply);
    if (status != HF_UNSUPPORTED)
        expect_status(HF_OK, status);
    return status == HF_OK;
}

static void delete_library(hf_client *client)
{
    hf_reply *reply = NULL;

    expect_status(HF_OK, CALL(client, &reply, "FUNCTION", "DELETE", "dumped"));
    hf_reply_free(reply);
}

static void expect_function(hf_client *client)
{
    hf_reply *reply = NULL;

    expect_status(HF_OK, CALL(client, &reply, "FCALL", "dumped_f", "0"));
    assert_int_equal(hf_reply_integer(reply), 7);
    hf_reply_free(reply);
}

static void load(hf_status want, hf_client *client, dump_tape *tape,
                 uint32_t flags, hf_store_transfer *result)
{
    hf_store_load_options options = HF_STORE_LOAD_OPTIONS_INIT;

    options.flags = flags;
    tape->at = 0;
    expect_status(want, hf_store_load(client, &options, dump_tape_take, tape,
                                      result, ERR));
}

TEST(dump_moves_functions_to_another_store)
{
    fixture *f = *state;
    hf_client *here = fixture_client(f, NULL);
    hf_client *there = fixture_elsewhere(f, "there", NULL);
    hf_store_dump_options options = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape tape = {.data = NULL}, part = {.data = NULL};

    if (!make_library(here))
        return;
    expect_status(
        HF_OK, hf_store_dump(here, NULL, dump_tape_put, &tape, &result, ERR));
    assert_int_equal(result.keys, 1);
    options.pattern = hf_str("*");
    expect_status(HF_OK, hf_store_dump(here, &options, dump_tape_put, &part,
                                       &result, ERR));
    assert_int_equal(result.keys, 0);
    delete_library(here);
    load(HF_OK, there, &tape, HF_LOAD_CHECK | HF_LOAD_LOOK_UP, &result);
    load(HF_OK, there, &tape, 0, &result);
    assert_int_equal(result.keys, 1);
    expect_function(there);
    load(HF_CONFLICT, there, &tape, 0, &result);
    load(HF_OK, there, &tape, HF_LOAD_SKIP, &result);
    assert_int_equal(result.existing, 1);
    load(HF_OK, there, &tape, HF_LOAD_REPLACE, &result);
    assert_int_equal(result.keys, 1);
    delete_library(there);
    free(tape.data);
    free(part.data);
}
