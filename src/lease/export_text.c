/* SPDX-License-Identifier: Apache-2.0 */
/* export_text.c - see export_text.h. */
#include "lease/export_text.h"

#include <stdio.h>

#include "util/crc32c.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/percent.h"
#include "util/url.h"

#define VERSION "hf1"
#define CRC_DIGITS 8

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("-._/", c) != NULL);
}

size_t hf__export_put(char *text, const hf_lock *lock, const char *kind)
{
    hf_bytes argument = lock->argument;
    size_t size = (size_t)snprintf(
        text, HF__EXPORT_REST, VERSION ":%s:%s:%llu:%lld:%.*s:", kind,
        lock->owner, (unsigned long long)atomic_load(&lock->token),
        (long long)lock->options.ttl_ms,
        argument.size > 0 ? (int)argument.size : 1,
        argument.size > 0 ? (const char *)argument.data : "0");

    size += hf__percent_put(text + size, hf_lock_name(lock), is_plain);
    text[size++] = ':';
    snprintf(text + size, CRC_DIGITS + 1, "%08x",
             (unsigned)hf__crc32c(0, text, size));
    return size + CRC_DIGITS;
}

static hf_status fail_damaged(hf_error *err, const char *what)
{
    return hf__fail(err, HF_INVALID,
                    "not the text of an exported lock, or damaged: %s", what);
}

/* The CRC, and the fields before it. */
static bool split_text(char *text, size_t size, char *fields[HF__EXPORT_FIELDS])
{
    char crc[CRC_DIGITS + 1];
    char *at = text;

    if (size <= CRC_DIGITS || memchr(text, '\0', size) != NULL)
        return false;
    size -= CRC_DIGITS;
    snprintf(crc, sizeof(crc), "%08x", (unsigned)hf__crc32c(0, text, size));
    if (memcmp(text + size, crc, CRC_DIGITS) != 0)
        return false;
    text[size] = '\0';
    for (int i = 0; i < HF__EXPORT_FIELDS; i++) {
        fields[i] = at;
        at = strchr(at, ':');
        if (at == NULL)
            return false;
        *at++ = '\0';
    }
    return *at == '\0';
}

hf_status hf__export_split(hf__exported *self, hf_bytes text, hf_error *err)
{
    self->storage = NULL;
    if (text.data == NULL)
        return hf__fail(err, HF_INVALID, "text is NULL");
    if (text.size > HF__EXPORT_SIZE(HF_NAME_MAX))
        return fail_damaged(err, "too long");
    self->storage = hf__alloc(text.size + 1);
    if (self->storage == NULL)
        return hf__fail(err, HF_NO_MEMORY, "the text of a lock");
    memcpy(self->storage, text.data, text.size);
    self->storage[text.size] = '\0';
    if (!split_text(self->storage, text.size, self->fields))
        return fail_damaged(err, "checksum");
    if (strcmp(self->fields[HF__EXPORT_VERSION], VERSION) != 0)
        return hf__fail(err, HF_UNSUPPORTED,
                        "the text of the lock is of a newer version");
    self->kind = self->fields[HF__EXPORT_KIND];
    self->owner = self->fields[HF__EXPORT_OWNER];
    return hf__owner_is_ours(hf_str(self->owner))
               ? HF_OK
               : fail_damaged(err, "owner id");
}

hf_status hf__export_read(hf__exported *self, hf_error *err)
{
    char *name = self->fields[HF__EXPORT_NAME];
    hf_status status =
        hf__parse_int(self->fields[HF__EXPORT_TOKEN], 1, HF__TOKEN_MAX - 1,
                      "token of the text", &self->token, err);

    if (status == HF_OK)
        status = hf__parse_int(self->fields[HF__EXPORT_TTL], HF_LOCK_TTL_MIN_MS,
                               HF_LOCK_TTL_MAX_MS, "lease of the text",
                               &self->ttl_ms, err);
    if (status == HF_OK)
        status = hf__parse_int(self->fields[HF__EXPORT_ARGUMENT], 0, UINT32_MAX,
                               "argument of the text", &self->argument, err);
    self->name = hf_view(name, hf__percent_take(name, strlen(name)));
    return status;
}
