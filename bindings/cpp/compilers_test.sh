#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# compilers_test.sh - holdfast.hpp compiles without a warning by each compiler
# that is there: with one example as C++17, with the other as C++20.
#
# usage: compilers_test.sh INCLUDE COMPILER...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=$1
shift
for compiler; do
    for unit in 17:first 20:job_queue; do
        standard=${unit%:*} source=${unit#*:}
        echo "$compiler -std=c++$standard $source.cpp"
        "$compiler" -std=c++$standard -Wall -Wextra -Wpedantic -Wshadow \
            -Wconversion -Wsign-conversion -Werror -I"$include" \
            -fsyntax-only "$here/$source.cpp"
    done
done
