/* SPDX-License-Identifier: Apache-2.0 */
/* open_env.c - see open_env.h. */
#include "open_env.h"

#include "embedded_store.h"
#include "engine/files/header.h"

#define OPEN_MS (INT64_C(10000) * SLOWER)

hf__env *open_env(const char *text)
{
    int64_t deadline_ms = hf__clock_boot_ms() + OPEN_MS;
    hf__settings settings = {0};
    hf__env *env = NULL;
    hf__url url;

    assert_int_equal(hf__url_parse(text, &url, NULL), HF_OK);
    assert_int_equal(hf__settings_read(&url, &settings, NULL), HF_OK);
    hf__url_done(&url);
    assert_int_equal(hf__env_open(&settings, &deadline_ms, &env, NULL), HF_OK);
    return env;
}

void expect_format(const char *url, uint32_t version)
{
    hf__env *env = open_env(url);
    hf__header header;
    MDB_txn *txn;

    assert_int_equal(mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn), 0);
    assert_int_equal(hf__header_get(txn, env->dbi, &header), 0);
    mdb_txn_abort(txn);
    hf__env_unref(env);
    assert_int_equal(header.version, version);
}
