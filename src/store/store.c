/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - what all drivers name in the same way.
 */
#include "store/store.h"

#include <stdio.h>

void hf__store_channel(char channel[HF__CHANNEL_SIZE], const char *prefix,
                       const char *id)
{
    snprintf(channel, HF__CHANNEL_SIZE, "%.*s" HF__CHANNEL_ROLE "%.*s",
             HF__PREFIX_MAX, prefix == NULL ? "" : prefix,
             HF__STORE_ID_SIZE - 1, id);
}
