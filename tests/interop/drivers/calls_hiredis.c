/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_hiredis.c - hiredis's program for clients.py.
 *
 *     calls_hiredis PORT CALLS
 *
 * Runs the commands of the file CALLS, whose words have no spaces, and prints
 * their replies; then what needs more than a list of commands.
 */
#include <ctype.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_SIZE 256
#define WORDS_MAX 16
#define PIPELINED 500

static int port;

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static redisContext *connect_to_server(void)
{
    redisContext *context = redisConnect("127.0.0.1", port);

    if (context == NULL || context->err != 0)
        die(context == NULL ? "no memory" : context->errstr);
    return context;
}

static void print_bytes(const char *bytes, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        if (isprint((unsigned char)bytes[i]))
            putchar(bytes[i]);
        else
            printf("\\x%02x", (unsigned char)bytes[i]);
    }
    putchar('"');
}

static void print_reply(const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        printf("%lld", reply->integer);
        break;
    case REDIS_REPLY_NIL:
        printf("nil");
        break;
    case REDIS_REPLY_ARRAY:
        putchar('[');
        for (size_t i = 0; i < reply->elements; i++) {
            printf("%s", i == 0 ? "" : ", ");
            print_reply(reply->element[i]);
        }
        putchar(']');
        break;
    default:
        printf("%s", reply->type == REDIS_REPLY_ERROR ? "error " : "");
        print_bytes(reply->str, (size_t)reply->len);
    }
}

/* Print it and free it. */
static void show(redisContext *context, redisReply *reply)
{
    if (reply == NULL)
        die(context->errstr);
    print_reply(reply);
    putchar('\n');
    freeReplyObject(reply);
}

static void next_reply(redisContext *context, redisReply **reply)
{
    if (redisGetReply(context, (void **)reply) != REDIS_OK)
        die(context->errstr);
}

static void run_line(redisContext *context, char *line)
{
    const char *words[WORDS_MAX];
    int count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(line, " \n", &rest);
         word != NULL && count < WORDS_MAX; word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    printf("%s ", words[0]);
    show(context, redisCommandArgv(context, count, words, NULL));
}

static void run_file(redisContext *context, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE_SIZE];

    if (file == NULL)
        die("no file of calls");
    while (fgets(line, sizeof(line), file) != NULL)
        run_line(context, line);
    fclose(file);
}

static void run_binary(redisContext *context)
{
    char bytes[256];

    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    puts("binary");
    show(context, redisCommand(context, "SET %b %b", bytes, sizeof(bytes),
                               bytes, sizeof(bytes)));
    show(context, redisCommand(context, "GET %b", bytes, sizeof(bytes)));
}

static void run_pipeline(redisContext *context)
{
    redisReply *reply;
    long long sum = 0;

    for (int i = 0; i < PIPELINED; i++)
        redisAppendCommand(context, "INCR p");
    for (int i = 0; i < PIPELINED; i++) {
        next_reply(context, &reply);
        sum += reply->integer;
        freeReplyObject(reply);
    }
    printf("pipeline %lld\n", sum);
}

static void run_conflict(redisContext *context, redisContext *other)
{
    puts("watch");
    show(context, redisCommand(context, "WATCH w"));
    show(other, redisCommand(other, "SET w changed"));
    show(context, redisCommand(context, "MULTI"));
    show(context, redisCommand(context, "SET w mine"));
    show(context, redisCommand(context, "EXEC"));
    show(context, redisCommand(context, "GET w"));
}

static void show_next(redisContext *context)
{
    redisReply *reply;

    next_reply(context, &reply);
    show(context, reply);
}

static void run_messages(redisContext *context, redisContext *listener)
{
    puts("pubsub");
    show(listener, redisCommand(listener, "SUBSCRIBE c1 c2"));
    show_next(listener);
    show(listener, redisCommand(listener, "PSUBSCRIBE c?"));
    show(context, redisCommand(context, "PUBLISH c1 %b", "\0\r\n\xff", 4));
    show_next(listener);
    show_next(listener);
    show(listener, redisCommand(listener, "GET s"));
    show(listener, redisCommand(listener, "PING x"));
    show(listener, redisCommand(listener, "UNSUBSCRIBE c1 c2"));
    show_next(listener);
    show(listener, redisCommand(listener, "PUNSUBSCRIBE"));
    show(listener, redisCommand(listener, "PING"));
}

static void run_blocking(redisContext *context)
{
    pid_t child = fork();

    if (child == 0) {
        redisContext *other = connect_to_server();

        usleep(100000);
        freeReplyObject(redisCommand(other, "RPUSH b1 late"));
        redisFree(other);
        _exit(0);
    }
    puts("blocking");
    show(context, redisCommand(context, "BLPOP b0 b1 30"));
    waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
    redisContext *context;
    redisContext *other;

    if (count != 3)
        die("usage: calls_hiredis PORT CALLS");
    port = (int)strtol(words[1], NULL, 10);
    setvbuf(stdout, NULL, _IONBF, 0);
    context = connect_to_server();
    other = connect_to_server();
    run_file(context, words[2]);
    run_binary(context);
    run_pipeline(context);
    run_conflict(context, other);
    run_messages(context, other);
    run_blocking(context);
    redisFree(other);
    redisFree(context);
    return 0;
}
