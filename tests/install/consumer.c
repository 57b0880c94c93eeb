/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consumer.c - another project's program: it locks, counts and unlocks on an
 * embedded store in the directory it is given. Exit 0: all of it worked.
 */
#include <holdfast.h>
#include <stdio.h>

static int use(hf_client *client, hf_error *err)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_lock *lock = NULL;
    int good;

    if (hf_lock_new(client, hf_str("lock"), NULL, &lock, err) != HF_OK) {
        return 1;
    }
    good = hf_lock_acquire(lock, 1000, err) == HF_OK &&
           hf_value_set(client, hf_str("key"), hf_str("value"), NULL, NULL,
                        err) == HF_OK &&
           hf_value_get(client, hf_str("key"), &value, err) == HF_OK &&
           value.size == 5 && hf_lock_release(lock, err) == HF_OK;
    hf_buffer_free(&value);
    hf_lock_free(lock);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    int status;

    if (argc != 2) {
        return 2;
    }
    if (hf_client_open(argv[1], NULL, &client, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    status = use(client, &err);
    hf_client_close(client);
    if (status != 0) {
        fprintf(stderr, "%s: %s\n", hf_status_name(err.status), err.message);
    }
    return status;
}
