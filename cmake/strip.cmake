# SPDX-License-Identifier: Apache-2.0
# At installation: strip FILES; debug information goes to .debug/ next to each,
# where debuggers look first, that of a static library to nowhere. Not below
# DESTDIR: there a package is made, and its tools do that (ADR 0078).
if("$ENV{DESTDIR}" STREQUAL "" AND NOT CMAKE_INSTALL_DO_STRIP)
    foreach(installed ${FILES})
        cmake_path(ABSOLUTE_PATH installed
            BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE file)
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET file FILENAME name)
        if(name MATCHES "\\.a$")
            execute_process(COMMAND ${OBJCOPY} --strip-debug ${file}
                COMMAND_ERROR_IS_FATAL ANY)
            continue()
        endif()
        set(debug ${folder}/.debug/${name}.debug)
        message(STATUS "Installing: ${debug}")
        file(MAKE_DIRECTORY ${folder}/.debug)
        execute_process(
            COMMAND ${OBJCOPY} --only-keep-debug ${file} ${debug}
            COMMAND_ERROR_IS_FATAL ANY)
        file(CHMOD ${debug} PERMISSIONS
            OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
        execute_process(
            COMMAND ${OBJCOPY} --strip-unneeded --add-gnu-debuglink=${debug}
                ${file}
            COMMAND_ERROR_IS_FATAL ANY)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${debug})
    endforeach()
endif()
