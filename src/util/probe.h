/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - points at which a tracer may look: USDT probes of the provider
 * `holdfast`, where the system has <sys/sdt.h> (HF_PROBES). Without a tracer
 * each costs one comparison of a word in memory, its semaphore, and evaluates
 * no argument. docs/howto/watch-a-client.md has the table for users.
 */
#ifndef HF__UTIL_PROBE_H
#define HF__UTIL_PROBE_H

#include <stdbool.h>

#ifdef HF__PROBES

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#ifdef __clang__ /* which takes what that header's macros do for ours */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

#define HF__SEMAPHORE(name)                                                    \
    extern volatile unsigned short holdfast_##name##_semaphore                 \
        __attribute__((visibility("hidden")))

HF__SEMAPHORE(request__begin);
HF__SEMAPHORE(request__end);
HF__SEMAPHORE(acquire__begin);
HF__SEMAPHORE(acquire__granted);
HF__SEMAPHORE(acquire__refused);
HF__SEMAPHORE(release);
HF__SEMAPHORE(renewal);
HF__SEMAPHORE(loss);
HF__SEMAPHORE(commit__begin);
HF__SEMAPHORE(commit__end);

/* Does a tracer look? */
#define HF__PROBED(name) __builtin_expect(holdfast_##name##_semaphore != 0, 0)

/* A probe with `count` arguments. */
#define HF__PROBE(count, name, ...)                                            \
    do {                                                                       \
        if (HF__PROBED(name))                                                  \
            STAP_PROBE##count(holdfast, name, __VA_ARGS__);                    \
    } while (0)

#else

static inline void hf__probe_nothing(int count, ...)
{
    (void)count;
}

#define HF__PROBED(name) false
#define HF__PROBE(count, name, ...)                                            \
    do {                                                                       \
        if (false)                                                             \
            hf__probe_nothing(count, __VA_ARGS__);                             \
    } while (0)

#endif

#endif
