/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - see words.h. Few different names, owners and numbers, so that what
 * one call has made is what the next one meets; now and then a word that fits
 * nowhere.
 */
#include "words.h"

#include <stdio.h>
#include <string.h>

#include "script/script_words.h"
#include "word_names.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *one_of(world *from, const char *const *list, size_t count)
{
    return list[prng_below(&from->chance, count)];
}

#define ONE_OF(from, list) one_of(from, list, COUNT(list))

static const char *const durations[] = {"1",     "40",    "1000",     "30000",
                                        "60000", "30000", "86400000", "0"};
static const char *const values[] = {
    "a", "b", "10", "-7", "", "5", "12345678901234567890", "one two"};
static const char *const counts[] = {"1", "2", "3", "5", "1", "0", "100"};
static const char *const flags[] = {"0", "1", "0", "1", ""};

#define OWNER_SIZE 33

/* Of the client that is there, or of one that is gone. */
static void put_owner(char text[WORD_SIZE], world *from)
{
    const char *id = strstr(from->inbox, "hf:inbox:") + strlen("hf:inbox:");
    char digits[OWNER_SIZE];

    if (prng_below(&from->chance, 4) == 0)
        id = "00000000000000ff";
    (void)snprintf(digits, sizeof(digits), "%032x",
                   (unsigned)prng_below(&from->chance, 5));
    (void)snprintf(text, OWNER_SIZE, "%.30s-%s", id, digits + strlen(id) + 1);
}

static void put_entry(char text[WORD_SIZE], world *from)
{
    static const char *const forms[] = {"30000",
                                        "30000",
                                        "1000",
                                        "0",
                                        "30000,,shared",
                                        "30000,3",
                                        "30000,3/2",
                                        "30000,,exclusive",
                                        "30000,/60000/0/0/0",
                                        "1000,ab/1000/1/40/3"};
    char owner[WORD_SIZE];
    const char *lease = ONE_OF(from, forms);
    size_t prefix =
        (size_t)(strstr(from->inbox, "hf:inbox:") - from->inbox) + 9;

    if (prng_below(&from->chance, 4) == 0) {
        text[0] = '\0';
        return;
    }
    put_owner(owner, from);
    (void)snprintf(text, WORD_SIZE, "%.24s %.*s%.32s", lease, (int)prefix,
                   from->inbox, owner);
}

static void put_instant(char text[WORD_SIZE], world *from, int64_t unit)
{
    int64_t off_us = ((int64_t)prng_below(&from->chance, 400) - 200) * 500000;

    (void)snprintf(text, WORD_SIZE, "%lld",
                   (long long)((from->clock_us + off_us) / unit));
}

/* `value`, `owner` or `owner=token`. */
static void put_value(char text[WORD_SIZE], world *from)
{
    if (prng_below(&from->chance, 3) > 0) {
        (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, values));
        return;
    }
    put_owner(text, from);
    if (prng_below(&from->chance, 2) == 0)
        (void)snprintf(text + strlen(text), WORD_SIZE - strlen(text), "=%s",
                       ONE_OF(from, counts));
}

/* Of all items by time, or by the attribute `rank`. */
static void put_position(char text[WORD_SIZE], world *from)
{
    static const char *const ends[] = {"-",     "+",     "[0000", "(9",
                                       "[rank", "(ranl", "-",     "+"};

    if (prng_below(&from->chance, 4) > 0)
        (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, ends));
    else
        (void)snprintf(text, WORD_SIZE, "[%016lld",
                       (long long)from->clock_us -
                           (long long)prng_below(&from->chance, 100000000));
}

typedef struct word_rule {
    const char *names; /* between blanks */
    const char *const *list;
    size_t count;
    void (*put)(char text[WORD_SIZE], world *from);
} word_rule;

static void put_us(char text[WORD_SIZE], world *from)
{
    put_instant(text, from, 1);
}

static void put_ms(char text[WORD_SIZE], world *from)
{
    put_instant(text, from, 1000);
}

static void put_began(char text[WORD_SIZE], world *from)
{
    if (prng_below(&from->chance, 2) == 0)
        (void)snprintf(text, WORD_SIZE, "0");
    else
        put_us(text, from);
}

static void put_inbox(char text[WORD_SIZE], world *from)
{
    (void)snprintf(text, WORD_SIZE, "%s",
                   prng_below(&from->chance, 4) > 0 ? from->inbox
                                                    : "hf:inbox:gone");
}

static void put_token(char text[WORD_SIZE], world *from)
{
    if (prng_below(&from->chance, 2) == 0)
        put_us(text, from);
    else
        (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, counts));
}

static const char *const ranks[] = {"0", "0", "1000000", "2000000000000000"};
static const char *const publishes[] = {"publish ch", "spublish ch", ""};
static const char *const types[] = {"string", "hash",       "list",  "set",
                                    "zset",   "timed-hash", "stream"};
static const char *const kinds[] = {":string", ":string", ":hash",
                                    ":zset",   ":list",   ":set"};
static const char *const conditions[] = {"",   "",   "0",   "1",   "nx",  "xx",
                                         "gt", "lt", "fnx", "fxx", "keep"};
static const char *const entry_kinds[] = {"value", "value", "absent", "0", "1"};
static const char *const fills[] = {"a1", "b2", "a1", ""};
static const char *const versions[] = {"-", "-", "", " a1", " a1 a1", " b2"};
static const char *const sizes[] = {"0", "0", "4"};
static const char *const ids[] = {"id1", "id2", "id3", "id4", "\x01\xff"};
static const char *const delays[] = {"0", "0", "0", "40", "3000"};
static const char *const groups[] = {"", "", "", "g"};
static const char *const outcomes[] = {"done", "done", "again", "dead", ""};
static const char *const fields[] = {"f", "g", "owner", "n"};
static const char *const gaps[] = {"", "", "20"};
static const char *const bounds[] = {"-9223372036854775808",
                                     "9223372036854775807", "0", "10", "-10"};
static const char *const times[] = {
    "", ":", "", ":", "0000000000000000", "1790000000000000"};
static const char *const terms[] = {
    "/60000/0/0/0", "ab/60000/1/0/0",      "/60000/1/0/0", "/60000/0/40/3",
    "/1/1/0/0",     "ab/1000/0/60000/100", "/60000/0/0",   "/60000/0/0/0"};
static const char *const verbs[] = {"publish ch", "del", "spublish ch"};

#define LIST(array) (array), COUNT(array), NULL

static const word_rule rules[] = {
    {" ttl lease keep field_ttl pause stale fresh gap_ms age wait record_ttl ",
     LIST(durations)},
    {" delay ", LIST(delays)},
    {" group ", LIST(groups)},
    {" owner owners from party ended ", NULL, 0, put_owner},
    {" entry leave unused_entry ", NULL, 0, put_entry},
    {" began unused_began ", NULL, 0, put_began},
    {" at ", NULL, 0, put_us},
    {" expiry expires ", NULL, 0, put_ms},
    {" versions ", LIST(versions)},
    {" seen ", LIST(gaps)},
    {" rank unused_rank ", LIST(ranks)},
    {" publish message ", LIST(publishes)},
    {" token turns ", NULL, 0, put_token},
    {" count permits limit parts burst spend rest most elements bytes early "
     "waits error took number score min max ",
     LIST(counts)},
    {" value expected payload items text result about options program ", NULL,
     0, put_value},
    {" expects replace backward absent dense all wake waited timed redisson "
     "has_payload prepare offset keep_ttl cursor adds "
     "around ",
     LIST(flags)},
    {" condition compare ", LIST(conditions)},
    {" kind ", LIST(entry_kinds)},
    {" type ", LIST(types)},
    {" name_size ", LIST(sizes)},
    {" id member members job ", LIST(ids)},
    {" outcome ", LIST(outcomes)},
    {" field fields ", LIST(fields)},
    {" gap ", LIST(gaps)},
    {" low high delta ", LIST(bounds)},
    {" begin finish ", NULL, 0, put_position},
    {" terms ", LIST(terms)},
    {" inbox unused_inbox ", NULL, 0, put_inbox},
    {" verb ", LIST(verbs)}};

/* Attributes, as the library writes them: a name, a NUL, a value, two NULs. */
static size_t put_attributes(char text[WORD_SIZE], world *from)
{
    static const char one[] = "rank\0004\0\0";
    static const char two[] = "rank\0007\0\0color\0blue\0\0";

    switch (prng_below(&from->chance, 3)) {
    case 0:
        return 0;
    case 1:
        memcpy(text, one, sizeof(one) - 1);
        return sizeof(one) - 1;
    default:
        memcpy(text, two, sizeof(two) - 1);
        return sizeof(two) - 1;
    }
}

static bool is_named(const char *names, const char *word)
{
    char wanted[WORD_SIZE];

    (void)snprintf(wanted, sizeof(wanted), " %.*s ", (int)strcspn(word, " :"),
                   word);
    return strstr(names, wanted) != NULL;
}

static void add_word(word_list *self, size_t size)
{
    self->words[self->count] = hf_view(self->text[self->count], size);
    self->count++;
}

/* What a word is called may mean something else in another noun. */
static bool pick_of_noun(char text[WORD_SIZE], world *from,
                         const hf__script *script, const char *name)
{
    if (strncmp(script->name, "timeline", 8) == 0 &&
        is_named(" low high ", name))
        (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, times));
    else if (strncmp(script->name, "cache", 5) == 0 &&
             is_named(" token ", name))
        (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, fills));
    else
        return false;
    return true;
}

static void add_arg(word_list *self, world *from, const hf__script *script,
                    const char *name)
{
    char *text = self->text[self->count];

    if (is_named(" attributes label ", name)) {
        add_word(self, put_attributes(text, from));
        return;
    }
    (void)snprintf(text, WORD_SIZE, "%s", ONE_OF(from, counts));
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (!is_named(rules[i].names, name))
            continue;
        if (rules[i].put != NULL)
            rules[i].put(text, from);
        else
            (void)snprintf(text, WORD_SIZE, "%s",
                           one_of(from, rules[i].list, rules[i].count));
    }
    (void)pick_of_noun(text, from, script, name);
    if (prng_below(&from->chance, 40) == 0)
        put_value(text, from);
    add_word(self, strlen(text));
    if (is_named(" fields ", name)) /* field, value, field, value ... */
        add_arg(self, from, script, "value");
}

/* Keys of a type share few names; now and then it is another's. A queue, whose
 * hash would be that of all, has one. */
static void add_key(word_list *self, world *from, const hf__script *script,
                    const char *name)
{
    bool is_entry = strncmp(script->name, "cache", 5) == 0;
    bool is_queue = strncmp(script->name, "queue", 5) == 0;
    const char *kind = strchr(name, ':');
    char *text = self->text[self->count];
    bool own = is_named(" last_token waiters due items labels order meta fill "
                        "fence tags state passed timeouts barrier ",
                        name);

    if (prng_below(&from->chance, 30) == 0)
        kind = ONE_OF(from, kinds);
    else if (kind == NULL)
        kind = is_entry ? ":string" : ONE_OF(from, kinds);
    (void)snprintf(
        text, WORD_SIZE, "%.*s%s%u", own ? (int)strcspn(name, " :") : 0, name,
        own ? "" : kind,
        (unsigned)prng_below(&from->chance, own || is_queue ? 1 : 2));
    text[strcspn(text, " ")] = '\0';
    add_word(self, strlen(text));
}

static bool repeats(const char *name)
{
    return strchr(name, ' ') != NULL;
}

static void add_text(word_list *self, const char *text)
{
    (void)snprintf(self->text[self->count], WORD_SIZE, "%s", text);
    add_word(self, strlen(text));
}

static void add_number(word_list *self, size_t number)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%zu", number);
    add_text(self, text);
}

/* Commands as a transaction has them: name, number of keys, arguments. */
static const struct {
    const char *words[5];
    const char *mode;
} operations[] = {{{"set", "", "10"}, ""},
                  {{"incrby", "", "5"}, "s"},
                  {{"get", ""}, ""},
                  {{"hset", "", "f", "v"}, "s"},
                  {{"del", ""}, "c"},
                  {{"lpush", "", "a"}, "s"},
                  {{"hincrby", "", "n", "9007199254740993"}, "s"},
                  {{"expire", "", "100"}, ""},
                  {{"nonsense", ""}, ""},
                  {{"zadd", "", "1.5", "m"}, "s"}};

/* A condition of a transaction. A lease is more often held than not found. */
static void add_condition(word_list *self, world *from)
{
    static const char *const names[] = {"exists", "get",   "version",
                                        "hget",   "held",  "shared",
                                        "token",  "token", "fence"};
    const char *name = ONE_OF(from, names);
    bool by_owner = is_named(" held shared ", name);
    bool by_token = is_named(" token fence ", name);
    bool on_lease = by_owner || by_token;
    char text[WORD_SIZE];

    add_text(self, name);
    if (by_owner)
        put_owner(text, from);
    else if (by_token)
        put_token(text, from);
    else
        (void)snprintf(text, sizeof(text), "%s", ONE_OF(from, fields));
    add_text(self, text);
    add_number(self, on_lease ? 1 : prng_below(&from->chance, 2));
    add_text(self, on_lease ? "1" : ONE_OF(from, values));
}

/* A transaction: see txn_run.lua. Without a record, as on an embedded store. */
static void add_transaction(word_list *self, world *from,
                            const hf__script *script)
{
    static const char *const of_leases[] = {"any:string", "any:hash",
                                            "any:zset"};
    size_t tests = prng_below(&from->chance, 3);
    size_t runs = prng_below(&from->chance, 4);
    size_t which[4] = {0};

    for (size_t i = 0; i < tests + runs; i++)
        add_key(self, from, script,
                i >= tests ? (i % 2 ? "any:string" : "any:hash")
                           : ONE_OF(from, of_leases));
    self->key_count = self->count;
    for (size_t i = 0; i < runs; i++)
        which[i] = prng_below(&from->chance, COUNT(operations));
    add_text(self, "");
    add_text(self, "1000");
    add_text(self, prng_below(&from->chance, 2) ? "1" : "0");
    add_number(self, tests);
    add_number(self, runs);
    for (size_t i = 0; i < tests; i++)
        add_condition(self, from);
    for (size_t i = 0; i < runs; i++) {
        const char *const *words = operations[which[i]].words;
        size_t count = 0;

        while (count < 5 && words[count] != NULL)
            count++;
        add_text(self, "0");
        add_text(self, operations[which[i]].mode);
        add_text(self, "1");
        add_number(self, count);
        for (size_t j = 0; j < count; j++) {
            if (j == 1)
                add_text(self, self->text[tests + i]);
            else
                add_text(self, words[j]);
        }
    }
}

void words_pick(word_list *self, world *from, const hf__script *script)
{
    size_t many = 1 + prng_below(&from->chance, 3);
    size_t given = 0;

    self->count = 0;
    if (script->index == HF__SCRIPT_TXN_RUN) {
        add_transaction(self, from, script);
        return;
    }
    for (size_t i = 0; word_names[script->index].keys[i] != NULL; i++) {
        const char *name = word_names[script->index].keys[i];

        for (size_t j = 0; j < (repeats(name) ? many : 1); j++)
            add_key(self, from, script, name);
    }
    self->key_count = self->count;
    /* The last arguments may often be left out. */
    while (word_names[script->index].args[given] != NULL)
        given++;
    if (given > 1 && prng_below(&from->chance, 6) == 0)
        given -= prng_below(&from->chance, given);
    /* After an end that is too late, as most would be, nothing is taken. */
    if (script->index == HF__SCRIPT_QUEUE_TAKE &&
        prng_below(&from->chance, 2) == 0)
        given = HF__QUEUE_TAKE_ENDED - HF__QUEUE_TAKE_KEYS;
    for (size_t i = 0; i < given; i++) {
        const char *name = word_names[script->index].args[i];

        for (size_t j = 0; j < (repeats(name) ? many : 1); j++)
            add_arg(self, from, script, name);
    }
}
