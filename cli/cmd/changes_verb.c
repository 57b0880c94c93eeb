/* SPDX-License-Identifier: Apache-2.0 */
/* changes_verb.c - holdfast value changes. */
#include "changes_verb.h"

#include <inttypes.h>
#include <stdio.h>

#include "exit.h"
#include "holdfast/value.h"
#include "json_line.h"
#include "output.h"

/* `key` NULL: a gap. */
static void print_line(const struct call *call, const hf_bytes *key,
                       uint64_t revision)
{
    struct json json;
    char text[24];

    if (call->json) {
        json_begin(&json, stdout);
        if (key != NULL)
            json_bytes(&json, "key", *key);
        else
            json_null(&json, "key");
        json_integer(&json, "revision", (int64_t)revision);
        json_end(&json);
        return;
    }
    (void)snprintf(text, sizeof(text), "%" PRIu64, revision);
    out_words(text, key != NULL ? *key : hf_view(NULL, 0));
}

int value_changes(struct call *call)
{
    const struct options *given = call->options;
    int64_t wait_ms =
        given->given[OPT_WAIT] ? given->number[OPT_WAIT] : HF_FOREVER;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_error err = HF_ERROR_INIT;
    int64_t after = 0;
    hf_status status;

    if (given->operand_count > 1 &&
        !call_count(call, 1, "AFTER", 0, (INT64_C(1) << 53) - 1, &after))
        return EXIT_USAGE;
    status = hf_value_changes_after(call->client, call_operand(call, 0),
                                    (uint64_t)after, wait_ms, &changes, &err);
    if (status != HF_OK)
        return call_failed(call, status, &err);
    if (changes.gap)
        print_line(call, NULL,
                   changes.count > 0 ? changes.items[0].revision - 1
                                     : changes.revision);
    for (size_t i = 0; i < changes.count; i++)
        print_line(call, &changes.items[i].key, changes.items[i].revision);
    hf_value_changes_free(&changes);
    return EXIT_YES;
}
