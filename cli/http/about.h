/* SPDX-License-Identifier: Apache-2.0 */
/* about.h - what is known of a key without its value. */
#ifndef HOLDFAST_CLI_HTTP_ABOUT_H
#define HOLDFAST_CLI_HTTP_ABOUT_H

#include "holdfast/command.h"
#include "json_line.h"

struct about {
    char type[32];  /* "": the user may not read the key */
    int64_t ttl_ms; /* -1: it does not expire */
    int64_t size;   /* bytes; -1: not known */
};

/* The commands that it is read from, TYPE first, and their words. */
#define ABOUT_COMMANDS 3
#define ABOUT_WORDS 7
void about_commands(hf_bytes name, hf_bytes words[ABOUT_WORDS],
                    hf_command_item items[ABOUT_COMMANDS]);

/* From the replies, which it frees; NULL: that command was refused. */
void about_read(hf_reply **replies, struct about *about);

/* Members of an object. */
void about_json(struct json *json, const struct about *about);

#endif
