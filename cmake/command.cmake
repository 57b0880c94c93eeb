# SPDX-License-Identifier: Apache-2.0
# The command, holdfast_command, and those of its commands that are programs of
# their own: sets command_programs. All are linked with the shared libraries, as
# a distribution would: a fix to one then reaches them too.
include(cmake/page.cmake)
include(cmake/manual.cmake)

# Where the programs are installed, and the way there from the command, which
# finds them in a tree that was moved.
set(programs_dir ${CMAKE_INSTALL_LIBEXECDIR}/holdfast)
set(programs_full_dir ${CMAKE_INSTALL_FULL_LIBEXECDIR}/holdfast)
# Conan has bin for both, where the command is in the way of that folder.
if(CMAKE_INSTALL_LIBEXECDIR STREQUAL CMAKE_INSTALL_BINDIR)
    set(programs_dir libexec/holdfast)
    set(programs_full_dir ${CMAKE_INSTALL_PREFIX}/libexec/holdfast)
endif()
file(RELATIVE_PATH programs_from_command
    ${CMAKE_INSTALL_FULL_BINDIR} ${programs_full_dir})

function(hf_command_target target)
    hf_compile(${target})
    hf_harden(${target})
    hf_reproducible(${target})
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src)
endfunction()

# What all of them have. An archive, as each is to have only what it uses.
file(GLOB shared_command_sources CONFIGURE_DEPENDS cli/*.c)
add_library(holdfast_command_shared STATIC EXCLUDE_FROM_ALL
    ${shared_command_sources} ${manual_c})
hf_command_target(holdfast_command_shared)
target_link_libraries(holdfast_command_shared
    PUBLIC holdfast Threads::Threads)

# All but the file that knows where the programs are, of which tests have
# another copy.
file(GLOB command_sources CONFIGURE_DEPENDS cli/cmd/*.c cli/run/*.c)
list(FILTER command_sources EXCLUDE REGEX "/program[.]c$")
add_library(holdfast_command_parts OBJECT ${command_sources})
hf_command_target(holdfast_command_parts)
target_link_libraries(holdfast_command_parts PUBLIC holdfast_command_shared)

# hf_add_command(<target> <folder>): the command, which looks for its programs
# in this folder, too.
function(hf_add_command target folder)
    add_executable(${target} ${PROJECT_SOURCE_DIR}/cli/cmd/program.c)
    hf_command_target(${target})
    target_compile_definitions(${target} PRIVATE
        HF_PROGRAMS_FOLDER="${folder}"
        HF_PROGRAMS_FROM_COMMAND="${programs_from_command}")
    target_link_libraries(${target} PRIVATE holdfast_command_parts)
endfunction()

hf_add_command(holdfast_command ${programs_full_dir})
set_target_properties(holdfast_command PROPERTIES OUTPUT_NAME holdfast)

# hf_add_program(<name> [<source>...]): holdfast-<name>. Who builds the command
# has what it executes.
set(command_programs)
macro(hf_add_program name)
    set(program holdfast_${name}_program)
    add_executable(${program} ${ARGN})
    hf_command_target(${program})
    target_link_libraries(${program} PRIVATE holdfast_command_shared)
    set_target_properties(${program} PROPERTIES OUTPUT_NAME holdfast-${name})
    add_dependencies(holdfast_command ${program})
    list(APPEND command_programs ${program})
endmacro()

if(HF_SERVE)
    file(GLOB program_sources CONFIGURE_DEPENDS cli/serve/*.c cli/http/*.c)
    hf_add_program(serve ${program_sources} ${page_c})
    target_link_libraries(holdfast_serve_program PRIVATE
        holdfast_serve PkgConfig::holdfast_microhttpd)
endif()
if(HF_TOP)
    file(GLOB program_sources CONFIGURE_DEPENDS cli/top/*.c)
    hf_add_program(top ${program_sources})
    target_link_libraries(holdfast_top_program PRIVATE
        PkgConfig::holdfast_ncurses)
endif()
