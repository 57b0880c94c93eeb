/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_image.h - a power cut, played on a copy of an embedded store's files:
 * of each page that was written since the checkpoint, the disk may hold
 * anything; and the id of the boot is another one.
 */
#ifndef POWER_IMAGE_H
#define POWER_IMAGE_H

#include "embedded_store.h"
#include "open_env.h"

/* The path of a file of the store `store`, in the place's folder. */
void image_path(const place *at, const char *store, const char *name,
                char path[160]);

typedef struct image_file {
    unsigned char *data;
    size_t size;
} image_file;

/* The content of a file, to be freed by hf__free(); and write it. */
image_file image_read(const char *path);
void image_write(const char *path, const image_file *what);

/* The newest checkpoint in a file. */
uint64_t image_newest_txn(const char *path);

/* Have no checkpoint made until the next that is asked for. */
void image_hold(hf__env *env);

/* The files of the store "s" as a power cut would leave them, in the folder
 * "image"; `synced`: the data file at the checkpoint. */
void image_make(const place *at, const image_file *synced, bool sidecar);

/* Change much in a store; and all that is in it, as text to be compared. */
void image_change(hf__store *store, int round);
void image_describe(hf__store *store, char text[TEXT_SIZE]);

#endif
