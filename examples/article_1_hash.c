/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_1_hash.c - write the fields of a hash and its expiry in one step.
 * The article does it by a script, a transaction, or a placeholder field.
 *
 *     ./article_1_hash [STORE]
 */
#include <inttypes.h>

#include "example.h"

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    hf_bytes key = hf_str("key");
    const hf_field fields[] = {{hf_str("field1"), hf_str("value1")},
                               {hf_str("field2"), hf_str("value2")}};
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_fields found = HF_FIELDS_INIT;
    hf_error err = HF_ERROR_INIT;
    int64_t ttl_ms;

    opts.ttl_ms = 1000 * 1000;
    need(hf_hash_put(client, key, fields, 2, &opts, &err), &err);

    need(hf_hash_get_all(client, key, &found, &err), &err);
    for (size_t i = 0; i < found.count; i++)
        printf("%.*s = %.*s\n", (int)found.items[i].name.size,
               (const char *)found.items[i].name.data,
               (int)found.items[i].value.size,
               (const char *)found.items[i].value.data);
    hf_fields_free(&found);

    need(hf_key_ttl(client, key, &ttl_ms, &err), &err);
    printf("expires in %" PRId64 " s\n", (ttl_ms + 999) / 1000);
    hf_client_close(client);
}
