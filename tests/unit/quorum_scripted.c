/* SPDX-License-Identifier: Apache-2.0 */
/* quorum_scripted.c - see quorum_scripted.h. */
#include "quorum_scripted.h"

#include "script/script_words.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/fork.h"

/* -------------------------------------------------------------- scripted node
 */

node nodes[NODES];

static const char *name_of(const hf__request *request)
{
    if (request->script == NULL)
        return "info";
    switch (request->script->index) {
    case HF__SCRIPT_LOCK_ACQUIRE:
        return "acquire";
    case HF__SCRIPT_LOCK_RELEASE:
        return "release";
    case HF__SCRIPT_LOCK_CONFIRM:
        return "confirm";
    case HF__SCRIPT_LOCK_UNDO:
        return "undo";
    default:
        return "other";
    }
}

void quorum_finish(hf__request *request, hf_status status)
{
    if (status != HF_OK)
        hf__request_fail(request, status, "by the test");
    else
        request->status = HF_OK;
    request->sends = request->sends == 0 ? 1 : request->sends;
    request->on_done(request);
}

void answer_info(const node *self, hf__request *request)
{
    char text[96];
    int size = snprintf(text, sizeof(text),
                        "# Server\r\nrun_id:%s\r\nuptime_in_seconds:%lld\r\n",
                        self->run_id, (long long)self->uptime_s);
    bool made = hf__reply_set_bytes(&request->reply, HF_REPLY_STRING, text,
                                    (size_t)size, &request->arena);

    quorum_finish(request, made ? HF_OK : HF_NO_MEMORY);
}

bool set_refusal(hf__request *request, const char *holder, int pttl_ms)
{
    hf_reply *items;

    if (!hf__reply_set_array(&request->reply, 3, &request->arena))
        return false;
    items = request->reply.array.items;
    hf__reply_set_integer(&items[0], pttl_ms);
    hf__reply_set_integer(&items[2], 1);
    return hf__reply_set_bytes(&items[1], HF_REPLY_STRING, holder,
                               strlen(holder), &request->arena);
}

static void take(node *self, hf__request *request)
{
    size_t size = strlen(self->log);

    assert_false(self->is_closed);
    (void)snprintf(self->log + size, LOG_SIZE - size, "%s%s",
                   size == 0 ? "" : " ", name_of(request));
    if (request->script != NULL &&
        request->script->index == HF__SCRIPT_LOCK_CONFIRM)
        (void)snprintf(self->last_token, sizeof(self->last_token), "%.*s",
                       (int)request->words[3].size,
                       (const char *)request->words[3].data);
    if (request->script != NULL &&
        request->script->index == HF__SCRIPT_LOCK_UNDO) {
        const hf_bytes *wake = &request->words[HF__LOCK_UNDO_WAKE];

        self->undo_wakes = memcmp(wake->data, "1", wake->size) == 0;
        self->undo_queues = request->words[HF__LOCK_UNDO_ENTRY].size > 0;
    }
    if (request->script == NULL && !self->holds_info) {
        answer_info(self, request);
    } else if (self->refuses && strcmp(name_of(request), "acquire") == 0) {
        quorum_finish(request,
                      set_refusal(request, "A", 500) ? HF_OK : HF_NO_MEMORY);
    } else {
        assert_true(self->count < PENDING_MAX);
        self->pending[self->count++] = request;
    }
}

void set_run_id(size_t at, const char *run_id)
{
    (void)snprintf(nodes[at].run_id, sizeof(nodes[at].run_id), "%s", run_id);
}

static void node_submit(hf__store *store, hf__request *const *requests,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        take((node *)(void *)store, requests[i]);
}

static const char *node_inbox(hf__store *store)
{
    (void)store;
    return "hf:inbox:0123456789abcdef";
}

hf__request *oldest(node *self)
{
    hf__request *first = self->pending[0];

    assert_true(self->count > 0);
    self->count--;
    memmove(self->pending, self->pending + 1,
            self->count * sizeof(self->pending[0]));
    return first;
}

static void node_close(hf__store *store)
{
    node *self = (node *)(void *)store;

    while (self->count > 0)
        quorum_finish(oldest(self), HF_UNAVAILABLE);
    self->is_closed = true;
}

static void node_cancel(hf__store *store, hf__request *request)
{
    node *self = (node *)(void *)store;

    for (size_t i = 0; i < self->count; i++)
        self->cancelled += self->pending[i] == request;
}

static uint32_t node_generation(hf__store *store)
{
    return ((node *)(void *)store)->generation;
}

static uint32_t node_event_seq(hf__store *store, hf_bytes topic,
                               int64_t deadline_ms)
{
    (void)topic;
    (void)deadline_ms;
    return ((node *)(void *)store)->seq;
}

static bool node_event_listens(hf__store *store, hf_bytes topic)
{
    (void)topic;
    return ((node *)(void *)store)->listens;
}

static hf_status node_event_watch(hf__store *store, hf_bytes topic,
                                  hf__watch *watch, hf_error *err)
{
    (void)topic;
    (void)err;
    ((node *)(void *)store)->watch = watch;
    return HF_OK;
}

static void node_event_unwatch(hf__store *store, hf__watch *watch)
{
    node *self = (node *)(void *)store;

    assert_ptr_equal(self->watch, watch);
    self->watch = NULL;
}

void move_events(size_t at)
{
    nodes[at].seq++;
    if (nodes[at].watch != NULL)
        nodes[at].watch->moved(nodes[at].watch);
}

static const hf__store_ops node_ops = {
    .event_seq = node_event_seq,
    .event_listens = node_event_listens,
    .event_watch = node_event_watch,
    .event_unwatch = node_event_unwatch,
    .submit = node_submit,
    .inbox = node_inbox,
    .close = node_close,
    .cancel = node_cancel,
    .generation = node_generation,
};

/* Replies to the oldest request of a node. */
void say(size_t at, int64_t value)
{
    hf__request *request = oldest(&nodes[at]);

    hf__reply_set_integer(&request->reply, value);
    quorum_finish(request, HF_OK);
}

void say_last(size_t at, int64_t value)
{
    hf__request *request = nodes[at].pending[--nodes[at].count];

    hf__reply_set_integer(&request->reply, value);
    quorum_finish(request, HF_OK);
}

void refuse(size_t at)
{
    hf__request *request = oldest(&nodes[at]);

    quorum_finish(request,
                  set_refusal(request, "A", 500) ? HF_OK : HF_NO_MEMORY);
}

void fail_with(size_t at, hf_status status)
{
    quorum_finish(oldest(&nodes[at]), status);
}

/* ------------------------------------------------------------------- a call */

call result;

static void call_done(hf__request *request)
{
    call *self = request->user;

    self->done++;
    self->status = request->status;
    self->kind = request->reply.kind;
    self->sends = request->sends;
    if (request->status == HF_OK)
        self->value = self->kind == HF_REPLY_INTEGER
                          ? request->reply.integer
                          : request->reply.array.items[0].integer;
    hf__request_done(request);
    result = *self;
    if (self->is_freed)
        hf__free(self);
}

call *call_new(uint32_t script)
{
    call *self = hf__calloc(1, sizeof(*self));

    assert_non_null(self);
    self->words[0] = hf_str("l");
    self->words[1] = hf_str("hf:token:{l}");
    self->words[2] = hf_str("hf:wait:{l}");
    self->words[3] = hf_str("owner");
    self->words[4] = hf_str("30000");
    self->words[5] = hf_str("quorum");
    self->words[6] = hf_str("0");
    self->words[7] = hf_str("0");
    hf__request_script(&self->request, &hf__scripts[script], self->words,
                       script == HF__SCRIPT_LOCK_RELEASE ? 4 : 8, 3);
    self->request.deadline_ms = hf__clock_boot_ms() + 60000;
    self->request.on_done = call_done;
    self->request.user = self;
    return self;
}

void submit(hf__quorum *quorum, call *self)
{
    hf__request *request = &self->request;

    quorum->base.ops->submit(&quorum->base, &request, 1);
}

call *acquire(hf__quorum *quorum)
{
    call *self = call_new(HF__SCRIPT_LOCK_ACQUIRE);

    submit(quorum, self);
    return self;
}

/* ------------------------------------------------------------------- fixture
 */

int quorum_start(void **state)
{
    hf__quorum *quorum = hf__calloc(1, sizeof(*quorum));

    memset(nodes, 0, sizeof(nodes));
    quorum->base.ops = &hf__quorum_store_ops;
    quorum->fork_generation = hf__fork_generation();
    quorum->restart_ms = 60000;
    quorum->opened_ms = hf__clock_boot_ms();
    pthread_mutex_init(&quorum->mutex, NULL);
    hf__cond_init(&quorum->changed);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i].base.ops = &node_ops;
        nodes[i].generation = 1;
        nodes[i].uptime_s = 1000;
        (void)snprintf(nodes[i].run_id, sizeof(nodes[i].run_id), "run%zu", i);
        quorum->nodes[i].store = &nodes[i].base;
    }
    quorum->count = NODES;
    quorum->majority = 3;
    *state = quorum;
    if (hf__nodes_probe(quorum, 1000, NULL) != HF_OK)
        return -1;
    for (size_t i = 0; i < NODES; i++)
        nodes[i].log[0] = '\0';
    return 0;
}

int quorum_stop(void **state)
{
    hf__quorum *quorum = *state;

    if (quorum == NULL)
        return 0;
    for (size_t i = 0; i < NODES; i++)
        nodes[i].is_closed = false;
    quorum->base.ops->close(&quorum->base);
    return 0;
}

void expect_logs(const char *const want[NODES])
{
    for (size_t i = 0; i < NODES; i++)
        assert_string_equal(want[i], nodes[i].log);
}

void drain(call *self)
{
    for (size_t i = 0; i < NODES; i++) {
        while (nodes[i].count > 0)
            fail_with(i, HF_UNAVAILABLE);
    }
    assert_int_equal(1, self->done);
    hf__free(self);
}
