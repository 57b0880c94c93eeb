/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.c - see functions.h. Error texts are Redis 7.0's.
 */
#include "engine/lua/functions.h"

#include <stdio.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/function_record.h"
#include "engine/keys/packed.h"
#include "engine/keys/rdb_write.h"
#include "engine/lua/machine_state.h"
#include "engine/lua/shebang.h"
#include "util/clock.h"
#include "util/mem.h"

/* Processor time for loading all libraries; and when they were accepted before,
 * by another process or for a dump, perhaps on a faster machine. */
#define LOAD_MS HF__LIBRARIES_LOAD_MS
#define AGAIN_MS (2 * HF__LIBRARIES_LOAD_MS)

void hf__functions_free(hf__functions *self)
{
    hf__library *at, *next;

    if (self == NULL)
        return;
    for (at = self->first; at != NULL; at = next) {
        next = at->next;
        hf__library_free(self->machine, at);
    }
    if (self->machine != NULL)
        hf__machine_free(self->machine);
    hf__free(self);
}

const hf__function *hf__functions_find(const hf__functions *self, hf_bytes name)
{
    const hf__function *found = NULL;

    for (const hf__library *at = self->first; at != NULL && found == NULL;
         at = at->next)
        found = hf__library_find(at, name);
    return found;
}

const hf__library *hf__functions_unloaded(const hf__functions *self)
{
    const hf__library *at = self->first;

    while (at != NULL && at->why == NULL)
        at = at->next;
    return at;
}

hf__library *hf__functions_library(const hf__functions *self, hf_bytes name)
{
    hf__library *at = self->first;

    while (at != NULL && !hf__bytes_same(at->name, name))
        at = at->next;
    return at;
}

/* ----------------------------------------------------------------- in memory
 */

static void unlink_library(hf__functions *self, hf__library *library)
{
    hf__library *before = NULL;

    for (hf__library *at = self->first; at != library; at = at->next)
        before = at;
    if (before != NULL)
        before->next = library->next;
    else
        self->first = library->next;
    if (self->last == library)
        self->last = before;
    self->library_count--;
    self->function_count -= library->count;
    self->code_size -= library->code.size;
    self->load_us -= library->load_us;
    hf__library_free(self->machine, library);
    if (self->machine != NULL)
        hf__library_count_memory(self->machine);
}

static void link_library(hf__functions *self, hf__library *library)
{
    if (self->last != NULL)
        self->last->next = library;
    else
        self->first = library;
    self->last = library;
    self->library_count++;
    self->function_count += library->count;
    self->code_size += library->code.size;
    self->load_us += library->load_us;
}

/* "" is no memory. Returns false. */
static bool fail_text(char error[HF__OUT_ERROR_SIZE], const char *format,
                      const char *name)
{
    (void)snprintf(error, HF__OUT_ERROR_SIZE, format, name);
    return false;
}

/* May it be added, once `old` is gone? */
static bool check_library(const hf__functions *self, const hf__library *library,
                          const hf__library *old, char error[])
{
    size_t functions = self->function_count - (old != NULL ? old->count : 0);

    if (functions + library->count > HF__FUNCTIONS_MAX)
        return fail_text(error, "ERR there are more than %s functions", "4000");
    for (const hf__library *at = self->first; at != NULL; at = at->next) {
        if (at == old)
            continue;
        for (const hf__function *one = library->first; one != NULL;
             one = one->next) {
            if (hf__library_find(at, one->name) != NULL)
                return fail_text(error, "ERR Function %s already exists",
                                 one->name.data);
        }
    }
    return true;
}

static bool have_machine(hf__functions *self, hf__tx *tx)
{
    if (self->machine == NULL) {
        self->machine = hf__machine_new(tx->env->users->find);
        if (self->machine != NULL && !hf__library_prepare(self->machine)) {
            hf__machine_free(self->machine);
            self->machine = NULL;
        }
    }
    if (self->machine == NULL)
        return false;
    /* Of what is loaded, tx->attend() can stop it. */
    self->machine->tx = tx;
    self->machine->wrote = false;
    return true;
}

/* For its text, once `old` is gone? */
static bool has_room(const hf__functions *self, hf_bytes code,
                     const hf__library *old)
{
    size_t size = self->code_size - (old != NULL ? old->code.size : 0);

    return self->library_count - (old != NULL) < HF__FUNCTIONS_LIBRARIES_MAX &&
           size + code.size + 16 * HF__FUNCTIONS_LIBRARIES_MAX <=
               HF__FUNCTIONS_SIZE_MAX;
}

static bool fail_full(char error[HF__OUT_ERROR_SIZE])
{
    return fail_text(error,
                     "ERR the libraries of functions are too many or too "
                     "large: at most 1000 in %s",
                     "8 MiB");
}

/* Processor time that is left for one more, of all_ms for all: at most half.
 * Not above 0: `error` is set. */
static int64_t time_left(const hf__functions *self, const hf__library *old,
                         int64_t all_ms, char error[HF__OUT_ERROR_SIZE])
{
    int64_t used_us = self->load_us - (old != NULL ? old->load_us : 0);
    int64_t left_ms = all_ms - used_us / 1000;

    if (left_ms <= 0)
        (void)snprintf(error, HF__OUT_ERROR_SIZE,
                       "ERR loading all libraries of functions takes more than "
                       "%d ms of processor time",
                       HF__LIBRARIES_LOAD_MS);
    return left_ms < all_ms / 2 ? left_ms : all_ms / 2;
}

/* The only way into memory, whatever a text comes from. false: see `error`, or
 * tx->fatal. */
static bool add_library(hf__functions *self, hf__tx *tx, hf_bytes code,
                        bool replace, int64_t all_ms,
                        char error[HF__OUT_ERROR_SIZE])
{
    int64_t began_us = hf__clock_thread_us();
    int64_t left_ms;
    hf__library *library, *old;
    hf_bytes name;
    size_t line_size;
    char why[HF__OUT_ERROR_SIZE - 8];

    error[0] = '\0';
    if (!hf__shebang_library(code, &name, &line_size, why, sizeof(why)))
        return fail_text(error, "ERR %s", why);
    old = hf__functions_library(self, name);
    if (old != NULL && !replace) {
        (void)snprintf(why, sizeof(why), "%.*s", (int)name.size,
                       (const char *)name.data);
        return fail_text(error, "ERR Library '%.256s' already exists", why);
    }
    if (!has_room(self, code, old))
        return fail_full(error);
    if (!have_machine(self, tx))
        return false;
    left_ms = time_left(self, old, all_ms, error);
    if (left_ms <= 0)
        return false;
    library = hf__library_load(self->machine, code, name, line_size, left_ms,
                               old != NULL ? old->memory : 0, error);
    if (library == NULL)
        return false;
    if (!check_library(self, library, old, error)) {
        hf__library_free(self->machine, library);
        return false;
    }
    if (old != NULL)
        unlink_library(self, old);
    library->load_us = hf__clock_thread_us() - began_us;
    link_library(self, library);
    return true;
}

/* One that cannot be loaded here stays what it is in the store, and can be
 * deleted or replaced. Its name is empty if this cannot be read. false: no
 * memory. */
static bool keep_unloaded(hf__functions *self, hf_bytes code, const char *why,
                          int64_t load_us)
{
    hf__library *library;
    hf_bytes name;
    size_t line_size;
    char text[HF__OUT_ERROR_SIZE];

    if (!hf__shebang_library(code, &name, &line_size, text, sizeof(text)))
        name = hf_view("", 0);
    library = hf__library_keep(code, name, why);
    if (library == NULL)
        return false;
    library->load_us = load_us;
    link_library(self, library);
    return true;
}

/* ----------------------------------------------------------------- the store
 */

/* The source of a payload's libraries; its tail has been checked. */
static hf__rdb_source read_payload(hf__tx *tx, hf_bytes payload)
{
    return (hf__rdb_source){.tx = tx,
                            .at = payload.data,
                            .left = payload.size - HF__RDB_TAIL,
                            .room = HF__FUNCTIONS_SIZE_MAX};
}

/* One that another process has accepted. false: fatal. */
static bool read_library(hf__functions *self, hf__tx *tx, hf_bytes code)
{
    int64_t began_us = hf__clock_thread_us();
    char error[HF__OUT_ERROR_SIZE];

    if (!add_library(self, tx, code, false, AGAIN_MS, error) &&
        (error[0] == '\0' ||
         !keep_unloaded(self, code, error, hf__clock_thread_us() - began_us)))
        hf__tx_no_memory(tx);
    return tx->fatal == HF_OK;
}

static bool read_store(hf__functions *self, hf__tx *tx, hf_bytes payload)
{
    hf__rdb_source from = read_payload(tx, payload);
    hf_bytes code;

    if (!hf__rdb_tail_fits(payload))
        hf__tx_fail(tx, MDB_CORRUPTED);
    while (tx->fatal == HF_OK && from.left > 0) {
        if (!hf__functions_next(&from, &code))
            hf__tx_fail(tx, MDB_CORRUPTED);
        else
            (void)read_library(self, tx, code);
    }
    return tx->fatal == HF_OK;
}

static bool is_current(const hf__functions *self, uint64_t generation)
{
    return self != NULL && self->generation == generation &&
           (self->machine == NULL || !hf__machine_is_spoilt(self->machine));
}

static hf__functions *new_functions(hf__tx *tx)
{
    hf__functions *self = hf__calloc(1, sizeof(*self));

    if (self == NULL)
        hf__tx_no_memory(tx);
    return self;
}

hf__functions *hf__functions_current(hf__tx *tx)
{
    hf__env *env = tx->env;
    uint64_t generation;
    hf_bytes payload;

    /* What can be loaded must not depend on the thread. */
    if (hf__machine_check_stack(tx) != HF_OK ||
        !hf__functions_get(tx, &generation, &payload))
        return NULL;
    if (is_current(env->functions, generation))
        return env->functions;
    hf__functions_free(env->functions);
    env->functions = new_functions(tx);
    if (env->functions == NULL)
        return NULL;
    if (payload.size > 0 && !read_store(env->functions, tx, payload)) {
        hf__functions_free(env->functions);
        env->functions = NULL;
        return NULL;
    }
    env->functions->generation = generation;
    return env->functions;
}

bool hf__functions_dump(hf__tx *tx, const hf__functions *self,
                        hf_bytes *payload)
{
    hf__rdb_out to = {.tx = tx};

    for (const hf__library *at = self->first; at != NULL; at = at->next) {
        hf__rdb_put_integer(&to, HF__RDB_FUNCTION, 1);
        hf__rdb_put_string(&to, at->code);
    }
    hf__rdb_put_tail(&to, HF__RDB_VERSION);
    *payload = hf_view(tx->scratch, to.size);
    return tx->fatal == HF_OK;
}

/* What is in memory. If that fails, memory has what the store has not. */
static bool put_store(hf__functions *self, hf__tx *tx)
{
    hf_bytes payload = hf_view(NULL, 0);

    if (hf__tx_may_write(tx) &&
        (self->first == NULL || hf__functions_dump(tx, self, &payload)))
        hf__functions_put(tx, payload, &self->generation);
    if (tx->fatal == HF_OK)
        return true;
    hf__functions_free(self);
    tx->env->functions = NULL;
    return false;
}

/* ------------------------------------------------------------------- changes
 */

static bool reply_failure(hf__tx *tx, const char *error)
{
    if (error[0] == '\0')
        hf__tx_no_memory(tx);
    else
        hf__reply_error(tx, "%s", error);
    return false;
}

bool hf__functions_load(hf__tx *tx, hf_bytes code, bool replace,
                        const hf__library **library)
{
    hf__functions *self = hf__functions_current(tx);
    char error[HF__OUT_ERROR_SIZE];

    if (self == NULL)
        return false;
    if (!add_library(self, tx, code, replace, LOAD_MS, error))
        return reply_failure(tx, error);
    *library = self->last;
    return put_store(self, tx);
}

bool hf__functions_delete(hf__tx *tx, hf_bytes name)
{
    hf__functions *self = hf__functions_current(tx);
    hf__library *library;

    if (self == NULL)
        return false;
    library = hf__functions_library(self, name);
    if (library == NULL)
        return reply_failure(tx, "ERR Library not found");
    unlink_library(self, library);
    return put_store(self, tx);
}

bool hf__functions_flush(hf__tx *tx)
{
    uint64_t generation;

    if (!hf__tx_may_write(tx))
        return false;
    hf__functions_free(tx->env->functions);
    tx->env->functions = NULL;
    hf__functions_put(tx, hf_view(NULL, 0), &generation);
    return tx->fatal == HF_OK;
}

static bool read_restored(hf__functions *self, hf__tx *tx, hf_bytes payload,
                          char error[HF__OUT_ERROR_SIZE])
{
    hf__rdb_source from = read_payload(tx, payload);
    hf_bytes code;

    while (from.left > 0) {
        if (!hf__functions_next(&from, &code)) {
            if (tx->fatal == HF_OK)
                (void)fail_text(error, "ERR %s",
                                "failed loading the given functions payload");
            return false;
        }
        if (!add_library(self, tx, code, false, AGAIN_MS, error))
            return false;
    }
    return true;
}

/* Of those that there were. */
static bool keep_other(hf__functions *self, hf__tx *tx,
                       const hf__library *other, char error[HF__OUT_ERROR_SIZE])
{
    if (other->why == NULL)
        return add_library(self, tx, other->code, false, AGAIN_MS, error);
    if (!has_room(self, other->code, NULL))
        return fail_full(error);
    return keep_unloaded(self, other->code, other->why, other->load_us);
}

/* Those that there were; `error` as before. */
static bool keep_others(hf__functions *self, hf__tx *tx,
                        const hf__functions *old, bool replace,
                        char error[HF__OUT_ERROR_SIZE])
{
    for (const hf__library *at = old->first; at != NULL; at = at->next) {
        if (at->name.size == 0 ||
            hf__functions_library(self, at->name) == NULL) {
            if (!keep_other(self, tx, at, error))
                return false;
        } else if (!replace) {
            return fail_text(error, "ERR Library %s already exists",
                             at->name.data);
        }
    }
    return true;
}

bool hf__functions_restore(hf__tx *tx, hf_bytes payload,
                           hf__restore_policy policy)
{
    char error[HF__OUT_ERROR_SIZE] = "";
    const hf__functions *old = hf__functions_current(tx);
    hf__functions *self;

    if (old == NULL)
        return false;
    if (!hf__rdb_tail_fits(payload))
        return reply_failure(tx, HF__ERROR_RDB_TAIL);
    self = new_functions(tx);
    if (self == NULL)
        return false;
    if (!read_restored(self, tx, payload, error) ||
        (policy != HF__RESTORE_FLUSH &&
         !keep_others(self, tx, old, policy == HF__RESTORE_REPLACE, error))) {
        hf__functions_free(self);
        return tx->fatal == HF_OK && reply_failure(tx, error);
    }
    hf__functions_free(tx->env->functions);
    tx->env->functions = self;
    return put_store(self, tx);
}
