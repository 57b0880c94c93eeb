/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit.c - from the status of a call to the exit code of the process.
 */
#include "exit.h"

#include <stddef.h>

/* clang-format off */
const struct exit_text exit_texts[] = {
#define EXIT_ROW(name, value, text) {value, #name, text},
    EXIT_MAP(EXIT_ROW)
#undef EXIT_ROW
    {0, NULL, NULL},
};
/* clang-format on */

const char *exit_name(int code)
{
    const struct exit_text *row = exit_texts;

    while (row->text != NULL && row->code != code)
        row++;
    return row->text != NULL ? row->name : "INTERNAL";
}

int exit_code_of(hf_status status)
{
    switch (status) {
    case HF_OK:
        return EXIT_YES;
    case HF_HELD:
    case HF_CONFLICT:
    case HF_NOT_FOUND:
    case HF_LOST:
    case HF_TIMEOUT:
    case HF_EXPIRED:
    case HF_CANCELLED:
        return EXIT_NO;
    case HF_UNAVAILABLE:
        return EXIT_UNAVAILABLE;
    case HF_FULL:
        return EXIT_FULL;
    case HF_INDETERMINATE:
        return EXIT_IO;
    case HF_INVALID:
        return EXIT_USAGE;
    case HF_UNSUPPORTED:
        return EXIT_CONFIG;
    case HF_DENIED:
        return EXIT_DENIED;
    case HF_WRONG_TYPE:
    case HF_SCRIPT:
    case HF_CORRUPT:
        return EXIT_DATA;
    case HF_NO_MEMORY:
    case HF_SYSTEM:
        return EXIT_SYSTEM;
    }
    return EXIT_INTERNAL;
}
