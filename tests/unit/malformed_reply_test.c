/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malformed_reply_test.c - every call of the API, blocking, asynchronous and in
 * a batch, against every kind of reply: one that the operation does not allow
 * is HF_CORRUPT and writes no result; an allowed one is accepted. There is no
 * server; malformed_server_test.c has one.
 */
#include <string.h>

#include "core/client.h"
#include "holdfast/script.h"
#include "store/redis/wire/resp.h"
#include "support/answering_store.h"
#include "support/every_call.h"
#include "support/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SHA "$40\r\n0123456789abcdef0123456789abcdef01234567\r\n"
#define A "$1\r\na\r\n"

/* What a take of a job is answered. */
#define JOB(id, group) "*8\r\n:5\r\n" id A ":1\r\n:0\r\n:1\r\n:1\r\n" group
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X512 X64 X64 X64 X64 X64 X64 X64 X64
#define NONE "$0\r\n\r\n"
#define LONGEST "$512\r\n" X512 "\r\n"
#define LONGER "$513\r\n" X512 "x\r\n"
#define TAKEN                                                                  \
    {JOB(A, NONE), HF_OK},                                                     \
    {                                                                          \
        JOB(LONGEST, LONGEST), HF_OK                                           \
    }

/* The replies to try. */
static const char *const replies[] = {
    "$-1\r\n",
    "*-1\r\n",
    "_\r\n",
    ":0\r\n",
    ":1\r\n",
    ":-1\r\n",
    ":-2\r\n",
    ":-3\r\n",
    ":2\r\n",
    ":1000\r\n",
    ":9007199254740992\r\n",
    ":9007199254740993\r\n",
    ":9223372036854775807\r\n",
    ":-9223372036854775808\r\n",
    "#t\r\n",
    "+OK\r\n",
    "+\r\n",
    "$0\r\n\r\n",
    A,
    SHA,
    ",1.5\r\n",
    "(12345678901234567890\r\n",
    "=5\r\ntxt:a\r\n",
    "$1\r\n7\r\n",
    "$19\r\n9223372036854775807\r\n",
    "$19\r\n9223372036854775808\r\n",
    "*0\r\n",
    "%0\r\n",
    "*1\r\n:1\r\n",
    "*1\r\n" A,
    "*1\r\n$-1\r\n",
    "*1\r\n*1\r\n*0\r\n",
    "*2\r\n" A A,
    "*2\r\n:1\r\n:-1\r\n",
    "*2\r\n:2\r\n:0\r\n",
    "*2\r\n:1\r\n:1\r\n",
    "*2\r\n:0\r\n:1\r\n",
    "*2\r\n:-1\r\n:-2\r\n",
    "*2\r\n:1000001\r\n:1\r\n",
    "*2\r\n:2\r\n:5\r\n",
    "*2\r\n:3\r\n:5\r\n",
    "*2\r\n:1\r\n:0\r\n",
    "*2\r\n:1\r\n:-9223372036854775808\r\n",
    "*2\r\n" A ":1\r\n",
    "*2\r\n:1\r\n" A,
    "*2\r\n:1\r\n$1\r\n7\r\n",
    "*2\r\n:0\r\n$1\r\n7\r\n",
    "*2\r\n:-1\r\n$1\r\n7\r\n",
    "*2\r\n:1\r\n$19\r\n9223372036854775807\r\n",
    "*2\r\n" A "$-1\r\n",
    "*2\r\n$-1\r\n:9\r\n",
    "*2\r\n" A "-ERR a\r\n",
    "*2\r\n$1\r\n1\r\n$1\r\n1\r\n",
    "*2\r\n$1\r\n0\r\n*0\r\n",
    "*2\r\n$1\r\na\r\n*0\r\n",
    "*2\r\n$22\r\n0000000000000000000000\r\n*0\r\n",
    "*2\r\n$1\r\n0\r\n*1\r\n:1\r\n",
    "%1\r\n" A A,
    "~2\r\n" A A,
    "*3\r\n" A A A,
    "*3\r\n:5\r\n" A ":9\r\n",
    "*3\r\n:-3\r\n" A ":9\r\n",
    "*3\r\n:5\r\n:1\r\n:9\r\n",
    "*3\r\n:1\r\n:0\r\n:0\r\n",
    "*3\r\n:2\r\n:1\r\n:0\r\n",
    "*3\r\n:3\r\n:1\r\n:9\r\n",
    "*3\r\n:4\r\n:1\r\n:9\r\n",
    "*3\r\n:0\r\n:1\r\n:9\r\n",
    "*3\r\n:0\r\n:1\r\n:1000000001\r\n",
    "*4\r\n:5\r\n" A ":9\r\n:-1\r\n",
    "*4\r\n:5\r\n" A ":9\r\n:3\r\n",
    "*4\r\n" A ":5\r\n:9\r\n:3\r\n",
    "*4\r\n" A ":5\r\n$1\r\n7\r\n:3\r\n",
    "*4\r\n$-1\r\n:-2\r\n$-1\r\n:0\r\n",
    "*4\r\n" A ":5\r\n" A ":-1\r\n",
    "*4\r\n" A A A A,
    "*5\r\n:5\r\n" A ":9\r\n:3\r\n:3\r\n",
    "*5\r\n:5\r\n:1\r\n" A "$1\r\n7\r\n" A,
    "*5\r\n:5\r\n:1\r\n" A "$1\r\n0\r\n" A,
    "*8\r\n:2\r\n:5\r\n:0\r\n$1\r\n0\r\n" A "$1\r\n7\r\n$2\r\n-1\r\n" A,
    "*8\r\n:0\r\n:-2\r\n:0\r\n$1\r\n0\r\n" A "$1\r\n0\r\n$1\r\n0\r\n" A,
    "*8\r\n:4\r\n:5\r\n:0\r\n$1\r\n0\r\n" A "$1\r\n7\r\n$2\r\n-1\r\n" A,
    JOB(A, NONE),
    JOB(LONGEST, LONGEST),
    JOB(LONGER, NONE),
    JOB(A, LONGER),
    JOB(NONE, NONE),
    "-ERR made up\r\n",
    "!9\r\nERR a fit\r\n",
};

/* An allowed reply, and the status for it. */
typedef struct fit {
    const char *reply;
    hf_status status;
} fit;

typedef struct fits {
    const char *call; /* the beginning of its name */
    fit of[24];
} fits;

#define NIL(status)                                                            \
    {"$-1\r\n", status}, {"*-1\r\n", status},                                  \
    {                                                                          \
        "_\r\n", status                                                        \
    }
#define STRINGS(status)                                                        \
    {"$0\r\n\r\n", status}, {A, status}, {SHA, status}, {",1.5\r\n", status},  \
        {"(12345678901234567890\r\n", status}, {"$1\r\n7\r\n", status},        \
        {"$19\r\n9223372036854775807\r\n", status},                            \
        {"$19\r\n9223372036854775808\r\n", status},                            \
    {                                                                          \
        "=5\r\ntxt:a\r\n", status                                              \
    }
#define STATUSES(status)                                                       \
    {"+OK\r\n", status},                                                       \
    {                                                                          \
        "+\r\n", status                                                        \
    }
#define ADDED                                                                  \
    {"*2\r\n:1\r\n$1\r\n7\r\n", HF_OK},                                        \
    {                                                                          \
        "*2\r\n:0\r\n$1\r\n7\r\n", HF_CONFLICT                                 \
    }
/* The highest token; 0: written. */
#define FENCED                                                                 \
    {":0\r\n", HF_OK}, {":1\r\n", HF_CONFLICT}, {":2\r\n", HF_CONFLICT},       \
        {":1000\r\n", HF_CONFLICT}, {":9007199254740992\r\n", HF_CONFLICT},    \
    {                                                                          \
        "#t\r\n", HF_CONFLICT                                                  \
    }
#define REVISED                                                                \
    {"*2\r\n:1\r\n:1\r\n", HF_OK}, {"*2\r\n:0\r\n:1\r\n", HF_CONFLICT},        \
    {                                                                          \
        "*2\r\n:1\r\n:0\r\n", HF_NOT_FOUND                                     \
    }
#define FOUND                                                                  \
    {":0\r\n", HF_NOT_FOUND}, {":1\r\n", HF_OK},                               \
    {                                                                          \
        "#t\r\n", HF_OK                                                        \
    }

#define COUNTED                                                                \
    {":0\r\n", HF_OK}, {":1\r\n", HF_OK}, {":2\r\n", HF_OK},                   \
        {":1000\r\n", HF_OK},                                                  \
    {                                                                          \
        "#t\r\n", HF_OK                                                        \
    }

#define ACQUIRED(refused)                                                      \
    {":1\r\n", HF_OK}, {":2\r\n", HF_OK}, {":1000\r\n", HF_OK},                \
        {":9007199254740992\r\n", HF_OK}, {"#t\r\n", HF_OK},                   \
        {"*3\r\n:5\r\n" A ":9\r\n", refused},                                  \
    {                                                                          \
        "*4\r\n:5\r\n" A ":9\r\n:3\r\n", refused                               \
    }
#define RENEWED                                                                \
    {"*0\r\n", HF_OK}, {"%0\r\n", HF_OK}, {"*2\r\n:1\r\n:0\r\n", HF_EXPIRED},  \
    {                                                                          \
        "*2\r\n:1\r\n:-1\r\n", HF_LOST                                         \
    }
#define INSPECTED                                                              \
    {"*4\r\n" A ":5\r\n$1\r\n7\r\n:3\r\n", HF_OK},                             \
    {                                                                          \
        "*4\r\n$-1\r\n:-2\r\n$-1\r\n:0\r\n", HF_NOT_FOUND                      \
    }
#define COUNTS                                                                 \
    {":1\r\n", HF_OK}, {":2\r\n", HF_OK}, {":1000\r\n", HF_OK},                \
        {":9007199254740992\r\n", HF_OK},                                      \
    {                                                                          \
        "#t\r\n", HF_OK                                                        \
    }
/* So many clients listen, and 1. */
#define LISTENERS                                                              \
    COUNTS, {":9007199254740993\r\n", HF_OK},                                  \
    {                                                                          \
        ":9223372036854775807\r\n", HF_OK                                      \
    }
#define BELOW_1                                                                \
    {":0\r\n", HF_OK}, {":-1\r\n", HF_OK}, {":-2\r\n", HF_OK},                 \
    {                                                                          \
        ":-3\r\n", HF_OK                                                       \
    }
/* 0: there was one; -1: it is not known whether an earlier one was applied */
#define ONCE(status)                                                           \
    {":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", status},                  \
    {                                                                          \
        ":-1\r\n", HF_INDETERMINATE                                            \
    }

/* The first that matches. A user's script may return anything. */
static const fits table[] = {
    {"value get revised",
     {{":0\r\n", HF_NOT_FOUND},
      {"*2\r\n:1\r\n" A, HF_OK},
      {"*2\r\n:1\r\n$1\r\n7\r\n", HF_OK},
      {"*2\r\n:1\r\n$19\r\n9223372036854775807\r\n", HF_OK}}},
    {"value get", {NIL(HF_NOT_FOUND), STRINGS(HF_OK)}},
    {"value set nx", {NIL(HF_CONFLICT), STATUSES(HF_OK)}},
    {"value set get", {NIL(HF_OK), STRINGS(HF_OK)}},
    {"value set", {STATUSES(HF_OK)}},
    {"value cas once", {FOUND, STRINGS(HF_CONFLICT)}},
    {"value cas versioned",
     {FOUND, {":-1\r\n", HF_INDETERMINATE}, STRINGS(HF_CONFLICT)}},
    {"value cas", {FOUND, {":-1\r\n", HF_INDETERMINATE}, STRINGS(HF_CONFLICT)}},
    {"value changes after",
     {{"*2\r\n:-1\r\n*0\r\n", HF_TIMEOUT},
      {"*2\r\n:-1\r\n*2\r\n$0\r\n\r\n$1\r\n1\r\n", HF_OK}}},
    {"value put revised", {REVISED}},
    {"value delete by revision", {REVISED}},
    {"value put fenced", {FENCED}},
    {"value add", {ADDED}},
    {"value expire if",
     {FOUND, {":-1\r\n", HF_INDETERMINATE}, STRINGS(HF_CONFLICT)}},
    {"value delete if",
     {FOUND, {":-1\r\n", HF_INDETERMINATE}, STRINGS(HF_CONFLICT)}},
    {"value append",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"value delete", {FOUND, {":-1\r\n", HF_HELD}}},
    {"hash put fenced", {FENCED}},
    {"hash put", {FOUND}},
    {"hash get fields", {{"*1\r\n" A, HF_OK}, {"*1\r\n$-1\r\n", HF_NOT_FOUND}}},
    {"hash get all",
     {{"*0\r\n", HF_NOT_FOUND},
      {"%0\r\n", HF_NOT_FOUND},
      {"*2\r\n" A A, HF_OK},
      {"%1\r\n" A A, HF_OK},
      {"~2\r\n" A A, HF_OK},
      {"*2\r\n$1\r\n1\r\n$1\r\n1\r\n", HF_OK},
      {"*4\r\n" A A A A, HF_OK}}},
    {"hash get", {NIL(HF_NOT_FOUND), STRINGS(HF_OK)}},
    {"hash cas once", {FOUND, STRINGS(HF_CONFLICT)}},
    {"hash cas", {FOUND, {":-1\r\n", HF_INDETERMINATE}, STRINGS(HF_CONFLICT)}},
    {"hash add", {ADDED}},
    {"hash expire fields", {{"*1\r\n:1\r\n", HF_OK}}},
    {"hash ttl fields", {{"*1\r\n:1\r\n", HF_OK}}},
    {"hash delete fields",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"hash delete", {FOUND}},
    {"timeline add",
     {{":0\r\n", HF_CONFLICT}, {":1\r\n", HF_OK}, {"#t\r\n", HF_OK}}},
    {"timeline remove", {FOUND}},
    {"timeline count matching", {{"*2\r\n" A ":1\r\n", HF_OK}}},
    {"timeline count",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"timeline update", {FOUND}},
    {"timeline delete", {FOUND}},
    {"timeline trim",
     {{"*2\r\n:2\r\n:0\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_OK},
      {"*2\r\n:0\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:0\r\n", HF_OK}}},
    {"timeline get", {{"*2\r\n" A ":1\r\n", HF_NOT_FOUND}}},
    {"timeline page", {{"*2\r\n" A ":1\r\n", HF_OK}}},
    {"timeline range", {{"*2\r\n" A ":1\r\n", HF_OK}}},
    {"set add", {COUNTED}},
    {"set remove", {COUNTED}},
    {"set expire", {COUNTED}},
    {"set has members", {{"*1\r\n:1\r\n", HF_OK}}},
    {"set has", {{"*1\r\n:1\r\n", HF_OK}}},
    {"set count",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"set page", {{"*1\r\n" A, HF_OK}}},
    {"rank add", {{NULL, HF_OK}}}, /* none of these replies fits */
    {"rank increment", {{NULL, HF_OK}}},
    {"rank get", {{":0\r\n", HF_NOT_FOUND}}},
    {"rank page", {{":0\r\n", HF_NOT_FOUND}, {"*1\r\n:1\r\n", HF_OK}}},
    {"rank around", {{":0\r\n", HF_NOT_FOUND}, {"*1\r\n:1\r\n", HF_OK}}},
    {"rank count",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"rank remove", {COUNTED}},
    {"rank trim",
     {{"*2\r\n:2\r\n:0\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_OK},
      {"*2\r\n:0\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:0\r\n", HF_OK}}},
    {"rank expire", {FOUND}},
    {"key ttl",
     {{":-2\r\n", HF_NOT_FOUND},
      {":-1\r\n", HF_OK},
      {":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"key type", {STRINGS(HF_OK)}},
    {"key list", {{"*2\r\n$1\r\n0\r\n*0\r\n", HF_OK}}},
    {"key",
     {FOUND, {":-1\r\n", HF_HELD}, {":-2\r\n", HF_HELD}, {":-3\r\n", HF_HELD}}},
    {"script load", {{SHA, HF_OK}}},
    {"txn exec",
     {{":1\r\n", HF_CONFLICT},
      {"#t\r\n", HF_CONFLICT},
      {":0\r\n", HF_INDETERMINATE},
      {":-1\r\n", HF_INDETERMINATE}}},
    {"cache get", {{"*3\r\n" A A A, HF_OK}}},
    {"cache put", {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}}},
    {"cache delete", {FOUND}},
    {"cache invalidate", {FOUND}},
    {"limiter take",
     {{"*3\r\n:1\r\n:0\r\n:0\r\n", HF_OK},
      {"*3\r\n:0\r\n:1\r\n:9\r\n", HF_TIMEOUT}}},
    {"limiter inspect",
     {{"*3\r\n:1\r\n:0\r\n:0\r\n", HF_OK},
      {"*3\r\n:0\r\n:1\r\n:9\r\n", HF_OK}}},
    {"ids next",
     {{":0\r\n", HF_CONFLICT},
      {"$19\r\n9223372036854775807\r\n", HF_OK},
      {"$1\r\n7\r\n", HF_OK}}},
    {"latch set",
     {{"*2\r\n:1\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:0\r\n", HF_OK},
      {"*2\r\n:0\r\n:1\r\n", HF_CONFLICT}}},
    {"latch arrive",
     {{":-1\r\n", HF_NOT_FOUND},
      {":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"latch await early",
     {{"*2\r\n:-1\r\n:-2\r\n", HF_TIMEOUT},
      {"*2\r\n:0\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_TIMEOUT},
      {"*2\r\n:1\r\n:-1\r\n", HF_TIMEOUT},
      {"*2\r\n:1\r\n:0\r\n", HF_TIMEOUT},
      {"*2\r\n:2\r\n:5\r\n", HF_TIMEOUT},
      {"*2\r\n:3\r\n:5\r\n", HF_TIMEOUT},
      {"*2\r\n:2\r\n:0\r\n", HF_TIMEOUT}}},
    {"latch await",
     {{"*2\r\n:-1\r\n:-2\r\n", HF_NOT_FOUND},
      {"*2\r\n:0\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_TIMEOUT},
      {"*2\r\n:1\r\n:-1\r\n", HF_TIMEOUT},
      {"*2\r\n:1\r\n:0\r\n", HF_TIMEOUT},
      {"*2\r\n:2\r\n:5\r\n", HF_TIMEOUT},
      {"*2\r\n:3\r\n:5\r\n", HF_TIMEOUT},
      {"*2\r\n:2\r\n:0\r\n", HF_TIMEOUT}}},
    {"latch inspect",
     {{"*2\r\n:-1\r\n:-2\r\n", HF_NOT_FOUND},
      {"*2\r\n:0\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:-1\r\n", HF_OK},
      {"*2\r\n:1\r\n:0\r\n", HF_OK},
      {"*2\r\n:2\r\n:5\r\n", HF_OK},
      {"*2\r\n:3\r\n:5\r\n", HF_OK},
      {"*2\r\n:2\r\n:0\r\n", HF_OK}}},
    {"latch delete", {FOUND}},
    {"barrier wait",
     {{"*3\r\n:1\r\n:0\r\n:0\r\n", HF_OK},
      {"*3\r\n:2\r\n:1\r\n:0\r\n", HF_LOST},
      {"*3\r\n:3\r\n:1\r\n:9\r\n", HF_CONFLICT},
      {"*3\r\n:0\r\n:1\r\n:9\r\n", HF_TIMEOUT},
      {"*3\r\n:0\r\n:1\r\n:1000000001\r\n", HF_TIMEOUT}}},
    {"barrier reset",
     {{":0\r\n", HF_NOT_FOUND},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {":9007199254740992\r\n", HF_OK},
      {":9007199254740993\r\n", HF_OK},
      {":9223372036854775807\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"lock try", {ACQUIRED(HF_HELD)}},
    {"lock acquire for", {ACQUIRED(HF_TIMEOUT)}},
    {"lock acquire many", {ACQUIRED(HF_TIMEOUT)}},
    {"lock acquire all",
     {{"*2\r\n:2\r\n:5\r\n", HF_OK},
      {"*2\r\n:1\r\n:1\r\n", HF_OK},
      {"*2\r\n:1\r\n:0\r\n", HF_TIMEOUT}}},
    {"lock renew", {RENEWED}},
    {"lock release",
     {{":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {"#t\r\n", HF_OK},
      {":0\r\n", HF_EXPIRED},
      {":-1\r\n", HF_LOST}}},
    {"lock adopt", {RENEWED}},
    {"lock inspect", {INSPECTED}},
    {"lock break owner", {INSPECTED}},
    {"lock break", {FOUND}},
    {"lock holders", {{"%0\r\n", HF_OK}, {"*0\r\n", HF_OK}}},
    {"semaphore inspect", {{"*0\r\n", HF_CORRUPT}}},
    {"semaphore resize", {FOUND}},
    {"queue put", {ONCE(HF_CONFLICT)}},
    {"queue put many", {ONCE(HF_CONFLICT)}},
    {"queue take",
     {{"*3\r\n:5\r\n" A ":9\r\n", HF_HELD},
      {"*4\r\n:5\r\n" A ":9\r\n:3\r\n", HF_HELD},
      TAKEN}},
    {"queue done",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_EXPIRED}}},
    {"queue again",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_EXPIRED}}},
    {"queue defer",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_EXPIRED}}},
    {"queue fail",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_EXPIRED}}},
    {"queue next",
     {{"*3\r\n:5\r\n" A ":9\r\n", HF_TIMEOUT},
      {"*4\r\n:5\r\n" A ":9\r\n:3\r\n", HF_TIMEOUT},
      {"*3\r\n:-1\r\n$0\r\n\r\n:9\r\n", HF_EXPIRED},
      TAKEN}},
    {"queue list", {{"%0\r\n", HF_OK}, {"*0\r\n", HF_OK}}},
    {"queue pause", {{":0\r\n", HF_OK}, {":1\r\n", HF_OK}, {"#t\r\n", HF_OK}}},
    {"queue revive",
     {{":0\r\n", HF_OK},
      {":1\r\n", HF_OK},
      {":2\r\n", HF_OK},
      {":1000\r\n", HF_OK},
      {"#t\r\n", HF_OK}}},
    {"queue drop",
     {{":1\r\n", HF_OK},
      {"#t\r\n", HF_OK},
      {":0\r\n", HF_NOT_FOUND},
      {":-1\r\n", HF_HELD}}},
    {"queue inspect", {{"*0\r\n", HF_CORRUPT}}},
    {"rwlock downgrade",
     {{"#t\r\n", HF_OK},
      {":-1\r\n", HF_LOST},
      {":1\r\n", HF_OK},
      {":0\r\n", HF_EXPIRED}}},
    {"lock holder",
     {{"*2\r\n" A ":1\r\n", HF_OK}, {"*2\r\n$-1\r\n:9\r\n", HF_NOT_FOUND}}},
    {"lock list, names", {{"*2\r\n$1\r\n0\r\n*0\r\n", HF_OK}}},
    {"lock list, lock", {{"%0\r\n", HF_OK}, {"*0\r\n", HF_OK}}},
    {"election try", {ACQUIRED(HF_HELD)}},
    {"election proclaim",
     {{":1\r\n", HF_OK},
      {"#t\r\n", HF_OK},
      {":0\r\n", HF_EXPIRED},
      {":-1\r\n", HF_LOST}}},
    {"election inspect",
     {{"*2\r\n:1\r\n:0\r\n", HF_NOT_FOUND},
      {"*2\r\n:3\r\n:5\r\n", HF_NOT_FOUND},
      {"*2\r\n:2\r\n:5\r\n", HF_NOT_FOUND},
      {"*2\r\n:1000001\r\n:1\r\n", HF_NOT_FOUND},
      {"*2\r\n:0\r\n:1\r\n", HF_NOT_FOUND},
      {"*2\r\n:1\r\n:1\r\n", HF_NOT_FOUND},
      {"*5\r\n:5\r\n:1\r\n" A "$1\r\n7\r\n" A, HF_OK},
      {"*2\r\n:2\r\n:0\r\n", HF_NOT_FOUND}}},
    {"once try",
     {ACQUIRED(HF_HELD), {"*3\r\n:-3\r\n" A ":9\r\n", HF_CONFLICT}}},
    {"once complete",
     {{":1\r\n", HF_OK},
      {"#t\r\n", HF_OK},
      {":0\r\n", HF_EXPIRED},
      {":-1\r\n", HF_LOST}}},
    {"once inspect",
     {{"*8\r\n:2\r\n:5\r\n:0\r\n$1\r\n0\r\n" A "$1\r\n7\r\n$2\r\n-1\r\n" A,
       HF_OK},
      {"*8\r\n:0\r\n:-2\r\n:0\r\n$1\r\n0\r\n" A "$1\r\n0\r\n$1\r\n0\r\n" A,
       HF_NOT_FOUND}}},
    {"once delete", {FOUND}},
    {"redisson lock renew", {RENEWED}},
    {"redisson lock inspect", {INSPECTED}},
    {"redisson lock holders", {{"%0\r\n", HF_OK}, {"*0\r\n", HF_OK}}},
    {"redisson lock break owner", {FOUND}},
    {"redisson lock break", {FOUND}},
    {"redisson lock release",
     {LISTENERS, {":0\r\n", HF_EXPIRED}, {":-1\r\n", HF_LOST}}},
    {"redisson read release",
     {LISTENERS, {":0\r\n", HF_EXPIRED}, {":-1\r\n", HF_LOST}}},
    {"redisson write release",
     {LISTENERS, {":0\r\n", HF_EXPIRED}, {":-1\r\n", HF_LOST}}},
    {"redisson fair release",
     {{":1\r\n", HF_OK},
      {"#t\r\n", HF_OK},
      {":0\r\n", HF_EXPIRED},
      {":-1\r\n", HF_LOST}}},
    {"redisson permit renew", {RENEWED}},
    {"redisson permit release", {LISTENERS, {":0\r\n", HF_EXPIRED}}},
    {"redisson latch set", {ONCE(HF_CONFLICT)}},
    {"redisson latch arrive", {ONCE(HF_NOT_FOUND)}},
    {"redisson latch await",
     {BELOW_1,
      {":1\r\n", HF_TIMEOUT},
      {":2\r\n", HF_TIMEOUT},
      {":1000\r\n", HF_TIMEOUT},
      {":9007199254740992\r\n", HF_TIMEOUT},
      {"#t\r\n", HF_TIMEOUT}}},
    {"redisson latch inspect", {BELOW_1, COUNTS}},
    {"redisson semaphore set", {ONCE(HF_CONFLICT)}},
    {"redisson semaphore acquire",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_TIMEOUT}}},
    {"redisson semaphore release",
     {LISTENERS, {":0\r\n", HF_OK}, {":-1\r\n", HF_INDETERMINATE}}},
    {"redisson semaphore inspect", {BELOW_1, COUNTS}},
    {"redisson", {ACQUIRED(HF_HELD)}}, /* the tries */
    {"store dump, clock", {{"*2\r\n$1\r\n1\r\n$1\r\n1\r\n", HF_OK}}},
    {"store dump, names", {{"*2\r\n$1\r\n0\r\n*0\r\n", HF_OK}}},
    {"store dump, times of fields", {{"*1\r\n:1\r\n", HF_OK}}},
    {"store dump, functions", {STRINGS(HF_OK)}},
    {"store dump, key", {{"*1\r\n" A, HF_UNSUPPORTED}}},
    {"store load, clock", {{"*2\r\n$1\r\n1\r\n$1\r\n1\r\n", HF_OK}}},
    {"store load, string", {STATUSES(HF_OK), NIL(HF_CONFLICT)}},
    {"store load, hash",
     {{":1\r\n", HF_OK}, {"#t\r\n", HF_OK}, {":0\r\n", HF_CONFLICT}}},
};

/* A try, which has no time limit, is started as an acquire with one of 0. */
static hf_status of_form(const every_call *call, bool starts, hf_status status)
{
    return starts && call->takes_lock && status == HF_HELD ? HF_TIMEOUT
                                                           : status;
}

/* The expected status; HF_OK for an error: any status but HF_OK. */
static hf_status expected(const every_call *call, bool starts,
                          const char *reply)
{
    if (call->any_reply)
        return HF_OK;
    for (size_t i = 0; i < COUNT(table); i++) {
        if (strncmp(table[i].call, call->name, strlen(table[i].call)) != 0)
            continue;
        for (const fit *one = table[i].of; one->reply != NULL; one++) {
            if (strcmp(one->reply, reply) == 0)
                return of_form(call, starts, one->status);
        }
        return HF_CORRUPT;
    }
    fail_msg("no expectations of %s", call->name);
    return HF_CORRUPT;
}

static bool is_error(const char *reply)
{
    return reply[0] == '-' || reply[0] == '!';
}

/* ------------------------------------------------------------------- store */

/* The reply for `target`; NULL: the usual one. */
typedef struct saying {
    const char *target;
    const char *reply;
    unsigned count;
} saying;

static bool answer(void *user, const char *target, hf__arena *arena,
                   hf_reply *reply)
{
    saying *self = user;
    const char *text = every_usual_answer(target);
    hf__resp resp;
    hf__buf in;

    if (self->target != NULL && strcmp(self->target, target) == 0) {
        text = self->reply;
        self->count++;
    }
    assert_non_null(text);
    hf__buf_init(&in, 2048);
    assert_true(hf__buf_append(&in, text, strlen(text)));
    hf__resp_begin(&resp, arena, reply);
    assert_int_equal(hf__resp_feed(&resp, &in), HF__RESP_DONE);
    assert_int_equal(hf__buf_size(&in), 0);
    hf__buf_done(&in);
    return true;
}

static void try_reply(every_place *place, saying *said, const every_call *call,
                      const char *reply, bool starts)
{
    const char *wrong;
    hf_status status;
    bool expect;

    said->target = NULL;
    assert_true(every_lock_begin(place, call));
    every_result_begin(&place->result);
    *said = (saying){call->target, reply, 0};
    status = every_call_make(place, call, starts, NULL);
    said->target = NULL;
    wrong = every_result_end(place, call, status);
    every_lock_end(place);
    expect = is_error(reply) ? status != HF_OK && status != HF_CORRUPT
                             : status == expected(call, starts, reply);
    if (!expect || wrong != NULL)
        fail_msg("%s (%s), answered %s: %s, %s", call->name,
                 starts ? "started" : "run", reply, hf_status_name(status),
                 wrong == NULL ? "" : wrong);
    assert_true(said->count >= 1);
}

static void try_all(every_place *place, saying *said, const every_call *calls,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (calls[i].waits)
            continue;
        for (size_t j = 0; j < COUNT(replies); j++) {
            try_reply(place, said, &calls[i], replies[j], false);
            if (calls[i].starts)
                try_reply(place, said, &calls[i], replies[j], true);
        }
    }
}

TEST(call_believes_no_reply_of_another_shape)
{
    static every_place place;
    saying said = {NULL, NULL, 0};
    answering_store store = {.answer = answer, .user = &said};

    assert_true(every_place_begin(&place));
    assert_int_equal(hf_client_open(place.url, NULL, &place.client, NULL),
                     HF_OK);
    answering_store_begin(&store, place.client);
    assert_int_equal(
        hf_script_load(place.client, hf_str("return 1"), &place.script, NULL),
        HF_OK);
    try_all(&place, &said, every_calls, every_call_count);
    place.client->layout.redisson = true;
    try_all(&place, &said, every_redisson_calls, every_redisson_count);
    hf_script_free(place.script);
    answering_store_end(&store, place.client);
    hf_client_close(place.client);
    every_place_end(&place);
}
