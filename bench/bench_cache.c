/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cache.c - a hit in the cache against hf_value_get() of the same key,
 * and against a script that reads the same two keys.
 *
 *     bench_cache [--json] [--quick] [URL]
 *
 * Without a URL: an embedded store in memory.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "holdfast/cache.h"
#include "holdfast/script.h"
#include "holdfast/value.h"

#define KEYS 1000
#define VALUE_SIZE 100
#define ONE_DAY_MS 86400000

typedef struct cache_reading {
    hf_client *client;
    hf_script *script;
    hf_cache_options options;
    int next;
} cache_reading;

static char value[VALUE_SIZE];

static hf_bytes next_key(cache_reading *self, char name[BENCH_NAME_SIZE])
{
    self->next = (self->next + 1) % KEYS;
    (void)snprintf(name, BENCH_NAME_SIZE, "bench:user:%08d", self->next);
    return hf_str(name);
}

static void fill_entry(void *user, hf_cache_fill *handle)
{
    (void)user;
    (void)!hf_cache_fill_done(handle, HF_OK, hf_view(value, VALUE_SIZE), NULL);
}

static bool get_value(void *user, int64_t count)
{
    char name[BENCH_NAME_SIZE];
    hf_error error = HF_ERROR_INIT;
    hf_buffer got = HF_BUFFER_INIT;
    cache_reading *self = user;

    while (count-- > 0) {
        if (hf_value_get(self->client, next_key(self, name), &got, &error) !=
            HF_OK)
            return bench_fail("%s", error.message);
        hf_buffer_free(&got);
    }
    return true;
}

static bool get_or_fill(void *user, int64_t count)
{
    char name[BENCH_NAME_SIZE];
    hf_error error = HF_ERROR_INIT;
    hf_buffer got = HF_BUFFER_INIT;
    cache_reading *self = user;

    while (count-- > 0) {
        if (hf_cache_get_or_fill(self->client, next_key(self, name), fill_entry,
                                 NULL, &self->options, &got, NULL,
                                 &error) != HF_OK)
            return bench_fail("%s", error.message);
        hf_buffer_free(&got);
    }
    return true;
}

static bool get_by_script(void *user, int64_t count)
{
    char name[BENCH_NAME_SIZE], meta[2 * BENCH_NAME_SIZE];
    hf_error error = HF_ERROR_INIT;
    cache_reading *self = user;

    while (count-- > 0) {
        hf_bytes keys[2] = {next_key(self, name)};
        hf_reply *reply = NULL;

        (void)snprintf(meta, sizeof(meta), "hf:cache:{%s}", name);
        keys[1] = hf_str(meta);
        if (hf_script_run(self->script, keys, 2, NULL, 0, &reply, &error) !=
            HF_OK)
            return bench_fail("%s", error.message);
        hf_reply_free(reply);
    }
    return true;
}

static bool measure_way(const bench_run *run, cache_reading *self,
                        const char *name, const char *store,
                        bool (*ours)(void *user, int64_t count))
{
    bench_subject subject = {.run = ours, .user = self};
    bench_subject ceiling = {.run = get_value, .user = self};
    bench_figure figure = {
        .name = name, .store = store, .ceiling = "hf_value_get", .threads = 1};
    bench_result result;

    if (!bench_compare(run, &subject, &ceiling, &result))
        return false;
    bench_print(run, &figure, &result);
    return true;
}

static bool bench_all(const bench_run *run, const char *url, const char *store)
{
    hf_bytes tag = hf_str("bench:tag");
    hf_error error = HF_ERROR_INIT;
    cache_reading self = {.options = HF_CACHE_OPTIONS_INIT};
    bool ok;

    self.options.ttl_ms = ONE_DAY_MS;
    if (hf_client_open(url, NULL, &self.client, &error) != HF_OK)
        return bench_fail("%s", error.message);
    ok = hf_script_load(self.client,
                        hf_str("return {redis.call('get', KEYS[1]), "
                               "redis.call('get', KEYS[2]), "
                               "redis.call('time')[1]}"),
                        &self.script, &error) == HF_OK ||
         bench_fail("%s", error.message);
    ok = ok && get_or_fill(&self, KEYS) &&
         measure_way(run, &self, "cache_hit", store, get_or_fill) &&
         measure_way(run, &self, "script_hit", store, get_by_script);
    self.options.tags = &tag;
    self.options.tag_count = 1;
    for (int i = 0; ok && i < KEYS; i++) {
        char name[BENCH_NAME_SIZE];

        ok = hf_cache_delete(self.client, next_key(&self, name), &error) ==
                 HF_OK ||
             bench_fail("%s", error.message);
    }
    ok = ok && get_or_fill(&self, KEYS) &&
         measure_way(run, &self, "cache_hit_with_a_tag", store, get_or_fill);
    hf_script_free(self.script);
    hf_client_close(self.client);
    return ok;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    char text[BENCH_PATH_SIZE];
    const char *url = NULL;
    char *memory = bench_make_directory("/dev/shm");
    bool ok;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            run.json = true;
        else if (strcmp(argv[i], "--quick") == 0)
            run.quick = true;
        else
            url = argv[i];
    }
    if (run.quick) {
        run.pairs = 1;
        run.slice_ms = 5;
    }
    if (memory == NULL)
        return 71;
    (void)snprintf(text, sizeof(text), "volatile:%s/cache", memory);
    ok = bench_all(&run, url == NULL ? text : url,
                   url == NULL ? "embedded" : "server");
    bench_remove_directory(memory);
    return ok ? 0 : 1;
}
