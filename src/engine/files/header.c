/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.c - the record that identifies an LMDB file as a store of ours, with
 * its format and mode.
 */
#include "engine/files/header.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/files/format.h"
#include "engine/files/rights.h"
#include "engine/files/sidecar.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/rand.h"

static const char *mode_text(uint32_t mode)
{
    if (mode == HF__MODE_LOG)
        return "durable (log)";
    if (mode == HF__MODE_FLUSH)
        return "durable (flush)";
    return mode == HF__MODE_DURABLE ? "durable (commit)" : "volatile";
}

hf_status hf__header_check_mode(uint32_t mode, const hf__settings *settings,
                                hf_error *err)
{
    if (mode == settings->mode)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "the store is %s, not %s", mode_text(mode),
                    mode_text(settings->mode));
}

static int put_head(MDB_txn *txn, MDB_dbi dbi, hf__header *head)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val key = {sizeof(name), name};
    MDB_val value = {sizeof(*head), head};

    return mdb_put(txn, dbi, &key, &value, 0);
}

int hf__header_put(MDB_txn *txn, MDB_dbi dbi, uint32_t mode)
{
    hf__header head;

    memset(&head, 0, sizeof(head));
    memcpy(head.magic, HF__HEADER_MAGIC, sizeof(head.magic));
    head.version = HF__FORMAT_FIRST;
    head.mode = mode;
    hf__rand_bytes(head.store_id, sizeof(head.store_id));
    return put_head(txn, dbi, &head);
}

int hf__header_get(MDB_txn *txn, MDB_dbi dbi, hf__header *head)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val key = {sizeof(name), name};
    MDB_val value;
    int rc = mdb_get(txn, dbi, &key, &value);

    if (rc == MDB_NOTFOUND ||
        (rc == MDB_SUCCESS && value.mv_size != sizeof(*head)))
        return MDB_CORRUPTED;
    if (rc == MDB_SUCCESS)
        memcpy(head, value.mv_data, sizeof(*head));
    return rc;
}

int hf__header_put_again(MDB_txn *txn, MDB_dbi dbi)
{
    hf__header head;
    int rc = hf__header_get(txn, dbi, &head);

    return rc == MDB_SUCCESS ? put_head(txn, dbi, &head) : rc;
}

bool hf__header_read(int fd, const hf__meta *meta, unsigned char *memory,
                     hf__header *head, hf__finding *found)
{
    unsigned char name[1] = {HF__RECORD_HEADER};
    size_t size = 0;
    bool there = hf__pages_get(fd, meta, hf_view(name, sizeof(name)), head,
                               sizeof(*head), &size, memory, found);

    if (!there && found->code != HF__FOUND_NONE)
        return false;
    if (!there || size < sizeof(*head) ||
        memcmp(head->magic, HF__HEADER_MAGIC, sizeof(head->magic)) != 0) {
        found->code = HF__FOUND_NOT_OURS;
        return false;
    }
    found->a = head->version;
    found->b = HF__FORMAT_VERSION;
    if (head->version > HF__FORMAT_VERSION)
        found->code = HF__FOUND_NEWER;
    else if (head->version < HF__FORMAT_FIRST || size != sizeof(*head) ||
             head->mode < HF__MODE_VOLATILE || head->mode > HF__MODE_LOG)
        found->code = HF__FOUND_HEADER;
    return found->code == HF__FOUND_NONE;
}

static hf_status read_header(int fd, hf__header *head, hf__finding *found,
                             hf_error *err)
{
    struct stat info;
    unsigned char *memory;
    hf__meta meta;

    if (fstat(fd, &info) != 0)
        return hf__files_fail(err, errno, "cannot stat the data file");
    if (!hf__pages_meta(fd, (uint64_t)info.st_size, &meta, found))
        return hf__finding_status(found);
    memory = hf__alloc(meta.page_size);
    if (memory == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    (void)hf__header_read(fd, &meta, memory, head, found);
    hf__free(memory);
    return hf__finding_status(found);
}

hf_status hf__header_probe(int dir_fd, const hf__settings *settings,
                           hf_error *err)
{
    hf__finding found = {0};
    hf__header head;
    hf_status status;
    int fd = hf__rights_open(dir_fd, HF__FILE_DATA, O_RDONLY);

    if (fd < 0)
        return hf__files_fail(err, errno, "cannot open the data file");
    status = read_header(fd, &head, &found, err);
    close(fd);
    if (status == HF_OK)
        return hf__header_check_mode(head.mode, settings, err);
    if (found.code != HF__FOUND_NONE)
        return hf__finding_fail(err, &found);
    return status;
}
