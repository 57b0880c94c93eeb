/* SPDX-License-Identifier: Apache-2.0 */
/* watched_key.c - see watched_key.h. */
#include "support/watched_key.h"

#include <string.h>

#include "holdfast/script.h"

#define SHA1_SIZE 40

/* What a key holds and, to 1000 s, its time to live. */
typedef struct digest {
    char text[SHA1_SIZE + 1];
} digest;

static const char reader[] =
    "local c, k = redis.call, KEYS[1] local t, d = c('type', k).ok, '' "
    "if t == 'string' then d = c('get', k) "
    "elseif t == 'hash' then d = c('hgetall', k) "
    "elseif t == 'list' then d = c('lrange', k, 0, -1) "
    "elseif t == 'set' then d = c('smembers', k) table.sort(d) "
    "elseif t == 'zset' then d = c('zrange', k, 0, -1, 'withscores') end "
    "return redis.sha1hex(cjson.encode({t, d, "
    "math.ceil(c('pttl', k) / 1000000)}))";

const watched_type watched_types[WATCHED_TYPES] = {
    {"string", WATCHED_CLEAR "redis.call('set', KEYS[1], 'text', 'ex', 3600)"},
    {"hash", WATCHED_CLEAR "redis.call('hset', KEYS[1], 'f', 'v', 'g', 'w')"},
    {"list", WATCHED_CLEAR "redis.call('rpush', KEYS[1], 'b', 'a', 'b')"},
    {"set", WATCHED_CLEAR "redis.call('sadd', KEYS[1], 'one', 'two')"},
    {"zset", WATCHED_CLEAR "redis.call('zadd', KEYS[1], 1, 'one', 2, 'two')"},
};

static fixture *here;
static hf_bytes the_key;
static digest before;

/* The reply is text of at most SHA1_SIZE bytes, or nothing. */
static digest run(fixture *f, const char *source, hf_bytes key)
{
    hf_script *script = fixture_script(f, f->other, source);
    hf_reply *reply = NULL;
    digest found = {""};
    hf_bytes text;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    text = hf_reply_bytes(reply);
    assert_true(text.size <= SHA1_SIZE);
    memcpy(found.text, text.size == 0 ? "" : text.data, text.size);
    hf_reply_free(reply);
    fixture_free_script(f, script);
    return found;
}

void run_on_key(fixture *f, const char *source, hf_bytes key)
{
    (void)run(f, source, key);
}

void watch_key(fixture *f, hf_bytes key, const watched_type *type)
{
    (void)run(f, type->make, key);
    here = f;
    the_key = key;
    before = run(f, reader, key);
}

bool watched_key_has_changed(void)
{
    return strcmp(run(here, reader, the_key).text, before.text) != 0;
}

void refused_at(hf_status want, const char *culprit, hf_status got,
                const char *call, const char *file, int line)
{
    expect_status_at(want, got, call, file, line);
    if (strstr(expect_message(), culprit) == NULL) {
        print_error("%s\n  does not name '%s': %s\n", call, culprit,
                    expect_message());
        _fail(file, line);
    }
    if (watched_key_has_changed()) {
        print_error("%s\n  changed the key\n", call);
        _fail(file, line);
    }
}
