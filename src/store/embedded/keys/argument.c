/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argument.c - see argument.h.
 */
#include "store/embedded/keys/argument.h"

#include "store/embedded/keys/number.h"

bool hf__word_same(hf_bytes word, const char *text)
{
    const char *at = word.data;

    for (size_t i = 0; i < word.size; i++) {
        if (hf__lower(at[i]) != text[i])
            return false;
    }
    return true;
}

bool hf__word_integer(hf__tx *tx, hf_bytes word, int64_t *value)
{
    if (hf__number_integer(word, value))
        return true;
    hf__say_error(tx, HF__ERROR_INTEGER);
    return false;
}

bool hf__word_double(hf__tx *tx, hf_bytes word, const char *error,
                     double *value)
{
    hf_status status = hf__number_double(word, value);

    if (status == HF_NO_MEMORY)
        hf__tx_no_memory(tx);
    else if (status != HF_OK)
        hf__say_error(tx, "%s", error);
    return status == HF_OK;
}

bool hf__word_at_least(hf__tx *tx, hf_bytes word, int64_t min,
                       const char *error, int64_t *value)
{
    if (hf__number_integer(word, value) && *value >= min)
        return true;
    hf__say_error(tx, "%s", error);
    return false;
}

bool hf__word_signed(hf__tx *tx, hf_bytes word, int64_t *value)
{
    if (!hf__word_integer(tx, word, value))
        return false;
    if (*value != INT64_MIN)
        return true;
    hf__say_error(tx, "ERR value is out of range, value must between "
                      "-9223372036854775807 and 9223372036854775807");
    return false;
}
