/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - a main() for a fuzz target that is built without libFuzzer: every
 * file of a corpus, each of its prefixes, and each with one byte changed; with
 * a third argument the files alone, where a run takes milliseconds. Fails if
 * the corpus has fewer files than expected.
 */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX 65536

/* Longer inputs are cut and changed at this many places only. */
#define PLACES_MAX 512

/* In an allocation of its exact size, so that a sanitizer detects a read past
 * its end. */
static void run(const unsigned char *input, size_t size)
{
    unsigned char *copy = malloc(size > 0 ? size : 1);

    PROMISE(copy != NULL);
    memcpy(copy, input, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_variants(unsigned char *input, size_t size)
{
    size_t step = size / PLACES_MAX + 1;

    run(input, size);
    for (size_t at = 0; at < size; at += step) {
        unsigned char was = input[at];

        run(input, at);
        input[at] = (unsigned char)(was ^ (1u << at % 8));
        run(input, size);
        input[at] = was;
    }
}

static void run_file(const char *path, bool variants)
{
    static unsigned char input[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    size_t size;

    PROMISE(file != NULL);
    size = fread(input, 1, sizeof(input), file);
    PROMISE(size < sizeof(input));
    fclose(file);
    if (variants)
        run_variants(input, size);
    else
        run(input, size);
}

int main(int argc, char **argv)
{
    char path[4096];
    int count = 0;
    struct dirent *entry;
    DIR *dir;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s CORPUS FILES-AT-LEAST [whole]\n", argv[0]);
        return 2;
    }
    dir = opendir(argv[1]);
    PROMISE(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        run_file(path, argc == 3);
        count++;
    }
    closedir(dir);
    printf("%d files\n", count);
    PROMISE(count >= strtol(argv[2], NULL, 10));
    return 0;
}
