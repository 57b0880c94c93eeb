/* SPDX-License-Identifier: Apache-2.0 */
/* open_env.c - see open_env.h. */
#include "open_env.h"

#include "embedded_store.h"

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
