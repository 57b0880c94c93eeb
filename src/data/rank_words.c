/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_words.c - see rank_words.h.
 *
 * The program's locale may have another decimal point than the store, so the
 * texts that printf() and strtod() see here have none: 1.5 is 15e-1.
 */
#include "data/rank_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/rank.h"
#include "store/error_line.h"
#include "util/digits.h"
#include "util/error.h"

/* Members that are due: a blocking call passes over fewer than this, ... */
#define MOST 100
/* ... one that cannot remove them first over fewer than this. Each costs what
 * ZREVRANK does: on an embedded store it counts the members above. */
#define MOST_ALONE 1000
/* A call gives up after so many rounds of removing, in each of which 10^8
 * members can be removed. */
#define ROUNDS_MAX 10
#define TRIMS_MAX 100000

/* Only of a blocking call. */
static void note_late(hf_call *call)
{
    const hf__request *request = &call->request;

    *(bool *)call->context =
        request->status == HF_UNAVAILABLE &&
        hf__text_begins(hf_str(request->error.message), HF__LATE_TEXT);
}

hf_call *hf__begin_rank(hf_call *here, hf__form form,
                        const hf__operation *operation, hf_client *client,
                        hf_bytes key, size_t count, bool *late)
{
    hf_call *call = hf__begin(here, form, operation, client);

    *late = false;
    if (form.kind == HF__FORM_BLOCKING) {
        call->context = late;
        call->answered = note_late;
    }
    if (operation->wrote != NULL)
        hf__add_rank_keys(call, key, count);
    else
        hf__add_member_keys(call, key, count);
    return call;
}

void hf__add_most(hf_call *call)
{
    hf__add_number(call, call->context != NULL ? MOST : MOST_ALONE);
}

bool hf__rank_clear(hf_client *client, hf_bytes key, unsigned *rounds,
                    hf_status *status, hf_error *err)
{
    hf_rank_trimmed trimmed = {0, true};

    if (++*rounds > ROUNDS_MAX)
        return false;
    for (unsigned i = 0; i < TRIMS_MAX && trimmed.more; i++) {
        *status = hf_rank_trim(client, key, -1, &trimmed, err);
        if (*status != HF_OK)
            return false;
    }
    (void)hf__fail(err, HF_OK, "%s", ""); /* of what was refused */
    return true;
}

/* ------------------------------------------------------------------ scores */

/* Sign, digits, `e`, an exponent. */
#define SCORE_SIZE 40
#define DIGITS 17 /* which identify a double */

/* Write a finite number; `text` has SCORE_SIZE bytes. */
static hf_bytes put_score(char *text, double score)
{
    char shown[64];
    const char *exponent;
    size_t size = 0;

    (void)snprintf(shown, sizeof(shown), "%.*e", DIGITS - 1, score);
    exponent = strrchr(shown, 'e');
    for (const char *at = shown; at < exponent; at++) {
        if (*at == '-' || hf__is_digit(*at))
            text[size++] = *at;
    }
    return hf_view(
        text,
        size + (size_t)snprintf(text + size, SCORE_SIZE - size, "e%ld",
                                strtol(exponent + 1, NULL, 10) - (DIGITS - 1)));
}

void hf__add_score(hf_call *call, double score, const char *name)
{
    char *text = hf__call_alloc(call, SCORE_SIZE);

    if (text == NULL)
        return;
    if (isfinite(score))
        hf__add(call, put_score(text, score == 0 ? 0 : score));
    else
        call->prepared = hf__fail(call->form.err, HF_INVALID,
                                  "%s is %s; it must be a finite number", name,
                                  isnan(score) ? "not a number" : "infinite");
}

/* `text` ends with a NUL. */
static bool read_plain(const char *text, double *score)
{
    char plain[80];
    size_t size = 0;
    long exponent = 0;
    bool fraction = false;

    for (; hf__is_digit(*text) || *text == '.' || (*text == '-' && size == 0);
         text++) {
        if (*text == '.' && fraction)
            return false;
        exponent -= fraction;
        fraction = fraction || *text == '.';
        if (*text != '.')
            plain[size++] = *text;
    }
    if (size == 0 || !hf__is_digit(plain[size - 1]))
        return false;
    if (*text == 'e') {
        char *end;

        exponent += strtol(text + 1, &end, 10);
        text = end;
    }
    (void)snprintf(plain + size, sizeof(plain) - size, "e%ld", exponent);
    *score = strtod(plain, NULL);
    return *text == '\0' && isfinite(*score);
}

bool hf__read_score(hf_bytes text, double *score)
{
    char copy[48];

    if (text.size >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strcmp(copy, "inf") == 0 || strcmp(copy, "-inf") == 0) {
        *score = copy[0] == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    return read_plain(copy, score);
}
