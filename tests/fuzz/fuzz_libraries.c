/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_libraries.c - cjson, cmsgpack, struct and bit with any arguments, in a
 * script: each call returns or raises an error with a text, and what was packed
 * and unpacked is the same. libraries.lua makes the calls.
 *
 * An input is calls: a byte for the function and one for the number of
 * arguments; of each argument a byte for its kind, and a text or a byte that
 * chooses one.
 */
#include <string.h>

#include "holdfast/command.h"
#include "input.h"
#include "place.h"

#define CALLS_MAX 6
#define ARGUMENTS_MAX 6
#define WORDS_MAX (3 + CALLS_MAX * (ARGUMENTS_MAX + 1))
#define TEXT_MAX 255
#define SCRIPT_MAX 16384

/* Of a script, ms of processor time: some inputs use it up. */
#define BUDGET_MS 100
/* Of the clock, which counts while the machine does something else. */
#define REQUEST_MS 600000

static const char *const functions[] = {
    "cjson.decode",
    "cjson.encode",
    "cjson.encode_sparse_array",
    "cjson.encode_max_depth",
    "cjson.decode_max_depth",
    "cjson.encode_number_precision",
    "cjson.encode_keep_buffer",
    "cjson.encode_invalid_numbers",
    "cjson.decode_invalid_numbers",
    "cjson.new",
    "cmsgpack.pack",
    "cmsgpack.unpack",
    "cmsgpack.unpack_one",
    "cmsgpack.unpack_limit",
    "struct.pack",
    "struct.unpack",
    "struct.size",
    "bit.tobit",
    "bit.tohex",
    "bit.bnot",
    "bit.bor",
    "bit.band",
    "bit.bxor",
    "bit.lshift",
    "bit.rshift",
    "bit.arshift",
    "bit.rol",
    "bit.ror",
    "bit.bswap",
};

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "2",
    "7",
    "0.5",
    "-0.5",
    "255",
    "256",
    "31",
    "32",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967296",
    "1e14",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e300",
    "1e-320",
};

static const char *const formats[] = {
    "b",   "B",    "h",      "H",    "l",   "L",   "T",    "i",
    "I",   "f",    "d",      "s",    "x",   "c0",  "c3",   ">i3",
    "<I7", "!8bd", "!4 i16", ">I32", "!1h", "hc0", "Bc0i", ">!2bLbx",
};

/* What libraries.lua makes of a text, by letter; those of the first row use
 * it. */
static const char kinds[] = "ssssmmjjrdk"
                            "lztfuxci";

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static hf_client *client;
static char script[SCRIPT_MAX];
static char texts[WORDS_MAX][TEXT_MAX + 1];

static void clean_up(void)
{
    hf_client_close(client);
}

static void open_store(void)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    FILE *file = fopen(FUZZ_DIR "/libraries.lua", "r");
    char url[128];
    size_t size;

    PROMISE(file != NULL);
    size = fread(script, 1, sizeof(script), file);
    PROMISE(size < sizeof(script) && fclose(file) == 0);
    snprintf(url, sizeof(url), "volatile:%s/store?max_size=16M", place_make());
    options.script_budget_ms = BUDGET_MS;
    options.request_ms = REQUEST_MS;
    PROMISE(hf_client_open(url, &options, &client, NULL) == HF_OK);
    atexit(clean_up);
}

/* A letter and a text. */
static hf_bytes word(char *room, char letter, hf_bytes text)
{
    PROMISE(text.size <= TEXT_MAX);
    room[0] = letter;
    if (text.size > 0)
        memcpy(room + 1, text.data, text.size);
    return hf_view(room, 1 + text.size);
}

static hf_bytes argument(input *in, char *room)
{
    uint8_t choice = input_byte(in);

    if (choice < 64)
        return word(room, 'n', hf_str(numbers[choice % COUNT(numbers)]));
    if (choice < 128)
        return word(room, 's', hf_str(formats[choice % COUNT(formats)]));
    choice %= sizeof(kinds) - 1;
    if (strchr("lztfuxci", kinds[choice]) != NULL)
        return word(room, kinds[choice], hf_str(""));
    return word(room, kinds[choice], input_bytes(in, TEXT_MAX));
}

static size_t make_words(input *in, hf_bytes *words)
{
    size_t count = 0;

    words[count++] = hf_str("eval");
    words[count++] = hf_str(script);
    words[count++] = hf_str("0");
    for (size_t call = 0; call < CALLS_MAX && input_left(in) > 0; call++) {
        const char *name = functions[input_below(in, COUNT(functions))];
        size_t arguments = input_below(in, ARGUMENTS_MAX + 1);

        words[count] = word(texts[count], '=', hf_str(name));
        count++;
        for (size_t i = 0; i < arguments; i++) {
            words[count] = argument(in, texts[count]);
            count++;
        }
    }
    return count;
}

static void show(const hf_bytes *words, size_t count)
{
    for (size_t i = 3; i < count; i++) {
        const unsigned char *text = words[i].data;

        fprintf(stderr, "%s", text[0] == '=' ? "\n" : " ");
        for (size_t at = 0; at < words[i].size; at++)
            fprintf(stderr, text[at] >= 32 && text[at] < 127 ? "%c" : "\\x%02x",
                    text[at]);
    }
    fprintf(stderr, "\n");
}

/* All was kept, or the script has used up its time or memory. */
static void check_reply(hf_status status, const hf_reply *reply,
                        const hf_error *err)
{
    hf_bytes text = hf_view(err->message, strlen(err->message));

    if (status == HF_OK)
        text = hf_reply_bytes(reply);
    if (status == HF_OK
            ? text.size == 4 && memcmp(text.data, "kept", 4) == 0
            : status == HF_SCRIPT && (strstr(err->message, "budget") != NULL ||
                                      strstr(err->message, "memory") != NULL))
        return;
    fprintf(stderr, "%.*s\n", (int)text.size, (const char *)text.data);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    hf_bytes words[WORDS_MAX];
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;
    hf_status status;
    size_t count;

    if (client == NULL)
        open_store();
    count = make_words(&in, words);
    if (getenv("FUZZ_SHOW") != NULL)
        show(words, count);
    status = hf_command(client, count, words, &reply, &err);
    check_reply(status, reply, &err);
    hf_reply_free(reply);
    return 0;
}
