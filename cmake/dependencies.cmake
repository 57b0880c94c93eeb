# SPDX-License-Identifier: Apache-2.0
# What the libraries are built from: sets library_dependencies, of libholdfast,
# shared_dependencies, of it as a shared library, which loads OpenSSL by itself,
# and common_dependencies, of what it and libholdfast-serve have; and what only
# programs of the command are. The modules of the libraries stand in
# holdfast.pc.in and holdfast-config.cmake.in, for static linking. All are
# visible in a project that this one is part of, whose programs link with them.
find_package(PkgConfig REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED GLOBAL)

pkg_check_modules(holdfast_lmdb REQUIRED IMPORTED_TARGET GLOBAL lmdb>=0.9.24)
pkg_check_modules(holdfast_lua REQUIRED IMPORTED_TARGET GLOBAL lua5.1)
pkg_check_modules(holdfast_bitop REQUIRED IMPORTED_TARGET GLOBAL lua5.1-bitop)
pkg_check_modules(holdfast_ssl REQUIRED IMPORTED_TARGET GLOBAL openssl>=3.0)

# The page of `holdfast serve --http`, and the screen of `holdfast top`.
if(HF_COMMAND AND HF_SERVE)
    pkg_check_modules(holdfast_microhttpd REQUIRED IMPORTED_TARGET
        libmicrohttpd>=0.9.75)
endif()
if(HF_TOP)
    pkg_check_modules(holdfast_ncurses REQUIRED IMPORTED_TARGET ncursesw)
endif()

set(common_dependencies
    Threads::Threads
    m)
set(shared_dependencies
    PkgConfig::holdfast_lmdb
    PkgConfig::holdfast_bitop
    PkgConfig::holdfast_lua
    ${common_dependencies})
set(library_dependencies
    ${shared_dependencies}
    PkgConfig::holdfast_ssl)
