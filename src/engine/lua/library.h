/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - a library of functions in a machine: Lua that is run once, when
 * it is loaded, and then registers functions.
 *
 * While it is loaded it sees nothing but redis.register_function(), redis.log()
 * and numbers; its functions, when they are called, what scripts see. Its
 * globals are read-only at both times.
 */
#ifndef HF__ENGINE_LIBRARY_H
#define HF__ENGINE_LIBRARY_H

#include "engine/keys/command_out.h"
#include "engine/lua/machine.h"
#include "util/arena.h"

/* Most functions of a store, and bytes of a description. */
#define HF__FUNCTIONS_MAX 4000u
#define HF__FUNCTION_TEXT_MAX 1024u
/* Processor time that loading may take: of one as in Redis, and of all. */
#define HF__LIBRARY_LOAD_MS 500
#define HF__LIBRARIES_LOAD_MS 1000

typedef struct hf__function {
    struct hf__function *next;
    hf_bytes name;        /* a NUL follows */
    hf_bytes description; /* data NULL: none */
    unsigned flags;       /* a bit for each of hf__script_flags */
    int reference;        /* in the machine's registry */
} hf__function;

typedef struct hf__library {
    struct hf__library *next;
    hf_bytes name;
    hf_bytes code; /* with its first line */
    hf__function *first, *last;
    size_t count;
    size_t memory;   /* of the machine that it took */
    int64_t load_us; /* processor time that loading it took */
    const char *why; /* it was not loaded here: there are no functions */
    hf__arena arena; /* of all that */
} hf__library;

/* Let libraries be loaded into a new machine. false: no memory. */
bool hf__library_prepare(hf__machine *machine);

/* The library of this text, of whose first line hf__shebang_library() has read
 * `name` and `line_size`. It may have `spare` bytes of memory more than all
 * have, of the one that it replaces. NULL: see `error`, "" for out of memory.
 */
hf__library *hf__library_load(hf__machine *machine, hf_bytes code,
                              hf_bytes name, size_t line_size, int64_t limit_ms,
                              size_t spare, char error[HF__OUT_ERROR_SIZE]);
/* Collect what is not used any more, and count the rest as the libraries'. */
void hf__library_count_memory(hf__machine *machine);
/* One that could not be loaded, with its error. NULL: no memory. */
hf__library *hf__library_keep(hf_bytes code, hf_bytes name, const char *why);
/* NULL is allowed. The machine's memory is freed at its next collection. */
void hf__library_free(hf__machine *machine, hf__library *library);

/* Ignoring case, as a call names it; NULL: none. */
const hf__function *hf__library_find(const hf__library *library, hf_bytes name);

#endif
