/* SPDX-License-Identifier: Apache-2.0 */
/*
 * article_2_cas.c - compare and set, of a value and of a field of a hash:
 * 1 does not become 3 if 2 is expected, and becomes 4 if 1 is.
 *
 *     ./article_2_cas [STORE]
 */
#include "example.h"

/* Change the value if it is `expected`, and say what happened. */
static void change_value(hf_client *client, const char *expected,
                         const char *value)
{
    hf_bytes old = hf_str(expected);
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_value_cas(client, hf_str("test:String:cas"), &old,
                                    hf_str(value), NULL, &current, &err);

    if (status == HF_CONFLICT) {
        printf("value: not %s, it is %s\n", expected,
               (const char *)current.data);
    } else {
        need(status, &err);
        printf("value: %s became %s\n", expected, value);
    }
    hf_buffer_free(&current);
}

/* The same for a field. */
static void change_field(hf_client *client, const char *expected,
                         const char *value)
{
    hf_bytes old = hf_str(expected);
    hf_buffer current = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_status status =
        hf_hash_cas(client, hf_str("test:Hash:cas"), hf_str("testField"), &old,
                    hf_str(value), NULL, &current, &err);

    if (status == HF_CONFLICT) {
        printf("field: not %s, it is %s\n", expected,
               (const char *)current.data);
    } else {
        need(status, &err);
        printf("field: %s became %s\n", expected, value);
    }
    hf_buffer_free(&current);
}

int main(int argc, char **argv)
{
    hf_client *client = open_store(argc, argv);
    hf_field field = {hf_str("testField"), hf_str("1")};
    hf_error err = HF_ERROR_INIT;

    need(hf_value_set(client, hf_str("test:String:cas"), hf_str("1"), NULL,
                      NULL, &err),
         &err);
    need(hf_hash_put(client, hf_str("test:Hash:cas"), &field, 1, NULL, &err),
         &err);
    change_value(client, "2", "3");
    change_value(client, "1", "4");
    change_field(client, "2", "3");
    change_field(client, "1", "4");
    hf_client_close(client);
}
