/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_test.c - servers that speak the protocol of PostgreSQL, and send what
 * no server of ours sends.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/expect.h"
#include "support/fake_server.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define BYTES(text) (text), sizeof(text) - 1
#define READY "Z\0\0\0\5I"
/* Parsed, bound, and it has no columns. */
#define BOUND                                                                  \
    "1\0\0\0\4"                                                                \
    "2\0\0\0\4"
#define COPY_IN "G\0\0\0\7\0\0\0"
#define COLUMN                                                                 \
    "a\0"                                                                      \
    "\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\0"

static const char login[] =
    "R\0\0\0\10\0\0\0\0"
    "S\0\0\0\30server_version\0"
    "15.0\0"
    "S\0\0\0\27in_hot_standby\0off\0"
    "S\0\0\0\46default_transaction_read_only\0off\0" READY;
/* The protocol, and fsync. */
static const char checked[] =
    "T\0\0\0\56\0\2" COLUMN COLUMN "D\0\0\0\21\0\2\0\0\0\1"
    "1\0\0\0\2on"
    "C\0\0\0\15SELECT 1\0" READY;

/* Rows without a column, and with one. */
static const char no_column[] = "T\0\0\0\6\0\0"
                                "D\0\0\0\6\0\0"
                                "C\0\0\0\15SELECT 1\0" READY;
static const char one_column[] =
    "T\0\0\0\32\0\1" COLUMN "D\0\0\0\13\0\1\0\0\0\1"
    "1"
    "C\0\0\0\15SELECT 1\0" READY;

/* A diagnosis, of which the level is none. */
static const char no_level[] =
    "T\0\0\0\126\0\4" COLUMN COLUMN COLUMN COLUMN "D\0\0\0\32\0\4\0\0\0\1"
    "9\0\0\0\1n\0\0\0\1v\0\0\0\1r"
    "C\0\0\0\15SELECT 1\0" READY;

/* What it sends where. */
typedef struct answers {
    const char *to_check;
    size_t check_size;
    const char *to_call;
    size_t call_size;
    const char *to_first; /* instead, to the first call; NULL: as to others */
    size_t first_size;
} answers;

static bool read_whole(int fd, char *to, size_t size)
{
    while (size > 0) {
        ssize_t got = read(fd, to, size);

        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

/* The rest of a message, from its size on. */
static bool skip_message(int fd)
{
    unsigned char size[4];
    char text[8192];
    size_t left;

    if (!read_whole(fd, (char *)size, sizeof(size)))
        return false;
    left = ((size_t)size[2] << 8 | size[3]) - 4;
    return size[0] == 0 && size[1] == 0 && left <= sizeof(text) &&
           read_whole(fd, text, left);
}

static bool send_bytes(int fd, const char *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static void answer_all(int fd, unsigned number, void *user)
{
    const answers *of = user;
    const char *first = of->to_first;
    char type = 0;
    bool good = skip_message(fd) && send_bytes(fd, BYTES("N")) &&
                skip_message(fd) && send_bytes(fd, BYTES(login));

    (void)number;
    while (good && read_whole(fd, &type, 1) && skip_message(fd)) {
        if (type == 'Q')
            good = send_bytes(fd, of->to_check, of->check_size);
        else if (type == 'S' && first != NULL)
            good = send_bytes(fd, first, of->first_size);
        else if (type == 'S')
            good = send_bytes(fd, of->to_call, of->call_size);
        if (type == 'S')
            first = NULL;
    }
}

static fake_server *start_fake(answers *of, char url[128])
{
    fake_server *server = fake_server_start_tcp(answer_all, of);

    assert_non_null(server);
    (void)snprintf(url, 128,
                   "postgres://ann@127.0.0.1:%d/db?connect_ms=%lld"
                   "&request_ms=%lld&sslmode=prefer",
                   fake_server_port(server), (long long)slowed_ms(1000),
                   (long long)slowed_ms(500));
    return server;
}

static hf_status read_value(hf_client *client)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(client, hf_str("a"), &value, NULL);

    hf_buffer_free(&value);
    return status;
}

static hf_status write_value(hf_client *client)
{
    return hf_value_set(client, hf_str("a"), hf_str("b"), NULL, NULL, NULL);
}

static void expect_answered(answers *of, hf_status (*run)(hf_client *client),
                            hf_status expected)
{
    char url[128];
    fake_server *server = start_fake(of, url);
    hf_client *client = NULL;
    int64_t began_ms = test_now_ms();

    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    assert_int_equal(run(client), expected);
    hf_client_close(client);
    assert_took(test_now_ms() - began_ms, 0, 3000);
    fake_server_stop(server);
}

/* Of a client on a server that answers each call so. */
static void expect_call(const char *bytes, size_t size,
                        hf_status (*run)(hf_client *client), hf_status expected)
{
    answers of = {checked, sizeof(checked) - 1, bytes, size, NULL, 0};

    expect_answered(&of, run, expected);
}

TEST(copy_without_end_is_a_malformed_reply)
{
    expect_call(BYTES(BOUND COPY_IN), read_value, HF_CORRUPT);
    expect_call(BYTES(BOUND COPY_IN), write_value, HF_CORRUPT);
}

TEST(copy_while_a_client_is_opened_is_a_malformed_reply)
{
    answers of = {BYTES(COPY_IN), BYTES(READY), NULL, 0};
    char url[128];
    fake_server *server = start_fake(&of, url);
    hf_client *client = NULL;

    expect_status(HF_CORRUPT, hf_client_open(url, NULL, &client, ERR));
    fake_server_stop(server);
}

static void expect_refused(const char *to_check, size_t size)
{
    answers of = {to_check, size, BYTES(READY), NULL, 0};
    char url[128];
    fake_server *server = start_fake(&of, url);
    hf_client *client = NULL;

    expect_status(HF_CORRUPT, hf_client_open(url, NULL, &client, ERR));
    fake_server_stop(server);
}

TEST(row_with_too_few_columns_is_a_malformed_reply)
{
    expect_refused(BYTES(no_column));
    expect_refused(BYTES(one_column));
}

static void expect_text(void *user, const char *name, const char *value)
{
    (void)user;
    (void)name;
    /* As which the C library prints NULL. */
    assert_string_not_equal(value, "(null)");
}

static hf_status print_info(hf_client *client)
{
    return hf_store_info(client, expect_text, NULL, ERR);
}

/* The server answers so once the client is open. */
static void expect_done(hf_status (*run)(hf_client *client),
                        const char *to_check, size_t size)
{
    answers of = {BYTES(checked), BYTES(READY), NULL, 0};
    char url[128];
    fake_server *server = start_fake(&of, url);
    hf_client *client = NULL;

    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    of.to_check = to_check;
    of.check_size = size;
    expect_status(HF_OK, run(client));
    hf_client_close(client);
    fake_server_stop(server);
}

TEST(facts_without_a_column_are_left_out)
{
    expect_done(print_info, BYTES(no_column));
}

static void expect_words(void *user, const hf_store_diagnostic *diagnostic)
{
    (void)user;
    assert_non_null(diagnostic->name);
    assert_non_null(diagnostic->remedy);
    expect_text(NULL, diagnostic->name, diagnostic->value);
    assert_in_range(diagnostic->level, HF_LEVEL_OK, HF_LEVEL_ERROR);
}

static hf_status diagnose(hf_client *client)
{
    return hf_store_diagnose(client, NULL, expect_words, NULL, ERR);
}

TEST(rows_that_are_not_of_a_diagnosis_are_not_reported)
{
    expect_done(diagnose, BYTES(no_column));
    expect_done(diagnose, BYTES(one_column));
    expect_done(diagnose, BYTES(checked));
    expect_done(diagnose, BYTES(no_level));
}

TEST(call_without_a_result_is_not_done)
{
    expect_call(BYTES(BOUND "n\0\0\0\4" READY), read_value, HF_CORRUPT);
    expect_call(BYTES(BOUND "n\0\0\0\4" READY), write_value, HF_CORRUPT);
}

#define NULL1 "\377\377\377\377"
#define NULL4 NULL1 NULL1 NULL1 NULL1
/* An array of one null. */
#define ARRAY1 "\0\0\0\30\0\0\0\1\0\0\0\1\0\0\0\21\0\0\0\1\0\0\0\1" NULL1
#define COLUMNS7                                                               \
    BOUND "T\0\0\0\222\0\7" COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN
#define DONE "C\0\0\0\15SELECT 1\0" READY
/* The key is not there, and an instant. */
static const char no_record[] =
    COLUMNS7 "D\0\0\0\216\0\7\0\0\0\4\0\0\0\0"
             "\0\0\0\10\0\6\0\0\0\0\0\0" NULL1 ARRAY1 ARRAY1 ARRAY1 ARRAY1 DONE;
/* With this as its outcome and nothing else. */
#define RESULT(outcome)                                                        \
    COLUMNS7 "D\0\0\0\46\0\7\0\0\0\4\0\0\0" outcome NULL4 NULL1 NULL1 DONE

static void expect_commit(const char *bytes, size_t size, hf_status expected)
{
    answers of = {BYTES(checked), bytes, size, BYTES(no_record)};

    expect_answered(&of, write_value, expected);
}

/* A refusal without records wrote nothing. */
TEST(result_that_there_is_not_may_be_of_a_commit_that_was_done)
{
    expect_call(BYTES(RESULT("\4")), read_value, HF_CORRUPT);
    expect_commit(BYTES(RESULT("\1")), HF_CORRUPT);
    expect_commit(BYTES(RESULT("\4")), HF_INDETERMINATE);
}

/* Of this process, MiB. */
static long resident_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0;
    long pages = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
    (void)fclose(file);
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

/* Where what arrives is kept, it is hundreds; AddressSanitizer keeps 256 of
 * what was freed. */
#ifdef __SANITIZE_ADDRESS__
#define GROWTH_MAX_MIB 320
#else
#define GROWTH_MAX_MIB 64
#endif

/* libpq takes no longer one for a setting. */
#define SETTING_SIZE 20000

/* As answer_all(), and then messages of this beginning for as long as the
 * client takes them. */
static void flood_messages(int fd, answers of, const char *head,
                           size_t head_size)
{
    char setting[1 + 4 + 2 + SETTING_SIZE];
    char type = 0;
    bool good = skip_message(fd) && send_bytes(fd, BYTES("N")) &&
                skip_message(fd) && send_bytes(fd, BYTES(login));

    memset(setting, 'y', sizeof(setting));
    setting[sizeof(setting) - 1] = '\0';
    memcpy(setting, head, head_size);
    while (good && read_whole(fd, &type, 1) && skip_message(fd)) {
        if (type == 'Q')
            good = send_bytes(fd, of.to_check, of.check_size);
        else if (type == 'S')
            break;
    }
    good = good && send_bytes(fd, of.to_call, of.call_size);
    while (good)
        good = send_bytes(fd, setting, sizeof(setting));
}

static void flood_settings(int fd, unsigned number, void *user)
{
    answers of = {BYTES(checked), BYTES(BOUND "n\0\0\0\4" READY), NULL, 0};

    (void)number;
    (void)user;
    flood_messages(fd, of,
                   BYTES("S\0\0\x4e\x26"
                         "x\0")); /* 4 + 2 + 20000 */
}

/* Rows of one column. */
static void flood_rows(int fd, unsigned number, void *user)
{
    answers of = {BYTES(checked), BYTES(BOUND "T\0\0\0\32\0\1" COLUMN), NULL,
                  0};

    (void)number;
    (void)user;
    flood_messages(fd, of, BYTES("D\0\0\x4e\x26\0\1\0\0\x4e\x1c")); /* 19996 */
}

TEST(rows_without_end_are_more_than_a_request_may_read)
{
    char url[128];
    fake_server *server = fake_server_start_tcp(flood_rows, NULL);
    hf_client *client = NULL;
    hf_error error = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;

    assert_non_null(server);
    (void)snprintf(url, sizeof(url),
                   "postgres://ann@127.0.0.1:%d/db?request_ms=%lld",
                   fake_server_port(server), (long long)slowed_ms(10000));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    assert_int_equal(hf_value_get(client, hf_str("a"), &value, &error),
                     HF_FULL);
    assert_non_null(strstr(error.message, "256 MiB"));
    hf_client_close(client);
    fake_server_stop(server);
}

TEST(settings_that_no_one_asked_for_take_no_memory)
{
    char url[128];
    fake_server *server = fake_server_start_tcp(flood_settings, NULL);
    hf_client *client = NULL;
    long before;

    assert_non_null(server);
    (void)snprintf(url, sizeof(url), "postgres://ann@127.0.0.1:%d/db",
                   fake_server_port(server));
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    assert_int_equal(read_value(client), HF_CORRUPT);
    before = resident_mib();
    (void)usleep(1000000);
    assert_in_range(resident_mib(), 0, before + GROWTH_MAX_MIB);
    hf_client_close(client);
    fake_server_stop(server);
}
