/* SPDX-License-Identifier: Apache-2.0 */
/* commands_input.c - see commands_input.h. */
#include "commands_input.h"

#include <string.h>

#include "engine/keys/rdb.h"
#include "engine/run/command_table.h"
#include "store/known_commands.h"
#include "support/rdb_forms.h"

#define ROWS_MAX 256
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Words after those that a command needs. */
#define EXTRA_MAX 8

/* A long text: so many copies of a byte, times the next byte. */
#define COPIES 24

#define LONG_NAME 600

/* clang-format off */

/* The long one is folded. */
static const char *const names[] = {
    "s", "h", "l", "e", "z", "t", "long", "k", "k2", "a", "",
};

/* No offset that makes a string of megabytes. */
static const char *const numbers[] = {
    "0", "1", "-1", "2", "-2", "3", "7", "8", "63", "64", "100", "-100", "255",
    "8000", "600000", "2000000000000", "70368744177663", "70368744177664",
    "9007199254740992", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "0.5", "-0.5", "-0", "1e308", "5e-324", "inf",
    "-inf", "nan", "01", "0x10",
};

static const char *const options[] = {
    "absttl", "after", "aggregate", "alpha", "and", "asc", "async", "before",
    "bit", "by", "bybox", "byte", "bylex", "byscore", "ch", "count", "db",
    "desc", "diff", "ex", "exat", "fail", "fields", "fnx", "freq", "fxx", "get",
    "gt", "idletime", "idx", "incr", "incrby", "keepttl", "left", "len",
    "limit", "lt", "match", "max", "maxlen", "min", "minmatchlen", "not",
    "novalues", "nx", "or", "overflow", "persist", "px", "pxat", "rank",
    "replace", "rev", "right", "samples", "sat", "set", "store", "sum", "sync",
    "type", "u8", "i8", "i64", "u63", "u1", "#1", "#100", "weights",
    "withcode", "withmatchlen", "withscores", "withvalues", "wrap", "xor", "xx",
    "hash", "list", "string", "zset", "-", "+", "(1", "(-inf", "[a", "(m", "*",
    "?*", "[a-c]*", "#", "*->f1", "nosort",
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(ARGV[1],KEYS[1],ARGV[2])",
    "3c44b7a40779a5c68a6e3920550ff76660a813aa",
};

static const char *const members[] = {
    "a", "b", "c", "m1", "m2", "f1", "f2", "1", "2.5",
};
/* clang-format on */

/* The rows that do not wait. */
static const hf__command *rows[ROWS_MAX];
static size_t row_count;

static void find_rows(void)
{
    for (const hf__command *row = hf__command_all(); row->name != NULL; row++) {
        if ((row->flags & HF__COMMAND_BLOCKS) != 0)
            continue;
        PROMISE(row_count < ROWS_MAX);
        rows[row_count++] = row;
    }
}

/* NULL: no room. */
static unsigned char *take_room(command_room *room, size_t size)
{
    unsigned char *taken = room->bytes + room->used;

    if (size > COMMAND_ROOM - room->used)
        return NULL;
    room->used += size;
    return taken;
}

static hf_bytes copies(command_room *room, uint8_t byte, size_t count)
{
    unsigned char *taken = take_room(room, count);

    if (taken == NULL)
        return hf_view(NULL, 0);
    memset(taken, byte, count);
    return hf_view(taken, count);
}

/* Numbers that would make a string of megabytes are left out. */
static hf_bytes raw_text(input *in)
{
    hf_bytes text = input_bytes(in, 64);

    return fuzz_has_long_number(text.data, text.size) ? hf_view(NULL, 0) : text;
}

/* With version and checksum. */
static hf_bytes payload(input *in, command_room *room)
{
    hf_bytes text = input_bytes(in, 255);
    unsigned char *taken = take_room(room, text.size + HF__RDB_TAIL);

    if (taken == NULL || text.size == 0)
        return hf_view(NULL, 0);
    memcpy(taken, text.data, text.size);
    return hf_view(taken,
                   rdb_put_tail(taken, text.size, HF__RDB_VERSION_DEADLINES));
}

static hf_bytes name(command_room *room, uint8_t choice)
{
    const char *chosen = names[choice % COUNT(names)];

    if (strcmp(chosen, "long") == 0)
        return copies(room, 'n', LONG_NAME);
    return hf_str(chosen);
}

static hf_bytes argument(input *in, command_room *room, bool is_key)
{
    uint8_t choice = input_byte(in);

    if (choice < 48 || (is_key && choice < 192))
        return name(room, choice);
    if (choice < 96)
        return hf_str(numbers[(choice - 48u) % COUNT(numbers)]);
    if (choice < 208)
        return hf_str(options[(choice - 96u) % COUNT(options)]);
    if (choice < 220)
        return raw_text(in);
    if (choice < 226)
        return copies(room, choice, (size_t)COPIES * input_byte(in));
    if (choice < 236)
        return payload(in, room);
    return hf_str(members[choice % COUNT(members)]);
}

static void add(command_words *to, hf_bytes word)
{
    if (to->count < COMMAND_WORDS_MAX)
        to->words[to->count++] = word;
}

/* The name, in two words if it has a subcommand's. */
static void add_name(command_words *to, const char *text)
{
    size_t size = strcspn(text, "|");

    add(to, hf_view(text, size));
    if (text[size] == '|')
        add(to, hf_str(text + size + 1));
}

/* Is its first argument a key? */
static bool begins_with_key(const hf__command *row)
{
    const hf_bytes words[] = {hf_str(row->name), hf_str("1"), hf_str("1"),
                              hf_str("k"), hf_str("k")};
    hf__key_words keys;

    hf__known_keys(hf__known_find(words[0]), words, 5, &keys);
    return hf__key_words_begin(&keys) == 1;
}

/* How many arguments follow the name: mostly as many as fit. */
static size_t count_arguments(const hf__command *row, uint8_t extra)
{
    size_t least = (size_t)(row->arity < 0 ? -row->arity : row->arity) - 1;

    if (row->arity < 0 || extra >= 240)
        least += extra % EXTRA_MAX;
    if (strchr(row->name, '|') != NULL && least > 0)
        least--;
    return extra == 255 && least > 0 ? least - 1 : least;
}

bool command_from_input(input *in, command_room *room, command_words *command)
{
    const hf__command *row;
    uint8_t extra;
    size_t count;
    bool key;

    if (row_count == 0)
        find_rows();
    row = rows[input_below(in, row_count)];
    key = begins_with_key(row);
    extra = input_byte(in);
    command->count = 0;
    if ((extra & 8) != 0) {
        add(command, hf_str("eval"));
        add(command, hf_str("return redis.call(unpack(ARGV))"));
        add(command, hf_str("0"));
    }
    add_name(command, row->name);
    count = count_arguments(row, extra);
    for (size_t i = 0; i < count; i++)
        add(command, argument(in, room, i == 0 && key));
    return room->used < COMMAND_ROOM - LONG_NAME;
}
