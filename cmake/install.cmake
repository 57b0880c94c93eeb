# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the headers, the libraries, the command,
# their .pc files and the CMake package.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(TARGETS holdfast EXPORT holdfast-shared)
install(TARGETS holdfast_static EXPORT holdfast-static)
install(TARGETS holdfast_serve EXPORT holdfast-serve)
install(TARGETS holdfast_serve_static EXPORT holdfast-serve_static)
foreach(kind shared static serve serve_static)
    install(EXPORT holdfast-${kind} NAMESPACE holdfast::
        FILE holdfast-${kind}.cmake DESTINATION ${package_dir})
endforeach()

if(TARGET holdfast_command)
    install(TARGETS holdfast_command)
endif()

# Distributions install into /usr, where the loader looks by itself and where no
# path may stand in a program or library. Elsewhere these find the libraries that
# were installed with them.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set_target_properties(holdfast_serve PROPERTIES INSTALL_RPATH "$ORIGIN")
    if(TARGET holdfast_command)
        file(RELATIVE_PATH to_libraries
            ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
        set_target_properties(holdfast_command PROPERTIES
            INSTALL_RPATH "$ORIGIN/${to_libraries}")
    endif()
endif()

# After the targets.
if(CMAKE_OBJCOPY AND NOT HF_SANITIZE)
    set(files)
    foreach(library holdfast holdfast_static holdfast_serve
            holdfast_serve_static)
        list(APPEND files
            ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${library}>)
    endforeach()
    if(TARGET holdfast_command)
        list(APPEND files
            ${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:holdfast_command>)
    endif()
    install(CODE "set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(FILES \"${files}\")")
    install(SCRIPT cmake/strip.cmake)
endif()

foreach(name holdfast holdfast-serve)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(cmake/holdfast-config.cmake.in
    ${PROJECT_BINARY_DIR}/holdfast-config.cmake
    INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break the ABI.
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/holdfast-config.cmake
    ${PROJECT_BINARY_DIR}/holdfast-config-version.cmake
    DESTINATION ${package_dir})
