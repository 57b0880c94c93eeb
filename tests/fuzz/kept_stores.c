/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stores.c - see kept_stores.h. */
#include "kept_stores.h"

#include "fuzz.h"
#include "holdfast/command.h"
#include "place.h"

static kept stores;
static char url[128], other_url[128];

static void clean_up(void)
{
    kept_close(&stores);
}

kept *kept_stores_open(const char *scheme)
{
    const char *place = place_make();
    hf_error err = HF_ERROR_INIT;

    snprintf(url, sizeof(url), "%s:%s/store?max_size=64M", scheme, place);
    snprintf(other_url, sizeof(other_url), "volatile:%s/other?max_size=64M",
             place);
    stores.url = url;
    stores.other_url = other_url;
    PROMISE(kept_open(&stores, &err) == HF_OK);
    atexit(clean_up);
    return &stores;
}

void kept_stores_check(kept *self, bool whole)
{
    hf_error why = HF_ERROR_INIT;

    if (whole ? !kept_holds(self, &why) : !kept_loads(self, &why)) {
        fprintf(stderr, "%s\n", why.message);
        abort();
    }
}

void kept_stores_empty(kept *self)
{
    hf_bytes words[] = {hf_str("flushall"), hf_str("sync")};

    PROMISE(hf_command(self->client, 2, words, NULL, NULL) == HF_OK);
}
