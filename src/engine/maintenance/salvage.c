/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.c - `store salvage`: copy what is intact of a damaged store to a new
 * one.
 *
 *  1. Lock both directories, which keeps others from opening either store. No
 *     one has the damaged one open, and the new one's is empty.
 *  2. Walk over the damaged file as `store check` does (fsck.c), without LMDB.
 *     Once it is known which keys are intact, walk again and append their
 *     records to a new data file (new_file.c). Key ids stay as they are.
 *  3. Check the new file as a whole, sync it, and give it its name. From this
 *     instant there is a store; the next open adds the other files.
 *
 * If killed before, an unfinished file remains, which the next salvage or open
 * removes. The damaged store is not changed, except that an unfinished
 * checkpoint is completed, as by any open.
 */
#include "engine/maintenance/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/identity.h"
#include "engine/commit/redo.h"
#include "engine/files/format.h"
#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/files/rights.h"
#include "engine/fsck/fsck.h"
#include "engine/maintenance/new_file.h"
#include "engine/open/env_registry.h"
#include "util/clock.h"
#include "util/error.h"

typedef struct salvage {
    const hf__salvage *how;
    hf_store_salvaged *done;
    hf__new_file to;
    bool header;
    uint32_t mode;
    int rc; /* of LMDB; the walk then stops */
} salvage;

/* ------------------------------------------------------------------ losses */

/* What is wrong with a key is reported when its record is met again. */
static bool is_about_key(uint32_t code)
{
    return code >= HF__FOUND_KEY_HEAD && code <= HF__FOUND_LIST_GAP;
}

static void take_finding(hf__fsck *fsck, const hf__finding *found)
{
    salvage *self = fsck->user;
    char text[HF__FINDING_TEXT_SIZE];

    if (is_about_key(found->code))
        return;
    self->done->faults++;
    self->how->lost(self->how->user, hf_view(NULL, 0),
                    hf__finding_text(text, found));
}

/* Its whole name, as far as its record has it. */
static hf_bytes name_of_key(const hf__item *item)
{
    hf__keyhead head;

    if (item->key.size == HF__LMDB_KEY_MAX &&
        item->value_held >= HF__KEYHEAD_SIZE) {
        hf__keyhead_read(&head, item->value);
        if (head.key_size > 0 &&
            head.key_size <= item->value_held - HF__KEYHEAD_SIZE)
            return hf_view(item->value + HF__KEYHEAD_SIZE, head.key_size);
    }
    return hf_view((const unsigned char *)item->key.data + 1,
                   item->key.size - 1);
}

/* The text of a finding begins with the key, which is passed by itself. */
static void lose_key(salvage *self, const hf__item *item,
                     const hf__finding *why)
{
    static const char head[] = "key \"\": ";
    char text[HF__FINDING_TEXT_SIZE];
    hf__finding unnamed = *why;

    unnamed.key_size = 0;
    (void)hf__finding_text(text, &unnamed);
    self->done->lost++;
    self->how->lost(self->how->user, name_of_key(item),
                    strncmp(text, head, sizeof(head) - 1) == 0
                        ? text + sizeof(head) - 1
                        : text);
}

/* ------------------------------------------------------------------ records */

static void copy_record(salvage *self, hf__fsck *fsck, const hf__item *item)
{
    MDB_val key = {item->key.size, (void *)(uintptr_t)item->key.data};
    void *room;

    self->rc = hf__new_file_put(&self->to, &key, item->value_size, &room);
    if (self->rc != MDB_SUCCESS)
        return;
    if (item->value_held > 0)
        memcpy(room, item->value, item->value_held);
    if (item->value_held < item->value_size)
        (void)hf__fsck_value(fsck, item, item->value_held,
                             (unsigned char *)room + item->value_held,
                             item->value_size - item->value_held);
}

/* With the new store's mode. A damaged one is replaced in the end. */
static void copy_header(salvage *self, const hf__item *item)
{
    MDB_val key = {item->key.size, (void *)(uintptr_t)item->key.data};
    hf__header head;
    void *room;

    if (item->value_size != sizeof(head))
        return;
    memcpy(&head, item->value, sizeof(head));
    if (memcmp(head.magic, HF__HEADER_MAGIC, sizeof(head.magic)) != 0 ||
        head.version < HF__FORMAT_FIRST || head.version > HF__FORMAT_VERSION)
        return;
    head.mode = self->mode;
    self->header = true;
    self->rc = hf__new_file_put(&self->to, &key, sizeof(head), &room);
    if (self->rc == MDB_SUCCESS)
        memcpy(room, &head, sizeof(head));
}

static void keep_item(hf__fsck *fsck, const hf__item *item,
                      const hf__finding *why)
{
    salvage *self = fsck->user;
    unsigned char kind = *(const unsigned char *)item->key.data;

    if (self->rc != MDB_SUCCESS)
        return;
    if (why->code != HF__FOUND_NONE) {
        lose_key(self, item, why);
        return;
    }
    self->done->keys += hf__kind_is_key(kind);
    if (kind == HF__RECORD_HEADER)
        copy_header(self, item);
    else
        copy_record(self, fsck, item);
}

static bool may_continue(hf__fsck *fsck, uint64_t done, uint64_t total)
{
    const salvage *self = fsck->user;

    (void)done;
    (void)total;
    return self->rc == MDB_SUCCESS;
}

static hf_status walk_records(salvage *self, hf__fsck *fsck, hf_error *err)
{
    hf_status status = hf__fsck_run(fsck);

    if (self->rc == MDB_SUCCESS && !self->header && status == HF_CORRUPT)
        self->rc = hf__header_put(self->to.txn, self->to.dbi, self->mode);
    if (self->rc != MDB_SUCCESS)
        return hf__files_fail_mdb(err, self->rc,
                                  "cannot write the new data file");
    switch (status) {
    case HF_OK:
    case HF_CORRUPT:
        return HF_OK;
    case HF_SYSTEM:
        return hf__fail(err, HF_SYSTEM, "page %llu: I/O error",
                        (unsigned long long)fsck->error_page);
    case HF_NO_MEMORY:
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    case HF_UNSUPPORTED:
        return hf__fail(err, HF_UNSUPPORTED,
                        "the store has a format newer than this library's");
    default:
        return hf__fail(err, HF_INVALID,
                        "the LMDB file is not a holdfast store");
    }
}

/* ------------------------------------------------------------- both stores */

static hf_status write_new(salvage *self, hf__fsck *fsck, int new_fd,
                           hf_error *err)
{
    hf__finding found = {0};
    uint64_t size;
    hf_status status;

    if (!hf__pages_meta(fsck->fd, fsck->file_size, &fsck->meta, &found))
        return hf__finding_fail(err, &found);
    status = hf__new_file_begin(&self->to, new_fd, fsck->file_size,
                                HF__NEW_FILE_TAIL, err);
    if (status != HF_OK)
        return status;
    status = walk_records(self, fsck, err);
    if (status == HF_OK)
        return hf__new_file_end(&self->to, fsck->meta.transaction, &size, err);
    hf__new_file_drop(&self->to);
    return status;
}

/* Give the finished file its name. */
static hf_status name_file(int dir_fd, hf_error *err)
{
    hf_status status;

    if (renameat(dir_fd, HF__FILE_REWRITE, dir_fd, HF__FILE_DATA) != 0)
        return hf__files_fail(err, errno, "cannot rename the new data file");
    status = hf__fsck_file(dir_fd, INT64_MAX, err);
    if (status != HF_OK) {
        (void)unlinkat(dir_fd, HF__FILE_DATA, 0);
        hf__fail_prefix(err, "the new store");
        return status;
    }
    return hf__files_sync_names(dir_fd, err);
}

static hf_status copy_to(salvage *self, int from_fd, int to_fd, hf_error *err)
{
    hf__fsck fsck = {.report = take_finding,
                     .keep_going = may_continue,
                     .keep = keep_item,
                     .user = self};
    hf_status status =
        hf__files_open_data(from_fd, &fsck.fd, &fsck.file_size, err);
    int fd;

    if (status != HF_OK)
        return status;
    (void)unlinkat(to_fd, HF__FILE_REWRITE, 0);
    fd = hf__rights_create(to_fd, HF__FILE_REWRITE, O_RDWR);
    if (fd < 0)
        status = hf__files_fail(err, errno, "cannot create the new data file");
    else
        status = write_new(self, &fsck, fd, err);
    if (fd >= 0)
        close(fd);
    close(fsck.fd);
    if (status == HF_OK)
        status = name_file(to_fd, err);
    (void)unlinkat(to_fd, HF__FILE_REWRITE, 0);
    return status;
}

/* No one uses the damaged store. */
static hf_status claim_store(const hf__directory *from, hf_error *err)
{
    hf__found found;
    hf_status status = hf__files_list(from->fd, &found, err);

    if (status == HF_OK && !found.data)
        return hf__fail(err, HF_NOT_FOUND, "there is no store");
    if (status == HF_OK &&
        hf__registry_find(found.device, found.data_inode) != NULL)
        return hf__fail(err, HF_UNAVAILABLE, "the store is in use");
    if (status == HF_OK)
        status = hf__identity_check_unused(from->fd, 0, err);
    if (status != HF_OK)
        return status;
    return from->read_only ? hf__redo_check(from->fd, err)
                           : hf__checkpoint_recover(from->fd, false, err);
}

static hf_status check_empty(int dir_fd, hf_error *err)
{
    hf__found found;
    hf_status status = hf__files_list(dir_fd, &found, err);

    if (status != HF_OK)
        return status;
    if (found.data || found.sidecar || found.checkpoint || found.other)
        return hf__fail(err, HF_CONFLICT,
                        "the new store's directory is not empty");
    return HF_OK;
}

static hf_status salvage_to(salvage *self, const hf__directory *from,
                            const hf__settings *new_settings,
                            int64_t deadline_ms, hf_error *err)
{
    hf__directory to;
    hf_status status = claim_store(from, err);

    if (status == HF_OK)
        status = hf__directory_open(new_settings, &deadline_ms, &to, err);
    if (status != HF_OK)
        return status;
    status = check_empty(to.fd, err);
    if (status == HF_OK)
        status = copy_to(self, from->fd, to.fd, err);
    hf__directory_close(&to);
    return status;
}

static hf_status read_settings(const hf__url *url, hf__settings *settings,
                               hf_error *err)
{
    hf_status status = hf__settings_read(url, settings, err);

    if (status == HF_OK && settings->mode == HF__MODE_VOLATILE)
        status = hf__fail(err, HF_UNSUPPORTED,
                          "only stores on disk (file:) can be salvaged");
    return status;
}

hf_status hf__embedded_salvage(const hf__store_config *config,
                               const hf__salvage *how, hf_store_salvaged *done,
                               hf_error *err)
{
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    salvage self = {.how = how, .done = done};
    hf__settings settings, new_settings;
    hf__directory from;
    hf_status status = read_settings(config->url, &settings, err);

    if (status == HF_OK)
        status = read_settings(how->new_url, &new_settings, err);
    if (status != HF_OK)
        return status;
    if (strcmp(settings.path, new_settings.path) == 0)
        return hf__fail(err, HF_INVALID, "both stores are the same one");
    settings.existing = true;
    self.mode = new_settings.mode;
    if (!hf__registry_lock(deadline_ms))
        return hf__fail(err, HF_UNAVAILABLE,
                        "another thread is opening a store");
    status = hf__directory_open(&settings, &deadline_ms, &from, err);
    if (status == HF_OK) {
        status = salvage_to(&self, &from, &new_settings, deadline_ms, err);
        hf__directory_close(&from);
    }
    hf__registry_unlock();
    return status;
}
