/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - changes of keys, as a store reports them. */
#ifndef HF__STORE_FEED_H
#define HF__STORE_FEED_H

#include "holdfast/watch.h"
#include "store/store.h"

/* Changes of keys that begin with `prefix`; the memory is the caller's. The
 * callbacks run on the loop thread. */
struct hf__feed {
    hf_bytes prefix;
    bool kinds; /* deletions are to be told apart, even if it costs requests */
    bool all_databases; /* of an embedded store, not only the client's */
    /* HF_CHANGE_GAP, with an empty key: any of them may have changed. */
    void (*changed)(struct hf__feed *feed, hf_change_kind kind, hf_bytes key);
    /* Changes are not reported until the next gap. NULL: not wanted. */
    void (*broken)(struct hf__feed *feed);
    struct hf__feed *next; /* the driver's */
    void *driver;          /* likewise */
    /* Of an embedded store: the client's, and that of the change. */
    uint32_t database, changed_in;
};

#endif
