/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - the semaphores of the probes, which a tracer counts up. */
#include "util/probe.h"

#ifdef HF__PROBES

#define HF__SEMAPHORE_HERE(name)                                               \
    volatile unsigned short holdfast_##name##_semaphore                        \
        __attribute__((section(".probes")))

HF__SEMAPHORE_HERE(request__begin);
HF__SEMAPHORE_HERE(request__end);
HF__SEMAPHORE_HERE(acquire__begin);
HF__SEMAPHORE_HERE(acquire__granted);
HF__SEMAPHORE_HERE(acquire__refused);
HF__SEMAPHORE_HERE(release);
HF__SEMAPHORE_HERE(renewal);
HF__SEMAPHORE_HERE(loss);
HF__SEMAPHORE_HERE(commit__begin);
HF__SEMAPHORE_HERE(commit__end);

#else

/* A translation unit has something. */
typedef int hf__no_probes;

#endif
