/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_restore.c - any value for RESTORE, with the checksum that it needs, on a
 * store on disk: it is refused, or the store keeps it (support/kept.h).
 */
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/embedded/keys/rdb.h"
#include "support/kept.h"
#include "support/rdb_forms.h"

#define VALUE_MAX 65536

static kept stores;
static char place[64], url[128], other_url[128];

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *position)
{
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

static void clean_up(void)
{
    kept_close(&stores);
    (void)nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_stores(void)
{
    hf_error err = HF_ERROR_INIT;

    snprintf(place, sizeof(place), "%s/hf-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    PROMISE(mkdtemp(place) != NULL);
    snprintf(url, sizeof(url), "file:%s/store?max_size=64M", place);
    snprintf(other_url, sizeof(other_url), "volatile:%s/other?max_size=64M",
             place);
    stores.url = url;
    stores.other_url = other_url;
    PROMISE(kept_open(&stores, &err) == HF_OK);
    atexit(clean_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char value[VALUE_MAX + HF__RDB_TAIL];
    hf_bytes words[] = {hf_str("restore"), hf_str("k"), hf_str("0"),
                        hf_view(value, 0), hf_str("replace")};
    hf_error why = HF_ERROR_INIT;

    if (size < 1 || size > VALUE_MAX)
        return 0;
    if (stores.url == NULL)
        open_stores();
    memcpy(value, data, size);
    words[3].size = rdb_put_tail(value, size, HF__RDB_VERSION_DEADLINES);
    if (hf_command(stores.client, 5, words, NULL, NULL) != HF_OK)
        return 0;
    if (!kept_holds(&stores, &why)) {
        fprintf(stderr, "%s\n", why.message);
        abort();
    }
    return 0;
}
