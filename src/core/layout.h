/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the layout of locks in the store, which the URL chooses. */
#ifndef HF__CORE_LAYOUT_H
#define HF__CORE_LAYOUT_H

#include "store/store.h"
#include "util/url.h"

typedef struct hf__layout {
    bool redisson;    /* of Redisson */
    const char *verb; /* its messages: "publish", "spublish" */
} hf__layout;

/* Take the parameters out of the URL. `layout->verb` is NULL: as usual with
 * such a store. */
hf_status hf__layout_of_url(hf__layout *layout, hf__url *url, hf_error *err);

/* Once the store is open. HF_UNSUPPORTED: it has no such locks. */
hf_status hf__layout_complete(hf__layout *layout, const hf__store *store,
                              hf_error *err);

/* HF_UNSUPPORTED, if the URL says that locks are Redisson's: `what` is none. */
hf_status hf__layout_check_ours(const hf__layout *layout, const char *what,
                                hf_error *err);

/* HF_UNSUPPORTED, unless the store can have locks of Redisson. */
hf_status hf__layout_check_redisson(const hf__store *store, hf_error *err);

#endif
