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

/* Of a failure there is no reply yet. */
typedef enum hll_change {
    FAILED = -1, /* damaged, or fatal */
    SAME = 0,
    CHANGED = 1
} hll_change;

static bool is_valid(const unsigned char *content, size_t size)
{
    return size >= HEAD_SIZE && memcmp(content, MAGIC, 4) == 0 &&
           (content[ENCODING] == SPARSE ||
            (content[ENCODING] == DENSE && size == DENSE_SIZE));
}

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

static hf__record *make_hll(hf__tx *tx, hf_bytes key)
{
    hf__record *record = hf__key_make(tx, key, HF__TYPE_STRING);
    unsigned char *content =
        record == NULL ? NULL : hf__content_edit(tx, record, HEAD_SIZE + 2);

    if (content == NULL)
        return NULL;
    memset(content, 0, HEAD_SIZE);
    memcpy(content, MAGIC, 4);
    content[ENCODING] = SPARSE;
    (void)put_run(content + HEAD_SIZE, 0, REGISTERS);
    return record;
}

static bool set_estimate(hf__tx *tx, hf__record *record, int64_t estimate)
{
    unsigned char *content = hf__content_edit(tx, record, record->content_size);

    if (content == NULL)
        return false;
    for (size_t i = 0; estimate >= 0 && i < 8; i++)
        content[ESTIMATE + i] = (unsigned char)((uint64_t)estimate >> 8 * i);
    if (estimate < 0)
        content[ESTIMATE + 7] |= 0x80;
    return true;
}

static hll_change make_dense(hf__tx *tx, hf__record *record)
{
    const unsigned char *content = hf__content(tx, record);
    unsigned char *registers = hf__tx_alloc(tx, REGISTERS);
    unsigned char *dense;

    if (content == NULL || registers == NULL)
        return FAILED;
    if (!is_sparse(content))
        return SAME;
    memset(registers, 0, REGISTERS);
    if (!merge_registers(registers, content, record->content_size))
        return FAILED;
    dense = hf__content_edit(tx, record, DENSE_SIZE);
    if (dense == NULL)
        return FAILED;
    dense[ENCODING] = DENSE;
    memset(dense + HEAD_SIZE, 0, DENSE_SIZE - HEAD_SIZE);
    for (unsigned i = 0; i < REGISTERS; i++)
        set_register(dense + HEAD_SIZE, i, registers[i]);
    return CHANGED;
}

static hll_change raise_dense(hf__tx *tx, hf__record *record, unsigned index,
                              unsigned value)
{
    const unsigned char *content = hf__content(tx, record);
    unsigned char *edited;

    if (content == NULL)
        return FAILED;
    if (get_register(content + HEAD_SIZE, index) >= value)
        return SAME;
    edited = hf__content_edit(tx, record, record->content_size);
    if (edited == NULL)
        return FAILED;
    set_register(edited + HEAD_SIZE, index, value);
    return CHANGED;
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

static hll_change raise_sparse(hf__tx *tx, hf__record *record,
                               const unsigned char *content, unsigned index,
                               unsigned value)
{
    size_t size = record->content_size;
    size_t before = HEAD_SIZE;
    size_t at = HEAD_SIZE;
    unsigned first = 0; /* register of the run */
    unsigned char split[5], *to;
    hll_run run = {0};
    size_t used, missing;

    for (; at < size; before = at, at += run.size, first += run.count) {
        run = run_at(content, size, at);
        if (index - first < run.count)
            break;
    }
    if (at >= size)
        return FAILED;
    if (run.value >= value)
        return SAME;
    used = put_run(split, run.value, index - first);
    used += value <= SPARSE_VALUE_MAX ? put_run(split + used, value, 1) : 0;
    used += put_run(split + used, run.value, first + run.count - index - 1);
    if (value > SPARSE_VALUE_MAX ||
        (used > run.size && size + used - run.size > SPARSE_SIZE_MAX)) {
        if (make_dense(tx, record) == FAILED)
            return FAILED;
        return raise_dense(tx, record, index, value);
    }
    missing = at + run.size > size ? at + run.size - size : 0;
    to = hf__content_splice(tx, record, at, run.size - missing, used);
    if (to == NULL)
        return FAILED;
    memcpy(to, split, used);
    record->content_size -= missing;
    unite_runs(record, to - at, before);
    return set_estimate(tx, record, -1) ? CHANGED : FAILED;
}

static hll_change raise_register(hf__tx *tx, hf__record *record, unsigned index,
                                 unsigned value)
{
    const unsigned char *content = hf__content(tx, record);

    if (content == NULL ||
        !hf__tx_spend(tx, is_sparse(content) ? record->content_size : 20))
        return FAILED;
    return is_sparse(content) ? raise_sparse(tx, record, content, index, value)
                              : raise_dense(tx, record, index, value);
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
static hll_change add_element(hf__tx *tx, hf__record *record, hf_bytes element)
{
    uint64_t hash = hash_element(element);
    uint64_t rest = hash >> INDEX_BITS | UINT64_C(1) << (RANK_MAX - 1);

    if (!hf__tx_spend(tx, element.size))
        return FAILED;
    return raise_register(tx, record, hash % REGISTERS,
                          (unsigned)__builtin_ctzll(rest) + 1);
}

/* ---------------------------------------------------------------- commands */

/* NULL in *record: no such key. false: replied with an error, or fatal. */
static bool open_hll(hf__tx *tx, hf_bytes key, hf__record **record)
{
    unsigned char head[HEAD_SIZE];

    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, record))
        return false;
    if (*record == NULL)
        return true;
    if (!hf__string_read(tx, *record, 0, head, HEAD_SIZE))
        return false;
    if (!is_valid(head, hf__string_size(*record)))
        hf__reply_error(tx, "WRONGTYPE Key is not a valid HyperLogLog string "
                            "value.");
    else if ((*record)->form != HF__FORM_INLINE) /* longer than any */
        hf__reply_error(tx, ERROR_DAMAGED);
    return !tx->out->failed;
}

static void run_pfadd(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hll_change change;
    hf__record *record;
    bool changed;

    if (!open_hll(tx, args[1], &record))
        return;
    changed = record == NULL;
    if (record == NULL)
        record = make_hll(tx, args[1]);
    for (size_t i = 2; record != NULL && i < count; i++) {
        change = add_element(tx, record, args[i]);
        if (change == FAILED) {
            hf__reply_error(tx, ERROR_DAMAGED);
            return;
        }
        changed = changed || change == CHANGED;
    }
    if (record == NULL || (changed && !set_estimate(tx, record, -1)))
        return;
    if (changed)
        hf__key_event(tx, HF__EVENT_STRING, "pfadd", args[1]);
    hf__reply_integer(tx, changed);
}

/* Merge what the keys have into registers of the transaction. NULL: replied
 * with an error, or fatal. */
static unsigned char *merge_keys(hf__tx *tx, const hf_bytes *keys, size_t count,
                                 bool *dense)
{
    unsigned char *registers = hf__tx_alloc(tx, REGISTERS);
    const unsigned char *content;
    hf__record *record;

    if (registers == NULL)
        return NULL;
    memset(registers, 0, REGISTERS);
    for (size_t i = 0; i < count; i++) {
        hf__tx_trim(tx);
        if (!hf__tx_spend(tx, REGISTERS) || !open_hll(tx, keys[i], &record))
            return NULL;
        if (record == NULL)
            continue;
        content = hf__content(tx, record);
        if (content == NULL)
            return NULL;
        *dense = *dense || !is_sparse(content);
        if (!merge_registers(registers, content, record->content_size)) {
            hf__reply_error(tx, ERROR_DAMAGED);
            return NULL;
        }
    }
    return registers;
}

/* What is stored, or -1. */
static int64_t stored_estimate(const unsigned char *content)
{
    uint64_t estimate = 0;

    for (size_t i = 8; i-- > 0;)
        estimate = estimate << 8 | content[ESTIMATE + i];
    return estimate > INT64_MAX ? -1 : (int64_t)estimate;
}

/* Of one key the estimate is stored, and so it is a write. */
static void run_pfcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = NULL;
    const unsigned char *content;
    unsigned char *registers;
    int64_t estimate = -1;
    bool dense = false;

    if (count == 2 && !open_hll(tx, args[1], &record))
        return;
    content = record != NULL ? hf__content(tx, record) : NULL;
    if (content != NULL)
        estimate = stored_estimate(content);
    if (estimate < 0) {
        registers = merge_keys(tx, args + 1, count - 1, &dense);
        if (registers == NULL)
            return;
        estimate = estimate_count(registers);
        if (record != NULL)
            record = hf__key_find(tx, args[1]);
        if (record != NULL && !set_estimate(tx, record, estimate))
            return;
    }
    hf__reply_integer(tx, estimate);
}

static void run_pfmerge(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bool dense = false;
    unsigned char *registers = merge_keys(tx, args + 1, count - 1, &dense);
    hll_change change = SAME;
    hf__record *record;

    if (registers == NULL || !open_hll(tx, args[1], &record))
        return;
    if (record == NULL)
        record = make_hll(tx, args[1]);
    if (record == NULL)
        return;
    if (dense)
        change = make_dense(tx, record);
    for (unsigned i = 0; i < REGISTERS && change != FAILED; i++) {
        if (registers[i] != 0)
            change = raise_register(tx, record, i, registers[i]);
    }
    if (change == FAILED) {
        hf__reply_error(tx, ERROR_DAMAGED);
    } else if (set_estimate(tx, record, -1)) {
        hf__key_event(tx, HF__EVENT_STRING, "pfadd", args[1]);
        hf__reply_line(tx, "OK");
    }
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
    hll_change change = SAME;
    const unsigned char *content;
    hf__record *record;

    (void)count;
    if (!open_hll(tx, args[2], &record))
        return;
    if (record == NULL) {
        hf__reply_error(tx, "ERR The specified key does not exist");
        return;
    }
    if (getreg || todense)
        change = make_dense(tx, record);
    content = hf__content(tx, record);
    if (change == FAILED || content == NULL)
        hf__reply_error(tx, ERROR_DAMAGED);
    else if (getreg)
        reply_registers(tx, content + HEAD_SIZE);
    else if (todense)
        hf__reply_integer(tx, change);
    else if (hf__arg_is(args[1], "encoding"))
        hf__reply_line(tx, is_sparse(content) ? "sparse" : "dense");
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
