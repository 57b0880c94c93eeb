/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_file.h - a file that a command writes at a path the user gave.
 */
#ifndef CLI_OUT_FILE_H
#define CLI_OUT_FILE_H

struct out_file {
    const char *name; /* the user's */
    char *target;     /* where its links lead; owned */
    char *temporary;  /* has the content until it is kept; NULL: written
                       * straight into what is there; owned */
    int fd;
};

/* 0, or an errno. After success end with out_file_close(). */
int out_file_open(struct out_file *file, const char *name);

/* All is written: have it on the disk, and under its name. 0 or an errno. */
int out_file_keep(const struct out_file *file);

/* What was not kept leaves nothing behind. */
void out_file_close(struct out_file *file);

#endif
