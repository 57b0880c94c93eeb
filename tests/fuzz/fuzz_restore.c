/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_restore.c - any value for RESTORE, with the checksum that it needs, on a
 * store on disk: it is refused, or the store keeps it (support/kept.h).
 */
#include <string.h>

#include "engine/keys/rdb.h"
#include "fuzz.h"
#include "holdfast/command.h"
#include "kept_stores.h"
#include "support/rdb_forms.h"

#define VALUE_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kept *stores;
    static unsigned char value[VALUE_MAX + HF__RDB_TAIL];
    hf_bytes words[] = {hf_str("restore"), hf_str("k"), hf_str("0"),
                        hf_view(value, 0), hf_str("replace")};

    if (size < 1 || size > VALUE_MAX)
        return 0;
    if (stores == NULL)
        stores = kept_stores_open("file");
    memcpy(value, data, size);
    words[3].size = rdb_put_tail(value, size, HF__RDB_VERSION_DEADLINES);
    if (hf_command(stores->client, 5, words, NULL, NULL) == HF_OK)
        kept_stores_check(stores, true);
    return 0;
}
