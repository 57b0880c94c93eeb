/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_setup_test.c - setting up a schema: who owns what is there already, and
 * names that have to be quoted.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/test_postgres.h"

static postgres_server *server;

static int start_server(void **state)
{
    (void)state;
    server = postgres_server_start(false);
    if (server == NULL)
        return -1;
    return postgres_server_run(server,
                               "CREATE ROLE mallory LOGIN;"
                               "GRANT CREATE ON DATABASE postgres TO mallory")
               ? 0
               : -1;
}

static int stop_server(void **state)
{
    (void)state;
    postgres_server_stop(server);
    return 0;
}

ALL_TESTS_WITH(start_server, stop_server);

/* postgres://USER@.../postgres?schema=SCHEMA; a server that starts a session
 * may take longer than the default on a busy machine. */
static const char *url_of(const char *user, const char *schema)
{
    static char url[512];

    (void)snprintf(url, sizeof(url),
                   "postgres://%s@127.0.0.1:%d/postgres?connect_ms=60000&"
                   "schema=%s",
                   user, postgres_server_port(server), schema);
    return url;
}

static void run_as(const char *user, const char *sql)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "SET ROLE %s; %s", user, sql);
    assert_true(postgres_server_run(server, text));
}

/* Refused, with a message that has all of it. */
static void expect_refused(const char *schema, const char *culprit,
                           const char *owner)
{
    hf_error error = HF_ERROR_INIT;

    assert_int_equal(
        hf_store_setup(url_of("postgres", schema), NULL, NULL, &error),
        HF_DENIED);
    assert_non_null(strstr(error.message, culprit));
    assert_non_null(strstr(error.message, owner));
}

TEST(schema_of_another_user_is_refused)
{
    run_as("mallory", "CREATE SCHEMA hers");
    expect_refused("hers", "schema hers", "owned by mallory");
    /* Its owner may. */
    expect_status(HF_OK,
                  hf_store_setup(url_of("mallory", "hers"), NULL, NULL, ERR));
    expect_refused("hers", "schema hers", "owned by mallory");
}

TEST(table_of_another_user_is_refused)
{
    char answer[POSTGRES_ANSWER_SIZE];

    assert_true(postgres_server_run(server, "CREATE SCHEMA shared;"
                                            "GRANT ALL ON SCHEMA shared "
                                            "TO mallory"));
    expect_refused("shared", "may create objects", "mallory");
    run_as("mallory",
           "CREATE TABLE shared.records (key bytea PRIMARY KEY, payload bytea "
           "NOT NULL, expire_ms bigint NOT NULL, at_us bigint NOT NULL, "
           "version bigint NOT NULL)");
    run_as("postgres", "REVOKE ALL ON SCHEMA shared FROM mallory");
    expect_refused("shared", "shared.records", "mallory");
    postgres_server_ask(server,
                        "SELECT count(*) FROM pg_proc WHERE "
                        "pronamespace = 'shared'::regnamespace",
                        answer);
    assert_string_equal(answer, "0");
}

TEST(function_of_another_user_is_refused)
{
    assert_true(postgres_server_run(server, "CREATE SCHEMA calls;"
                                            "GRANT ALL ON SCHEMA calls "
                                            "TO mallory"));
    run_as("mallory", "CREATE FUNCTION calls.protocol() RETURNS int "
                      "LANGUAGE sql AS 'SELECT 1'");
    run_as("postgres", "REVOKE ALL ON SCHEMA calls FROM mallory");
    expect_refused("calls", "calls.protocol()", "mallory");
}

TEST(trigger_of_another_user_is_refused)
{
    expect_status(
        HF_OK, hf_store_setup(url_of("postgres", "caught"), NULL, NULL, ERR));
    assert_true(postgres_server_run(
        server, "GRANT USAGE ON SCHEMA caught TO mallory;"
                "GRANT TRIGGER ON caught.records "
                "TO mallory;"
                "GRANT CREATE ON SCHEMA public TO mallory"));
    run_as("mallory",
           "CREATE FUNCTION public.hook() RETURNS trigger LANGUAGE plpgsql AS "
           "'BEGIN RETURN NEW; END'; CREATE TRIGGER hook BEFORE INSERT ON "
           "caught.records FOR EACH ROW EXECUTE FUNCTION public.hook()");
    expect_refused("caught", "trigger hook", "mallory");
}

TEST(view_in_place_of_a_table_is_refused)
{
    assert_true(postgres_server_run(
        server, "CREATE SCHEMA seen; CREATE VIEW seen.records AS SELECT 1"));
    expect_refused("seen", "seen.records", "not a plain table");
}

TEST(schema_that_everyone_may_change_is_refused)
{
    assert_true(postgres_server_run(
        server, "CREATE SCHEMA open; GRANT CREATE ON SCHEMA open TO PUBLIC"));
    expect_refused("open", "may create objects", "PUBLIC");
}

TEST(setup_grants_nothing_to_everyone)
{
    char answer[POSTGRES_ANSWER_SIZE];

    assert_true(postgres_server_run(
        server, "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC"));
    expect_status(HF_OK,
                  hf_store_setup(url_of("postgres", "mine"), NULL, NULL, ERR));
    postgres_server_ask(
        server,
        "SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a WHERE "
        "a.grantee = 0 AND c.relnamespace = 'mine'::regnamespace",
        answer);
    assert_string_equal(answer, "0");
    postgres_server_ask(
        server,
        "SELECT count(*) || ' ' || count(*) FILTER (WHERE "
        "proconfig IS NULL AND prosecdef OR proacl IS NULL OR EXISTS (SELECT "
        "FROM aclexplode(proacl) a WHERE a.grantee = 0)) "
        "FROM pg_proc WHERE pronamespace = 'mine'::regnamespace",
        answer);
    assert_string_equal(answer, "7 0");
}

TEST(setup_again_leaves_rights_as_they_are)
{
    const char *url = url_of("postgres", "kept");
    hf_client *client = NULL;

    expect_status(HF_OK, hf_store_setup(url, NULL, NULL, ERR));
    assert_true(postgres_server_run(
        server, "GRANT USAGE ON SCHEMA kept TO PUBLIC;"
                "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA kept TO PUBLIC"));
    expect_status(HF_OK, hf_store_setup(url, NULL, NULL, ERR));
    expect_status(
        HF_OK, hf_client_open(url_of("mallory", "kept"), NULL, &client, ERR));
    hf_client_close(client);
}

/* Without that right, `what` to `role`, diagnose() says so. */
static void expect_lacking(hf_client *client, const char *right,
                           const char *name, const char *what, const char *role)
{
    char sql[256];
    char lacking[64];
    diagnosed found;

    (void)snprintf(sql, sizeof(sql), "REVOKE %s ON %s FROM %s", right, what,
                   role);
    assert_true(postgres_server_run(server, sql));
    found = diagnose(client, "rights");
    (void)snprintf(lacking, sizeof(lacking), "%s on %s", right, name);
    assert_string_equal(found.value, lacking);
    assert_int_equal(found.level, HF_LEVEL_ERROR);
    (void)snprintf(sql, sizeof(sql), "GRANT %s ON %s TO %s", right, what, role);
    assert_true(postgres_server_run(server, sql));
}

TEST(rights_that_are_not_granted_are_diagnosed)
{
    static const char *const routines[] = {"protocol", "read_records",
                                           "commit_records", "commit_early",
                                           "await_standbys"};
    static const char *const rights[] = {"SELECT", "INSERT", "UPDATE",
                                         "DELETE"};
    const char *schema = "it's";
    hf_client *client = NULL;
    char what[64];

    assert_true(postgres_server_run(server, "CREATE ROLE ann LOGIN"));
    expect_status(HF_OK,
                  hf_store_setup(url_of("mallory", schema), NULL, NULL, ERR));
    run_as("mallory", "GRANT USAGE ON SCHEMA \"it's\" TO ann;"
                      "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA \"it's\" "
                      "TO ann");
    expect_status(HF_OK,
                  hf_client_open(url_of("ann", schema), NULL, &client, ERR));
    assert_string_equal(diagnose(client, "rights").value, "granted");
    expect_lacking(client, "USAGE", "the schema", "SCHEMA \"it's\"", "ann");
    for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
        (void)snprintf(what, sizeof(what), "ROUTINE \"it's\".%s", routines[i]);
        expect_lacking(client, "EXECUTE", routines[i], what, "ann");
    }
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        expect_lacking(client, rights[i], "records", "\"it's\".records",
                       "mallory");
        expect_lacking(client, rights[i], "turns", "\"it's\".turns", "mallory");
    }
    assert_string_equal(diagnose(client, "rights").value, "granted");
    hf_client_close(client);
}

static void refuse_false(void *user, const char *name, const char *value)
{
    (void)user;
    (void)name;
    assert_string_not_equal(value, "false");
}

/* Those of the server's have other types, or come later in search_path. */
TEST(functions_that_others_have_made_are_not_asked)
{
    const char *url = url_of("eve", "asked");
    hf_client *client = NULL;

    assert_true(postgres_server_run(
        server, "CREATE ROLE eve LOGIN SUPERUSER;"
                "ALTER ROLE eve SET search_path = public, pg_catalog;"
                "GRANT CREATE ON SCHEMA public TO mallory"));
    expect_status(HF_OK, hf_store_setup(url, NULL, NULL, ERR));
    run_as("mallory",
           "CREATE FUNCTION public.has_schema_privilege(regnamespace, text) "
           "RETURNS boolean LANGUAGE sql AS 'SELECT false';"
           "CREATE FUNCTION public.current_setting(text) "
           "RETURNS text LANGUAGE sql AS 'SELECT ''false''::text';"
           "CREATE FUNCTION public.same(text, text) "
           "RETURNS boolean LANGUAGE sql AS 'SELECT false';"
           "CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, "
           "FUNCTION = public.same)");
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    assert_string_equal(diagnose(client, "rights").value, "granted");
    assert_string_not_equal(diagnose(client, "server version").value, "false");
    assert_string_equal(diagnose(client, "records ahead of the clock").value,
                        "none");
    expect_status(HF_OK, hf_store_info(client, refuse_false, NULL, ERR));
    hf_client_close(client);
    assert_true(postgres_server_run(
        server,
        "DROP OPERATOR public.= (text, text);"
        "DROP FUNCTION public.same(text, text);"
        "DROP FUNCTION public.current_setting(text);"
        "DROP FUNCTION public.has_schema_privilege(regnamespace, text)"));
}

TEST(schema_with_a_name_of_the_server_is_refused)
{
    hf_client *client = NULL;
    const char *url = url_of("postgres", "pg_mine");

    expect_status(HF_INVALID, hf_store_setup(url, NULL, NULL, ERR));
    expect_status(HF_INVALID, hf_client_open(url, NULL, &client, ERR));
}

TEST(isolation_of_transactions_is_named_at_once)
{
    const char *url = url_of("mallory", "strict");
    hf_error error = HF_ERROR_INIT;
    hf_client *client = NULL;

    expect_status(HF_OK, hf_store_setup(url, NULL, NULL, ERR));
    assert_true(postgres_server_run(server, "ALTER ROLE mallory SET "
                                            "default_transaction_isolation = "
                                            "'serializable'"));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    assert_int_equal(
        hf_value_set(client, hf_str("a"), hf_str("b"), NULL, NULL, &error),
        HF_UNSUPPORTED);
    assert_non_null(strstr(error.message, "default_transaction_isolation"));
    hf_client_close(client);
    assert_true(postgres_server_run(
        server, "ALTER ROLE mallory RESET default_transaction_isolation"));
}

static void run_printed(void *user, const char *sql)
{
    (void)user;
    assert_true(postgres_server_run(server, sql));
}

/* It is set up, and used, and set up again. */
static void use_schema(const char *schema)
{
    const char *url = url_of("postgres", schema);
    hf_client *client = NULL;

    expect_status(HF_OK, hf_store_setup(url, NULL, NULL, ERR));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    expect_status(HF_OK, hf_value_set(client, hf_str("key"), hf_str("value"),
                                      NULL, NULL, ERR));
    hf_client_close(client);
    expect_status(HF_OK, hf_store_setup(url, run_printed, NULL, ERR));
}

TEST(names_of_schemas_are_quoted)
{
    static const char *const names[] = {
        "holdfast",
        "Mixed%20case",
        "$$",
        "$hf0$",
        "%24%24%3B%20DROP%20TABLE%20holdfast.records%3B%20--",
        "'%3B%20SELECT%201%3B--",
        "%22quoted%22",
        "back%5Cslash'",
        "%25s%25I%25",
        "line%0Abreak%3B",
        "holdfast.holdfast",
        "%C3%BCber",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        use_schema(names[i]);
}

static void *set_up(void *user)
{
    return hf_store_setup(user, NULL, NULL, NULL) == HF_OK ? user : NULL;
}

TEST(setups_at_the_same_time_succeed)
{
    char url[512];
    pthread_t threads[4];
    void *done;

    (void)snprintf(url, sizeof(url), "%s", url_of("postgres", "crowded"));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, set_up, url), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_ptr_equal(done, url);
    }
}

/* As those of names that have nothing to compress. */
static void draw_name(char name[HF_NAME_MAX + 1])
{
    uint32_t state = 1;

    for (size_t i = 0; i < HF_NAME_MAX; i++) {
        state = state * 1664525 + 1013904223;
        name[i] = (char)('!' + (state >> 24) % 90);
    }
    name[HF_NAME_MAX] = '\0';
}

TEST(longest_names_have_room)
{
    const char *url = url_of("postgres", "holdfast");
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    char name[HF_NAME_MAX + 1];
    char sql[2 * HF_NAME_MAX];

    draw_name(name);
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    expect_status(HF_OK, hf_value_set(client, hf_str(name), hf_str("value"),
                                      NULL, NULL, ERR));
    expect_status(HF_OK, hf_value_set(client, hf_str(name), hf_str("other"),
                                      NULL, NULL, ERR));
    name[0]++;
    expect_status(HF_OK, hf_lock_new(client, hf_str(name), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    hf_client_close(client);
    (void)snprintf(sql, sizeof(sql),
                   "SELECT holdfast.check_token($hf$%s$hf$, 5)", name);
    assert_true(postgres_server_run(server, sql));
    assert_true(postgres_server_run(server, sql));
    sql[strlen(sql) - 2] = '4';
    assert_false(postgres_server_run(server, sql));
}
