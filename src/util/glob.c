/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.c - matching names with patterns.
 *
 * Stars divide a pattern into runs of parts, each of which fits one byte. The
 * first run must fit at the beginning of the text and the last one at its end;
 * each between them is taken where it fits first, as what a later place leaves
 * of the text, an earlier one leaves too.
 *
 * Such a run is first tried byte by byte. That takes the product of both sizes
 * at worst, so after some steps all places are tried at once, in blocks of 64
 * parts: bit n of a word says that the last n + 1 bytes fit the block's first
 * n + 1 parts (Baeza-Yates and Gonnet, 1992). ADR 0079.
 */
#include "util/glob.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the pattern to be compared one by one in one call. */
#define STEPS 4096

#define BLOCK 64u
/* Places that are tried at once, besides as many as the run has parts. */
#define AHEAD 64u
#define WINDOW (2 * HF__GLOB_MAX + AHEAD)

typedef struct pattern {
    const char *at;
    const char *end;
} pattern;

/* A run between stars: `rest` begins with it. */
typedef struct star_run {
    pattern rest;
    size_t parts;
} star_run;

/* Bytes are signed in ranges, which is how Redis compares them on most
 * machines. */
typedef struct byte_range {
    signed char low, high;
} byte_range;

static size_t bytes_left(const pattern *rest)
{
    return (size_t)(rest->end - rest->at);
}

/* An item of a class: a byte, an escaped byte, or a range of them. */
static byte_range next_item(pattern *rest)
{
    const signed char first = (signed char)rest->at[0];
    signed char last;

    if (bytes_left(rest) >= 2 && rest->at[0] == '\\') {
        rest->at += 2;
        last = (signed char)rest->at[-1];
        return (byte_range){last, last};
    }
    if (bytes_left(rest) < 3 || rest->at[1] != '-') {
        rest->at++;
        return (byte_range){first, first};
    }
    last = (signed char)rest->at[2];
    rest->at += 3;
    return first <= last ? (byte_range){first, last}
                         : (byte_range){last, first};
}

static bool takes_byte(pattern *rest, char byte)
{
    bool found = rest->at < rest->end && *rest->at == byte;

    if (found)
        rest->at++;
    return found;
}

/* A class, after its '['. One without a ']' ends with the pattern. */
static bool class_fits(pattern *rest, char byte)
{
    bool negated = takes_byte(rest, '^');
    bool found = false;

    while (rest->at < rest->end && *rest->at != ']') {
        byte_range item = next_item(rest);

        if (item.low <= (signed char)byte && (signed char)byte <= item.high)
            found = true;
    }
    (void)takes_byte(rest, ']');
    return found != negated;
}

/* A part that is one byte, maybe escaped. */
static char next_byte(pattern *rest)
{
    if (*rest->at == '\\' && bytes_left(rest) >= 2)
        rest->at++;
    return *rest->at++;
}

/* Does the pattern's next part match the byte? Skips it. */
static bool part_fits(pattern *rest, char byte)
{
    if (takes_byte(rest, '?'))
        return true;
    if (takes_byte(rest, '['))
        return class_fits(rest, byte);
    return next_byte(rest) == byte;
}

static bool is_run(const pattern *rest)
{
    return rest->at < rest->end && *rest->at != '*';
}

/* Skips the run with which `rest` begins, or as much as fits. Where in the text
 * it ends; NULL: it does not fit at `at`. */
static const char *run_fits(pattern *rest, const char *at, const char *end)
{
    while (is_run(rest)) {
        if (at == end || !part_fits(rest, *at))
            return NULL;
        at++;
    }
    return at;
}

/* ------------------------------------------------------------ many at once */

/* The same for each byte: bit `bit` of masks[byte]. */
static void class_mask(pattern *rest, uint64_t bit, uint64_t masks[256])
{
    bool negated = takes_byte(rest, '^');
    bool found[256] = {false};

    while (rest->at < rest->end && *rest->at != ']') {
        byte_range item = next_item(rest);

        for (int byte = item.low; byte <= item.high; byte++)
            found[(unsigned char)byte] = true;
    }
    (void)takes_byte(rest, ']');
    for (size_t i = 0; i < 256; i++)
        masks[i] |= found[i] != negated ? bit : 0;
}

static void part_mask(pattern *rest, uint64_t bit, uint64_t masks[256])
{
    if (takes_byte(rest, '?')) {
        for (size_t i = 0; i < 256; i++)
            masks[i] |= bit;
    } else if (takes_byte(rest, '[')) {
        class_mask(rest, bit, masks);
    } else {
        masks[(unsigned char)next_byte(rest)] |= bit;
    }
}

/* ends[i]: the parts before this block fit, ending with byte i of the text; the
 * same with the block afterwards. */
static void add_block(pattern *rest, bool first, const char *text, size_t size,
                      bool ends[WINDOW])
{
    uint64_t masks[256] = {0};
    uint64_t last = 0, state = 0;
    bool begins = first;

    for (size_t i = 0; i < BLOCK && is_run(rest); i++) {
        last = UINT64_C(1) << i;
        part_mask(rest, last, masks);
    }
    for (size_t i = 0; i < size; i++) {
        state = (state << 1 | begins) & masks[(unsigned char)text[i]];
        begins = first || ends[i];
        ends[i] = (state & last) != 0;
    }
}

/* Where the run ends that fits first; NULL: nowhere in the window. */
static const char *find_in(const star_run *of, const char *text, size_t size)
{
    pattern rest = of->rest;
    bool ends[WINDOW];
    const bool *found;

    for (bool first = true; is_run(&rest); first = false)
        add_block(&rest, first, text, size, ends);
    found = memchr(ends, true, size);
    return found != NULL ? text + (found - ends) + 1 : NULL;
}

static const char *find_quickly(const star_run *of, const char *at,
                                const char *end)
{
    while ((size_t)(end - at) >= of->parts) {
        size_t size = 2 * of->parts + AHEAD;
        const char *found;

        if (size > (size_t)(end - at))
            size = (size_t)(end - at);
        found = find_in(of, at, size);
        if (found != NULL)
            return found;
        at += size - of->parts + 1;
    }
    return NULL;
}

/* Where the run ends that fits first; NULL: nowhere. */
static const char *find_run(const star_run *of, const char *at, const char *end,
                            size_t *steps)
{
    for (; (size_t)(end - at) >= of->parts; at++) {
        pattern rest = of->rest;
        const char *behind;

        if (*steps > STEPS)
            return find_quickly(of, at, end);
        behind = run_fits(&rest, at, end);
        if (behind != NULL)
            return behind;
        *steps += (size_t)(rest.at - of->rest.at);
    }
    return NULL;
}

/* ------------------------------------------------------------------- runs */

/* The run behind a star, or as much of it as is longer than the text. */
static star_run next_run(pattern *rest, size_t parts_max)
{
    star_run next = {*rest, 0};

    while (is_run(rest) && next.parts <= parts_max) {
        (void)part_fits(rest, '\0');
        next.parts++;
    }
    return next;
}

static bool runs_fit(pattern *rest, const char *at, const char *end)
{
    size_t steps = 0;

    while (at != NULL) {
        star_run next;

        while (takes_byte(rest, '*'))
            ;
        if (rest->at == rest->end)
            return true;
        next = next_run(rest, (size_t)(end - at));
        if (next.parts > (size_t)(end - at))
            return false;
        if (rest->at == rest->end)
            return run_fits(&next.rest, end - next.parts, end) != NULL;
        at = find_run(&next, at, end, &steps);
    }
    return false;
}

bool hf__glob_fits(hf_bytes glob, hf_bytes text)
{
    pattern rest = {glob.data, (const char *)glob.data + glob.size};
    const char *end = (const char *)text.data + text.size;
    const char *at;

    /* As in Redis: then the pattern is not looked at, not even a star. */
    if (text.size == 0)
        return glob.size == 0;
    if (glob.size > HF__GLOB_MAX)
        return false;
    at = run_fits(&rest, text.data, end);
    if (at == NULL || rest.at == rest.end)
        return at == end;
    return runs_fit(&rest, at, end);
}
