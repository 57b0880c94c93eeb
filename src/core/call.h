/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one call of the API: its words, its request, its hooks. form.h has
 * the functions that begin and end one.
 */
#ifndef HF__CORE_CALL_H
#define HF__CORE_CALL_H

#include <assert.h>
#include <stdatomic.h>

#include "core/check.h"
#include "core/operation.h"
#include "store/store.h"
#include "util/options.h"

/* Most words of a call that is not a list: the release of a lock. */
#define HF__CALL_WORDS 10

/* Numbers of a call that need no allocation. */
#define HF__CALL_NUMBERS 4

/* In which form a call runs. */
typedef struct hf__form {
    enum {
        HF__FORM_BLOCKING,
        HF__FORM_SHARED, /* the same, allocated: its reply is handed out */
        HF__FORM_STARTED,
        HF__FORM_MANY,
        HF__FORM_QUEUED, /* in a transaction; see queued.h */
        HF__FORM_FAILED  /* there is no memory or room for it */
    } kind;
    bool is_item; /* of a batch */
    const hf_async *async;
    struct hf__many *many;
    hf_error *err;
} hf__form;

/* A cancellation that comes before the start is over is left to the start. */
enum { HF__CALL_STARTED = 1u << 0, HF__CALL_CANCELLED = 1u << 1 };

struct hf_call {
    hf_client *client;
    const hf__operation *operation;
    const hf__script *script; /* the operation's, or another; NULL: a command */
    hf__form form;
    hf_status prepared; /* while it is put together */
    size_t count;       /* words so far */
    size_t room;        /* for words */
    size_t key_count;
    size_t number_count;
    int64_t probed_us; /* hf__request_probe_begin() */
    hf_bytes key;      /* the first, with the client's prefix */
    hf_bytes *words;   /* `fixed`, or allocated */
    hf_bytes fixed[HF__CALL_WORDS];
    char numbers[HF__CALL_NUMBERS][HF__NUMBER_SIZE];
    struct hf__call_block *blocks; /* hf__call_alloc() */
    hf__request request;

    /* Read the reply, on HF_OK, and write the caller's results. It has the
     * shape that the request asked for: only what it says is to be judged. */
    hf_status (*finish)(hf_call *call, hf_error *err);
    hf_status (*then)(hf_call *call, hf_error *err); /* of replicas.c */
    /* The request has completed, or will never be sent; called before `finish`,
     * on any thread, for every call that was put together. NULL: nothing. */
    void (*answered)(hf_call *call);
    /* Complete a started call early; on the loop thread, perhaps after it has
     * completed (hf__call_lock_pending()). NULL: its request is cancelled. */
    void (*cancel)(hf_call *call);
    void *out;        /* where the results go */
    void *context;    /* of the hooks */
    int64_t note;     /* for `finish`: the flags of the caller's options, say */
    bool inside;      /* it is counted: hf__call_leave() */
    bool skips_store; /* HF_OK without asking the store; no `finish` */
    bool words_stay;  /* until it is answered: they need no copy */
    bool says_cancelled; /* itself: it means more than that it was not sent */
    void *copies;        /* of words, when the caller's bytes cannot be kept */
    void *owned;         /* freed with the call, ... */
    void (*release)(hf_call *call); /* ... by this, unless it is NULL */

    atomic_uint references; /* an allocated call's: of its completion, of the
                               reply, of its start, of cancel_task */
    /* Started calls only; see async.h. */
    hf_done_fn done;
    void *user;
    hf_call *next;
    hf__task cancel_task;
    size_t bytes;         /* what it holds of the client's max_call_bytes ... */
    bool completed;       /* ... both guarded by the completions' mutex */
    atomic_uint progress; /* HF__CALL_STARTED, HF__CALL_CANCELLED */
};

/* Prepare the memory of a call, and count it as one under way: HF_INVALID: a
 * client from before fork(), or a closed one. */
void hf__call_init(hf_call *call, hf_client *client);
hf_status hf__call_enter(hf_call *call, bool blocking, hf_error *err);

/* While a call is put together: do `what`, which returns a status, unless it
 * has failed. true: it has not. */
#define HF__TRY(call, what)                                                    \
    ((call)->prepared == HF_OK && ((call)->prepared = (what)) == HF_OK)

/* Load the caller's options, which have flags. */
#define HF__LOAD(call, options, from, type, known)                             \
    (HF__TRY(call,                                                             \
             hf__options_load(options, sizeof(*(options)), sizeof(*(options)), \
                              from, #type, (call)->form.err)) &&               \
     HF__TRY(call,                                                             \
             hf__check_flags((options)->flags, known, (options)->reserved0,    \
                             #type, (call)->form.err)))

/* Allocate one, with one reference. */
hf_status hf__call_new_shared(hf_call **call, hf_error *err);

/* Make room for so many more words, if they may be more than HF__CALL_WORDS in
 * all. */
void hf__reserve(hf_call *call, size_t count);

/* Memory that is freed with the call's words. NULL: the call has failed, now or
 * before. */
void *hf__call_alloc(hf_call *call, size_t size);

/* Words, in their order: the user's key, with the client's prefix; our own key
 * about `name` (core/own_key.h); a key that has the prefix; anything else as it
 * is, or checked. */
void hf__add_key(hf_call *call, hf_bytes name);
void hf__add_own_key(hf_call *call, const char *role, hf_bytes name);
void hf__add_whole_key(hf_call *call, hf_bytes key);
void hf__add_field(hf_call *call, hf_bytes field);
void hf__add_value(hf_call *call, hf_bytes value);
static inline void hf__add(hf_call *call, hf_bytes word)
{
    if (call->prepared != HF_OK)
        return;
    assert(call->count < call->room);
    call->words[call->count++] = word;
}
void hf__add_number(hf_call *call, int64_t number);

/* Where `finish` puts the result. `name` is what the caller calls it; NULL: it
 * may be NULL. */
void hf__set_out(hf_call *call, void *out, const char *name);

/* Run it on this thread, finish it and end it; if `prepared` is a failure only
 * end it. */
hf_status hf__call_run(hf_call *call, hf_status prepared, hf_error *err);
/* The same for an allocated call with one reference, which is dropped. */
hf_status hf__call_run_shared(hf_call *call, hf_status prepared, hf_error *err);

/* End a call without running it. */
void hf__call_end(hf_call *call);
/* It is no longer under way: the client may be closed. */
void hf__call_leave(hf_call *call);
/* From the finish of an allocated call: add a reference for its reply, which
 * the caller takes over. Words and owned memory are freed here. */
void hf__call_keep(hf_call *call);

/* Drop a reference to an allocated call; frees at the last. */
void hf__call_unref(hf_call *call);

/* The request has completed: name the key that has the wrong type, and on a
 * blocked thread ask what it holds, as the words may end with `answered`, which
 * is called. */
void hf__call_answered(hf_call *call);

/* Finishes a call that is answered with the value for the buffer at `out`, or
 * nil if there is no such key. */
hf_status hf__finish_value(hf_call *call, hf_error *err);

/* Finishes a call that is answered with 0 if there was no such key. */
hf_status hf__finish_found(hf_call *call, hf_error *err);

#endif
