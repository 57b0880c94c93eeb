#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# compilers_test.sh - holdfast.hpp and the examples compile without a warning,
# by each compiler and standard that is there.
#
# usage: compilers_test.sh INCLUDE COMPILER...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=$1
shift
for compiler; do
    for standard in 17 20; do
        for source in first job_queue; do
            echo "$compiler -std=c++$standard $source.cpp"
            "$compiler" -std=c++$standard -Wall -Wextra -Wpedantic -Wshadow \
                -Wconversion -Wsign-conversion -Werror -I"$include" \
                -fsyntax-only "$here/$source.cpp"
        done
    done
done
