/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyperloglog.c - PFADD, PFCOUNT, PFMERGE: how many different elements there
 * were, by estimate. A HyperLogLog is a string, as Redis has it: a head and
 * 16 384 registers of 0 to 63, dense or sparse.
 *
 *   0   "HYLL"
 *   4   DENSE or SPARSE, then three bytes that are not used
 *   8   the number of elements as last estimated, little-endian; the highest
 *       bit is set if that is out of date
 *   16  dense: 6 bits for each register, the lowest first; sparse: runs of
 *       equal registers:
 *         00nnnnnn            n + 1 zeros
 *         01nnnnnn nnnnnnnn   n + 1 zeros
 *         1vvvvvnn            n + 1 registers of v + 1
 *
 * Other programs compare, copy and merge these bytes. So what is kept here
 * gives those of Redis 7.0: the hash, where a run is split, which runs are
 * united, and when a sparse one becomes dense.
 *
 * The estimate is that of Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches" (2017), section 4.
 */
#include <endian.h>
#include <math.h>

#include "engine/commands/command_row.h"
#include "engine/keys/packed.h"
#include "engine/keys/type_string.h"

#define ERROR_DAMAGED "INVALIDOBJ Corrupted HLL object detected"

#define MAGIC "HYLL"
#define HEAD_SIZE 16u
#define ENCODING 4u /* offset */
#define ESTIMATE 8u /* offset */
#define DENSE 0u
#define SPARSE 1u
#define REGISTERS 16384u
#define INDEX_BITS 14u
#define DENSE_SIZE (HEAD_SIZE + REGISTERS * 6 / 8)
#define RANK_MAX (64u - INDEX_BITS + 1)
#define VALUE_MAX 63u

/* Of runs. */
#define SHORT_ZEROS_MAX 64u
#define VALUE_RUN_MAX 4u
#define SPARSE_VALUE_MAX 32u

/* The default of Redis's hll-sparse-max-bytes: no split makes a larger one. */
#define SPARSE_SIZE_MAX 3000u
/* How many runs are looked at to unite them, from the one before a change. */
#define UNITED_RUNS 5

typedef struct hll_run {
    unsigned value;
    unsigned count; /* registers */
    size_t size;    /* bytes */
} hll_run;

/* The value of a key. */
typedef struct hll {
    hf__tx *tx;
    hf__record *record; /* NULL: there is none */
    const unsigned char *content;
    bool changed;
} hll;

static bool is_sparse(const unsigned char *content)
{
    return content[ENCODING] == SPARSE;
}

/* -------------------------------------------------------------------- runs */

/* A second byte that is missing counts as 0, and as read. */
static hll_run run_at(const unsigned char *content, size_t size, size_t at)
{
    unsigned byte = content[at];
    unsigned low = at + 1 < size ? content[at + 1] : 0;

    if ((byte & 0x80) != 0)
        return (hll_run){(byte >> 2 & 31) + 1, (byte & 3) + 1, 1};
    if ((byte & 0x40) != 0)
        return (hll_run){0, ((byte & 63) << 8 | low) + 1, 2};
    return (hll_run){0, (byte & 63) + 1, 1};
}

/* Returns its size; nothing for no registers. */
static size_t put_run(unsigned char *to, unsigned value, unsigned count)
{
    if (count == 0)
        return 0;
    if (value > 0) {
        to[0] = (unsigned char)(0x80 | (value - 1) << 2 | (count - 1));
        return 1;
    }
    if (count <= SHORT_ZEROS_MAX) {
        to[0] = (unsigned char)(count - 1);
        return 1;
    }
    to[0] = (unsigned char)(0x40 | (count - 1) >> 8);
    to[1] = (unsigned char)(count - 1);
    return 2;
}

/* ------------------------------------------------------------------- dense */

static unsigned get_register(const unsigned char *dense, unsigned index)
{
    size_t at = index * 6 / 8;
    unsigned shift = index * 6 % 8;
    unsigned high = shift > 2 ? dense[at + 1] : 0;

    return (high << 8 | dense[at]) >> shift & VALUE_MAX;
}

static void set_register(unsigned char *dense, unsigned index, unsigned value)
{
    size_t at = index * 6 / 8;
    unsigned shift = index * 6 % 8;
    unsigned mask = ~(VALUE_MAX << shift);

    dense[at] = (unsigned char)((dense[at] & mask) | value << shift);
    if (shift > 2)
        dense[at + 1] =
            (unsigned char)((dense[at + 1] & mask >> 8) | value >> (8 - shift));
}

/* false: damaged. */
static bool merge_registers(unsigned char registers[REGISTERS],
                            const unsigned char *content, size_t size)
{
    bool sparse = is_sparse(content);
    size_t at = HEAD_SIZE;
    hll_run run = {0};

    for (unsigned i = 0; i < REGISTERS; i++, run.count--) {
        if (sparse && run.count == 0) {
            if (at >= size)
                return false;
            run = run_at(content, size, at);
            at += run.size;
        } else if (!sparse) {
            run = (hll_run){get_register(content + HEAD_SIZE, i), 1, 0};
        }
        if (run.value > registers[i])
            registers[i] = (unsigned char)run.value;
    }
    return !sparse || (run.count == 0 && at >= size);
}

/* ---------------------------------------------------------------- estimate */

static double sum_zeros(double x)
{
    double weight = 1;
    double sum = x;
    double before;

    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        before = sum;
        sum += x * weight;
        weight += weight;
    } while (before != sum);
    return sum;
}

static double sum_full(double x)
{
    double weight = 1;
    double sum = 1 - x;
    double before;

    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        before = sum;
        weight *= 0.5;
        sum -= pow(1 - x, 2) * weight;
    } while (before != sum);
    return sum / 3;
}

static int64_t estimate_count(const unsigned char registers[REGISTERS])
{
    const double alpha = 0.721347520444481703680; /* 1 / (2 ln 2) */
    const double count = REGISTERS;
    unsigned of_value[VALUE_MAX + 1] = {0};
    double sum;

    for (unsigned i = 0; i < REGISTERS; i++)
        of_value[registers[i]]++;
    sum = count * sum_full((count - of_value[RANK_MAX]) / count);
    for (unsigned value = RANK_MAX - 1; value >= 1; value--)
        sum = (sum + of_value[value]) * 0.5;
    sum += count * sum_zeros(of_value[0] / count);
    return llround(alpha * count * count / sum);
}

/* ----------------------------------------------------------------- changes */

/* Resize the content and make it writable. NULL: fatal. */
static unsigned char *edit_content(hll *at, size_t size)
{
    unsigned char *content = hf__content_edit(at->tx, at->record, size);

    at->content = content;
    return content;
}

/* One without elements. false: fatal. */
static bool make_hll(hll *at, hf_bytes key)
{
    unsigned char *content;

    at->record = hf__key_make(at->tx, key, HF__TYPE_STRING);
    content = at->record != NULL ? edit_content(at, HEAD_SIZE + 2) : NULL;
    if (content == NULL)
        return false;
    memset(content, 0, HEAD_SIZE);
    memcpy(content, MAGIC, 4);
    content[ENCODING] = SPARSE;
    (void)put_run(content + HEAD_SIZE, 0, REGISTERS);
    at->changed = true;
    return true;
}

/* -1: what is stored is out of date. */
static bool set_estimate(hll *at, int64_t estimate)
{
    unsigned char *content = edit_content(at, at->record->content_size);
    uint64_t stored = htole64((uint64_t)estimate);

    if (content == NULL)
        return false;
    if (estimate >= 0)
        memcpy(content + ESTIMATE, &stored, sizeof(stored));
    else
        content[ESTIMATE + 7] |= 0x80;
    return true;
}

/* The functions that follow return false if the value is damaged, for which
 * there is no reply yet, or if fatal. */

static bool make_dense(hll *at)
{
    unsigned char *registers = hf__tx_alloc(at->tx, REGISTERS);
    unsigned char *dense;

    if (!is_sparse(at->content))
        return true;
    if (registers == NULL)
        return false;
    memset(registers, 0, REGISTERS);
    if (!merge_registers(registers, at->content, at->record->content_size))
        return false;
    dense = edit_content(at, DENSE_SIZE);
    if (dense == NULL)
        return false;
    dense[ENCODING] = DENSE;
    memset(dense + HEAD_SIZE, 0, DENSE_SIZE - HEAD_SIZE);
    for (unsigned i = 0; i < REGISTERS; i++)
        set_register(dense + HEAD_SIZE, i, registers[i]);
    at->changed = true;
    return true;
}

static bool raise_dense(hll *at, unsigned index, unsigned value)
{
    unsigned char *content;

    if (get_register(at->content + HEAD_SIZE, index) >= value)
        return true;
    content = edit_content(at, DENSE_SIZE);
    if (content == NULL)
        return false;
    set_register(content + HEAD_SIZE, index, value);
    at->changed = true;
    return true;
}

/* Unite neighbours of one value, as far as their counts have room. */
static void unite_runs(hf__record *record, unsigned char *content, size_t at)
{
    for (int i = 0; i < UNITED_RUNS && at < record->content_size; i++) {
        hll_run run = run_at(content, record->content_size, at);
        hll_run next = {0};

        if (run.value > 0 && at + 1 < record->content_size)
            next = run_at(content, record->content_size, at + 1);
        if (next.value == 0 || next.value != run.value ||
            run.count + next.count > VALUE_RUN_MAX) {
            at += run.size;
            continue;
        }
        (void)put_run(content + at, run.value, run.count + next.count);
        record->content_size--;
        memmove(content + at + 1, content + at + 2,
                record->content_size - at - 1);
    }
}

static bool raise_sparse(hll *h, unsigned index, unsigned value)
{
    hf__record *record = h->record;
    size_t size = record->content_size;
    size_t before = HEAD_SIZE;
    size_t at = HEAD_SIZE;
    unsigned first = 0; /* register of the run */
    unsigned char split[5], *to;
    hll_run run = {0};
    size_t used, missing;

    for (; at < size; before = at, at += run.size, first += run.count) {
        run = run_at(h->content, size, at);
        if (index - first < run.count)
            break;
    }
    if (at >= size || run.value >= value)
        return at < size;
    used = put_run(split, run.value, index - first);
    used += value <= SPARSE_VALUE_MAX ? put_run(split + used, value, 1) : 0;
    used += put_run(split + used, run.value, first + run.count - index - 1);
    if (value > SPARSE_VALUE_MAX ||
        (used > run.size && size + used - run.size > SPARSE_SIZE_MAX))
        return make_dense(h) && raise_dense(h, index, value);
    missing = at + run.size > size ? at + run.size - size : 0;
    to = hf__content_splice(h->tx, record, at, run.size - missing, used);
    if (to == NULL)
        return false;
    memcpy(to, split, used);
    record->content_size -= missing;
    unite_runs(record, to - at, before);
    h->changed = true;
    return set_estimate(h, -1);
}

static bool raise_register(hll *at, unsigned index, unsigned value)
{
    bool sparse = is_sparse(at->content);

    return hf__tx_spend(at->tx, sparse ? at->record->content_size : 20) &&
           (sparse ? raise_sparse(at, index, value)
                   : raise_dense(at, index, value));
}

/* MurmurHash64A, on words that are little-endian. */
static uint64_t hash_element(hf_bytes element)
{
    const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
    const unsigned char *at = element.data;
    uint64_t sum = UINT64_C(0xadc83b19) ^ element.size * factor;

    for (size_t left = element.size; left > 0;) {
        size_t size = left < 8 ? left : 8;
        uint64_t word = 0;

        for (size_t i = 0; i < size; i++)
            word |= (uint64_t)at[i] << 8 * i;
        if (size == 8) {
            word *= factor;
            word = (word ^ word >> 47) * factor;
        }
        sum = (sum ^ word) * factor;
        at += size;
        left -= size;
    }
    sum = (sum ^ sum >> 47) * factor;
    return sum ^ sum >> 47;
}

/* The low bits of the hash name a register; the zeros after them are counted,
 * and the 1 that ends them. */
static bool add_element(hll *at, hf_bytes element)
{
    uint64_t hash = hash_element(element);
    uint64_t rest = hash >> INDEX_BITS | UINT64_C(1) << (RANK_MAX - 1);

    return hf__tx_spend(at->tx, element.size) &&
           raise_register(at, hash % REGISTERS,
                          (unsigned)__builtin_ctzll(rest) + 1);
}

/* ---------------------------------------------------------------- commands */

/* false: replied with an error, or fatal. */
static bool open_hll(hll *at, hf__tx *tx, hf_bytes key)
{
    unsigned char head[HEAD_SIZE];

    *at = (hll){.tx = tx};
    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, &at->record))
        return false;
    if (at->record == NULL)
        return true;
    if (!hf__string_read(tx, at->record, 0, head, HEAD_SIZE))
        return false;
    if (hf__string_size(at->record) < HEAD_SIZE ||
        memcmp(head, MAGIC, 4) != 0 ||
        (!is_sparse(head) && (head[ENCODING] != DENSE ||
                              hf__string_size(at->record) != DENSE_SIZE)))
        return hf__reply_error(tx, "WRONGTYPE Key is not a valid HyperLogLog "
                                   "string value.");
    if (at->record->form != HF__FORM_INLINE) /* longer than any */
        return hf__reply_error(tx, ERROR_DAMAGED);
    at->content = hf__content(tx, at->record);
    return at->content != NULL;
}

/* All was done, or it failed: the value is then damaged, or it is fatal. */
static bool finish_change(hll *at, bool done, hf_bytes key)
{
    if (!done)
        return hf__reply_error(at->tx, ERROR_DAMAGED);
    if (!at->changed)
        return true;
    if (!set_estimate(at, -1))
        return false;
    hf__key_event(at->tx, HF__EVENT_STRING, "pfadd", key);
    return true;
}

static void run_pfadd(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool done = true;
    hll at;

    if (!open_hll(&at, tx, args[1]) ||
        (at.record == NULL && !make_hll(&at, args[1])))
        return;
    for (size_t i = 2; done && i < count; i++)
        done = add_element(&at, args[i]);
    if (finish_change(&at, done, args[1]))
        hf__reply_integer(tx, at.changed);
}

/* Merge what the keys have into registers of the transaction. NULL: replied
 * with an error, or fatal. */
static unsigned char *merge_keys(hf__tx *tx, const hf_bytes *keys, size_t count,
                                 bool *dense)
{
    unsigned char *registers = hf__tx_alloc(tx, REGISTERS);
    hll at;

    if (registers == NULL)
        return NULL;
    memset(registers, 0, REGISTERS);
    for (size_t i = 0; i < count; i++) {
        hf__tx_trim(tx);
        if (!hf__tx_spend(tx, REGISTERS) || !open_hll(&at, tx, keys[i]))
            return NULL;
        if (at.record == NULL)
            continue;
        *dense = *dense || !is_sparse(at.content);
        if (!merge_registers(registers, at.content, at.record->content_size)) {
            hf__reply_error(tx, ERROR_DAMAGED);
            return NULL;
        }
    }
    return registers;
}

/* Of one key the estimate is stored, and so it is a write. */
static void run_pfcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    unsigned char *registers;
    uint64_t estimate = UINT64_MAX;
    bool dense = false;
    hll at = {.tx = tx};

    if (count == 2 && !open_hll(&at, tx, args[1]))
        return;
    if (at.record != NULL)
        memcpy(&estimate, at.content + ESTIMATE, sizeof(estimate));
    estimate = le64toh(estimate);
    if (estimate > INT64_MAX) {
        registers = merge_keys(tx, args + 1, count - 1, &dense);
        if (registers == NULL)
            return;
        estimate = (uint64_t)estimate_count(registers);
        if (at.record != NULL)
            at.record = hf__key_find(tx, args[1]);
        if (at.record != NULL && !set_estimate(&at, (int64_t)estimate))
            return;
    }
    hf__reply_integer(tx, (int64_t)estimate);
}

static void run_pfmerge(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool dense = false, done;
    unsigned char *registers = merge_keys(tx, args + 1, count - 1, &dense);
    hll at;

    if (registers == NULL || !open_hll(&at, tx, args[1]) ||
        (at.record == NULL && !make_hll(&at, args[1])))
        return;
    done = !dense || make_dense(&at);
    for (unsigned i = 0; i < REGISTERS && done; i++)
        done = registers[i] == 0 || raise_register(&at, i, registers[i]);
    at.changed = true; /* as Redis has it */
    if (finish_change(&at, done, args[1]))
        hf__reply_line(tx, "OK");
}

/* ----------------------------------------------------------------- PFDEBUG */

static void reply_registers(hf__tx *tx, const unsigned char *dense)
{
    hf__reply_array(tx, REGISTERS);
    for (unsigned i = 0; i < REGISTERS; i++)
        hf__reply_integer(tx, get_register(dense, i));
}

static void run_pfdebug(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool getreg = hf__arg_is(args[1], "getreg");
    bool todense = hf__arg_is(args[1], "todense");
    hll at;

    (void)count;
    if (!open_hll(&at, tx, args[2]))
        return;
    if (at.record == NULL)
        hf__reply_error(tx, "ERR The specified key does not exist");
    else if ((getreg || todense) && !make_dense(&at))
        hf__reply_error(tx, ERROR_DAMAGED);
    else if (getreg)
        reply_registers(tx, at.content + HEAD_SIZE);
    else if (todense)
        hf__reply_integer(tx, at.changed);
    else if (hf__arg_is(args[1], "encoding"))
        hf__reply_line(tx, is_sparse(at.content) ? "sparse" : "dense");
    else
        hf__reply_error(tx, "ERR Unknown PFDEBUG subcommand '%.*s'",
                        args[1].size > 128 ? 128 : (int)args[1].size,
                        (const char *)args[1].data);
}

#define WRITES HF__COMMAND_WRITES
#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_hyperloglog[] = {
    {"pfadd", GROWS, run_pfadd},
    {"pfcount", WRITES, run_pfcount},
    {"pfmerge", GROWS, run_pfmerge},
    {"pfdebug", GROWS, run_pfdebug},
    {NULL, 0, NULL}};
