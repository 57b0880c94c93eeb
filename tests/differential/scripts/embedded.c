/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.c - see embedded.h. */
#include "embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/tx_life.h"
#include "engine/open/open_store.h"
#include "state.h"
#include "support/remove_tree.h"
#include "util/clock.h"

void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(2);
}

bool option_read(const char *name, const char *value, uint64_t *seed,
                 unsigned long *steps, const char **fault)
{
    if (strcmp(name, "--seed") == 0)
        *seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--steps") == 0)
        *steps = strtoul(value, NULL, 10);
    else if (strcmp(name, "--mutate") == 0)
        *fault = value;
    else
        return false;
    return true;
}

void embedded_open(embedded *self)
{
    char url[PLACE_SIZE + 20];
    int64_t deadline_ms = hf__clock_boot_ms() + 10000;
    hf__settings settings = {0};
    hf__url parsed;

    require(place_make(self->folder), "no folder");
    (void)snprintf(url, sizeof(url), "file:%s/store", self->folder);
    require(hf_client_open(url, NULL, &self->client, NULL) == HF_OK &&
                hf__url_parse(url, &parsed, NULL) == HF_OK &&
                hf__settings_read(&parsed, &settings, NULL) == HF_OK &&
                hf__env_open(&settings, &deadline_ms, &self->env, NULL) ==
                    HF_OK,
            url);
    hf__url_done(&parsed);
}

const char *embedded_inbox(const embedded *self)
{
    return self->client->store->ops->inbox(self->client->store);
}

void embedded_close(embedded *self)
{
    hf__env_unref(self->env);
    hf_client_close(self->client);
    (void)remove_tree(self->folder);
}

hf__tx *embedded_begin(embedded *self, const hf__job *job, int64_t now_ms)
{
    hf__tx *tx;

    require(hf__env_lock(self->env, hf__clock_boot_ms() + 10000, NULL) ==
                    HF_OK &&
                hf__execute_prepare(self->env, job),
            "lock");
    tx = self->env->write_tx;
    require(hf__env_begin_write(self->env, now_ms, &tx->txn, NULL) == HF_OK,
            "begin");
    hf__tx_start(tx, now_ms);
    return tx;
}

void embedded_end(embedded *self, hf__tx *tx, bool undo)
{
    if (undo && tx->fatal == HF_OK)
        tx->fatal = HF_CANCELLED;
    (void)hf__tx_finish(tx);
    tx->event_count = 0;
    tx->error.message[0] = '\0';
    hf__env_unlock(self->env);
}

/* Of an error of Lua itself, which is due to words that no call of the library
 * has, only the place: Lua names variables, and C does not. */
static void print_error(hf__buf *to, const hf_error *error)
{
    const char *text = error->message;
    const char *line = strrchr(text, '(');

    if (line != NULL && (strncmp(text, "attempt to ", 11) == 0 ||
                         strncmp(text, "bad argument ", 13) == 0))
        text = line;
    bytes_print(to, text, strlen(text));
}

void result_print(hf__buf *to, const hf__request *request)
{
    char status[16];

    if (request->status == HF_OK) {
        reply_print(to, &request->reply);
        return;
    }
    (void)snprintf(status, sizeof(status), "[%d] ", (int)request->status);
    bytes_print(to, status, strlen(status));
    print_error(to, &request->error);
}
