/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose_test.c - the diagnosis of a server from what it reports: clocks,
 * replicas, limits and faults that a real one does not show on demand, and
 * replies that no server should send.
 */
#include "redis_driver.h"

#include <stdio.h>

#include "holdfast/store.h"

#define REMARKS_MAX 64

/* The server's replies. */
typedef struct patient {
    int64_t ahead_us;   /* of our clock */
    const char *time;   /* the reply to TIME; NULL: by ahead_us */
    const char *info;   /* lines of INFO; NULL: NOPERM */
    const char *config; /* "name value" of CONFIG GET; NULL: NOPERM */
    const char *nodes;  /* CLUSTER NODES of a cluster's node; NULL: none */
    const char *state;  /* its CLUSTER INFO */
    const char *heard;  /* reply to PUBLISH, SUBSCRIBE being allowed; NULL:
                         *                            neither is */
} patient;

typedef struct remark {
    hf_level level;
    hf_status status;
    char name[64];
    char value[520];
} remark;

typedef struct remarks {
    remark of[REMARKS_MAX];
    size_t count;
} remarks;

/* --------------------------------------------------------------- the server */

static bool say_bulk(int fd, const char *text)
{
    char head[32];

    snprintf(head, sizeof(head), "$%zu\r\n", strlen(text));
    return fake_server_say(fd, head) && fake_server_say(fd, text) &&
           fake_server_say(fd, "\r\n");
}

static bool say_time(int fd, const patient *self)
{
    int64_t us = hf__clock_unix_us() + self->ahead_us;
    char text[80];

    if (self->time != NULL)
        return fake_server_say(fd, self->time);
    snprintf(text, sizeof(text), "*2\r\n$10\r\n%010lld\r\n$6\r\n%06lld\r\n",
             (long long)(us / 1000000), (long long)(us % 1000000));
    return fake_server_say(fd, text);
}

/* "CONFIG GET name" */
static bool say_config(int fd, const patient *self, const char *name)
{
    size_t size = strlen(name);

    if (self->config == NULL)
        return fake_server_say(fd, "-NOPERM no\r\n");
    if (strncmp(self->config, name, size) != 0 || self->config[size] != ' ')
        return fake_server_say(fd, "*0\r\n");
    return fake_server_say(fd, "*2\r\n") && say_bulk(fd, name) &&
           say_bulk(fd, self->config + size + 1);
}

static bool answer(int fd, const patient *self, const char *text)
{
    if (strcmp(text, "TIME") == 0)
        return say_time(fd, self);
    if (strcmp(text, "INFO") == 0 && self->info != NULL)
        return say_bulk(fd, self->info);
    if (strcmp(text, "CLUSTER NODES") == 0 && self->nodes != NULL)
        return say_bulk(fd, self->nodes);
    if (strcmp(text, "CLUSTER INFO") == 0 && self->state != NULL)
        return say_bulk(fd, self->state);
    if (strncmp(text, "CONFIG GET ", 11) == 0)
        return say_config(fd, self, text + 11);
    if (strncmp(text, "SUBSCRIBE ", 10) == 0 && self->heard != NULL)
        return fake_server_say(fd, "*3\r\n") && say_bulk(fd, "subscribe") &&
               say_bulk(fd, text + 10) && fake_server_say(fd, ":1\r\n");
    if (strncmp(text, "PUBLISH ", 8) == 0 && self->heard != NULL)
        return fake_server_say(fd, self->heard);
    return fake_server_say(fd, "-NOPERM no\r\n");
}

static bool log_in(int fd, const patient *self)
{
    char text[200];

    if (self->nodes == NULL)
        return fake_server_login(fd, "7.0.15");
    if (!fake_server_read(fd, text, sizeof(text)) ||
        !fake_server_say(fd, "*4\r\n$7\r\nversion\r\n$5\r\n7.2.4\r\n"
                             "$4\r\nmode\r\n$7\r\ncluster\r\n"))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!fake_server_read(fd, text, sizeof(text)) ||
            !fake_server_say(fd, "+OK\r\n"))
            return false;
    }
    return true;
}

static void serve(int fd, unsigned number, void *user)
{
    const patient *self = user;
    char text[4096];

    (void)number;
    if (!log_in(fd, self))
        return;
    while (fake_server_read(fd, text, sizeof(text)) && answer(fd, self, text))
        continue;
}

/* ------------------------------------------------------------- diagnostics */

static void keep(void *user, const hf_store_diagnostic *told)
{
    remarks *all = user;
    remark *to = &all->of[all->count];

    assert_true(all->count < REMARKS_MAX);
    assert_true((told->level == HF_LEVEL_ERROR) == (told->status != HF_OK));
    assert_true(told->level == HF_LEVEL_OK || told->level == HF_LEVEL_NOTE ||
                told->level == HF_LEVEL_WARNING ||
                told->level == HF_LEVEL_ERROR);
    to->level = told->level;
    to->status = told->status;
    snprintf(to->name, sizeof(to->name), "%s", told->name);
    snprintf(to->value, sizeof(to->value), "%s", told->value);
    for (size_t i = 0; i < all->count; i++)
        assert_string_not_equal(all->of[i].name, to->name);
    all->count++;
}

static void examine(const patient *self, remarks *all)
{
    hf_store_diagnose_options options = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    hf_client_options hasty = HF_CLIENT_OPTIONS_INIT;
    fake_server *fake = fake_server_start(serve, (void *)self);
    hf_client *client;
    hf_error err = HF_ERROR_INIT;

    assert_non_null(fake);
    memset(all, 0, sizeof(*all));
    options.requests = 3;
    if (self->heard != NULL)
        hasty.request_ms = 500; /* a message is awaited, but never arrives */
    if (hf_client_open(fake_server_url(fake), &hasty, &client, &err) != HF_OK)
        fail_msg("%s", err.message);
    assert_int_equal(hf_store_diagnose(client, &options, keep, all, &err),
                     HF_OK);
    hf_client_close(client);
    fake_server_stop(fake);
}

static const remark *find(const remarks *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->of[i].name, name) == 0)
            return &all->of[i];
    }
    return NULL;
}

static void expect_remark(const remarks *all, const char *name, hf_level level,
                          const char *part)
{
    const remark *found = find(all, name);

    if (found == NULL)
        fail_msg("there is no remark \"%s\"", name);
    if (found->level != level || strstr(found->value, part) == NULL)
        fail_msg("%s: level %d, \"%s\"; expected %d, \"%s\"", name,
                 found->level, found->value, level, part);
}

/* -------------------------------------------------------------------- tests */

TEST(clocks_that_differ_are_reported)
{
    static const struct {
        int64_t ahead_us;
        hf_level level;
        const char *part;
    } rows[] = {
        {0, HF_LEVEL_OK, " of ours"},
        {900000, HF_LEVEL_OK, " ahead of ours"},
        {2500000, HF_LEVEL_NOTE, " ahead of ours"},
        {-2500000, HF_LEVEL_NOTE, " behind of ours"},
        {90000000, HF_LEVEL_WARNING, " ahead of ours"},
        {-90000000, HF_LEVEL_WARNING, " behind of ours"},
        {-400 * INT64_C(86400000000), HF_LEVEL_WARNING, "-"},
    };
    remarks all;

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        patient self = {.ahead_us = rows[at].ahead_us};

        if (strcmp(rows[at].part, "-") == 0)
            self.ahead_us = -400 * INT64_C(86400000000);
        examine(&self, &all);
        expect_remark(&all, "clock", rows[at].level,
                      strcmp(rows[at].part, "-") == 0 ? "345" : rows[at].part);
    }
}

TEST(answers_to_time_may_be_anything)
{
    static const char *const rows[] = {
        "*2\r\n$-1\r\n$-1\r\n",
        "*0\r\n",
        "+OK\r\n",
        ":5\r\n",
        "$-1\r\n",
        "*2\r\n:1\r\n:2\r\n",
        "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n",
        "*2\r\n$30\r\n111111111111111111111111111111\r\n$1\r\n1\r\n"};
    remarks all;

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        patient self = {.time = rows[at]};

        examine(&self, &all);
        expect_remark(&all, "reachable", HF_LEVEL_ERROR, "malformed");
        assert_int_equal(find(&all, "reachable")->status, HF_CORRUPT);
    }
}

#define MASTER "role:master\r\n"
#define REPLICA                                                                \
    MASTER "connected_slaves:1\r\nmaster_repl_offset:50000000\r\nslave0:"

static const struct {
    const char *info;
    const char *config;
    const char *name;
    hf_level level;
    const char *part;
} figures[] = {
    {"maxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n", NULL, "eviction",
     HF_LEVEL_WARNING, "allkeys-lru: THE SERVER MAY EVICT LOCKS"},
    {"maxmemory:1000\r\nmaxmemory_policy:volatile-ttl\r\n", NULL, "eviction",
     HF_LEVEL_WARNING, "volatile-ttl: THE SERVER MAY EVICT"},
    {"maxmemory:0\r\nmaxmemory_policy:volatile-lru\r\n", NULL, "eviction",
     HF_LEVEL_NOTE, "without effect"},
    {"maxmemory_policy:volatile-lru\r\n", NULL, "eviction", HF_LEVEL_WARNING,
     "volatile-lru"},
    {"maxmemory:1000\r\n", NULL, "eviction", HF_LEVEL_NOTE, "unknown"},
    {"used_memory:950\r\nmaxmemory:1000\r\n", NULL, "memory", HF_LEVEL_WARNING,
     "950 of 1000"},
    {"connected_clients:9500\r\nmaxclients:10000\r\n", NULL, "connections",
     HF_LEVEL_WARNING, "9500 of 10000"},
    {"aof_enabled:0\r\n", "save ", "persistence", HF_LEVEL_NOTE,
     "none: a restart"},
    {"aof_enabled:0\r\n", NULL, "persistence", HF_LEVEL_NOTE,
     "unknown whether"},
    {"aof_enabled:1\r\n", "appendfsync no", "persistence", HF_LEVEL_NOTE,
     "half minute"},
    {"rdb_last_bgsave_status:err\r\n", NULL, "snapshots", HF_LEVEL_ERROR,
     "is err"},
    {"aof_last_write_status:err\r\n", NULL, "append-only file", HF_LEVEL_ERROR,
     "is err"},
    {"loading:1\r\n", NULL, "loading", HF_LEVEL_ERROR, "loading its data"},
    {"uptime_in_seconds:3\r\n", NULL, "uptime", HF_LEVEL_NOTE, "3 s ago"},
    {"uptime_in_seconds:300\r\n", NULL, "uptime", HF_LEVEL_OK, "300 s"},
    {REPLICA "ip=127.0.0.1,port=1,state=online,offset=49999000,lag=1\r\n", NULL,
     "replica 1", HF_LEVEL_OK, "1000 bytes behind"},
    {REPLICA "ip=127.0.0.1,port=1,state=online,offset=50000000,lag=30\r\n",
     NULL, "replica 1", HF_LEVEL_WARNING, "lag=30"},
    {REPLICA "ip=127.0.0.1,port=1,state=online,offset=0,lag=0\r\n", NULL,
     "replica 1", HF_LEVEL_WARNING, "50000000 bytes behind"},
    {REPLICA "ip=127.0.0.1,port=1,state=online,offset=0,lag=0\r\n", NULL,
     "failover", HF_LEVEL_NOTE, "unknown: cannot connect to 127.0.0.1:1"},
    {REPLICA "ip=127.0.0.1,port=1,state=wait_bgsave,offset=0,lag=0\r\n", NULL,
     "replica 1", HF_LEVEL_WARNING, "wait_bgsave"},
    {MASTER "connected_slaves:0\r\n", NULL, "replication", HF_LEVEL_OK,
     "without replicas"},
    {REPLICA "state=online,offset=1,lag=0\r\n", "min-replicas-to-write 0",
     "good replicas", HF_LEVEL_NOTE, "none required"},
    {REPLICA "state=online,offset=1,lag=0\r\nmin_slaves_good_slaves:1\r\n",
     "min-replicas-to-write 1", "good replicas", HF_LEVEL_OK, "1 of 1"},
    {MASTER "connected_slaves:0\r\nmin_slaves_good_slaves:0\r\n",
     "min-replicas-to-write 1", "good replicas", HF_LEVEL_ERROR,
     "0, but 1 required"},
    {"role:slave\r\nmaster_link_status:down\r\n", NULL, "replication",
     HF_LEVEL_ERROR, "its link to the master is down"},
    /* Replies that no server should send. */
    {"maxmemory:99999999999999999999999\r\nmaxmemory_policy:x\r\n", NULL,
     "eviction", HF_LEVEL_WARNING, "x: "},
    {"used_memory:-5\r\nmaxmemory:10\r\nrole:\r\n", NULL, "reachable",
     HF_LEVEL_OK, "yes"},
    {"uptime_in_seconds:abc\r\nslave0\r\n:\r\n\r\n\r", NULL, "reachable",
     HF_LEVEL_OK, "yes"},
    {REPLICA "\r\n", NULL, "replica 1", HF_LEVEL_WARNING, "bytes behind"},
    {MASTER "connected_slaves:999999999999\r\n", NULL, "replication",
     HF_LEVEL_NOTE, "999999999999 replicas"},
    {"", NULL, "reachable", HF_LEVEL_OK, "yes"},
};

TEST(figures_of_info_are_understood)
{
    remarks all;

    for (size_t at = 0; at < sizeof(figures) / sizeof(figures[0]); at++) {
        patient self = {.info = figures[at].info, .config = figures[at].config};

        examine(&self, &all);
        expect_remark(&all, figures[at].name, figures[at].level,
                      figures[at].part);
    }
}

#define ME                                                                     \
    "aaa 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460\n"               \
    "bbb 127.0.0.1:2@3 master - 0 0 2 connected 5461-16383\n"
#define OK_STATE "cluster_state:ok\r\ncluster_slots_pfail:0\r\n"

TEST(node_of_a_cluster_tells_who_would_take_over)
{
    static const struct {
        const char *state;
        const char *nodes;
        const char *name;
        hf_level level;
        const char *part;
    } rows[] = {
        {OK_STATE, ME, "cluster state", HF_LEVEL_OK, "ok"},
        {OK_STATE, ME, "cluster replicas", HF_LEVEL_NOTE, "none"},
        {OK_STATE, ME "ccc 10.0.0.3:3@4,host slave aaa 0 0 1 connected\n",
         "cluster replicas", HF_LEVEL_OK, "1, all connected"},
        {OK_STATE, ME "ccc 10.0.0.3:3@4 slave bbb 0 0 2 connected\n",
         "cluster replicas", HF_LEVEL_NOTE, "none"},
        {OK_STATE, ME "ccc 10.0.0.3:3@4 slave,fail aaa 0 0 1 connected\n",
         "cluster replicas", HF_LEVEL_WARNING,
         "1 of 1 do not answer this master, such as 10.0.0.3:3"},
        {OK_STATE, ME "ccc 10.0.0.3:3@4 slave,fail? aaa 0 0 1 connected\n",
         "cluster replicas", HF_LEVEL_WARNING, "1 of 1"},
        {OK_STATE,
         "ccc 10.0.0.3:3@4 slave aaa 0 0 1 disconnected\n" ME
         "ddd 10.0.0.4:3@4 slave aaa 0 0 1 connected\n",
         "cluster replicas", HF_LEVEL_WARNING, "1 of 2"},
        {"cluster_state:fail\r\n", ME, "cluster state", HF_LEVEL_ERROR, "fail"},
        {"cluster_state:ok\r\ncluster_slots_fail:7\r\n"
         "cluster_slots_pfail:2\r\n",
         ME, "cluster state", HF_LEVEL_WARNING, "9 slots"},
        {NULL, ME, "cluster state", HF_LEVEL_NOTE, "unknown: NOPERM"},
        {"", "no lines", "cluster replicas", HF_LEVEL_NOTE, "none"},
        {"", "\n\n  \n a\n myself\n", "cluster state", HF_LEVEL_ERROR, ", as"},
    };
    remarks all;

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        patient self = {.state = rows[at].state, .nodes = rows[at].nodes};

        examine(&self, &all);
        expect_remark(&all, rows[at].name, rows[at].level, rows[at].part);
    }
}

/* A proxy that lets us subscribe, and then passes nothing on. */
TEST(wake_ups_are_tried_for_real)
{
    static const struct {
        const char *heard;
        const char *part;
    } rows[] = {
        {":0\r\n", "PUBLISH finds no subscriber"},
        {":1\r\n", "a message did not arrive"},
        {"-NOPERM no\r\n", "this user may subscribe, but not publish"},
        {"+OK\r\n", "this user may subscribe, but not publish"},
    };
    remarks all;

    for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++) {
        patient self = {.heard = rows[at].heard};

        examine(&self, &all);
        expect_remark(&all, "wake-ups", HF_LEVEL_WARNING, rows[at].part);
    }
}

/* Everything that may be refused is refused. */
TEST(user_without_rights_learns_what_is_missing)
{
    patient self = {.info = NULL};
    remarks all;

    examine(&self, &all);
    expect_remark(&all, "reachable", HF_LEVEL_OK, "yes");
    expect_remark(&all, "info", HF_LEVEL_NOTE, "NOPERM");
    expect_remark(&all, "user", HF_LEVEL_OK, "unknown");
    expect_remark(&all, "rights for locks", HF_LEVEL_ERROR,
                  "EVALSHA, EVAL, SCRIPT LOAD, PING, GET, SET, DEL, PEXPIRE, "
                  "PTTL, SET on hf:token*");
    assert_int_equal(find(&all, "rights for locks")->status, HF_DENIED);
    expect_remark(&all, "rights for values, hashes, semaphores", HF_LEVEL_NOTE,
                  "HSET");
    expect_remark(&all, "can run scripts", HF_LEVEL_ERROR, "no: ");
    expect_remark(&all, "wake-ups", HF_LEVEL_WARNING, "none: NOPERM");
}
