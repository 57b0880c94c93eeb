/* SPDX-License-Identifier: Apache-2.0 */
/* example.h - what every example does the same way: end on an error. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <holdfast.h>
#include <stdio.h>
#include <stdlib.h>

/* End the program unless the call succeeded. */
static inline void need(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "%s: %s\n", hf_status_name(status), err->message);
    exit(1);
}

/* The same, for a loop that cannot dispatch a client. */
static inline void end_program(void *unused, hf_status status,
                               const hf_error *err)
{
    (void)unused;
    need(status, err);
}

/* Open the store of the first argument; without one, $HOLDFAST_STORE. */
static inline hf_client *open_store(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    need(hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err), &err);
    return client;
}

#endif
