/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_match.c - patterns of scripts. The build has translated them to steps
 * (tools/lua_pattern.py), which need no checks; lua/match.c is for users'
 * patterns.
 */
#include "engine/native/native_code.h"

static bool is_in(const hf__native_step *step, char letter)
{
    unsigned char code = (unsigned char)letter;

    return (step->set[code / 64] >> (code % 64) & 1) != 0;
}

static const char *match_from(hf__native_match *match,
                              const hf__native_step *step, const char *at);

/* As many as possible, at least `least`; then fewer. */
static const char *match_most(hf__native_match *match,
                              const hf__native_step *step, const char *at,
                              size_t least)
{
    const char *to = at;

    while (to < match->end && is_in(step, *to))
        to++;
    for (; to >= at + least; to--) {
        const char *end = match_from(match, step + 1, to);

        if (end != NULL)
            return end;
    }
    return NULL;
}

/* As few as possible; then more. */
static const char *match_fewest(hf__native_match *match,
                                const hf__native_step *step, const char *at)
{
    for (;; at++) {
        const char *end = match_from(match, step + 1, at);

        if (end != NULL || at == match->end || !is_in(step, *at))
            return end;
    }
}

static const char *match_maybe(hf__native_match *match,
                               const hf__native_step *step, const char *at)
{
    const char *end = NULL;

    if (at < match->end && is_in(step, *at))
        end = match_from(match, step + 1, at + 1);
    return end != NULL ? end : match_from(match, step + 1, at);
}

/* The end of a match of the steps at `at`; NULL: none. It calls itself only for
 * a step that repeats, so as deep as the pattern has some. */
static const char *match_from(hf__native_match *match,
                              const hf__native_step *step, const char *at)
{
    for (;; step++) {
        switch ((hf__step_kind)step->kind) {
        case HF__STEP_START:
            break;
        case HF__STEP_ONE:
            if (at == match->end || !is_in(step, *at))
                return NULL;
            at++;
            break;
        case HF__STEP_ANY:
            return match_most(match, step, at, 0);
        case HF__STEP_SOME:
            return match_most(match, step, at, 1);
        case HF__STEP_FEW:
            return match_fewest(match, step, at);
        case HF__STEP_MAYBE:
            return match_maybe(match, step, at);
        case HF__STEP_OPEN:
            match->captures[step->capture].from = at;
            break;
        case HF__STEP_CLOSE:
            match->captures[step->capture].to = at;
            break;
        case HF__STEP_END:
            if (at != match->end)
                return NULL;
            break;
        case HF__STEP_DONE:
            if (step->capture == 0) {
                match->captures[0].from = match->from;
                match->captures[0].to = at;
            }
            return at;
        }
    }
}

void hf__native_match_begin(hf__native *run, hf__native_match *match,
                            hf__nv text, const hf__native_step *steps,
                            double from)
{
    text = hf__native_text(run, text);
    match->text = text.text;
    match->end = text.text + text.size;
    match->steps = steps;
    match->found = false;
    match->next = from >= 1 && from <= text.size + 1.0
                      ? text.text + (size_t)from - 1
                      : NULL;
}

bool hf__native_match_next(hf__native *run, hf__native_match *match)
{
    bool anchored = match->steps->kind == HF__STEP_START;

    (void)run;
    match->found = false;
    while (match->next != NULL && !match->found) {
        match->from = match->next;
        match->to = match_from(match, match->steps, match->from);
        match->found = match->to != NULL;
        if (match->found && match->to > match->from && !anchored)
            match->next = match->to;
        else
            match->next =
                match->from < match->end && !anchored ? match->from + 1 : NULL;
    }
    return match->found;
}

hf__nv hf__native_match_capture(const hf__native_match *match, size_t number)
{
    if (!match->found)
        return hf__nv_nil();
    return hf__nv_text(
        match->captures[number].from,
        (size_t)(match->captures[number].to - match->captures[number].from));
}

/* ----------------------------------------------------------- replacing some */

void hf__native_joint_begin(hf__native_joint *joint,
                            const hf__native_match *match)
{
    *joint = (hf__native_joint){.from = match->text};
}

static void join_bytes(hf__native *run, hf__native_joint *joint,
                       const char *data, size_t size)
{
    if (joint->used + size > joint->size) {
        char *old = joint->data;

        joint->size = 2 * (joint->used + size);
        joint->data = hf__native_alloc(run, joint->size);
        if (joint->used > 0)
            memcpy(joint->data, old, joint->used);
    }
    if (size > 0)
        memcpy(joint->data + joint->used, data, size);
    joint->used += size;
}

void hf__native_joint_add(hf__native *run, hf__native_joint *joint,
                          const hf__native_match *match, hf__nv text)
{
    join_bytes(run, joint, joint->from, (size_t)(match->from - joint->from));
    if (!hf__nv_is(text))
        text = hf__native_match_whole(match);
    text = hf__native_text(run, text);
    join_bytes(run, joint, text.text, text.size);
    joint->from = match->to;
    joint->count++;
}

hf__nv hf__native_joint_end(hf__native *run, hf__native_joint *joint,
                            const hf__native_match *match)
{
    if (joint->count == 0)
        return hf__nv_text(match->text, (size_t)(match->end - match->text));
    join_bytes(run, joint, joint->from, (size_t)(match->end - joint->from));
    return hf__nv_text(joint->data, joint->used);
}
