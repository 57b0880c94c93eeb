/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_main.c - main() of the test programs that have none of their own.
 */
#include "support/test.h"

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
