/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argument.c - see argument.h.
 */
#include "engine/keys/argument.h"

#include <math.h>

#include "engine/files/format.h"
#include "engine/keys/long_float.h"
#include "engine/keys/number_text.h"
#include "store/limits.h"

bool hf__arg_same(hf_bytes arg, const char *text)
{
    const char *at = arg.data;

    for (size_t i = 0; i < arg.size; i++) {
        if (hf__lower(at[i]) != text[i])
            return false;
    }
    return true;
}

bool hf__arg_integer(hf__tx *tx, hf_bytes arg, int64_t *value)
{
    if (hf__number_integer(arg, value))
        return true;
    return hf__reply_error(tx, HF__ERROR_INTEGER);
}

bool hf__arg_double(hf__tx *tx, hf_bytes arg, const char *error, double *value)
{
    hf_status status = hf__number_double(arg, value);

    if (status == HF_NO_MEMORY)
        hf__tx_no_memory(tx);
    else if (status != HF_OK)
        hf__reply_error(tx, "%s", error);
    return status == HF_OK;
}

bool hf__arg_from(hf__tx *tx, hf_bytes arg, int64_t min, const char *error,
                  int64_t *value)
{
    return hf__arg_integer(tx, arg, value) &&
           (*value >= min || hf__reply_error(tx, "%s", error));
}

bool hf__arg_at_least(hf__tx *tx, hf_bytes arg, int64_t min, const char *error,
                      int64_t *value)
{
    if (hf__number_integer(arg, value) && *value >= min)
        return true;
    return hf__reply_error(tx, "%s", error);
}

bool hf__arg_key(hf__tx *tx, hf_bytes name)
{
    if (hf__is_key_size(name.size))
        return true;
    return hf__reply_error(
        tx,
        "ERR the name of a key has %zu bytes; at most %u are "
        "allowed",
        name.size, HF__KEY_SIZE_MAX);
}

bool hf__arg_database(hf__tx *tx, hf_bytes arg, uint8_t *database)
{
    int64_t number;

    if (!hf__arg_integer(tx, arg, &number))
        return false;
    if (number >= 0 && number < (int)HF__DATABASES) {
        *database = (uint8_t)number;
        return true;
    }
    if (number < INT32_MIN || number > INT32_MAX)
        hf__reply_error(tx, "ERR value is out of range, value must between "
                            "-2147483648 and 2147483647");
    else
        hf__reply_error(tx, HF__ERROR_DATABASE);
    return false;
}

bool hf__arg_wait(hf__tx *tx, hf_bytes arg)
{
    long double seconds, wait_ms;

    tx->block = (hf__block){.blocked = false};
    if (!hf__long_float_read(arg, &seconds))
        return hf__reply_error(tx,
                               "ERR timeout is not a float or out of range");
    wait_ms = ceill(seconds * 1000);
    /* Redis says so if it is too large, too. */
    if (wait_ms < 0 || wait_ms >= (long double)INT64_MAX)
        return hf__reply_error(tx, "ERR timeout is negative");
    tx->block.wait_ms = (int64_t)wait_ms;
    return true;
}

void hf__block_on(hf__tx *tx, uint8_t type, size_t first, size_t count)
{
    tx->block.blocked = true;
    tx->block.type = type;
    tx->block.ids = NULL;
    tx->block.first = first;
    tx->block.count = count;
}

bool hf__arg_signed(hf__tx *tx, hf_bytes arg, int64_t *value)
{
    if (!hf__arg_integer(tx, arg, value))
        return false;
    if (*value != INT64_MIN)
        return true;
    return hf__reply_error(tx, "ERR value is out of range, value must between "
                               "-9223372036854775807 and 9223372036854775807");
}
