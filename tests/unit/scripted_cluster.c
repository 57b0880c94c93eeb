/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_cluster.c - see scripted_cluster.h. */
#include "scripted_cluster.h"

#include <stdio.h>

int port_of(const scripted_cluster *self, int at)
{
    return self->nodes[at].port;
}

/* [endpoint, port, id, ["ip", address]] */
static const char *put_node(const scripted_cluster *self, int at,
                            char text[160])
{
    static const char ip[] =
        "$2\r\nid\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n";
    const char *host = self->nodes[at].name;

    if (host == NULL)
        host = "127.0.0.1";
    if (self->nameless)
        host = "";
    if (self->unnamed)
        host = "?";
    (void)snprintf(text, 160, "*4\r\n$%zu\r\n%s\r\n:%d\r\n%s", strlen(host),
                   host, port_of(self, at), ip);
    return text;
}

static bool say_map(const scripted_cluster *self, int fd)
{
    char lower[160];
    char upper[160];
    char text[400];

    (void)snprintf(text, sizeof(text),
                   self->holed ? "*1\r\n*3\r\n:0\r\n:8191\r\n%s"
                               : "*2\r\n*3\r\n:0\r\n:8191\r\n%s"
                                 "*3\r\n:8192\r\n:16383\r\n%s",
                   put_node(self, self->lower, lower),
                   put_node(self, self->upper, upper));
    return fake_server_say(fd, text);
}

/* The request for the slot map; false: close. */
static bool answer_map(scripted_node *self, int fd)
{
    int map_ms = atomic_load(&self->map_ms);

    atomic_fetch_add(&self->maps, 1);
    if (map_ms < 0)
        fake_server_drain(fd);
    else if (map_ms > 0)
        hf__clock_sleep_until(hf__clock_boot_ms() + map_ms);
    return map_ms >= 0 && say_map(self->cluster, fd);
}

static void serve(int fd, unsigned connection, void *user)
{
    scripted_node *self = user;
    char text[400];
    bool open = true;

    (void)connection;
    if (!fake_server_login(fd, "7.0.0"))
        return;
    while (open && fake_server_read(fd, text, sizeof(text))) {
        if (strcmp(text, "CLUSTER SLOTS") == 0)
            open = answer_map(self, fd);
        else
            open = self->cluster->act(
                self, fd, atomic_fetch_add(&self->requests, 1), text);
    }
}

void cluster_start(scripted_cluster *self, act_fn act)
{
    memset(self, 0, sizeof(*self));
    self->act = act;
    atomic_store(&self->upper, B);
    for (int at = 0; at < NODES; at++) {
        self->nodes[at].cluster = self;
        self->nodes[at].at = at;
        self->nodes[at].fake = fake_server_start_tcp(serve, &self->nodes[at]);
        assert_non_null(self->nodes[at].fake);
        self->nodes[at].port = fake_server_port(self->nodes[at].fake);
    }
}

void cluster_connect(scripted_cluster *self, int by)
{
    char url[80];

    (void)snprintf(url, sizeof(url), "redis+cluster://127.0.0.1:%d",
                   port_of(self, by));
    driver_open(&self->driver, url);
}

void cluster_open(scripted_cluster *self, act_fn act)
{
    cluster_start(self, act);
    cluster_connect(self, A);
}

void cluster_stop(scripted_cluster *self)
{
    for (int at = 0; at < NODES; at++) {
        if (self->nodes[at].fake != NULL)
            fake_server_stop(self->nodes[at].fake);
    }
}

void cluster_close(scripted_cluster *self)
{
    driver_close(&self->driver);
    cluster_stop(self);
}

unsigned requests(scripted_cluster *self, int at)
{
    return atomic_load(&self->nodes[at].requests);
}

bool say_redirect(const scripted_node *self, int fd, const char *word, int slot,
                  const char *host, int to)
{
    char text[160];

    (void)snprintf(text, sizeof(text), "-%s %d %s:%d\r\n", word, slot, host,
                   port_of(self->cluster, to));
    return fake_server_say(fd, text);
}

bool say_who(const scripted_node *self, int fd)
{
    return fake_server_say(fd, self->at == A ? "$1\r\n0\r\n" : "$1\r\n1\r\n");
}

bool tell_who(scripted_node *self, int fd, unsigned number, const char *text)
{
    (void)number;
    (void)text;
    return say_who(self, fd);
}
