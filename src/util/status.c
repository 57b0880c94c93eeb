/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - names, texts and kinds of hf_status, all from one map, and the
 * version of the library.
 */
#include "holdfast/base.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch)                                      \
    TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

hf_kind hf_status_kind(hf_status status)
{
    int value = (int)status;

    if (value < 0 || value >= 600)
        return HF_KIND_FATAL;
    return (hf_kind)(value / 100);
}

const char *hf_status_name(hf_status status)
{
    switch (status) {
#define NAME_CASE(name, value, text)                                           \
    case HF_##name:                                                            \
        return #name;
        HF_STATUS_MAP(NAME_CASE)
#undef NAME_CASE
    }
    return "UNKNOWN";
}

const char *hf_status_text(hf_status status)
{
    switch (status) {
#define TEXT_CASE(name, value, text)                                           \
    case HF_##name:                                                            \
        return text;
        HF_STATUS_MAP(TEXT_CASE)
#undef TEXT_CASE
    }
    return "unknown status";
}

const char *hf_version(void)
{
    return VERSION_TEXT(HF_VERSION_MAJOR, HF_VERSION_MINOR, HF_VERSION_PATCH);
}
