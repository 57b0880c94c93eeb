/* SPDX-License-Identifier: Apache-2.0 */
/* out_file.h - an output file named by the user. */
#ifndef HOLDFAST_CLI_CMD_OUT_FILE_H
#define HOLDFAST_CLI_CMD_OUT_FILE_H

struct out_file {
    const char *name; /* the user's */
    char *target;     /* where its links lead; owned */
    char *temporary;  /* has the content until it is kept; NULL: the target is
                       * written directly; owned */
    int fd;
};

/* 0, or an errno. After success call out_file_close(). */
int out_file_open(struct out_file *file, const char *name);

/* The file is complete: sync and rename it. 0 or an errno. */
int out_file_keep(const struct out_file *file);

/* Deletes a file that was not kept. */
void out_file_close(struct out_file *file);

#endif
