/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - see layout.h. */
#include "core/layout.h"

#include <string.h>

#include "util/error.h"

/* The name of the value in a list that ends with NULL, or -1. */
static int find_layout(const char *value, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(value, names[i]) == 0)
            return i;
    }
    return -1;
}

static hf_status bad_value(const char *name, const char *value,
                           const char *known, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    return hf__fail(err, HF_INVALID, "%s is %s; it must be %s", name,
                    hf__quoted(quoted, hf_str(value)), known);
}

hf_status hf__layout_of_url(hf__layout *layout, hf__url *url, hf_error *err)
{
    static const char *const layouts[] = {"plain", "redisson", NULL};
    static const char *const kinds[] = {"auto", "plain", "sharded", NULL};
    static const char *const verbs[] = {NULL, "publish", "spublish"};
    const char *text = hf__url_param_take(url, "layout");
    const char *channels = hf__url_param_take(url, "channels");
    int which = text == NULL ? 0 : find_layout(text, layouts);
    int kind = channels == NULL ? 0 : find_layout(channels, kinds);

    if (which < 0)
        return bad_value("layout", text, "plain or redisson", err);
    if (kind < 0)
        return bad_value("channels", channels, "auto, plain or sharded", err);
    layout->redisson = which == 1;
    layout->verb = verbs[kind];
    return HF_OK;
}

hf_status hf__layout_check_ours(const hf__layout *layout, const char *what,
                                hf_error *err)
{
    if (!layout->redisson)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "%s of ours on a store with layout=redisson: "
                    "holdfast/redisson.h has those of Redisson",
                    what);
}

hf_status hf__layout_check_redisson(const hf__store *store, hf_error *err)
{
    if (store->ops->event_channel != NULL)
        return HF_OK;
    return hf__fail(err, HF_UNSUPPORTED,
                    "locks of Redisson are on one server of Redis or Valkey, "
                    "with Sentinel or in a cluster: not on this store");
}

/* As Redisson does: sharded in a cluster only, from Redis 7 on. */
hf_status hf__layout_complete(hf__layout *layout, const hf__store *store,
                              hf_error *err)
{
    if (layout->verb == NULL)
        layout->verb = store->shards > 1 ? "spublish" : "publish";
    return layout->redisson ? hf__layout_check_redisson(store, err) : HF_OK;
}
