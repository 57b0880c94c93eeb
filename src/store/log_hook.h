/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_hook.h - lines for the operator of a program, by
 * hf_client_options::on_log: what the client's background work meets and no
 * call returns.
 *
 * 1. Any thread, with any mutex held, puts a message into a queue.
 * 2. The loop thread takes it from there and calls the program, with no mutex
 *    held. A text that was reported less than a pause ago is counted instead,
 *    and the count reported at the end of the pause.
 * 3. close() ends both; what was put before it is reported first.
 *
 * A message may have parts of a URL, but never a password: it has what an
 * hf_error may have.
 */
#ifndef HF__STORE_LOG_HOOK_H
#define HF__STORE_LOG_HOOK_H

#include "holdfast/client.h"
#include "util/loop.h"

typedef struct hf__log_hook hf__log_hook;

/* `least`: messages of lower importance are dropped. The loop is started. NULL:
 * out of memory. */
hf__log_hook *hf__log_hook_new(hf__loop *loop, hf_log_fn on_log, void *user,
                               hf_log_level least);

/* Any thread, with any mutex held; never blocks. Use HF__LOG. */
void hf__log_hook_put(hf__log_hook *hook, hf_log_level level,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Report what was put, and nothing after that. Not on the loop thread, nor in a
 * forked child. */
void hf__log_hook_close(hf__log_hook *hook);
/* Also in a forked child. NULL is allowed. */
void hf__log_hook_free(hf__log_hook *hook);

/* Without a hook it costs a comparison: the arguments are not evaluated. */
#define HF__LOG(hook, level, ...)                                              \
    do {                                                                       \
        if ((hook) != NULL)                                                    \
            hf__log_hook_put((hook), (level), __VA_ARGS__);                    \
    } while (0)

#endif
