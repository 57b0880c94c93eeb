/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_script.c - any script, on a store in memory: it ends with a reply or an
 * error, in time, and leaves no trace that the next script could see; the store
 * keeps working.
 *
 * If the first byte's high bit is set, the rest is the script verbatim;
 * otherwise it chooses among templates (script_grammar.h).
 */
#include <string.h>

#include "fuzz.h"
#include "place.h"
#include "script_grammar.h"
#include "store/drivers.h"
#include "util/clock.h"
#include "util/sha1.h"
#include "util/url.h"

/* Processor time of a script, and what it may use beyond that until it is
 * stopped. A sanitizer slows all of it down. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    defined(__clang__)
#define BUDGET_MS 20
#define BEYOND_MS 2000
#else
#define BUDGET_MS 4
#define BEYOND_MS 250
#endif
#define REQUEST_MS 60000

/* What any script finds: names and kinds, the metatable of strings, and that
 * the functions are unchanged. (Settings of cjson stay, as on a server.) */
static const char probe[] =
    "local out = {('x'):rep(3), tostring(getmetatable('').__index == string),"
    "    tostring(rawget(_G, 'x')), #KEYS .. ' ' .. #ARGV} "
    "local function collect(prefix, t) "
    "    for k, v in pairs(t) do "
    "        out[#out + 1] = prefix .. tostring(k) .. type(v) "
    "        if type(v) == 'table' and prefix == '' and k ~= '_G' then "
    "            collect(k .. '.', v) "
    "        end "
    "    end "
    "end "
    "collect('', _G) table.sort(out) "
    "out[#out + 1] = tostring(pcall(error, 'x')) "
    "return redis.sha1hex(table.concat(out, ' '))";

/* LMDB loses a list of pages of 1 MiB when a value does not fit into the map.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:mdb_midl_alloc";
}

static hf__store *store;
static hf__loop *loop;
static char fresh[HF__SHA1_HEX_SIZE]; /* the probe's first result */

static void clean_up(void)
{
    store->ops->close(store);
    hf__loop_free(loop);
}

static void open_store(void)
{
    hf__store_config config = {.connect_ms = REQUEST_MS,
                               .script_budget_ms = BUDGET_MS};
    hf_error err = HF_ERROR_INIT;
    char text[128];
    hf__url url;

    snprintf(text, sizeof(text), "volatile:%s/store?max_size=64M",
             place_make());
    PROMISE(hf__url_parse(text, &url, &err) == HF_OK);
    loop = hf__loop_new();
    PROMISE(loop != NULL);
    config.url = &url;
    config.loop = loop;
    PROMISE(hf__store_open(&config, &store, &err) == HF_OK);
    hf__url_done(&url);
    atexit(clean_up);
}

static void perform(hf__request *request)
{
    request->deadline_ms = hf__clock_boot_ms() + REQUEST_MS;
    store->ops->perform(store, request);
}

/* Runs it with a key and an argument. */
static void run(hf__request *request, const char *source, size_t size)
{
    hf_bytes words[] = {hf_str("k"), hf_str("7")};
    char sha1[HF__SHA1_HEX_SIZE];
    hf__script script = HF__USER_SCRIPT(source, size, sha1);

    hf__sha1_hex(source, size, sha1);
    hf__request_init(request);
    request->script = &script;
    request->words = words;
    request->word_count = 2;
    request->key_count = 1;
    perform(request);
    request->script = NULL;
    request->words = NULL;
}

static void must(const char *first, const char *second)
{
    hf_bytes words[] = {hf_str(first), hf_str(second)};
    hf__request request;

    hf__request_init(&request);
    request.words = words;
    request.word_count = 2;
    perform(&request);
    PROMISE(request.status == HF_OK);
    hf__request_done(&request);
}

/* What a stopped script would have left. */
static bool is_there(const char *key)
{
    hf_bytes words[] = {hf_str("exists"), hf_str(key)};
    hf__request request;
    bool there;

    hf__request_init(&request);
    request.words = words;
    request.word_count = 2;
    perform(&request);
    PROMISE(request.status == HF_OK);
    there = request.reply.integer != 0;
    hf__request_done(&request);
    return there;
}

static void check_probe(void)
{
    hf__request request;

    run(&request, probe, sizeof(probe) - 1);
    if (request.status != HF_OK)
        fprintf(stderr, "%s\n", request.error.message);
    PROMISE(request.status == HF_OK);
    PROMISE(request.reply.bytes.size == HF__SHA1_HEX_SIZE - 1);
    if (fresh[0] == '\0')
        memcpy(fresh, request.reply.bytes.data, HF__SHA1_HEX_SIZE - 1);
    PROMISE(memcmp(fresh, request.reply.bytes.data, HF__SHA1_HEX_SIZE - 1) ==
            0);
    hf__request_done(&request);
}

static void check(const char *source, size_t size)
{
    int64_t used_ms = hf__clock_thread_us() / 1000;
    hf__request request;

    run(&request, source, size);
    used_ms = hf__clock_thread_us() / 1000 - used_ms;
    if (used_ms >= BUDGET_MS + BEYOND_MS)
        fprintf(stderr, "%lld ms of processor time\n", (long long)used_ms);
    PROMISE(used_ms < BUDGET_MS + BEYOND_MS);
    PROMISE(request.status == HF_OK || request.error.message[0] != '\0');
    PROMISE(request.status == HF_OK || request.status == HF_SCRIPT ||
            request.status == HF_WRONG_TYPE || request.status == HF_FULL ||
            request.status == HF_UNAVAILABLE || request.status == HF_INVALID);
    if (strstr(request.error.message, "nothing was written") != NULL)
        PROMISE(!is_there("k") && !is_there("first"));
    hf__request_done(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char first[] = "redis.call('set','first',1) ";
    static char text[sizeof(first) + SCRIPT_TEXT_MAX];
    size_t used = sizeof(first) - 1;

    if (store == NULL) {
        open_store();
        check_probe();
    }
    if (size < 1 || size > SCRIPT_TEXT_MAX)
        return 0;
    memcpy(text, first, used);
    if (data[0] & 0x80) {
        memcpy(text + used, data + 1, size - 1);
        used += size - 1;
    } else {
        used += script_from_bytes(data, size, text + used);
    }
    if (getenv("FUZZ_SHOW") != NULL)
        fprintf(stderr, "%.*s\n", (int)used, text);
    must("flushall", "sync");
    check(text, used);
    check_probe();
    must("flushall", "sync");
    return 0;
}
