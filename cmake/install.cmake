# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the headers, both libraries, the command,
# holdfast.pc and the CMake package.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(TARGETS holdfast EXPORT holdfast-shared)
install(TARGETS holdfast_static EXPORT holdfast-static)
foreach(kind shared static)
    install(EXPORT holdfast-${kind} NAMESPACE holdfast::
        FILE holdfast-${kind}.cmake DESTINATION ${package_dir})
endforeach()

if(TARGET holdfast_command)
    install(TARGETS holdfast_command)
    # Distributions install into /usr, where the loader looks by itself and
    # where no path may stand in the program. Elsewhere the command finds the
    # library that was installed with it.
    if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
        file(RELATIVE_PATH to_libraries
            ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
        set_target_properties(holdfast_command PROPERTIES
            INSTALL_RPATH "$ORIGIN/${to_libraries}")
    endif()
endif()

# After the targets.
if(CMAKE_OBJCOPY AND NOT HF_SANITIZE)
    set(files ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:holdfast>
        ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:holdfast_static>)
    if(TARGET holdfast_command)
        list(APPEND files
            ${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:holdfast_command>)
    endif()
    install(CODE "set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(FILES \"${files}\")")
    install(SCRIPT cmake/strip.cmake)
endif()

configure_file(cmake/holdfast.pc.in holdfast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/holdfast.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

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
