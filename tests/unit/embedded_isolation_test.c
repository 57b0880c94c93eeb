/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_isolation_test.c - what a user's script leaves behind: nothing that
 * another script or the library could notice.
 *
 * hostile/writes.lua tries to change everything that a script can reach,
 * hostile/traces.lua looks for what was changed.
 */
#include "embedded_store.h"
#include "engine/lua/machine_state.h"

#define FILE_MAX (1u << 16)

static const char *read_script(const char *name)
{
    static char text[2][FILE_MAX];
    static int next;
    char *to = text[next++ % 2];
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s.lua", HOSTILE_DIR, name);
    file = fopen(path, "r");
    assert_non_null(file);
    to[fread(to, 1, FILE_MAX - 1, file)] = '\0';
    (void)fclose(file);
    return to;
}

static int set_up(void **state)
{
    static place at;

    script_budget_ms = 2000 * SLOWER;
    make_place(&at, "volatile", "?max_size=64M");
    at.store = must_open(at.url, NULL);
    *state = &at;
    return 0;
}

static int tear_down(void **state)
{
    remove_place(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void must_run(hf__store *store, const char *source, char text[TEXT_SIZE])
{
    if (evaluate(store, source, 2, "k1 k2 a1", text) != HF_OK)
        fail_msg("%.60s: %s", source, text);
}

/* ------------------------------------------------------------------ writing */

TEST(no_table_that_outlives_a_script_can_be_changed)
{
    const place *at = *state;
    int tables, functions, tries, read;
    char text[TEXT_SIZE];

    must_run(at->store, read_script("writes"), text);
    print_message("%s\n", text);
    assert_int_equal(sscanf(text, "[i:%d, i:%d, i:%d, s:%n", &tables,
                            &functions, &tries, &read),
                     3);
    assert_string_equal(text + read, "]");
    assert_true(tables >= 13);
    assert_true(functions >= 90);
}

/* By another client, too. */
static void expect_traces(const place *at, const char *want, const char *after)
{
    hf__store *other = must_open(at->url, NULL);
    char text[TEXT_SIZE], others[TEXT_SIZE];

    must_run(at->store, read_script("traces"), text);
    must_run(other, read_script("traces"), others);
    close_store(other);
    if (strcmp(text, want) != 0 || strcmp(others, want) != 0)
        fail_msg("after %s: %s and %s, before %s", after, text, others, want);
}

TEST(next_script_finds_nothing_of_the_last)
{
    static const char *const ends[] = {"", "error('x')", "while true do end",
                                       "return ('x'):rep(1e9)"};
    static char source[FILE_MAX + 64];
    place *at = *state;
    char before[TEXT_SIZE], text[TEXT_SIZE];

    must_run(at->store, read_script("traces"), before);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        (void)snprintf(source, sizeof(source), "(function() %s end)() %s",
                       read_script("writes"), ends[i]);
        (void)evaluate(at->store, source, 2, "k1 k2 a1", text);
        expect_traces(at, before, ends[i]);
    }
}

TEST(seed_of_a_script_ends_with_it)
{
    static const char source[] = "return math.random(2^30)";
    const place *at = *state;
    char text[2][TEXT_SIZE];

    for (int i = 0; i < 2; i++) {
        must_run(at->store, "math.randomseed(42) return 1", text[i]);
        must_run(at->store, source, text[i]);
    }
    assert_string_not_equal(text[0], text[1]);
}

/* ------------------------------------------------------------------- memory */

static void expect_own_scripts(const place *at)
{
    char text[TEXT_SIZE];

    (void)own(at->store, HF__SCRIPT_LOCK_ACQUIRE, 3,
              "l t w 0123456789abcdef-000000000000001 60000 \"\" 0 0", text);
    if (strncmp(text, "i:", 2) != 0)
        fail_msg("%s", text);
}

TEST(own_scripts_need_no_lua)
{
    const place *at = *state;
    const hf__env *env = hf__embedded_env(at->store);
    char text[TEXT_SIZE];

    expect_own_scripts(at);
    assert_null(env->users); /* only made for those who need it */
    must_run(at->store, "return 1", text);
    assert_non_null(env->users);
}

/* A script that needs most of its memory. */
static void expect_full_memory(const place *at)
{
    char text[TEXT_SIZE];

    must_run(at->store,
             "local t = {} for i = 1, 50 do t[i] = ('x'):rep(2^20 - 8) .. i "
             "end return #t",
             text);
    assert_string_equal(text, "i:50");
}

TEST(scripts_that_keep_memory_starve_no_other)
{
    static const char *const sources[] = {
        "for i = 1, 12 do pcall(table.insert, _G, ('x'):rep(2^20) .. i) end",
        "for i = 1, 12 do pcall(table.insert, getmetatable(_G), "
        "('x'):rep(2^20) .. i) end",
        "for i = 1, 12 do KEYS[i] = ('x'):rep(2^20) .. i end",
        "local t = {} for i = 1, 12 do t[i] = ('x'):rep(2^20) .. i end "
        "coroutine.wrap(function() coroutine.yield(t) end)()",
        "local t = {} for i = 1, 1e5 do t[i] = {i} end"};
    const place *at = *state;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        for (int turn = 0; turn < 7; turn++)
            must_run(at->store, sources[i], text);
        expect_own_scripts(at);
        expect_full_memory(at);
    }
}

/* As many as once filled the memory of all scripts for good. */
TEST(scripts_are_kept_up_to_a_limit_of_bytes)
{
    static char source[400000 + 64];
    const place *at = *state;
    char text[TEXT_SIZE];

    for (int i = 0; i < 152; i++) {
        int size = snprintf(source, sizeof(source), "return #'%d", i);

        memset(source + size, 'x', 400000 - (size_t)size);
        (void)snprintf(source + 400000, 64, "'");
        must_run(at->store, source, text);
    }
    expect_own_scripts(at);
    expect_full_memory(at);
}

static bool is_kept(const place *at)
{
    char text[TEXT_SIZE];

    assert_int_equal(command(at->store,
                             "script exists "
                             "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
                             text),
                     HF_OK);
    return strcmp(text, "[i:1]") == 0;
}

/* "return 1" is used all the time, and remains. */
TEST(script_that_is_used_stays_in_the_cache)
{
    static char source[400000 + 64];
    const place *at = *state;
    char text[TEXT_SIZE];

    for (int i = 0; i < 60; i++) {
        int size = snprintf(source, sizeof(source), "return #'%d", i);

        memset(source + size, 'x', 400000 - (size_t)size);
        (void)snprintf(source + 400000, 64, "'");
        must_run(at->store, "return 1", text);
        must_run(at->store, source, text);
    }
    assert_true(is_kept(at));
    must_run(at->store,
             "for i = 1, 40 do KEYS[i] = ('x'):rep(2^20 - 8) .. i end", text);
    assert_true(is_kept(at));
}

/* What no script can do, as far as is known: keep memory for good. */
TEST(machine_that_keeps_memory_is_replaced)
{
    const place *at = *state;
    const hf__env *env = hf__embedded_env(at->store);
    char text[TEXT_SIZE];

    must_run(at->store, "return 1", text);
    (void)lua_newuserdata(env->users->lua, (size_t)40 << 20);
    lua_setfield(env->users->lua, LUA_REGISTRYINDEX, "kept");
    must_run(at->store, "return 1", text);
    must_run(at->store, "return 1", text);
    assert_true(env->users->used_size < (size_t)16 << 20);
    expect_full_memory(at);
}
