/* SPDX-License-Identifier: Apache-2.0 */
/* holder_text.c - see holder_text.h. */
#include "holder_text.h"

#include <stdio.h>
#include <string.h>

#include "lease_clock.h"

const char *const holder_modes[] = {"exclusive", "shared", "permits"};

hf_bytes holder_owner(const hf_lock_info *info)
{
    size_t size = info->owner_size;

    if (size > HF_LOCK_INFO_OWNER_MAX)
        size = HF_LOCK_INFO_OWNER_MAX;
    return hf_view(info->owner, size);
}

void holder_name(const hf_holder *holder, char text[HOLDER_TEXT_SIZE])
{
    const char *what =
        holder->description[0] != '\0' ? holder->description : holder->program;

    snprintf(text, HOLDER_TEXT_SIZE, "%s (pid %lld, %s@%s)", what,
             (long long)holder->pid, holder->user, holder->host);
}

/* By its form alone. */
static const char *library_of(const char *owner, size_t size)
{
    static const char hex[] = "0123456789abcdef";

    if (size == 32 && strspn(owner, hex) == 32)
        return " (like redis-py's)";
    if (size == 40 && strspn(owner, hex) == 40)
        return " (like node-redlock's)";
    if (size == 24 && owner[22] == '=' && owner[23] == '=')
        return " (like redsync's)";
    return "";
}

void holder_foreign(const hf_lock_info *info, char text[HOLDER_TEXT_SIZE])
{
    size_t size = holder_owner(info).size;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)info->owner[i];

        text[i] = info->owner[i];
        if (c < ' ' || c == 0x7f)
            text[i] = '?';
    }
    snprintf(text + size, HOLDER_TEXT_SIZE - size, "%s",
             library_of(info->owner, info->owner_size));
}

int64_t holder_held_ms(const hf_lock_info *info, const hf_holder *holder)
{
    return info->held_ms >= 0 ? info->held_ms : holder->asked_ms;
}

void holder_describe(const hf_lock_info *info, const hf_holder *holder,
                     char text[HOLDER_TEXT_SIZE])
{
    char who[HOLDER_TEXT_SIZE];
    char held[32] = "", left[32] = ", never expires";

    if (holder == NULL) {
        holder_foreign(info, who);
    } else {
        holder_name(holder, who);
        snprintf(held, sizeof(held), " for %lld s",
                 (long long)(holder_held_ms(info, holder) / 1000));
    }
    if (info->remaining_ms >= 0)
        snprintf(left, sizeof(left), ", %lld s left",
                 (long long)((info->remaining_ms + 999) / 1000));
    snprintf(text, HOLDER_TEXT_SIZE, "held by %.900s%s%s", who, held, left);
}

bool holder_look(hf_client *client, const hf_lock_info *info, hf_holder *holder)
{
    return hf_lock_holder(client, holder_owner(info), holder, NULL) == HF_OK;
}

void holder_find(hf_client *client, hf_bytes name, char text[HOLDER_TEXT_SIZE])
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_holder holder = HF_HOLDER_INIT;
    size_t size;

    text[0] = '\0';
    if (hf_lock_inspect(client, name, &info, NULL) != HF_OK)
        return;
    holder_describe(&info, holder_look(client, &info, &holder) ? &holder : NULL,
                    text);
    size = strlen(text);
    if (info.remaining_ms < 0)
        (void)snprintf(text + size, HOLDER_TEXT_SIZE - size,
                       " (`holdfast lock break %.*s` frees it)", (int)name.size,
                       (const char *)name.data);
}

int holder_ms_to_say(int64_t began_ms, size_t said)
{
    static const int after_ms[] = {200, 10000};
    int64_t left_ms;

    if (said >= sizeof(after_ms) / sizeof(*after_ms))
        return -1;
    left_ms = began_ms + after_ms[said] - now_ms();
    return left_ms > 0 ? (int)left_ms : 0;
}

/* A blocking call may ask the store for the type. */
void holder_name_type(hf_lock *const *locks, size_t count, hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        hf_error asked = HF_ERROR_INIT;
        hf_status status = hf_lock_try(locks[i], &asked);

        if (status == HF_OK)
            (void)!hf_lock_release(locks[i], NULL);
        if (status != HF_WRONG_TYPE)
            continue;
        *err = asked;
        return;
    }
}

void holder_json(struct json *json, const hf_lock_info *info,
                 const hf_holder *holder)
{
    json_integer(json, "held_ms", holder_held_ms(info, holder));
    json_integer(json, "pid", holder->pid);
    json_text(json, "user", holder->user);
    json_text(json, "host", holder->host);
    json_text(json, "program", holder->program);
    json_text(json, "description", holder->description);
}

void holder_token_json(struct json *json, const hf_lock_info *info)
{
    if (info->token == 0)
        json_null(json, "token");
    else
        json_integer(json, "token", (int64_t)info->token);
}

void holder_lock_json(struct json *json, hf_bytes name, bool held,
                      const hf_lock_info *info, const hf_holder *holder)
{
    json_bytes(json, "name", name);
    json_bool(json, "held", held);
    if (held) {
        if (info->mode != HF_LOCK_EXCLUSIVE) {
            json_text(json, "mode", holder_modes[info->mode]);
            json_integer(json, "holders", info->holders);
        }
        json_bytes(json, "owner", holder_owner(info));
        json_known(json, "remaining_ms", info->remaining_ms);
        holder_token_json(json, info);
    }
    if (holder != NULL)
        holder_json(json, info, holder);
    json_integer(json, "last_token", (int64_t)info->last_token);
    json_integer(json, "waiters", info->waiters);
}
