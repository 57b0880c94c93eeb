/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newer.c - the embedded store returns what Redis 7.0 does; newer servers
 * differ in a few places. Each is here with its reason and with the versions of
 * Redis and of Valkey that introduced it. What no row explains is a difference.
 *
 * Tested: Redis 7.2.4, 7.4.1, 8.0.2 and 8.0.6; Valkey 8.0.1, 8.1.1 and 9.1.2.
 */
#include "newer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* 7.2 is 702. */
#define REDIS_FIRST 700
#define REDIS_LAST 800
#define VALKEY_LAST 901

/* First versions that do it. */
#define NEVER 9999
#define ALWAYS 0

typedef struct since {
    int redis;
    int valkey;
} since;

/* Valkey began as Redis 7.2. */
/* clang-format off */
#define SINCE_7_2 { 702, ALWAYS }
/* clang-format on */

static bool is_valkey;
static int version = REDIS_FIRST;

/* The version after `name`; 0: missing. */
static int read_version(const char *info, const char *name)
{
    const char *at = strstr(info, name);
    int major, minor;

    if (at == NULL || sscanf(at + strlen(name), "%d.%d.", &major, &minor) != 2)
        return 0;
    return 100 * major + minor;
}

bool newer_knows(const char *info)
{
    is_valkey = strstr(info, "server_name:valkey") != NULL;
    version =
        read_version(info, is_valkey ? "valkey_version:" : "redis_version:");
    if (is_valkey)
        return version <= VALKEY_LAST;
    return version >= REDIS_FIRST && version <= REDIS_LAST;
}

static bool is_in(since first)
{
    return version >= (is_valkey ? first.valkey : first.redis);
}

bool newer_has_deadlines(void)
{
    return is_in((since){704, 900});
}

bool newer_lacks(const char *command)
{
    static const char *const names[] = {
        "hexpire", "hpexpire",    "hexpireat",    "hpexpireat", "httl",
        "hpttl",   "hexpiretime", "hpexpiretime", "hpersist"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], command) == 0)
            return !newer_has_deadlines();
    }
    return false;
}

static bool is_newer(void)
{
    return is_in((since)SINCE_7_2);
}

/* ----------------------------------------------------------------- scripts */

/*
 * What a script sees of the interpreter. Redis fixed faults of its Lua in 2025
 * (globals, the metatable of strings): Debian's 7.0 and 8.0 have the fixes,
 * others since some release of theirs.
 */
static const struct {
    since first;
    const char *text;
} left_out[] = {
    {SINCE_7_2, "collect('', _G)"}, /* there is `server` too */
    {SINCE_7_2, "getmetatable('')"},
    {SINCE_7_2, "getfenv"},
    {SINCE_7_2, "setfenv"},
    {SINCE_7_2, "newproxy"},
    {SINCE_7_2, "(os)"}, /* there is os.clock() */
    {SINCE_7_2, "os.clock"},
    {SINCE_7_2, "os.time"},
    {SINCE_7_2, "'\\r\\n'"}, /* as the text of an error */
    /* The text of an error becomes a value, whose size then differs. */
    {SINCE_7_2, "e.err or s(e) end)()"},
    {SINCE_7_2, "cjson.encode({redis.pcall("},
    {{NEVER, ALWAYS}, "{double = 0/0}"}, /* never "-nan" */
};

/* Valkey and Redis 8.0 find members below a negative offset. */
static bool has_negative_limit(const op *asked)
{
    const char *word;

    if (!is_in((since){800, ALWAYS}))
        return false;
    for (size_t i = 1; i + 1 < asked->word_count; i++) {
        word = asked->words[i + 1].data;
        if (asked->words[i].size == 5 &&
            strncasecmp(asked->words[i].data, "limit", 5) == 0 &&
            asked->words[i + 1].size > 0 && word[0] == '-')
            return true;
    }
    return false;
}

/* LSET truncates its index to 32 bits. */
static bool has_long_index(const op *asked)
{
    return asked->word_count > 2 && asked->words[0].size == 4 &&
           strncasecmp(asked->words[0].data, "lset", 4) == 0 &&
           asked->words[2].size > 9;
}

/* Hexadecimal, or with a space before it. */
static bool is_odd_number(hf_bytes word)
{
    const char *text = word.data;

    if (word.size > 1 && (text[0] == '(' || text[0] == '-' || text[0] == '+'))
        text++;
    return word.size > 1 && (*text == ' ' || strncasecmp(text, "0x", 2) == 0);
}

/* Redis 8.0 refuses such bounds of scores, Valkey 9 such scores too; the result
 * of ZRANGESTORE, ZREMRANGEBYSCORE and ZADD then differs. */
static bool has_odd_score(const op *asked)
{
    if (!is_in((since){800, 900}) || asked->word_count == 0 ||
        strncasecmp(asked->words[0].data, "z", 1) != 0)
        return false;
    for (size_t i = 2; i < asked->word_count; i++) {
        if (is_odd_number(asked->words[i]))
            return true;
    }
    return false;
}

static bool is_left_out(const op *asked)
{
    if (has_odd_score(asked) || has_negative_limit(asked) ||
        has_long_index(asked))
        return true;
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (asked->kind == OP_SCRIPT && is_in(left_out[i].first) &&
            strstr(asked->source, left_out[i].text) != NULL)
            return true;
    }
    return false;
}

void newer_filter(op_list *list)
{
    size_t kept = 0;

    if (!is_newer())
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_left_out(&list->ops[i]))
            list->ops[kept++] = list->ops[i];
    }
    list->count = kept;
}

/* A number that a script passes to a command becomes a text of 17 digits, or of
 * as many as are needed to read it back. Here it is converted before. */
static const char numbers_as_texts[] =
    "local redis = (function(r) "
    "local function texts(...) local all, n = {...}, select('#', ...) "
    "for i = 1, n do if type(all[i]) == 'number' then "
    "all[i] = string.format('%.17g', all[i]) end end "
    "return unpack(all, 1, n) end "
    "return setmetatable({call = function(...) return r.call(texts(...)) end, "
    "pcall = function(...) return r.pcall(texts(...)) end}, {__index = r}) "
    "end)(redis) ";

const char *newer_source(const char *source, hf__arena *arena)
{
    size_t more = sizeof(numbers_as_texts) - 1;
    size_t size = strlen(source) + 1;
    char *longer;

    if (!is_newer())
        return source;
    longer = op_alloc(arena, more + size);
    memcpy(longer, numbers_as_texts, more);
    memcpy(longer + more, source, size);
    return longer;
}

/* ------------------------------------------------------------------- texts */

static const struct {
    since first;
    const char *redis;
    const char *newer;
} renamed[] = {
    {SINCE_7_2, "redis.set_repl() requires two arguments",
     "redis.set_repl() requires one argument"},
    {{704, NEVER}, "Invalid debug level", "Invalid log level"},
    /* "Redis" was removed from the messages of Valkey. */
    {{NEVER, ALWAYS}, "Lua redis lib command arguments", "Command arguments"},
    {{NEVER, ALWAYS}, "for this redis lib call", "for this call"},
    {{NEVER, ALWAYS}, "calling Redis command from", "calling command from"},
    {{NEVER, ALWAYS}, "Unknown Redis command called", "Unknown command called"},
    {{NEVER, ALWAYS},
     "redis.set_repl() requires two arguments",
     "server.set_repl() requires one argument"},
    {{NEVER, ALWAYS}, "redis.log() requires", "server.log() requires"},
    {{NEVER, ALWAYS}, "redis.setresp() requires", "server.setresp() requires"},
    {{NEVER, ALWAYS}, "redis.acl_check_cmd()", "server.acl_check_cmd()"},
    {{NEVER, ALWAYS}, "Invalid debug level", "Invalid log level"},
    {{NEVER, 900}, "This Redis command is not", "This Valkey command is not"},
    {{NEVER, ALWAYS},
     "No matching script. Please use EVAL.",
     "No matching script."},
    {{NEVER, 801},
     "Unexpected engine in script shebang: #!perl",
     "Could not find scripting engine 'perl'"},
    {{NEVER, 801},
     "Unexpected engine in script shebang: #!",
     "Could not find scripting engine ''"},
};

static void skip(hf_bytes *text, size_t size)
{
    *text = hf_view((const char *)text->data + size, text->size - size);
}

/* The next words of both: are they one renaming? */
static bool skip_name(hf_bytes *tested, hf_bytes *server)
{
    for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
        size_t ours = strlen(renamed[i].redis);
        size_t theirs = strlen(renamed[i].newer);

        if (is_in(renamed[i].first) && tested->size >= ours &&
            server->size >= theirs &&
            memcmp(tested->data, renamed[i].redis, ours) == 0 &&
            memcmp(server->data, renamed[i].newer, theirs) == 0) {
            skip(tested, ours);
            skip(server, theirs);
            return true;
        }
    }
    return false;
}

/* A score has as many digits as are needed to read it back, not always 17.
 * Texts end with a NUL here. */
static bool skip_number(hf_bytes *tested, hf_bytes *server)
{
    static const char begins[] = "-0123456789";
    const char *ours = tested->data;
    const char *theirs = server->data;
    char *ours_end;
    char *theirs_end;
    double a;
    double b;

    if (memchr(begins, *ours, sizeof(begins) - 1) == NULL ||
        memchr(begins, *theirs, sizeof(begins) - 1) == NULL)
        return false;
    a = strtod(ours, &ours_end);
    b = strtod(theirs, &theirs_end);
    if (ours_end == ours || theirs_end == theirs || a < b || a > b)
        return false;
    skip(tested, (size_t)(ours_end - ours));
    skip(server, (size_t)(theirs_end - theirs));
    return true;
}

bool newer_same_text(hf_bytes tested, hf_bytes server)
{
    while (is_newer() && tested.size > 0 && server.size > 0) {
        if (skip_name(&tested, &server) || skip_number(&tested, &server))
            continue;
        if (*(const char *)tested.data != *(const char *)server.data)
            return false;
        skip(&tested, 1);
        skip(&server, 1);
    }
    return is_newer() && tested.size == 0 && server.size == 0;
}

/* ------------------------------------------------------------------ errors */

/* An error that only one of them returns, as they parse a word differently. */
static const struct {
    since first;
    const char *command;
    const char *error;
} errors[] = {
    /* Negative, or after a space. */
    {{704, ALWAYS}, "scan", "invalid cursor"},
    {{NEVER, ALWAYS}, "scan", "unknown type name"},
    {{NEVER, 900}, "script", "unknown subcommand"},
    /* Parsed before the key is looked up. */
    {{NEVER, 900}, "getex", "not an integer"},
    {{NEVER, 900}, "getex", "invalid expire time"},
    /* Both may be used without an end, and parse the unit earlier. */
    {{704, ALWAYS}, "bitcount", "syntax error"},
    {{704, ALWAYS}, "bitcount", "not an integer"},
    {{704, ALWAYS}, "bitpos", "syntax error"},
    {{704, ALWAYS}, "bitpos", "not an integer"},
    /* WITHSCORE exists. */
    {SINCE_7_2, "rank", "rong number of arg"},
    {SINCE_7_2, "rank", "syntax error"},
    /* INT64_MIN */
    {SINCE_7_2, "lpos", "value must between"},
    {SINCE_7_2, "lrem", "value must between"},
    /* See has_odd_score(); in a script. */
    {{800, 900}, "byscore", "min or max is not a float"},
    /* Nor are they weights, nor is a text that ends at a NUL. */
    {{800, 900}, "sort", "can't be converted into double"},
    {{800, 900}, "sort_ro", "can't be converted into double"},
    {{NEVER, 900}, "zadd", "not a valid float"},
};

/* Does a command's name end with `name`, or does a script contain it? */
static bool mentions(const op *asked, const char *name)
{
    size_t size = strlen(name);
    const hf_bytes *word = asked->words;

    if (asked->kind == OP_SCRIPT && strcasestr(asked->source, name) != NULL)
        return true;
    return asked->word_count > 0 && word->size >= size &&
           strncasecmp((const char *)word->data + word->size - size, name,
                       size) == 0;
}

bool newer_reads_otherwise(const op *asked, const char *error)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (is_in(errors[i].first) && strstr(error, errors[i].error) != NULL &&
            mentions(asked, errors[i].command))
            return true;
    }
    return false;
}

/* A sort by weights that are no numbers: see errors. */
bool newer_hides(const char *mutation)
{
    return is_in((since){800, 900}) && strcmp(mutation, "weight") == 0;
}

/* ------------------------------------------------------- table of commands */

static const struct {
    since first;
    const char *name;
} rows[] = {
    {SINCE_7_2, "zrank"}, /* WITHSCORE */
    {SINCE_7_2, "zrevrank"},
    /* Scripts may call blocking commands, which then do not block. */
    {SINCE_7_2, "blmove"},
    {SINCE_7_2, "blpop"},
    {SINCE_7_2, "brpop"},
    {SINCE_7_2, "brpoplpush"},
    {SINCE_7_2, "bzpopmax"},
    {SINCE_7_2, "bzpopmin"},
    {SINCE_7_2, "wait"},
    /* New. */
    {SINCE_7_2, "client|no-touch"},
    {SINCE_7_2, "client|setinfo"},
    {SINCE_7_2, "waitaof"},
    {{NEVER, 800}, "client|capa"},
    {{NEVER, 800}, "script|show"},
    {{NEVER, 801}, "client|import-source"},
    /* They need no memory here. */
    {{704, 900}, "hexpire"},
    {{704, 900}, "hpexpire"},
    {{704, 900}, "hexpireat"},
    {{704, 900}, "hpexpireat"},
    {{NEVER, 900}, "script|debug"}, /* any number of words */
};

bool newer_has_other_row(const char *command)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_in(rows[i].first) && strcmp(rows[i].name, command) == 0)
            return true;
    }
    return false;
}
