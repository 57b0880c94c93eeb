/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_damage.c - a small store on disk with changes anywhere in its data file.
 * Whatever they are, checking, opening and salvaging it end with a status. If
 * fsck finds nothing, the store opens, all of it can be read and dumped, and
 * commands can write to it. What was salvaged is sound.
 *
 * The first byte has flags, the rest is changes (page_changes.h).
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "engine/fsck/fsck.h"
#include "fault/embedded_damage.h"
#include "fault/embedded_damage_content.h"
#include "fuzz.h"
#include "holdfast/command.h"
#include "holdfast/store.h"
#include "page_changes.h"
#include "place.h"
#include "support/dump_content.h"

enum {
    LEAVE_SUMS = 1u << 0, /* of the records */
    SALVAGE = 1u << 1,
    CHECK_MASK = 7u << 2 /* none of them: hf_store_check(), which forks */
};

/* Longest time of a call, ms. */
#define CALL_MS 5000

/* Words of a command without the key, at most. */
#define COMMAND_WORDS 3

static stage at;
static char salvaged[PATH_MAX], salvaged_url[PATH_MAX + 16];

/* LMDB loses a list of pages of 1 MiB when a value does not fit into the map.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:mdb_midl_alloc";
}

/* ------------------------------------------------------------------ content */

/* Every type, small and large, one with deadlines, a folded name, a value of
 * several pages. What was deleted is pending, or pages that are free. */
static const char first_round[] =
    "local text = ('0123456789'):rep(100) "
    "for i = 1, 150 do "
    "    redis.call('hset', 'hash', 'f' .. i, text:sub(1, i % 90)) "
    "    redis.call('hset', 'timed', 'f' .. i, 'v') "
    "    redis.call('hpexpire', 'timed', 7e9 + i, 'fields', 1, 'f' .. i) "
    "    redis.call('rpush', 'list', 'item' .. i) "
    "    redis.call('sadd', 'set', 'member' .. i) "
    "    redis.call('zadd', 'sorted', i % 7, 'member' .. i) "
    "    redis.call('hset', 'gone', 'field' .. i, text:sub(1, 90)) "
    "    if i % 6 == 0 then redis.call('set', 'k' .. i, text:sub(1, i)) end "
    "end "
    "redis.call('set', 'large', text:rep(12)) "
    "redis.call('set', ('n'):rep(700), 'folded') "
    "redis.call('set', 'expires', '1', 'px', 7e9) "
    "redis.call('hset', 'small', 'a', 1, 'b', 2) "
    "redis.call('rpush', 'short', 'a', 'b', 'c') "
    "redis.call('sadd', 'few', 1, 2, 3) "
    "redis.call('zadd', 'scores', 1.5, 'a', 'inf', 'b') ";
static const char second_round[] =
    "redis.call('del', 'gone', 'k6', 'k12') "
    "for i = 1, 150, 9 do "
    "    redis.call('hdel', 'hash', 'f' .. i) "
    "    redis.call('zrem', 'sorted', 'member' .. i) "
    "    redis.call('lpop', 'list') "
    "end "
    "redis.call('append', 'large', 'more')";

/* Of embedded_damage_store.c. */
bool content_write(const char *url, uint64_t seed, unsigned round)
{
    hf_bytes words[] = {hf_str("eval"),
                        hf_str(round == 0 ? first_round : second_round),
                        hf_str("0")};
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status = hf_client_open(url, NULL, &client, &err);

    (void)seed;
    if (status == HF_OK) {
        status = hf_command(client, 3, words, NULL, &err);
        hf_client_close(client);
    }
    if (status != HF_OK)
        fprintf(stderr, "%s\n", err.message);
    return status == HF_OK;
}

static void clean_up(void)
{
    stage_remove(&at);
}

static void open_stage(void)
{
    const char *place = place_make();

    snprintf(salvaged, sizeof(salvaged), "%s/new", place);
    snprintf(salvaged_url, sizeof(salvaged_url), "file:%s", salvaged);
    PROMISE(stage_make(&at, "file", "?max_size=16M", place, 0));
    atexit(clean_up);
}

/* -------------------------------------------------------------------- using */

/* Commands that reach a key and its elements, of any type, as one batch. */
static void write_key(hf_client *client, hf_bytes key)
{
    static const char *const commands[][COMMAND_WORDS] = {
        {"append", "more"},
        {"hset", "f1", "new"},
        {"hdel", "f2"},
        {"rpush", "new"},
        {"lpop"},
        {"sadd", "new"},
        {"srem", "member2"},
        {"zadd", "3", "new"},
        {"zincrby", "1", "a"},
        {"zremrangebyrank", "0", "3"},
        {"spop", "2"},
        {"hrandfield"},
        {"zrange", "0", "-1"},
        {"smembers"},
        {"lrange", "0", "-1"},
        {"hgetall"},
        {"pexpire", "600000"},
        {"dump"},
        {"copy", "other"},
        {"rename", "renamed"},
        {"del"},
    };

    enum { COUNT = sizeof(commands) / sizeof(commands[0]) };
    hf_bytes words[COUNT][COMMAND_WORDS + 1];
    hf_command_item items[COUNT];
    hf_reply *replies[COUNT] = {NULL};
    hf_status statuses[COUNT];
    hf_error err = HF_ERROR_INIT;

    for (size_t i = 0; i < COUNT; i++) {
        items[i] = (hf_command_item){2, words[i]};
        words[i][0] = hf_str(commands[i][0]);
        words[i][1] = key;
        for (size_t k = 1; k < COMMAND_WORDS && commands[i][k] != NULL; k++)
            words[i][items[i].argc++] = hf_str(commands[i][k]);
    }
    PROMISE(hf_command_many(client, items, COUNT, replies, statuses, &err) ==
                HF_OK ||
            err.message[0] != '\0');
    for (size_t i = 0; i < COUNT; i++)
        hf_reply_free(replies[i]);
}

static void write_all(hf_client *client, const dump_content *content)
{
    for (size_t i = 0; i < content->count; i++)
        write_key(client, content->keys[i].name);
}

static void must(hf_status status, const char *what, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, err->message);
    abort();
}

/* NULL: refused. */
static hf_client *open_store(const char *url)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    options.connect_ms = CALL_MS;
    options.request_ms = CALL_MS;
    if (hf_client_open(url, &options, &client, &err) == HF_OK)
        return client;
    PROMISE(err.message[0] != '\0');
    return NULL;
}

/* Read all of it, then write to it; closes the client. */
static void use(hf_client *client)
{
    hf_error err = HF_ERROR_INIT;
    dump_content content;
    dump_tape tape = {0};

    must(hf_store_dump(client, NULL, dump_tape_put, &tape, NULL, &err), "dump",
         &err);
    must(dump_content_read(&content, &tape, &err), "reading the dump", &err);
    write_all(client, &content);
    dump_content_done(&content);
    free(tape.data);
    hf_client_close(client);
}

/* ----------------------------------------------------------------- checking */

static hf_status run_fsck(const char *folder, hf_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hf_status status;

    PROMISE(fd >= 0);
    status = hf__fsck_file(fd, INT64_MAX, err);
    close(fd);
    PROMISE(status == HF_OK || err->message[0] != '\0');
    PROMISE(status == HF_OK || status == HF_CORRUPT || status == HF_INVALID ||
            status == HF_UNSUPPORTED);
    return status;
}

/* In a child process: fork() takes as long as all the rest. */
static bool passes_check(void)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_store_check(at.url, NULL, NULL, NULL, &err);

    PROMISE(status == HF_OK || err.message[0] != '\0');
    PROMISE(strstr(err.message, "crashed") == NULL);
    PROMISE(status != HF_SYSTEM && status != HF_TIMEOUT);
    return status == HF_OK;
}

static void empty_salvaged(void)
{
    DIR *folder = opendir(salvaged);
    struct dirent *entry;

    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.')
            PROMISE(unlinkat(dirfd(folder), entry->d_name, 0) == 0);
    }
    closedir(folder);
}

/* `found`: what fsck has said. */
static void salvage(hf_status found)
{
    hf_store_salvaged done = HF_STORE_SALVAGED_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status;

    empty_salvaged();
    status = hf_store_salvage(at.url, salvaged_url, NULL, NULL, &done, &err);
    PROMISE(status == HF_OK || err.message[0] != '\0');
    if (found == HF_OK)
        must(status, "salvaging a sound store", &err);
    PROMISE(status == HF_OK || status == HF_CORRUPT || status == HF_INVALID ||
            status == HF_UNSUPPORTED);
    PROMISE(strstr(err.message, "new store") == NULL || done.complete);
    if (done.complete) {
        client = open_store(salvaged_url);
        PROMISE(client != NULL);
        use(client);
    }
}

/* It has been changed. */
static void try_all(uint8_t flags)
{
    bool checks = (flags & CHECK_MASK) == 0;
    hf_error err = HF_ERROR_INIT;
    hf_status found = run_fsck(at.store, &err);
    bool passes = checks && passes_check();
    hf_client *client;

    if ((flags & SALVAGE) != 0)
        salvage(found);
    /* A file that was cut behind its last page is refused, too. */
    client = open_store(at.url);
    PROMISE(found == HF_OK || client == NULL);
    PROMISE(!checks || passes == (client != NULL));
    if (client != NULL)
        use(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static image changed;
    input in = {data, data + size};
    uint8_t flags = input_byte(&in);

    if (at.folder[0] == '\0')
        open_stage();
    for (size_t i = 0; i < FILE_COUNT; i++) {
        changed.forms[i] = at.whole.forms[i];
        bytes_set(&changed.files[i], at.whole.files[i].data,
                  at.whole.files[i].size);
    }
    page_changes_apply(&in, &changed.files[FILE_DATA], &at.from);
    if ((flags & LEAVE_SUMS) == 0)
        page_changes_sum(&changed.files[FILE_DATA]);
    PROMISE(stage_put(&at, &changed));
    try_all(flags);
    return 0;
}
