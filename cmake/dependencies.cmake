# SPDX-License-Identifier: Apache-2.0
# What the libraries are built from: sets library_dependencies, of libholdfast,
# and common_dependencies, of libholdfast-serve and what both have; and what
# only the command is: command_dependencies. The modules of the libraries stand
# in holdfast.pc.in and holdfast-config.cmake.in, for static linking. The
# command alone needs libmicrohttpd, for `serve --http`.
find_package(PkgConfig REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

pkg_check_modules(holdfast_lmdb REQUIRED IMPORTED_TARGET lmdb>=0.9.24)
pkg_check_modules(holdfast_lua REQUIRED IMPORTED_TARGET lua5.1)
pkg_check_modules(holdfast_bitop REQUIRED IMPORTED_TARGET lua5.1-bitop)
pkg_check_modules(holdfast_ssl REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(holdfast_microhttpd REQUIRED IMPORTED_TARGET
    libmicrohttpd>=0.9.75)

# The screen of holdfast top.
pkg_check_modules(holdfast_ncurses REQUIRED IMPORTED_TARGET ncursesw)
set(command_dependencies PkgConfig::holdfast_ncurses)

set(common_dependencies
    PkgConfig::holdfast_ssl
    Threads::Threads
    m)
set(library_dependencies
    PkgConfig::holdfast_lmdb
    PkgConfig::holdfast_bitop
    PkgConfig::holdfast_lua
    ${common_dependencies})
