/* SPDX-License-Identifier: Apache-2.0 */
/* about.c - see about.h. */
#include "http/about.h"

#include <stdio.h>
#include <string.h>

#include "http/query_reply.h"

void about_commands(hf_bytes name, hf_bytes words[ABOUT_WORDS],
                    hf_command_item items[ABOUT_COMMANDS])
{
    const hf_bytes all[ABOUT_WORDS] = {
        WORD("type"),   name,          WORD("pttl"), name,
        WORD("memory"), WORD("usage"), name};

    memcpy(words, all, sizeof(all));
    items[0] = (hf_command_item){2, words};
    items[1] = (hf_command_item){2, words + 2};
    items[2] = (hf_command_item){3, words + 4};
}

void about_read(hf_reply **replies, struct about *about)
{
    bool has_type = hf_reply_type(replies[0]) == HF_REPLY_STATUS;
    hf_bytes type = has_type ? hf_reply_bytes(replies[0]) : hf_str("");
    hf_reply_kind kind = hf_reply_type(replies[2]);

    (void)snprintf(about->type, sizeof(about->type), "%.*s", (int)type.size,
                   (const char *)type.data);
    about->ttl_ms = hf_reply_type(replies[1]) == HF_REPLY_INTEGER
                        ? hf_reply_integer(replies[1])
                        : -1;
    about->size = kind == HF_REPLY_INTEGER ? hf_reply_integer(replies[2]) : -1;
    for (int i = 0; i < ABOUT_COMMANDS; i++)
        hf_reply_free(replies[i]);
}

void about_json(struct json *json, const struct about *about)
{
    json_text(json, "type", about->type);
    json_known(json, "ttl_ms", about->ttl_ms);
    json_known(json, "size", about->size);
}
