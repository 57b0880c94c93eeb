/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan.h - what orders two threads where ThreadSanitizer does not see it: in a
 * library that is built without it. Nothing in an ordinary build.
 */
#ifndef HF__UTIL_TSAN_H
#define HF__UTIL_TSAN_H

/* gcc says so by a macro, clang by a feature. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HF__TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HF__TSAN 1
#endif

#ifdef HF__TSAN
#include <sanitizer/tsan_interface.h>
#define hf__tsan_release(what) __tsan_release(what)
#define hf__tsan_acquire(what) __tsan_acquire(what)
#define hf__tsan_locked(mutex)                                                 \
    (__tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock),                      \
     __tsan_mutex_post_lock(mutex, __tsan_mutex_try_lock, 0))
#else
/* What a thread did before the first is done before what a thread does after
 * the second, if that comes later. */
#define hf__tsan_release(what) ((void)(what))
#define hf__tsan_acquire(what) ((void)(what))
/* This thread has just locked a mutex. */
#define hf__tsan_locked(mutex) ((void)(mutex))
#endif

#endif
