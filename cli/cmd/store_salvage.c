/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_salvage.c - holdfast store salvage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/store_verbs.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/store.h"
#include "json_line.h"

/* Room for a URL made of a path. */
#define URL_SIZE 4200

/* A path is short for the store on disk in that folder. */
static bool url_of(const struct call *call, int index, char url[URL_SIZE])
{
    const char *text = call->options->operands[index];
    int size = snprintf(url, URL_SIZE, "%s%s",
                        strchr(text, ':') == NULL ? "file:" : "", text);

    return size < URL_SIZE;
}

static void put_lost_json(void *user, hf_bytes key, const char *why)
{
    struct json *json = user;

    json_open(json, NULL, '{');
    if (key.data != NULL)
        json_bytes(json, "key", key);
    json_text(json, "why", why);
    json_close(json, '}');
}

static void print_quoted(hf_bytes name)
{
    const unsigned char *at = name.data;

    putchar('"');
    for (size_t i = 0; i < name.size; i++) {
        if (at[i] < 32 || at[i] > 126 || at[i] == '"' || at[i] == '\\')
            printf("\\x%02x", at[i]);
        else
            putchar(at[i]);
    }
    putchar('"');
}

static void put_lost(void *user, hf_bytes key, const char *why)
{
    (void)user;
    if (key.data != NULL) {
        fputs("key ", stdout);
        print_quoted(key);
        fputs(": ", stdout);
    }
    puts(why);
}

int store_salvage(struct call *call)
{
    hf_store_salvaged done = HF_STORE_SALVAGED_INIT;
    char url[URL_SIZE], new_url[URL_SIZE];
    hf_error err = HF_ERROR_INIT;
    struct json json;
    hf_status status;

    if (!url_of(call, 0, url) || !url_of(call, 1, new_url)) {
        complain(call->command->grammar.name, "the path is too long");
        return EXIT_USAGE;
    }
    if (call->json) {
        json_begin(&json, stdout);
        json_open(&json, "lost", '[');
    }
    status =
        hf_store_salvage(url, new_url, call->json ? put_lost_json : put_lost,
                         &json, &done, &err);
    if (call->json) {
        json_close(&json, ']');
        json_integer(&json, "keys", (int64_t)done.keys);
        json_bool(&json, "complete", done.complete);
        json_text(&json, "status", hf_status_name(status));
    } else if (done.complete) {
        printf("keys copied: %" PRIu64 "\nkeys lost: %" PRIu64
               "\nother faults: %" PRIu64 "\n",
               done.keys, done.lost, done.faults);
    }
    return call_end_json(call, &json, status, &err);
}
