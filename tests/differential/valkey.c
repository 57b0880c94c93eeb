/* SPDX-License-Identifier: Apache-2.0 */
/*
 * valkey.c - the embedded store gives the answers of Redis 7.0; Valkey, which
 * began as Redis 7.2, gives others in a few places. Each is here with its
 * reason. What no text and no refusal explains is a difference.
 */
#include "valkey.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_valkey;

void valkey_is_server(void)
{
    is_valkey = true;
}

/* ----------------------------------------------------------------- scripts */

/*
 * What a script sees of the interpreter: there is a global `server` beside
 * `redis`, and Debian has mended faults of Redis's Lua (what is global, the
 * metatable of strings) that are as they were in Valkey 8.0.
 */
static const char *const left_out[] = {
    "collect('', _G)",
    "getmetatable('')",
    "getfenv",
    "setfenv",
    "newproxy",
    "(os)",
    "os.clock",
    "os.time",
    "'\\r\\n'", /* as the text of an error */
    /* An error's text becomes a value, whose size then differs. */
    "e.err or s(e) end)()",
    "cjson.encode({redis.pcall(",
};

/* Valkey 8.0 finds members below a negative offset. */
static bool has_negative_limit(const op *asked)
{
    const char *word;

    for (size_t i = 1; i + 1 < asked->word_count; i++) {
        word = asked->words[i + 1].data;
        if (asked->words[i].size == 5 &&
            strncasecmp(asked->words[i].data, "limit", 5) == 0 &&
            asked->words[i + 1].size > 0 && word[0] == '-')
            return true;
    }
    return false;
}

/* It cuts the index of LSET to 32 bits. */
static bool has_long_index(const op *asked)
{
    return asked->word_count > 2 && asked->words[0].size == 4 &&
           strncasecmp(asked->words[0].data, "lset", 4) == 0 &&
           asked->words[2].size > 9;
}

static bool is_left_out(const op *asked)
{
    if (has_negative_limit(asked) || has_long_index(asked))
        return true;
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (asked->kind == OP_SCRIPT &&
            strstr(asked->source, left_out[i]) != NULL)
            return true;
    }
    return false;
}

void valkey_filter(op_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; is_valkey && i < list->count; i++) {
        if (!is_left_out(&list->ops[i]))
            list->ops[kept++] = list->ops[i];
    }
    if (is_valkey)
        list->count = kept;
}

/* A number that a script gives to a command becomes a text of 17 digits, or of
 * as many as it takes to read it back. Here it becomes one before. */
static const char numbers_as_texts[] =
    "local redis = (function(r) "
    "local function texts(...) local all, n = {...}, select('#', ...) "
    "for i = 1, n do if type(all[i]) == 'number' then "
    "all[i] = string.format('%.17g', all[i]) end end "
    "return unpack(all, 1, n) end "
    "return setmetatable({call = function(...) return r.call(texts(...)) end, "
    "pcall = function(...) return r.pcall(texts(...)) end}, {__index = r}) "
    "end)(redis) ";

const char *valkey_source(const char *source, hf__arena *arena)
{
    size_t more = sizeof(numbers_as_texts) - 1;
    size_t size = strlen(source) + 1;
    char *longer;

    if (!is_valkey)
        return source;
    longer = op_alloc(arena, more + size);
    memcpy(longer, numbers_as_texts, more);
    memcpy(longer + more, source, size);
    return longer;
}

/* ------------------------------------------------------------------- texts */

/* "Redis" left the messages. */
static const struct {
    const char *redis;
    const char *valkey;
} renamed[] = {
    {"Lua redis lib command arguments", "Command arguments"},
    {"for this redis lib call", "for this call"},
    {"calling Redis command from", "calling command from"},
    {"Unknown Redis command called", "Unknown command called"},
    {"redis.set_repl() requires two arguments",
     "server.set_repl() requires one argument"},
    {"redis.log() requires", "server.log() requires"},
    {"redis.setresp() requires", "server.setresp() requires"},
    {"redis.acl_check_cmd()", "server.acl_check_cmd()"},
    {"Invalid debug level", "Invalid log level"},
    {"No matching script. Please use EVAL.", "No matching script."},
    /* 8.1 */
    {"Unexpected engine in script shebang: #!perl",
     "Could not find scripting engine 'perl'"},
    {"Unexpected engine in script shebang: #!",
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
        size_t theirs = strlen(renamed[i].valkey);

        if (tested->size >= ours && server->size >= theirs &&
            memcmp(tested->data, renamed[i].redis, ours) == 0 &&
            memcmp(server->data, renamed[i].valkey, theirs) == 0) {
            skip(tested, ours);
            skip(server, theirs);
            return true;
        }
    }
    return false;
}

/* A score has as many digits as it takes to read it back, not always 17. Texts
 * end with a NUL here. */
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

bool valkey_same_text(hf_bytes tested, hf_bytes server)
{
    while (is_valkey && tested.size > 0 && server.size > 0) {
        if (skip_name(&tested, &server) || skip_number(&tested, &server))
            continue;
        if (*(const char *)tested.data != *(const char *)server.data)
            return false;
        skip(&tested, 1);
        skip(&server, 1);
    }
    return is_valkey && tested.size == 0 && server.size == 0;
}

/* ------------------------------------------------------------------ errors */

/* An error that only one of them makes, as they read a word differently. */
static const struct {
    const char *command;
    const char *error;
} errors[] = {
    {"scan", "invalid cursor"}, /* negative, or after a space */
    {"scan", "unknown type name"},
    /* Both may be asked without an end, and read the unit sooner. */
    {"bitcount", "syntax error"},
    {"bitcount", "not an integer"},
    {"bitpos", "syntax error"},
    {"bitpos", "not an integer"},
    /* There is WITHSCORE. */
    {"rank", "rong number of arg"},
    {"rank", "syntax error"},
    {"lpos", "value must between"}, /* INT64_MIN */
    {"lrem", "value must between"},
};

/* Does a command's name end with `name`, or does a script have it? */
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

bool valkey_reads_otherwise(const op *asked, const char *error)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (is_valkey && strstr(error, errors[i].error) != NULL &&
            mentions(asked, errors[i].command))
            return true;
    }
    return false;
}
