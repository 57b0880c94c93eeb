/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_4_set.c - SET with an expiry, as a cache and as a lock. The article's
 * lock is a value that is set if it is absent; DEL releases it, even if it has
 * meanwhile expired and is another's. hf_lock does not have that fault.
 *
 *     ./article_4_set [STORE]
 */
#include "example.h"

static void use_cache(hf_client *client)
{
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;

    opts.ttl_ms = 5000;
    need(
        hf_value_set(client, hf_str("key"), hf_str("value"), &opts, NULL, &err),
        &err);
    need(hf_value_get(client, hf_str("key"), &value, &err), &err);
    printf("cached: %s\n", (const char *)value.data);
    hf_buffer_free(&value);
}

static void use_lock(hf_client *client)
{
    hf_value_set_options absent = HF_VALUE_SET_OPTIONS_INIT;
    hf_lock *lock = NULL;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    need(hf_lock_new(client, hf_str("test-lock"), NULL, &lock, &err), &err);
    need(hf_lock_acquire(lock, 0, &err), &err);

    /* A program that still locks as the article does is kept out. */
    absent.ttl_ms = 5000;
    absent.flags = HF_SET_NX;
    status = hf_value_set(client, hf_str("test-lock"), hf_str("me"), &absent,
                          NULL, &err);
    printf("SET NX under our lock: %s\n", hf_status_name(status));

    need(hf_lock_release(lock, &err), &err);
    need(hf_value_set(client, hf_str("test-lock"), hf_str("me"), &absent, NULL,
                      &err),
         &err);
    printf("our lock under its lock: %s\n",
           hf_status_name(hf_lock_try(lock, &err)));
    need(hf_value_delete(client, hf_str("test-lock"), &err), &err);
    hf_lock_free(lock);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);

    use_cache(client);
    use_lock(client);
    hf_client_close(client);
}
