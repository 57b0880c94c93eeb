/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.c - what is around the C fragments of the documents. */
#include <holdfast.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static void work(uint64_t token)
{
    printf("working with token %llu\n", (unsigned long long)token);
}

int main(void)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = HF_OK;
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    hf_buffer value = HF_BUFFER_INIT;
    hf_buffer current = HF_BUFFER_INIT;

    if (hf_client_open(NULL, NULL, &client, &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    /* the fragment */
    work(0);
    hf_lock_free(lock);
    hf_buffer_free(&value);
    hf_buffer_free(&current);
    hf_client_close(client);
    return 0;
}
