/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage.h - a store's files held in memory, ways to damage them, and
 * what a program then observes.
 */
#ifndef TESTS_FAULT_EMBEDDED_DAMAGE_H
#define TESTS_FAULT_EMBEDDED_DAMAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "holdfast/base.h"
#include "support/prng.h"

#define PAGE 4096u

/* ------------------------------------------------------------------- files */

enum { FILE_DATA, FILE_LOCK, FILE_SIDECAR, FILE_CHECKPOINT, FILE_COUNT };

typedef enum file_form {
    FORM_FILE,
    FORM_MISSING,
    FORM_FOLDER,
    FORM_SYMLINK,
    FORM_FIFO
} file_form;

typedef struct bytes {
    unsigned char *data;
    size_t size;
    size_t room;
} bytes;

/* The files of a store's directory. */
typedef struct image {
    file_form forms[FILE_COUNT];
    bytes files[FILE_COUNT];
} image;

typedef enum page_kind {
    PAGE_ANY, /* of the three below */
    PAGE_BRANCH,
    PAGE_LEAF,
    PAGE_LARGE, /* of large values */
    PAGE_KINDS
} page_kind;

typedef struct page_list {
    size_t *at; /* offsets */
    size_t count;
} page_list;

/* Material for a damage. */
typedef struct sources {
    bytes older;                 /* the data file some writes ago */
    bytes foreign;               /* an LMDB file of another program */
    page_list pages[PAGE_KINDS]; /* that are in use */
    size_t last_page;
} sources;

/* Fill the lists of pages from an undamaged data file of LMDB 0.9. */
void sources_walk(sources *self, const bytes *data);

void bytes_set(bytes *to, const void *data, size_t size);
void bytes_resize(bytes *self, size_t size); /* new bytes are zero */

/* ----------------------------------------------------------------- damages */

typedef struct damage {
    const char *name;
    void (*apply)(image *self, const sources *from, prng *random);
} damage;

extern const damage damages[];
extern const size_t damage_count;

/* ------------------------------------------------------------------ stores */

typedef struct stage {
    const char *name;
    char folder[PATH_MAX]; /* all is below it */
    char store[PATH_MAX];
    char url[PATH_MAX + 64];
    uint64_t seed;
    image whole;             /* undamaged */
    struct timespec written; /* mtime of its data file */
    bool sealed;             /* damage keeps the mtime: it is not a write */
    sources from;
} stage;

/* Create a store with something of every kind in it, and the material that
 * damages need. Its URL is `scheme`, its path, `options`. false: it could not
 * be created, see stderr. */
bool stage_make(stage *self, const char *scheme, const char *options,
                const char *folder, uint64_t seed);
void stage_remove(stage *self);
/* Put an image in place of the store; its files keep their inodes. */
bool stage_put(const stage *self, const image *from);
/* Does the data file equal the image? */
bool stage_unchanged(const stage *self, const image *from);

/* -------------------------------------------------------------------- tries */

typedef enum ending {
    END_OK,      /* all data is intact */
    END_STATUS,  /* a call returned an error: see status and message */
    END_WRONG,   /* wrong data, without an error */
    END_CRASHED, /* a signal */
    END_HUNG,
    END_COUNT
} ending;

typedef struct outcome {
    ending how;
    bool opened; /* it got past hf_client_open() */
    hf_status status;
    int signal;
    char message[HF_ERROR_MESSAGE_SIZE];
} outcome;

/* hf_store_check() in its own process. */
void try_check(const stage *self, outcome *result);
/* hf_client_open(), then reading everything and writing much, in its own
 * process. */
void try_use(const stage *self, outcome *result);

#endif
