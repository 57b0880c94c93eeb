/* SPDX-License-Identifier: Apache-2.0 */
/* redisson_peer.c - see redisson_peer.h. */
#include "support/redisson_peer.h"

#include <stdio.h>
#include <string.h>

#include "holdfast/command.h"
#include "support/slowness.h"

/* Below the second after which a waiter polls. */
#define WOKEN_MS 700

bool redisson_is_here(const fixture *f)
{
    return !fixture_is_embedded(f) && f->store != FIXTURE_QUORUM;
}

hf_bytes redisson_role(const char *role, hf_bytes name, char text[256])
{
    int size = snprintf(text, 256, "%s{%.*s}", role, (int)name.size,
                        (const char *)name.data);

    return hf_view(text, (size_t)size);
}

int64_t redisson_eval(fixture *f, const char *script, const char *role,
                      hf_bytes name)
{
    char channel[256];
    hf_bytes words[] = {
        hf_str("EVAL"),
        hf_str(script),
        hf_str("1"),
        name,
        hf_str(REDISSON_JAVA),
        hf_str(f->store == FIXTURE_REDIS_CLUSTER ? "spublish" : "publish"),
        redisson_role(role, name, channel)};
    hf_reply *reply = NULL;
    int64_t number;

    expect_status(HF_OK, hf_command(f->other, 7, words, &reply, ERR));
    number = hf_reply_integer(reply);
    hf_reply_free(reply);
    return number;
}

hf_client *redisson_client(fixture *f, const hf_client_options *opts)
{
    char url[FIXTURE_PATH_SIZE + 32];

    (void)snprintf(url, sizeof(url), "%s%clayout=redisson", f->url,
                   strchr(f->url, '?') == NULL ? '?' : '&');
    return fixture_client_at(f, url, opts);
}

hf_lock *redisson_lock(fixture *f, hf_client *client, hf_bytes name,
                       hf_redisson_kind kind, const hf_lock_options *opts)
{
    hf_lock *lock = NULL;

    expect_status(HF_OK,
                  hf_redisson_lock_new(client, name, kind, opts, &lock, ERR));
    return fixture_keep_lock(f, lock);
}

void redisson_waits(hf_client *client, const told *said)
{
    expect_throughout((dispatch(client), said->count == 0), 100);
}

void redisson_woken(hf_client *client, const told *said, int64_t began_ms)
{
    await_ok(client, said);
    assert_in_time(test_now_ms() - began_ms, WOKEN_MS);
}
