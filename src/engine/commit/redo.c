/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo.c - durability=log: writing the log.
 *
 * LMDB runs without syncing, and a checkpoint names a snapshot that is whole on
 * the disk, as for durability=flush (flush.c). Before a transaction is
 * committed, the records of LMDB that it changed are written to the log and
 * synced: one flush of the disk. After a power cut the data file is reverted to
 * the checkpoint, and the transactions after it are applied from the log
 * (redo_read.c). A checkpoint is therefore only needed now and then: when a
 * part of the log is full, or many pages wait for one.
 *
 * 1. A transaction notes the names of what it puts and deletes. At its end they
 *    are looked up: what is there is what the log has to say.
 * 2. Two parts of the file are written in turn, each again once a checkpoint
 *    has all that is in it. What does not fit is written behind them. Blocks
 *    that were written before are written again without a change of the file's
 *    metadata, which would be a second flush.
 * 3. The numbers of LMDB's transactions have no gaps, so the log is complete up
 *    to the first number that is missing. A record holds under the random salt
 *    of its part: what an earlier use left behind the last record is none.
 * 4. A writer that is killed after it wrote a record and before the commit
 *    leaves one that was never committed; the next has the same number and a
 *    higher serial, and counts. One that is killed after the commit and before
 *    the sidecar knows leaves a last transaction that the log seems to lack:
 *    then a checkpoint is made before the next.
 * 5. The first process that opens the store empties the log, once a checkpoint
 *    has what it said.
 *
 * Nothing can be read by others before it is on the disk, as with
 * durability=commit. The writer lock guards everything here, and is held while
 * the disk works.
 */
#include "engine/commit/redo_state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/commit/flush_map.h"
#include "engine/commit/tx.h"
#include "util/crc32c.h"
#include "util/error.h"
#include "util/rand.h"

/* A longer overflow is emptied by a checkpoint before the next write. */
#define OVERFLOW_MOST (UINT64_C(64) << 20)
/* One that was longer gives its space back when it is begun again. */
#define OVERFLOW_KEPT (UINT64_C(4) << 20)

static hf__redo_map *map_of(const hf__env *env)
{
    return &env->sidecar.map->redo;
}

/* Has a checkpoint all that is in the part? */
static bool is_free(const hf__env *env, uint32_t part)
{
    const hf__redo_map *map = map_of(env);

    return map->parts[part].end == 0 ||
           map->parts[part].last_txn <= env->sidecar.map->flush.checkpoint;
}

bool hf__redo_is_full(const hf__env *env)
{
    const hf__redo_map *map = map_of(env);

    if (env->redo == NULL)
        return false;
    return hf__flush_last_txn(env) != map->last_txn ||
           (map->parts[HF__REDO_OVERFLOW].end > OVERFLOW_MOST &&
            !is_free(env, HF__REDO_OVERFLOW));
}

bool hf__redo_is_due(const hf__env *env)
{
    if (env->redo == NULL)
        return false;
    for (uint32_t i = 0; i < HF__REDO_PARTS; i++) {
        if (i != map_of(env)->current && !is_free(env, i))
            return true;
    }
    return false;
}

void hf__redo_checkpointed(hf__env *env)
{
    uint64_t txn = env->sidecar.map->flush.checkpoint;

    if (env->redo != NULL && map_of(env)->last_txn < txn)
        map_of(env)->last_txn = txn;
}

/* ---------------------------------------------------------------- the disk */

static bool fail_disk(hf__tx *tx, int number)
{
    if (tx->fatal != HF_OK)
        return false;
    tx->log_full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    if (tx->log_full) {
        tx->fatal = hf__fail(&tx->error, HF_FULL,
                             "no space left on device for the log of %s",
                             tx->env->path);
    } else {
        hf__flush_refuse(tx->env);
        tx->fatal = hf__flush_fail(&tx->error);
    }
    return false;
}

static bool write_all(hf__tx *tx, const void *data, size_t size, uint64_t at)
{
    const unsigned char *bytes = data;

    while (size > 0) {
        ssize_t done = pwrite(tx->env->redo->fd, bytes, size, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_disk(tx, done < 0 ? errno : EIO);
        bytes += done;
        size -= (size_t)done;
        at += (uint64_t)done;
    }
    return true;
}

static bool write_buffer(hf__tx *tx)
{
    hf__redo *self = tx->env->redo;
    bool written = write_all(tx, self->buffer, self->used, self->at);

    self->at += self->used;
    self->used = 0;
    return written;
}

static bool put_bytes(hf__tx *tx, const void *data, size_t size)
{
    hf__redo *self = tx->env->redo;

    if (size > HF__REDO_BUFFER_SIZE - self->used && !write_buffer(tx))
        return false;
    if (size > HF__REDO_BUFFER_SIZE) {
        if (!write_all(tx, data, size, self->at))
            return false;
        self->at += size;
    } else if (size > 0) {
        memcpy(self->buffer + self->used, data, size);
        self->used += size;
    }
    self->sum = hf__crc32c(self->sum, data, size);
    return true;
}

/* Bytes that were put before: in the buffer, or already written. */
static bool put_again(hf__tx *tx, const void *data, size_t size, uint64_t at)
{
    hf__redo *self = tx->env->redo;

    if (at < self->at)
        return write_all(tx, data, size, at);
    memcpy(self->buffer + (at - self->at), data, size);
    return true;
}

/* --------------------------------------------------------------- a record */

typedef bool each_note(hf__tx *tx, hf__redo_note_head *head, MDB_val *key,
                       void *user);

static bool walk_notes(hf__tx *tx, each_note *each, void *user)
{
    unsigned char *at = hf__buf_front(&tx->changes);
    const unsigned char *end = at + hf__buf_size(&tx->changes);
    hf__redo_note_head head;
    MDB_val key;

    while (at < end) {
        memcpy(&head, at, sizeof(head));
        key = (MDB_val){head.size, at + sizeof(head)};
        if (!each(tx, &head, &key, user))
            return false;
        memcpy(at, &head, sizeof(head));
        at += sizeof(head) + head.size;
    }
    return true;
}

/* What the transaction leaves under a name that it noted. Nothing is written
 * until the commit, so it stays where it is. */
static bool look_up(hf__tx *tx, hf__redo_note_head *head, MDB_val *key,
                    void *size)
{
    int rc = mdb_get(tx->txn, tx->env->dbi, key, &head->value);

    if (rc == MDB_NOTFOUND)
        head->value = (MDB_val){0, NULL};
    else if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    *(uint64_t *)size +=
        sizeof(hf__redo_change) + head->size + head->value.mv_size;
    return tx->fatal == HF_OK;
}

static bool find_changes(hf__tx *tx, uint64_t *size)
{
    *size = tx->dropped ? sizeof(hf__redo_change) : 0;
    return walk_notes(tx, look_up, size);
}

static bool put_change(hf__tx *tx, hf__redo_note_head *head, MDB_val *key,
                       void *user)
{
    const hf__redo_change change = {
        .kind = head->value.mv_data != NULL ? HF__REDO_PUT : HF__REDO_DELETE,
        .key_size = head->size,
        .value_size = head->value.mv_size};

    (void)user;
    return put_bytes(tx, &change, sizeof(change)) &&
           put_bytes(tx, key->mv_data, key->mv_size) &&
           put_bytes(tx, head->value.mv_data, head->value.mv_size);
}

static bool put_changes(hf__tx *tx)
{
    const hf__redo_change drop = {.kind = HF__REDO_DROP};

    return (!tx->dropped || put_bytes(tx, &drop, sizeof(drop))) &&
           walk_notes(tx, put_change, NULL);
}

static bool fits_part(uint64_t end, uint64_t size)
{
    return end + size <= HF__REDO_PART_SIZE;
}

/* The part for so many bytes; *end is where they go in it, 0: it is begun. */
static uint32_t choose_part(const hf__env *env, uint64_t size, uint64_t *end)
{
    const hf__redo_map *map = map_of(env);
    uint32_t current = map->current % HF__REDO_OVERFLOW;
    uint32_t other = 1 - current;

    *end = map->parts[current].end;
    if (*end != 0 && fits_part(*end, size))
        return current;
    *end = 0;
    if (fits_part(sizeof(hf__redo_head), size) && is_free(env, other))
        return other;
    if (fits_part(sizeof(hf__redo_head), size) && is_free(env, current))
        return current;
    if (!is_free(env, HF__REDO_OVERFLOW))
        *end = map->parts[HF__REDO_OVERFLOW].end;
    return HF__REDO_OVERFLOW;
}

static bool begin_part(hf__tx *tx)
{
    hf__redo *self = tx->env->redo;
    hf__redo_head head = {.magic = HF__REDO_MAGIC};

    if (self->part == HF__REDO_OVERFLOW &&
        map_of(tx->env)->parts[self->part].end > OVERFLOW_KEPT &&
        ftruncate(self->fd, (off_t)HF__REDO_FILE_SIZE) != 0)
        return fail_disk(tx, errno);
    hf__rand_bytes(&self->salt, sizeof(self->salt));
    head.salt = self->salt;
    head.sum = hf__crc32c(0, &head, offsetof(hf__redo_head, sum));
    return put_bytes(tx, &head, sizeof(head));
}

/* A longer file would be SIGXFSZ. */
static bool check_limit(hf__tx *tx)
{
    const hf__redo *self = tx->env->redo;

    if (hf__files_check_limit(hf__redo_base(self->part) + self->end,
                              &tx->error) == HF_OK)
        return true;
    tx->fatal = HF_FULL;
    tx->log_full = true;
    return false;
}

/* The buffer is empty, and the next bytes go to where the record will be. */
static bool begin_record(hf__tx *tx, uint64_t size)
{
    hf__redo *self = tx->env->redo;
    uint64_t end;

    self->part = choose_part(tx->env, size, &end);
    self->salt = map_of(tx->env)->parts[self->part].salt;
    self->at = hf__redo_base(self->part) + end;
    self->used = 0;
    self->end = end + size;
    if (end != 0)
        return check_limit(tx);
    self->end += sizeof(hf__redo_head);
    return check_limit(tx) && begin_part(tx);
}

uint32_t hf__redo_sum(uint64_t salt, const hf__redo_record *record)
{
    uint32_t sum = hf__crc32c(0, &salt, sizeof(salt));

    return hf__crc32c(sum, record, offsetof(hf__redo_record, sum));
}

static bool put_record(hf__tx *tx, hf__redo_record *record)
{
    static const char zeros[8];
    hf__redo *self = tx->env->redo;

    self->record_at = self->at + self->used;
    if (!put_bytes(tx, record, sizeof(*record)))
        return false;
    self->sum = hf__redo_sum(self->salt, record);
    if (!put_changes(tx))
        return false;
    record->sum = self->sum;
    return put_bytes(tx, zeros, hf__redo_padded(record->size) - record->size) &&
           put_again(tx, record, sizeof(*record), self->record_at) &&
           write_buffer(tx);
}

/* The transaction is not committed: a power cut must not bring it back. */
static bool take_back(hf__tx *tx)
{
    static const hf__redo_record none;
    const hf__redo *self = tx->env->redo;

    return pwrite(self->fd, &none, sizeof(none), (off_t)self->record_at) ==
               (ssize_t)sizeof(none) &&
           fdatasync(self->fd) == 0;
}

static bool write_record(hf__tx *tx, hf__redo_record *record)
{
    if (!begin_record(tx, sizeof(*record) + hf__redo_padded(record->size)) ||
        !put_record(tx, record))
        return false;
    return fdatasync(tx->env->redo->fd) == 0 || fail_disk(tx, errno);
}

/* What was written stays in the log, and may be applied. */
static void leave_in_doubt(hf__tx *tx)
{
    hf__flush_refuse(tx->env);
    tx->fatal = hf__fail(&tx->error, HF_INDETERMINATE,
                         "writing to the disk failed, and whether this write "
                         "survives is not known; close the store in all "
                         "processes to revert it to what is on the disk");
}

bool hf__redo_write(hf__tx *tx)
{
    hf__redo *self = tx->env->redo;
    hf__redo_record record = {.txn = 0};

    self->record_at = 0;
    if (!find_changes(tx, &record.size))
        return false;
    record.txn = mdb_txn_id(tx->txn);
    record.serial = ++map_of(tx->env)->serial;
    if (write_record(tx, &record))
        return true;
    if (self->record_at != 0 && !take_back(tx))
        leave_in_doubt(tx);
    return false;
}

void hf__redo_wrote(hf__tx *tx, bool committed)
{
    hf__redo_map *map = map_of(tx->env);
    const hf__redo *self = tx->env->redo;
    uint32_t part;

    if (!committed) {
        if (!take_back(tx))
            leave_in_doubt(tx);
        return;
    }
    part = self->part;
    map->parts[part].salt = self->salt;
    map->parts[part].end = self->end;
    map->last_txn = map->parts[part].last_txn = hf__flush_last_txn(tx->env);
    if (part == map->current)
        return;
    if (part != HF__REDO_OVERFLOW)
        map->current = part;
    hf__flush_wake(tx->env);
}
