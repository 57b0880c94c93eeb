/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - see check.h. */
#include "core/check.h"

#include "core/client.h"
#include "util/digits.h"
#include "util/error.h"
#include "util/mem.h"

static hf_status check_size(hf_bytes bytes, size_t low, size_t high,
                            const char *what, hf_error *err)
{
    if (bytes.data == NULL && bytes.size > 0)
        return hf__fail(err, HF_INVALID,
                        "%s is NULL, of %zu bytes: did hf_format() have a "
                        "buffer as long as that?",
                        what, bytes.size);
    if (bytes.size < low)
        return hf__fail(err, HF_INVALID, "%s is empty", what);
    if (bytes.size > high)
        return hf__fail(err, HF_INVALID,
                        "%s is %zu bytes; at most %zu are allowed", what,
                        bytes.size, high);
    return HF_OK;
}

hf_status hf__check_key(const hf_client *client, hf_bytes name,
                        const char *what, hf_error *err)
{
    return check_size(name, 1, HF_NAME_MAX - client->prefix_size, what, err);
}

hf_bytes hf__key_put(const hf_client *client, hf_bytes name, char *at)
{
    memcpy(at, client->prefix, client->prefix_size);
    if (name.size > 0)
        memcpy(at + client->prefix_size, name.data, name.size);
    return hf_view(at, client->prefix_size + name.size);
}

hf_status hf__check_field(hf_bytes field, hf_error *err)
{
    return check_size(field, 1, HF_NAME_MAX, "field name", err);
}

hf_status hf__check_value(hf_bytes value, hf_error *err)
{
    return check_size(value, 0, HF_VALUE_MAX, "value", err);
}

hf_status hf__check_ttl(int64_t ttl_ms, const char *what, hf_error *err)
{
    if (ttl_ms >= 1 && ttl_ms <= HF_TTL_MAX_MS)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is %lld ms; it must be 1..%lld", what,
                    (long long)ttl_ms, (long long)HF_TTL_MAX_MS);
}

hf_status hf__check_range(int64_t value, int64_t low, int64_t high,
                          const char *what, hf_error *err)
{
    if (value >= low && value <= high)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is %lld; it must be %lld..%lld", what,
                    (long long)value, (long long)low, (long long)high);
}

hf_status hf__check_option(int64_t value, int64_t high, const char *what,
                           hf_error *err)
{
    return value == 0 ? HF_OK : hf__check_range(value, 1, high, what, err);
}

hf_status hf__check_wait(int64_t wait_ms, hf_error *err)
{
    if (wait_ms >= 0)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "wait_ms is negative: %lld",
                    (long long)wait_ms);
}

hf_status hf__check_flags(uint32_t flags, uint32_t known, uint32_t reserved,
                          const char *type, hf_error *err)
{
    if ((flags & ~known) == 0 && reserved == 0)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED, "%s: unknown flag 0x%x", type,
                    (unsigned)flags);
}

hf_status hf__check_struct(size_t struct_size, size_t least, const char *type,
                           const char *init, hf_error *err)
{
    if (struct_size >= least)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s: struct_size is %zu; start it with %s",
                    type, struct_size, init);
}

hf_status hf__check_out(const void *pointer, const char *what, hf_error *err)
{
    if (pointer != NULL)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "%s is NULL", what);
}

_Static_assert(HF__NUMBER_SIZE == HF__DECIMAL_SIZE, "");

hf_bytes hf__number(char text[HF__NUMBER_SIZE], int64_t value)
{
    return hf_view(text, hf__decimal_put(text, value));
}

hf_status hf__buffer_set(hf_buffer *buffer, const hf_reply *reply,
                         hf_error *err)
{
    void *copy;

    if (reply->kind == HF_REPLY_NIL) {
        buffer->data = NULL;
        buffer->size = 0;
        return HF_OK;
    }
    copy = hf__memdup(reply->bytes.data, reply->bytes.size);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a value of %zu bytes",
                        reply->bytes.size);
    buffer->data = copy;
    buffer->size = reply->bytes.size;
    return HF_OK;
}

hf_status hf__buffer_take(hf_buffer *buffer, const hf_reply *reply,
                          hf__arena *arena, hf_error *err)
{
    void *memory = NULL;

    if (reply->kind != HF_REPLY_NIL)
        memory = hf__arena_take(arena, reply->bytes.data);
    if (memory == NULL)
        return hf__buffer_set(buffer, reply, err);
    buffer->data = memory;
    buffer->size = reply->bytes.size;
    return HF_OK;
}

hf_status hf__bad_reply(const char *what, hf_error *err)
{
    return hf__fail(err, HF_CORRUPT, "%s gave a reply of an unknown form",
                    what);
}
