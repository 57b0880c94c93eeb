/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_hostile_test.c - scripts that try to exceed their limits, from the
 * files of hostile/: none ends the process, none takes longer than its budget,
 * none takes more memory than it may, and those that were stopped leave the
 * store unchanged.
 *
 * Time is processor time of the thread, which a budget limits.
 */
#include <dirent.h>
#include <sys/resource.h>

#include "embedded_store.h"
#include "util/mem.h"

/* Of scripts that must end by themselves, and of the rest. */
#define BUDGET_MS 60
#define SHORT_BUDGET_MS 30
#define LONGEST_US ((BUDGET_MS + 50 * SLOWER) * 1000)
/* The bound on a script's memory, and the allowed excess. */
#define MEMORY_MAX ((rlim_t)(64 + 16) << 20)

#define FILE_MAX (1u << 20)

typedef struct tally {
    int count;
    int failed;
    int64_t longest_us;
    char longest[128];
} tally;

static void write_text(hf__store *store, const char *source)
{
    char text[TEXT_SIZE];

    if (evaluate(store, source, 0, "", text) != HF_OK)
        fail_msg("%s: %s", source, text);
}

/* The keys for the scripts of commands.lua. */
static void fill(hf__store *store)
{
    write_text(store, "redis.call('setrange', 'sparse', 8000000, 'x') "
                      "redis.call('setrange', 'wide', 100000000, 'x') "
                      "redis.call('set', 'bytes', ('\\1'):rep(1000000)) "
                      "redis.call('set', 'half', ('abc'):rep(2500)) "
                      "redis.call('set', 'half2', ('bca'):rep(2500)) "
                      "redis.call('set', 'counter', 1)");
    write_text(store, "for i = 1, 20000 do "
                      "redis.call('rpush', 'list', 'e' .. i) "
                      "redis.call('zadd', 'zset', i, 'e' .. i) end");
    write_text(store, "for i = 1, 20000 do "
                      "redis.call('sadd', 'set', 'e' .. i) "
                      "redis.call('hset', 'hash', 'f' .. i, 'v' .. i) end");
    write_text(store, "for i = 1, 2000 do "
                      "redis.call('set', 'key' .. i, i) end");
}

static bool is_stopped(const char *text)
{
    return strncmp(text, "the script was stopped", 22) == 0;
}

static bool is_as_wanted(hf_status status, const char *text, const char *want)
{
    if (status != HF_OK && status != HF_SCRIPT)
        return false;
    if (strcmp(want, "any") == 0)
        return true;
    if (strcmp(want, "stopped") == 0)
        return status == HF_SCRIPT && is_stopped(text);
    if (strcmp(want, "error") == 0)
        return status == HF_SCRIPT && !is_stopped(text);
    return status == HF_OK && strcmp(text, want) == 0;
}

/* Everything that a script here could have changed. */
static void look(hf__store *store, char text[TEXT_SIZE])
{
    static const char source[] =
        "return {redis.call('dbsize'), redis.call('exists', 'trace', 'trace2',"
        " 'k1'), redis.call('get', 'counter'), redis.call('llen', 'list'), "
        "redis.call('zcard', 'zset'), redis.call('strlen', 'sparse')}";

    assert_int_equal(evaluate(store, source, 0, "", text), HF_OK);
}

/* Deny the process more memory than a script may take. */
static rlim_t bound_memory(rlim_t size)
{
    struct rlimit limit;
    rlim_t before;

    assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    return before;
}

/* What RLIMIT_DATA counts. */
static rlim_t data_size(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long size = 0;
    char line[128];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmData: %lu kB", &size) == 1)
            break;
    }
    (void)fclose(file);
    return (rlim_t)size << 10;
}

/* Run it; returns the processor time it took. */
static int64_t take_time(hf__store *store, const char *source,
                         hf_status *status, char text[TEXT_SIZE])
{
    rlim_t limit =
        bound_memory(SLOWER > 1 ? RLIM_INFINITY : data_size() + MEMORY_MAX);
    int64_t began_us = hf__clock_thread_us();
    int64_t used_us;

    *status = evaluate(store, source, 0, "", text);
    used_us = hf__clock_thread_us() - began_us;
    (void)bound_memory(limit);
    return used_us;
}

static void run_hostile(hf__store *store, const char *name, const char *want,
                        const char *source, tally *sum)
{
    char before[TEXT_SIZE], after[TEXT_SIZE], text[TEXT_SIZE];
    int64_t used_us = INT64_MAX;
    hf_status status;

    look(store, before);
    /* The effect of other programs on the processor is in its time, too. */
    for (int i = 0; i < 3 && used_us > LONGEST_US; i++)
        used_us = take_time(store, source, &status, text);
    look(store, after);
    sum->count++;
    if (used_us > sum->longest_us) {
        sum->longest_us = used_us;
        (void)snprintf(sum->longest, sizeof(sum->longest), "%s", name);
    }
    /* Under a sanitizer, a script that is slow anyway may be stopped. */
    if ((is_as_wanted(status, text, want) ||
         (SLOWER > 1 && is_stopped(text))) &&
        used_us <= LONGEST_US &&
        (!is_stopped(text) || strcmp(before, after) == 0))
        return;
    sum->failed++;
    print_error("%s: %lld us, status %d: %.200s (want %s)%s\n", name,
                (long long)used_us, status, text, want,
                is_stopped(text) && strcmp(before, after) != 0 ? "; it left "
                                                                 "a trace"
                                                               : "");
}

/* One store, with two budgets. */
typedef struct stores {
    hf__store *patient, *hasty;
} stores;

static bool ends_itself(const char *want)
{
    return strcmp(want, "stopped") != 0 && strcmp(want, "any") != 0;
}

/* Each script begins after a line "---- want, name". */
static void run_file(const stores *at, const char *path, tally *sum)
{
    static char text[FILE_MAX];
    FILE *file = fopen(path, "r");
    char *next;

    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    next = strstr(text, "---- ");
    while (next != NULL) {
        char *want = next + 5;
        char *end = strchr(want, '\n');
        char *name;

        assert_non_null(end);
        *end = '\0';
        name = want[0] == '[' ? strstr(want, "], ") : strstr(want, ", ");
        assert_non_null(name);
        name += want[0] == '[';
        *name = '\0';
        next = strstr(end + 1, "\n---- ");
        if (next != NULL)
            *next++ = '\0';
        run_hostile(ends_itself(want) ? at->patient : at->hasty, name + 2, want,
                    end + 1, sum);
    }
}

TEST(no_script_leaves_its_limits)
{
    static const char *const files[] = {"memory_holes", "patterns", "control",
                                        "tables",       "commands", "json"};
    tally sum = {0};
    stores both;
    place at;

    make_place(&at, "volatile", "?max_size=512M");
    script_budget_ms = 5000;
    at.store = must_open(at.url, NULL);
    fill(at.store);
    close_store(at.store);
    script_budget_ms = BUDGET_MS;
    at.store = both.patient = must_open(at.url, NULL);
    script_budget_ms = SHORT_BUDGET_MS;
    both.hasty = must_open(at.url, NULL);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s/%s.lua", HOSTILE_DIR, files[i]);
        run_file(&both, path, &sum);
    }
    close_store(both.hasty);
    print_message("%d scripts; the longest: %lld us, %s\n", sum.count,
                  (long long)sum.longest_us, sum.longest);
    remove_place(&at);
    assert_true(sum.count >= 200);
    assert_int_equal(sum.failed, 0);
}

/* Its garbage is collected after a script only for a short time. The rest is
 * not in the time of the next one. */
TEST(budget_is_without_the_garbage_of_the_script_before)
{
    char text[TEXT_SIZE];
    hf__store *patient;
    place at;

    make_place(&at, "volatile", "");
    script_budget_ms = 5000;
    at.store = patient = must_open(at.url, NULL);
    script_budget_ms = 8 * SLOWER;
    at.store = must_open(at.url, NULL);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(evaluate(patient,
                                  "local t = {} for i = 1, 300000 do t[i] = "
                                  "{i} end return 1",
                                  0, "", text),
                         HF_OK);
        assert_int_equal(evaluate(at.store, "return 1", 0, "", text), HF_OK);
    }
    close_store(patient);
    remove_place(&at);
}

/* Whatever allocation fails: of creating the machine, of a script, of its
 * library functions. */
TEST(script_without_memory_is_undone)
{
    static const char source[] =
        "redis.call('set', 'a', cjson.encode({1, {b = 'c'}})) "
        "local t = {} for i = 1, 50 do t[i] = ('x'):rep(i * 10) end "
        "pcall(table.concat, t) pcall(string.gsub, t[50], '.', '%0%0') "
        "xpcall(function() return t[50]:find('(x-)x?y') end, function() end) "
        "coroutine.wrap(function() return ('%s'):format(t[40]) end)() "
        "return {cjson.decode('[1,2,[\"\\\\n\"]]')[1], loadstring('return "
        "1')()}";
    hf_status status = HF_NO_MEMORY;
    char text[TEXT_SIZE];
    int failed = 0;
    place at;

    script_budget_ms = 20000;
    make_place(&at, "volatile", "?max_size=16M");
    for (long after = 0; status != HF_OK; after++) {
        hf_error err = HF_ERROR_INIT;
        hf__store *store = NULL;

        (void)hf__alloc_fail_after(after);
        status = open_url(at.url, NULL, &store, &err);
        if (status == HF_OK)
            status = evaluate(store, source, 0, "", text);
        (void)hf__alloc_fail_after(-1);
        if (store != NULL)
            close_store(store);
        if (status != HF_OK && status != HF_NO_MEMORY)
            fail_msg("allocation %ld: %d %s", after, status, text);
        failed += status != HF_OK;
    }
    remove_place(&at);
    print_message("%d allocations failed once\n", failed);
    assert_true(failed > 500);
    assert_string_equal(text, "[i:1, i:1]");
}
