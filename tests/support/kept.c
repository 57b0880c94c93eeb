/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - see kept.h. */
#include "support/kept.h"

#include <stdlib.h>

#include "holdfast/command.h"
#include "holdfast/store.h"
#include "support/dump_content.h"
#include "support/dump_tape.h"
#include "util/error.h"

hf_status kept_open(kept *self, hf_error *err)
{
    hf_status status = hf_client_open(self->url, NULL, &self->client, err);

    if (status == HF_OK)
        status = hf_client_open(self->other_url, NULL, &self->other, err);
    return status;
}

void kept_close(kept *self)
{
    hf_client_close(self->client);
    hf_client_close(self->other);
    self->client = NULL;
    self->other = NULL;
}

/* *ok becomes false; `step` comes before the message. */
static bool step_failed(hf_status status, const char *step, hf_error *why)
{
    if (status == HF_OK)
        return false;
    hf__fail_prefix(why, "%s", step);
    return true;
}

static void take_fault(void *user, const char *fault)
{
    (void)hf__fail(user, HF_CORRUPT, "%s", fault);
}

/* The first fault found, not how many. */
static bool passes_check(const char *url, const char *when, hf_error *why)
{
    hf_store_check_options options = HF_STORE_CHECK_OPTIONS_INIT;
    hf_error fault = HF_ERROR_INIT;
    hf_status status;

    options.faults_max = 1;
    status = hf_store_check(url, &options, take_fault, &fault, why);
    if (fault.status != HF_OK)
        (void)hf__fail_copy(why, &fault);
    return !step_failed(status, when, why);
}

static bool dump_client(hf_client *client, dump_tape *tape, const char *when,
                        hf_error *why)
{
    tape->size = 0;
    tape->at = 0;
    return !step_failed(
        hf_store_dump(client, NULL, dump_tape_put, tape, NULL, why), when, why);
}

static bool reopen_client(kept *self, hf_error *why)
{
    hf_client_close(self->client);
    self->client = NULL;
    return passes_check(self->url, "check when closed", why) &&
           !step_failed(hf_client_open(self->url, NULL, &self->client, why),
                        "opening again", why);
}

/* Into the other store, which is emptied, and out of it. */
static bool load_other(kept *self, dump_tape *from, dump_tape *to,
                       hf_error *why)
{
    hf_bytes words[] = {hf_str("flushall")};

    from->at = 0;
    return !step_failed(hf_command(self->other, 1, words, NULL, why),
                        "FLUSHALL", why) &&
           !step_failed(hf_store_load(self->other, NULL, dump_tape_take, from,
                                      NULL, why),
                        "loading the dump", why) &&
           dump_client(self->other, to, "dump of what was loaded", why);
}

static bool same_content(dump_tape *a, dump_tape *b, const char *when,
                         hf_error *why)
{
    dump_content one, other;
    hf_status status;
    bool is_same = false;

    a->at = 0;
    b->at = 0;
    status = dump_content_read(&one, a, why);
    if (status == HF_OK) {
        status = dump_content_read(&other, b, why);
        if (status == HF_OK)
            is_same = dump_content_equal(&one, &other, why);
        dump_content_done(&other);
    }
    dump_content_done(&one);
    return is_same || !step_failed(HF_CONFLICT, when, why);
}

bool kept_holds(kept *self, hf_error *why)
{
    dump_tape before = {0}, after = {0};
    bool holds = passes_check(self->url, "check when open", why) &&
                 dump_client(self->client, &before, "dump", why) &&
                 reopen_client(self, why) &&
                 dump_client(self->client, &after, "dump after opening", why) &&
                 same_content(&before, &after, "after opening", why) &&
                 load_other(self, &before, &after, why) &&
                 same_content(&before, &after, "after loading", why);

    free(before.data);
    free(after.data);
    return holds;
}

bool kept_loads(kept *self, hf_error *why)
{
    dump_tape before = {0}, after = {0};
    bool holds = dump_client(self->client, &before, "dump", why) &&
                 load_other(self, &before, &after, why) &&
                 same_content(&before, &after, "after loading", why);

    free(before.data);
    free(after.data);
    return holds;
}
