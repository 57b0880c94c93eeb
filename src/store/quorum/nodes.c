/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - see nodes.h. */
#include "store/quorum/nodes.h"

#include <string.h>

#include "store/info.h"
#include "store/quorum/work.h"
#include "store/redis/redis.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/secret.h"
#include "util/url.h"

#define NODES_MIN 3
#define RESTART_MS_MAX 86400000

/* --------------------------------------------------------------------- open */

static hf_status check_scheme(const hf__url *url, size_t number, hf_error *err)
{
    if (!hf__store_takes(&hf__redis_store_ops, url->scheme))
        return hf__fail(err, HF_INVALID,
                        "redlock: server %zu has the scheme %s:; each must be "
                        "an independent server",
                        number, url->scheme);
    if (hf__url_param_get(url, "replicas") != NULL ||
        hf__url_param_get(url, "replicas_ms") != NULL)
        return hf__fail(err, HF_UNSUPPORTED, HF__REPLICAS_NOWHERE);
    return HF_OK;
}

static hf_status open_node(hf__quorum *quorum, const hf__store_config *base,
                           const char *text, hf_error *err)
{
    hf__store_config config = *base;
    char secret[HF__SECRET_SIZE];
    const char *password = NULL;
    hf__url url;
    hf_status status = hf__url_parse(text, &url, err);

    if (status != HF_OK)
        return status;
    status = check_scheme(&url, quorum->count + 1, err);
    if (status == HF_OK)
        status = hf__url_secret(&url, secret, &password, err);
    config.url = &url;
    config.lazy = true;
    if (url.username != NULL || password != NULL) {
        config.username = url.username;
        config.password = password;
    }
    if (status == HF_OK)
        status = hf__redis_store_ops.open(
            &config, &quorum->nodes[quorum->count].store, err);
    if (status == HF_OK)
        quorum->count++;
    explicit_bzero(secret, sizeof(secret));
    hf__url_done(&url);
    return status;
}

/* "quarantine=MS". Any other text is not shown: it may be half of a URL whose
 * password has a comma. */
static hf_status read_option(hf__quorum *quorum, const char *text,
                             size_t number, hf_error *err)
{
    static const char name[] = "quarantine=";

    if (strncmp(text, name, sizeof(name) - 1) != 0)
        return hf__fail(err, HF_INVALID,
                        "redlock: item %zu is neither the URL of a server nor "
                        "quarantine=MS (a comma in a password is %%2C)",
                        number);
    return hf__parse_int(text + sizeof(name) - 1, 0, RESTART_MS_MAX,
                         "quarantine", &quorum->restart_ms, err);
}

static hf_status open_item(hf__quorum *quorum, const hf__store_config *config,
                           const char *text, size_t number, hf_error *err)
{
    if (strstr(text, "://") == NULL)
        return read_option(quorum, text, number, err);
    if (quorum->count == HF__QUORUM_NODES_MAX)
        return hf__fail(err, HF_INVALID, "redlock: more than %d servers",
                        HF__QUORUM_NODES_MAX);
    return open_node(quorum, config, text, err);
}

/* One server must not have two votes. */
static hf_status check_different(char *const *items, size_t count,
                                 hf_error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(items[i], items[j]) == 0)
                return hf__fail(err, HF_INVALID,
                                "redlock: items %zu and %zu are the same",
                                j + 1, i + 1);
        }
    }
    return HF_OK;
}

hf_status hf__nodes_open(hf__quorum *quorum, const hf__store_config *config,
                         const char *list, hf_error *err)
{
    char *items[HF__QUORUM_NODES_MAX + 1];
    char *copy = hf__strdup(list);
    char *next = copy;
    char *item;
    size_t count = 0;
    hf_status status;

    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a quorum");
    while (count < sizeof(items) / sizeof(items[0]) &&
           (item = strsep(&next, ",")) != NULL)
        items[count++] = item;
    status = next == NULL
                 ? check_different(items, count, err)
                 : hf__fail(err, HF_INVALID, "redlock: more than %d servers",
                            HF__QUORUM_NODES_MAX);
    for (size_t i = 0; status == HF_OK && i < count; i++)
        status = open_item(quorum, config, items[i], i + 1, err);
    explicit_bzero(copy, strlen(list));
    hf__free(copy);
    if (status == HF_OK && quorum->count < NODES_MIN)
        return hf__fail(err, HF_INVALID,
                        "redlock: %zu servers; %d to %d are needed",
                        quorum->count, NODES_MIN, HF__QUORUM_NODES_MAX);
    quorum->majority = quorum->count / 2 + 1;
    return status;
}

void hf__nodes_close(hf__quorum *quorum)
{
    for (size_t i = 0; i < quorum->count; i++) {
        hf__store *store = quorum->nodes[i].store;

        store->ops->close(store);
    }
}

/* ----------------------------------------------------------------- identify */

/* INFO under way. */
typedef struct info_query {
    hf__request request;
    hf_bytes words[2];
    hf__quorum *quorum;
    size_t node;
    uint32_t generation;
    struct node_probe *probe;       /* that waits for it; NULL: none */
    void (*identified)(void *user); /* NULL: none */
    void *user;
} info_query;

typedef struct node_probe {
    pthread_cond_t changed;
    info_query *queries[HF__QUORUM_NODES_MAX]; /* NULL: ended */
    size_t open;
    size_t answered;
    int64_t least_s; /* uptimes of those that answered */
    int64_t most_s;
    size_t duplicate; /* number of a server that is listed twice; 0: none */
    hf_error first;   /* failure other than an unreachable node */
} node_probe;

static uint32_t generation_of(hf__store *store)
{
    return store->ops->generation == NULL ? 0 : store->ops->generation(store);
}

/* One process must not have two votes. */
static bool is_duplicate_locked(const hf__quorum *quorum, size_t node,
                                const char *run_id)
{
    for (size_t i = 0; i < quorum->count; i++) {
        if (i != node && strcmp(quorum->nodes[i].run_id, run_id) == 0)
            return true;
    }
    return false;
}

/*
 * A new process that has been up for less than a lock may live may have
 * lost one. The exception: all nodes were young when the quorum was
 * opened, and this one had been started by then.
 */
static void admit_locked(hf__quorum *quorum, hf__quorum_node *node, bool first,
                         int64_t uptime_ms)
{
    int64_t now_ms = hf__clock_boot_ms();
    bool is_new =
        first && quorum->is_new && now_ms - uptime_ms <= quorum->opened_ms;

    node->votes_at_ms = 0;
    if (!is_new && uptime_ms < quorum->restart_ms)
        node->votes_at_ms = now_ms + quorum->restart_ms - uptime_ms;
}

static void identify_locked(info_query *self, const char *run_id,
                            int64_t uptime_s)
{
    hf__quorum *quorum = self->quorum;
    hf__quorum_node *node = &quorum->nodes[self->node];
    bool first = node->run_id[0] == '\0';
    node_probe *probe = self->probe;
    /* The difference of two truncated numbers: less than a second off. */
    int64_t least_ms = hf__at_least(uptime_s - 1, 0) * 1000;

    if (is_duplicate_locked(quorum, self->node, run_id)) {
        if (probe != NULL)
            probe->duplicate = self->node + 1;
        return;
    }
    if (strcmp(node->run_id, run_id) != 0) {
        admit_locked(quorum, node, first, least_ms);
        memcpy(node->run_id, run_id, sizeof(node->run_id));
    }
    node->generation = self->generation;
    if (probe == NULL)
        return;
    node->probed = true;
    if (probe->answered++ == 0)
        probe->least_s = probe->most_s = uptime_s;
    probe->least_s = hf__at_most(probe->least_s, uptime_s);
    probe->most_s = hf__at_least(probe->most_s, uptime_s);
}

/* Can be added to an instant without overflow. */
#define UPTIME_MAX_S (INT64_C(1) << 40)

static void read_info_locked(info_query *self)
{
    const hf__request *request = &self->request;
    hf_bytes info;
    char run_id[sizeof(self->quorum->nodes[0].run_id)];
    int64_t uptime_s;

    if (request->status == HF_OK && request->reply.kind == HF_REPLY_STRING) {
        info = hf_view(request->reply.bytes.data, request->reply.bytes.size);
        uptime_s = hf__info_number(info, "uptime_in_seconds", -1);
        if (hf__info_find(info, "run_id", run_id, sizeof(run_id)) &&
            run_id[0] != '\0' && uptime_s >= 0) {
            identify_locked(self, run_id, hf__at_most(uptime_s, UPTIME_MAX_S));
            return;
        }
    }
    if (self->probe != NULL && request->status != HF_OK &&
        request->status != HF_UNAVAILABLE &&
        request->status != HF_INDETERMINATE &&
        self->probe->first.status == HF_OK)
        self->probe->first = request->error;
}

/* Counted as work until the end: identified() may use the quorum. */
static void query_done(hf__request *request)
{
    info_query *self = request->user;
    hf__quorum *quorum = self->quorum;

    pthread_mutex_lock(&quorum->mutex);
    quorum->nodes[self->node].querying = false;
    read_info_locked(self);
    if (self->probe != NULL) {
        self->probe->queries[self->node] = NULL;
        self->probe->open--;
        pthread_cond_signal(&self->probe->changed);
    }
    pthread_mutex_unlock(&quorum->mutex);
    if (self->identified != NULL)
        self->identified(self->user);
    hf__request_done(request);
    hf__free(self);
    pthread_mutex_lock(&quorum->mutex);
    hf__work_ended_locked(quorum);
    pthread_mutex_unlock(&quorum->mutex);
}

/* Submit INFO, which was counted as work. */
static void send_query(hf__quorum *quorum, size_t node, int64_t deadline_ms,
                       info_query *self)
{
    hf__store *store = quorum->nodes[node].store;
    hf__request *request = &self->request;

    self->quorum = quorum;
    self->node = node;
    self->words[0] = hf_str("INFO");
    self->words[1] = hf_str("server");
    self->generation = generation_of(store);
    hf__request_command(request, self->words, 2, true);
    request->lane = HF__LANE_LEASE; /* ahead of the request to vote on */
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = deadline_ms;
    request->on_done = query_done;
    request->user = self;
    store->ops->submit(store, &request, 1);
}

#define QUERY_MS 2000

static bool is_known_locked(const hf__quorum_node *node)
{
    return node->run_id[0] != '\0' &&
           node->generation == generation_of(node->store);
}

void hf__node_identify_early(hf__quorum *quorum, size_t index)
{
    hf__quorum_node *node = &quorum->nodes[index];
    info_query *self = NULL;

    pthread_mutex_lock(&quorum->mutex);
    if (!node->querying && !is_known_locked(node))
        self = hf__calloc(1, sizeof(*self));
    if (self != NULL) {
        node->querying = true;
        quorum->work++;
    }
    pthread_mutex_unlock(&quorum->mutex);
    if (self != NULL)
        send_query(quorum, index, hf__clock_boot_ms() + QUERY_MS, self);
}

void hf__node_identify(hf__quorum *quorum, size_t node, int64_t deadline_ms,
                       void (*identified)(void *user), void *user)
{
    info_query *self = hf__calloc(1, sizeof(*self));

    if (self == NULL || !hf__work_enter(quorum)) {
        hf__free(self);
        identified(user);
        return;
    }
    self->identified = identified;
    self->user = user;
    hf__work_begins(quorum);
    send_query(quorum, node, deadline_ms, self);
    hf__work_leave(quorum);
}

hf__standing hf__node_standing(hf__quorum *quorum, size_t index)
{
    const hf__quorum_node *node = &quorum->nodes[index];
    hf__standing standing = HF__NODE_VOTES;

    pthread_mutex_lock(&quorum->mutex);
    if (!is_known_locked(node))
        standing = HF__NODE_UNKNOWN;
    else if (hf__clock_boot_ms() < node->votes_at_ms)
        standing = HF__NODE_QUARANTINED;
    pthread_mutex_unlock(&quorum->mutex);
    return standing;
}

void hf__node_answered(hf__quorum *quorum, size_t node, bool answered)
{
    pthread_mutex_lock(&quorum->mutex);
    quorum->nodes[node].silent = !answered;
    pthread_mutex_unlock(&quorum->mutex);
}

void hf__nodes_silent(hf__quorum *quorum, bool silent[HF__QUORUM_NODES_MAX])
{
    size_t here = 0;

    pthread_mutex_lock(&quorum->mutex);
    for (size_t i = 0; i < quorum->count; i++) {
        silent[i] = quorum->nodes[i].silent;
        here += !silent[i];
    }
    pthread_mutex_unlock(&quorum->mutex);
    for (size_t i = 0; i < quorum->count && here < quorum->majority; i++)
        silent[i] = false;
}

bool hf__node_may_vote(hf__quorum *quorum, size_t node)
{
    return hf__node_standing(quorum, node) == HF__NODE_VOTES;
}

/* -------------------------------------------------------------------- probe */

static hf_status probe_status(const hf__quorum *quorum, const node_probe *probe,
                              hf_error *err)
{
    if (probe->first.status != HF_OK)
        return hf__fail_copy(err, &probe->first);
    if (probe->duplicate > 0)
        return hf__fail(err, HF_INVALID,
                        "redlock: server %zu is the same process as another "
                        "server of the list",
                        probe->duplicate);
    if (probe->answered < quorum->majority)
        return hf__fail(err, HF_UNAVAILABLE,
                        "redlock: %zu of %zu servers answered; %zu are needed",
                        probe->answered, quorum->count, quorum->majority);
    return HF_OK;
}

/* The part of the quarantine within which servers are started together. */
#define TOGETHER_PART 10

/* If all are young, the deployment is new and no lock was lost. So it was if
 * all were started together: else each of them would be refused while it is as
 * old as the quarantine, by the precision of an uptime. */
static void trust_new_locked(hf__quorum *quorum, const node_probe *probe)
{
    int64_t spread_ms = (probe->most_s - probe->least_s + 1) * 1000;
    bool together = spread_ms <= quorum->restart_ms / TOGETHER_PART;

    quorum->is_new = (probe->most_s + 1) * 1000 <= quorum->restart_ms;
    for (size_t i = 0; i < quorum->count; i++) {
        quorum->nodes[i].silent = !quorum->nodes[i].probed;
        if ((quorum->is_new || together) && quorum->nodes[i].probed)
            quorum->nodes[i].votes_at_ms = 0;
    }
}

/* Is the outcome known? */
static bool is_decided(const hf__quorum *quorum, const node_probe *probe)
{
    return probe->open == 0 || probe->duplicate > 0 ||
           probe->first.status != HF_OK || probe->answered >= quorum->majority;
}

/* How long to wait for the others after a majority has answered. */
#define JOIN_MS 50

static void query_all(hf__quorum *quorum, node_probe *probe, int64_t until_ms)
{
    for (size_t i = 0; i < quorum->count; i++) {
        info_query *self = hf__calloc(1, sizeof(*self));

        if (self == NULL)
            continue;
        self->probe = probe;
        pthread_mutex_lock(&quorum->mutex);
        quorum->nodes[i].querying = true;
        quorum->work++;
        probe->queries[i] = self;
        probe->open++;
        pthread_mutex_unlock(&quorum->mutex);
        send_query(quorum, i, until_ms, self);
    }
}

hf_status hf__nodes_probe(hf__quorum *quorum, int64_t connect_ms, hf_error *err)
{
    int64_t until_ms = hf__clock_after(hf__clock_boot_ms(), connect_ms);
    node_probe *probe = hf__calloc(1, sizeof(*probe));
    hf_status status;

    if (probe == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a quorum");
    hf__cond_init(&probe->changed);
    probe->first = (hf_error)HF_ERROR_INIT;
    query_all(quorum, probe, until_ms);
    pthread_mutex_lock(&quorum->mutex);
    while (!is_decided(quorum, probe))
        hf__cond_wait_until(&probe->changed, &quorum->mutex, INT64_MAX);
    until_ms = hf__at_most(until_ms, hf__clock_boot_ms() + JOIN_MS);
    while (probe->open > 0 && hf__clock_boot_ms() < until_ms)
        hf__cond_wait_until(&probe->changed, &quorum->mutex, until_ms);
    status = probe_status(quorum, probe, err);
    trust_new_locked(quorum, probe);
    for (size_t i = 0; i < quorum->count; i++) {
        if (probe->queries[i] != NULL)
            probe->queries[i]->probe = NULL;
    }
    pthread_mutex_unlock(&quorum->mutex);
    pthread_cond_destroy(&probe->changed);
    hf__free(probe);
    return status;
}
