/* SPDX-License-Identifier: Apache-2.0 */
/* remove_tree.h - remove a folder with all that is in it. */
#ifndef TESTS_SUPPORT_REMOVE_TREE_H
#define TESTS_SUPPORT_REMOVE_TREE_H

#include <ftw.h>
#include <stdio.h>

static inline int remove_entry(const char *path, const struct stat *info,
                               int kind, struct FTW *position)
{
    (void)info;
    (void)kind;
    (void)position;
    return remove(path);
}

/* 0: it is gone. A symbolic link is not followed. */
static inline int remove_tree(const char *path)
{
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
