/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_deployment.c - the replies of the scripted servers and sentinels.
 * Their threads read what the test sets by atomics.
 */
#include "sentinel_deployment.h"

#include <stdio.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool say_hello(int fd, const char *mode, const char *role)
{
    char text[200];

    snprintf(text, sizeof(text),
             "%%%d\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3\r\n"
             "$4\r\nmode\r\n$%zu\r\n%s\r\n%s",
             role[0] != '\0' ? 4 : 3, strlen(mode), mode, role);
    return fake_server_say(fd, text);
}

static bool serve_master(fake_master *self, int fd, const char *text)
{
    char answer[20];

    if (begins(text, "HELLO"))
        return say_hello(fd, "standalone",
                         self->hides_role ? ""
                                          : "$4\r\nrole\r\n$6\r\nmaster\r\n");
    if (begins(text, "CLIENT"))
        return fake_server_say(fd, "+OK\r\n");
    if (begins(text, "ROLE")) {
        __atomic_add_fetch(&self->logins, 1, __ATOMIC_SEQ_CST);
        if (self->hides_role)
            return fake_server_say(fd, "-NOPERM no permissions\r\n");
        return fake_server_say(
            fd, __atomic_load_n(&self->is_replica, __ATOMIC_SEQ_CST)
                    ? "*1\r\n$5\r\nslave\r\n"
                    : "*1\r\n$6\r\nmaster\r\n");
    }
    if (begins(text, "SUBSCRIBE"))
        return fake_server_subscribe(fd, text, true, NULL);
    if (begins(text, "SET")) /* which a replica refuses */
        return fake_server_say(
            fd, __atomic_load_n(&self->is_replica, __ATOMIC_SEQ_CST)
                    ? "-READONLY You can't write against a read only "
                      "replica.\r\n"
                    : "+OK\r\n");
    snprintf(answer, sizeof(answer), "+%c\r\n", self->name == A ? 'A' : 'B');
    return fake_server_say(fd, answer);
}

static void master_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    while (fake_server_read(fd, text, sizeof(text)) &&
           serve_master(user, fd, text))
        continue;
}

static bool say_address(fake_sentinel *self, int fd)
{
    int master = __atomic_load_n(&self->master, __ATOMIC_SEQ_CST);
    char port[8];
    char text[100];

    if (master < 0)
        return fake_server_say(fd, "_\r\n");
    snprintf(port, sizeof(port), "%d",
             fake_server_port(self->all->masters[master].server));
    snprintf(text, sizeof(text), "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n",
             strlen(port), port);
    return fake_server_say(fd, text);
}

static bool say_epoch(const fake_sentinel *self, int fd)
{
    char epoch[16];
    char text[100];

    if (__atomic_load_n(&self->master, __ATOMIC_SEQ_CST) < 0)
        return fake_server_say(fd, "-ERR No such master with that name\r\n");
    snprintf(epoch, sizeof(epoch), "%u",
             __atomic_load_n(&self->epoch, __ATOMIC_SEQ_CST));
    snprintf(text, sizeof(text),
             "%%2\r\n$4\r\nname\r\n$1\r\nm\r\n$12\r\nconfig-epoch\r\n"
             "$%zu\r\n%s\r\n",
             strlen(epoch), epoch);
    return fake_server_say(fd, text);
}

static bool say_others(const fake_sentinel *self, int fd)
{
    char port[8];
    char text[200];

    if (self->listed < 0)
        return fake_server_say(fd, "*0\r\n");
    snprintf(port, sizeof(port), "%d",
             fake_server_port(self->all->sentinels[self->listed].server));
    snprintf(text, sizeof(text),
             "*2\r\n%%2\r\n$2\r\nip\r\n$9\r\n127.0.0.9\r\n$5\r\nflags\r\n"
             "$15\r\ns_down,sentinel\r\n"
             "%%3\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$4\r\nport\r\n$%zu\r\n%s"
             "\r\n$5\r\nrunid\r\n$1\r\n%d\r\n",
             strlen(port), port, self->listed);
    return fake_server_say(fd, text);
}

static bool serve_question(fake_sentinel *self, int fd, const char *text)
{
    const char *refusal = __atomic_load_n(&self->refusal, __ATOMIC_SEQ_CST);
    char id[16];

    if (refusal != NULL)
        return fake_server_say(fd, refusal);
    if (begins(text, "SENTINEL MYID")) {
        __atomic_add_fetch(&self->questions, 1, __ATOMIC_SEQ_CST);
        snprintf(id, sizeof(id), "$1\r\n%d\r\n",
                 (int)(self - self->all->sentinels));
        return fake_server_say(fd, id);
    }
    if (begins(text, "SENTINEL GET-MASTER-ADDR"))
        return say_address(self, fd);
    if (begins(text, "SENTINEL MASTER"))
        return say_epoch(self, fd);
    return say_others(self, fd);
}

static bool serve_sentinel(fake_sentinel *self, int fd, const char *text)
{
    if (begins(text, "HELLO"))
        return say_hello(fd, self->mode, "");
    if (begins(text, "CLIENT") || strcmp(text, "AUTH right") == 0)
        return fake_server_say(fd, "+OK\r\n");
    if (begins(text, "AUTH"))
        return fake_server_say(fd, "-WRONGPASS invalid password\r\n");
    if (begins(text, "SUBSCRIBE")) {
        bool said = fake_server_say(
            fd, ">3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n");

        __atomic_store_n(&self->pushes, fd, __ATOMIC_SEQ_CST);
        return said;
    }
    if (__atomic_load_n(&self->silent, __ATOMIC_SEQ_CST))
        return true;
    hf__clock_sleep_until(hf__clock_boot_ms() + self->delay_ms);
    return serve_question(self, fd, text);
}

static void sentinel_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)connection;
    while (fake_server_read(fd, text, sizeof(text)) &&
           serve_sentinel(user, fd, text))
        continue;
}

void deployment_prepare(deployment *all)
{
    memset(all, 0, sizeof(*all));
    all->count = SENTINELS;
    all->more = "";
    all->connect_ms = ENOUGH_MS;
    for (int at = 0; at < SERVERS; at++) {
        all->masters[at].name = at;
        all->masters[at].server =
            fake_server_start_tcp(master_session, &all->masters[at]);
        assert_non_null(all->masters[at].server);
    }
    for (int at = 0; at < SENTINELS; at++) {
        all->sentinels[at] = (fake_sentinel){.all = all,
                                             .master = A,
                                             .epoch = 5,
                                             .mode = "sentinel",
                                             .listed = -1,
                                             .pushes = -1};
        all->sentinels[at].server =
            fake_server_start_tcp(sentinel_session, &all->sentinels[at]);
        assert_non_null(all->sentinels[at].server);
    }
}

hf_status deployment_try_open(deployment *all, hf_error *err)
{
    size_t used =
        (size_t)snprintf(all->url, sizeof(all->url), "redis+sentinel://");
    hf__url parsed;
    hf__store_config config = {.url = &parsed, .connect_ms = all->connect_ms};
    hf_status status;

    for (size_t at = 0; at < all->count; at++)
        used += (size_t)snprintf(all->url + used, sizeof(all->url) - used,
                                 "%s127.0.0.1:%d", at > 0 ? "," : "",
                                 fake_server_port(all->sentinels[at].server));
    snprintf(all->url + used, sizeof(all->url) - used, "/m%s", all->more);
    assert_int_equal(hf__url_parse(all->url, &parsed, err), HF_OK);
    all->driver.loop = config.loop = hf__loop_new();
    status = hf__store_open(&config, &all->driver.store, err);
    hf__url_done(&parsed);
    if (status != HF_OK) {
        hf__loop_free(all->driver.loop);
        all->driver.store = NULL;
    }
    return status;
}

void deployment_open(deployment *all)
{
    hf_error err = HF_ERROR_INIT;

    if (deployment_try_open(all, &err) != HF_OK)
        fail_msg("cannot open: %s", err.message);
}

void deployment_open_fails(deployment *all, hf_status expected,
                           const char *part)
{
    hf_error err = HF_ERROR_INIT;

    if (deployment_try_open(all, &err) != expected ||
        strstr(err.message, part) == NULL)
        fail_msg("%s: %s", hf_status_name(err.status), err.message);
}

void deployment_close(deployment *all)
{
    if (all->driver.store != NULL)
        driver_close(&all->driver);
    for (int at = 0; at < SENTINELS; at++) {
        if (all->sentinels[at].server != NULL)
            fake_server_stop(all->sentinels[at].server);
    }
    for (int at = 0; at < SERVERS; at++)
        fake_server_stop(all->masters[at].server);
}

void deployment_say(deployment *all, int master, unsigned epoch)
{
    for (int at = 0; at < SENTINELS; at++) {
        __atomic_store_n(&all->sentinels[at].epoch, epoch, __ATOMIC_SEQ_CST);
        __atomic_store_n(&all->sentinels[at].master, master, __ATOMIC_SEQ_CST);
    }
}

/* The client does not wait for the subscription to the last sentinel. */
void deployment_push(fake_sentinel *sentinel)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;

    while (__atomic_load_n(&sentinel->pushes, __ATOMIC_SEQ_CST) < 0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
    assert_true(
        fake_server_say(__atomic_load_n(&sentinel->pushes, __ATOMIC_SEQ_CST),
                        ">3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n"
                        "$29\r\nm 127.0.0.1 1 127.0.0.1 66666\r\n"));
}
