/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_driver.c - the driver of a store of records, whatever its backend is.
 *
 * Requests are record_store.c's. Events come by a channel on which the backend
 * listens, once they are first needed. While it does not, every counter is
 * moved from time to time, so that waiters poll; and once when it does again,
 * as messages may have been missed.
 */
#include "records/record_driver.h"

#include "records/module.h"
#include "records/record_parts.h"
#include "records/record_store.h"
#include "store/diagnosis.h"
#include "store/events.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

/* Interval of that polling. */
#define BLIND_MIN_MS 50
#define BLIND_MAX_MS 500

/* Does the client listen? */
enum { IDLE, TRYING, LISTENS, BROKEN };

typedef struct record_driver {
    hf__store base;
    hf__record_store records;
    hf__backend *backend;
    hf__events events;
    hf__backend_listener listener;
    char inbox[HF__CHANNEL_SIZE];
    void (*on_message)(void *user, hf_bytes topic, hf_bytes text);
    void *on_message_user;
    hf__loop *loop;
    uint32_t fork_generation;
    uint32_t state; /* a futex */
    hf__task listen_task;
    bool asked; /* listen_task was posted; atomic */
    /* The loop thread's. */
    hf__alarm *blind; /* polls */
    int64_t blind_ms;
} record_driver;

static record_driver *driver_of(hf__store *store)
{
    return (record_driver *)store;
}

static bool is_forked(const record_driver *self)
{
    return self->fork_generation != hf__fork_generation();
}

/* ---------------------------------------------------------------- requests */

/* Refuse what cannot succeed. true: refused. */
static bool refuse_request(const record_driver *self, hf__request *request)
{
    request->sends = 0;
    if (is_forked(self))
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
    else if (request->deadline_ms <= hf__clock_boot_ms())
        hf__request_fail(request, HF_UNAVAILABLE, "no time left");
    else
        return false;
    return true;
}

static void driver_perform(hf__store *store, hf__request *request)
{
    record_driver *self = driver_of(store);

    if (!refuse_request(self, request))
        hf__record_store_perform(&self->records, request);
}

static void driver_submit(hf__store *store, hf__request *const *requests,
                          size_t count)
{
    record_driver *self = driver_of(store);

    for (size_t i = 0; i < count; i++) {
        if (refuse_request(self, requests[i]))
            requests[i]->on_done(requests[i]);
        else
            hf__record_store_submit(&self->records, requests[i]);
    }
}

static void driver_cancel(hf__store *store, hf__request *request)
{
    hf__record_store_cancel(&driver_of(store)->records, request);
}

/* --------------------------------------------------------------- listening */

static uint32_t get_state(const record_driver *self)
{
    return __atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
}

static void set_state(record_driver *self, uint32_t state)
{
    __atomic_store_n(&self->state, state, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->state, false);
}

static void poll_blindly(void *user)
{
    record_driver *self = user;

    if (get_state(self) == LISTENS)
        return;
    hf__events_move_all(&self->events);
    self->blind_ms = hf__at_most(2 * self->blind_ms, BLIND_MAX_MS);
    hf__alarm_set(self->blind, hf__clock_boot_ms() + self->blind_ms -
                                   hf__rand_between(0, self->blind_ms / 4));
}

static void take_state(void *user, bool listens)
{
    record_driver *self = user;

    /* In this order: a waiter that is woken asks whether the client listens. */
    set_state(self, listens ? LISTENS : BROKEN);
    hf__events_move_all(&self->events);
    self->blind_ms = BLIND_MIN_MS;
    hf__alarm_set(self->blind,
                  listens ? INT64_MAX : hf__clock_boot_ms() + BLIND_MIN_MS);
}

static void take_message(void *user, hf_bytes message)
{
    record_driver *self = user;
    hf_bytes topic;
    hf_bytes text;

    hf__store_message(message, &text, &topic);
    if (text.size > 0 && self->on_message != NULL)
        self->on_message(self->on_message_user, topic, text);
    hf__events_move(&self->events, hf__events_bucket(topic));
}

static void take_record(void *user, const hf__backend_record *record)
{
    record_driver *self = user;

    hf__record_store_learn(&self->records, record);
}

static void run_listen(hf__task *task)
{
    record_driver *self = hf__container_of(task, record_driver, listen_task);

    set_state(self, TRYING);
    self->backend->ops->listen(self->backend);
}

/* Begin to listen, once. */
static void start_listening(record_driver *self)
{
    if (__atomic_exchange_n(&self->asked, true, __ATOMIC_ACQ_REL))
        return;
    self->listen_task.run = run_listen;
    hf__loop_post(self->loop, &self->listen_task);
}

/* ------------------------------------------------------------------ events */

static const char *driver_inbox(hf__store *store)
{
    return driver_of(store)->inbox;
}

static uint32_t driver_event_seq(hf__store *store, hf_bytes topic,
                                 int64_t deadline_ms)
{
    record_driver *self = driver_of(store);
    uint32_t state;

    if (!is_forked(self))
        start_listening(self);
    while (!is_forked(self) && !hf__loop_here(self->loop) &&
           (state = get_state(self)) <= TRYING &&
           hf__clock_boot_ms() < deadline_ms)
        hf__futex_wait(&self->state, state, deadline_ms, false);
    return hf__events_read(&self->events, hf__events_bucket(topic));
}

static bool driver_event_listens(hf__store *store, hf_bytes topic)
{
    (void)topic;
    return get_state(driver_of(store)) == LISTENS;
}

static bool driver_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                              int64_t until_ms)
{
    return hf__events_wait(&driver_of(store)->events, hf__events_bucket(topic),
                           seq, until_ms);
}

static void driver_event_wake(hf__store *store, hf_bytes topic)
{
    hf__events_wake(&driver_of(store)->events, hf__events_bucket(topic));
}

typedef struct watch_change {
    hf__task base;
    record_driver *self;
    hf__watch *watch;
} watch_change;

static void run_add(hf__task *task)
{
    const watch_change *of = (watch_change *)task;

    hf__events_add(&of->self->events, of->watch);
}

static void run_remove(hf__task *task)
{
    const watch_change *of = (watch_change *)task;

    hf__events_remove(&of->self->events, of->watch);
}

static hf_status driver_event_watch(hf__store *store, hf_bytes topic,
                                    hf__watch *watch, hf_error *err)
{
    record_driver *self = driver_of(store);
    watch_change task = {{run_add, NULL}, self, watch};

    if (is_forked(self))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    start_listening(self);
    watch->bucket = hf__events_bucket(topic);
    hf__loop_run(self->loop, &task.base);
    return HF_OK;
}

static void driver_event_unwatch(hf__store *store, hf__watch *watch)
{
    watch_change task = {{run_remove, NULL}, driver_of(store), watch};

    if (!is_forked(task.self))
        hf__loop_run(task.self->loop, &task.base);
}

/* ---------------------------------------------------------------- describe */

static void driver_describe(hf__store *store, hf__describe_fn line, void *user)
{
    static const char *const states[] = {"no", "connecting", "yes",
                                         "no; waiters poll"};
    record_driver *self = driver_of(store);

    self->backend->ops->describe(self->backend, line, user);
    line(user, "inbox", self->inbox);
    line(user, "listens", states[get_state(self)]);
}

static void report_fact(void *user, hf_level level, const char *name,
                        const char *value, const char *remedy)
{
    if (level == HF_LEVEL_ERROR)
        hf__report_error(user, HF_UNAVAILABLE, name, remedy, "%s", value);
    else
        hf__report(user, level, name, remedy, "%s", value);
}

/* A waiter that does not hear of a release only polls. */
static void diagnose_listening(record_driver *self,
                               const hf__diagnosis *diagnosis)
{
    hf_bytes topic = hf_str("");

    (void)driver_event_seq(&self->base, topic,
                           hf__clock_boot_ms() + diagnosis->request_ms);
    if (get_state(self) == LISTENS)
        hf__report(diagnosis, HF_LEVEL_OK, "wake-ups", "", "arrive");
    else
        hf__report(diagnosis, HF_LEVEL_WARNING, "wake-ups",
                   "let the client reach the server itself, not a pooler, by "
                   "listen=HOST:PORT in the URL",
                   "do not arrive, so that waiters poll");
}

static void driver_diagnose(hf__store *store, const hf__diagnosis *diagnosis)
{
    record_driver *self = driver_of(store);
    hf__diagnosis copy = *diagnosis;

    self->backend->ops->diagnose(self->backend, report_fact, &copy);
    diagnose_listening(self, diagnosis);
}

/* ---------------------------------------------------------- open and close */

static void take_config(record_driver *self, const hf__store_config *config)
{
    char drawn[HF__STORE_ID_SIZE];
    const char *id = config->client_id;

    if (id == NULL) {
        hf__rand_hex(drawn, sizeof(drawn) / 2);
        id = drawn;
    }
    hf__store_channel(self->inbox, config->prefix, id);
    self->base.ops = &hf__postgres_store_ops;
    self->base.shards = HF__RECORD_PARTS;
    self->on_message = config->on_message;
    self->on_message_user = config->on_message_user;
    self->loop = config->loop;
    self->fork_generation = hf__fork_generation();
    self->listener =
        (hf__backend_listener){take_message, take_record, take_state, self};
    hf__events_init(&self->events);
}

static hf_status open_backend(record_driver *self, const char *name,
                              const hf__store_config *config, hf_error *err)
{
    hf__backend_config how = {.store = config,
                              .inbox = self->inbox,
                              .listener = &self->listener,
                              .loop = config->loop,
                              .post = hf__loop_post};
    const hf__backend_module *module;
    hf_status status = hf__module_load(name, &module, err);

    if (status == HF_OK)
        status = hf__loop_start(config->loop, err);
    if (status != HF_OK)
        return status;
    how.poller = hf__loop_poller(config->loop);
    return module->open(&how, &self->backend, err);
}

/* Of a user's script, as on other stores. */
#define BUDGET_MS 5000

static hf_status open_store(record_driver *self, const char *name,
                            const hf__store_config *config, hf_error *err)
{
    int64_t budget_ms =
        config->script_budget_ms > 0 ? config->script_budget_ms : BUDGET_MS;
    hf_status status = open_backend(self, name, config, err);

    if (status != HF_OK)
        return status;
    self->base.capabilities = HF__CAP_EVENTS | HF__CAP_ATOMIC | HF__CAP_ALONE |
                              HF__CAP_GUARDED |
                              (self->backend->durable ? HF__CAP_DURABLE : 0);
    status = hf__alarm_new(self->loop, poll_blindly, self, &self->blind, err);
    if (status != HF_OK) {
        hf__record_store_drop(self->loop, self->backend);
        return status;
    }
    status = hf__record_store_open(&self->records, self->loop, self->backend,
                                   budget_ms, err);
    if (status != HF_OK)
        hf__alarm_free(self->blind);
    return status;
}

static hf_status postgres_open(const hf__store_config *config,
                               hf__store **store, hf_error *err)
{
    record_driver *self;
    hf_status status;

    if (config->replicas > 0)
        return hf__fail(err, HF_UNSUPPORTED, HF__REPLICAS_NOWHERE);
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    take_config(self, config);
    status = open_store(self, "postgres", config, err);
    if (status == HF_OK)
        *store = &self->base;
    else
        hf__free(self);
    return status;
}

static hf_status postgres_setup(const hf__store_config *config,
                                void (*print)(void *user, const char *sql),
                                void *user, hf_error *err)
{
    const hf__backend_module *module;
    hf_status status = hf__module_load("postgres", &module, err);

    return status == HF_OK ? module->setup(config, print, user, err) : status;
}

static void driver_close(hf__store *store)
{
    record_driver *self = driver_of(store);

    if (is_forked(self)) {
        self->backend->ops->close_forked(self->backend);
    } else {
        hf__record_store_close(&self->records);
        hf__alarm_free(self->blind);
    }
    hf__free(self);
}

static const char *const postgres_schemes[] = {"postgres", "postgresql", NULL};

const hf__store_ops hf__postgres_store_ops = {
    .schemes = postgres_schemes,
    .open = postgres_open,
    .perform = driver_perform,
    .submit = driver_submit,
    .cancel = driver_cancel,
    .inbox = driver_inbox,
    .event_seq = driver_event_seq,
    .event_listens = driver_event_listens,
    .event_wait = driver_event_wait,
    .event_wake = driver_event_wake,
    .event_watch = driver_event_watch,
    .event_unwatch = driver_event_unwatch,
    .shard = hf__record_part,
    .tag = hf__record_part_tag,
    .describe = driver_describe,
    .diagnose = driver_diagnose,
    .setup = postgres_setup,
    .close = driver_close,
};
