/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.c - a program made of many test files. Its first argument names the
 * file whose main() is to run; without one it lists them.
 *
 * HF_PARTS is a generated header: PART(name) for each file.
 */
#include <stdio.h>
#include <string.h>

#define PART(name) int name##_main(void);
#include HF_PARTS
#undef PART

static const struct {
    const char *name;
    int (*run)(void);
} parts[] = {
#define PART(name) {#name, name##_main},
#include HF_PARTS
#undef PART
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (argc < 2)
            (void)puts(parts[i].name);
        else if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run();
    }
    if (argc >= 2)
        (void)fprintf(stderr, "%s: no test file %s.c\n", argv[0], argv[1]);
    return 2;
}
