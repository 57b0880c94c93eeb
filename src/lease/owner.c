/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - see owner.h. */
#include "lease/owner.h"

#include <string.h>

#include "util/clock.h"
#include "util/rand.h"

#define CLIENT_DIGITS (HF__CLIENT_ID_SIZE - 1)
#define NUMBER_DIGITS 15
_Static_assert(CLIENT_DIGITS + 1 + NUMBER_DIGITS + 1 == HF_OWNER_SIZE, "");

/* Numbers drawn within one millisecond; more borrow from the next. With the 40
 * bits of milliseconds, which last 34 years, they are the 15 digits. */
#define DRAW_BITS 20

void hf__owners_init(hf__owners *owners)
{
    hf__rand_hex(owners->client, CLIENT_DIGITS / 2);
    owners->opened_ms = hf__clock_boot_ms();
    atomic_init(&owners->last, 0);
}

/* snprintf() was 4 % of an embedded lock's pair. */
static void put_hex(char *at, uint64_t number, int digits)
{
    while (digits-- > 0) {
        at[digits] = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
}

void hf__owner_draw(hf__owners *owners, int64_t now_ms,
                    char owner[HF_OWNER_SIZE])
{
    uint64_t passed_ms = (uint64_t)(now_ms - owners->opened_ms);
    uint64_t last = atomic_load(&owners->last);
    uint64_t number;

    do {
        number = passed_ms << DRAW_BITS;
        if (number <= last)
            number = last + 1;
    } while (!atomic_compare_exchange_weak(&owners->last, &last, number));
    memcpy(owner, owners->client, CLIENT_DIGITS);
    owner[CLIENT_DIGITS] = '-';
    put_hex(owner + CLIENT_DIGITS + 1, number, NUMBER_DIGITS);
    owner[HF_OWNER_SIZE - 1] = '\0';
}

static bool all_hex(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((text[i] < '0' || text[i] > '9') &&
            (text[i] < 'a' || text[i] > 'f'))
            return false;
    }
    return true;
}

bool hf__owner_is_ours(hf_bytes owner)
{
    const char *text = owner.data;

    return owner.size == HF_OWNER_SIZE - 1 && text[CLIENT_DIGITS] == '-' &&
           all_hex(text, CLIENT_DIGITS) &&
           all_hex(text + CLIENT_DIGITS + 1, NUMBER_DIGITS);
}

hf_bytes hf__owner_client(hf_bytes owner)
{
    return hf_view(owner.data, CLIENT_DIGITS);
}

int64_t hf__owner_drawn_ms(hf_bytes owner)
{
    const char *digits = (const char *)owner.data + CLIENT_DIGITS + 1;
    uint64_t number = 0;

    for (int i = 0; i < NUMBER_DIGITS; i++) {
        uint64_t digit = (uint64_t)(digits[i] <= '9' ? digits[i] - '0'
                                                     : digits[i] - 'a' + 10);

        number = number << 4 | digit;
    }
    return (int64_t)(number >> DRAW_BITS);
}
