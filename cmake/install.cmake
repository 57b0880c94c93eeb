# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the headers, the libraries, the command
# and its programs, its man pages and completions, .pc files and the CMake
# package.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

set(libraries holdfast holdfast_static)
set(kinds shared static)
set(modules holdfast)
set(serve_header)
if(HF_SERVE)
    list(APPEND libraries holdfast_serve holdfast_serve_static)
    list(APPEND kinds serve serve_static)
    list(APPEND modules holdfast-serve)
else()
    set(serve_header PATTERN serve.h EXCLUDE)
endif()

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" ${serve_header})
foreach(library kind IN ZIP_LISTS libraries kinds)
    install(TARGETS ${library} EXPORT holdfast-${kind})
    install(EXPORT holdfast-${kind} NAMESPACE holdfast::
        FILE holdfast-${kind}.cmake DESTINATION ${package_dir})
endforeach()

if(HF_COMMAND)
    install(TARGETS holdfast_command)
    foreach(program ${command_programs})
        install(TARGETS ${program} RUNTIME DESTINATION ${programs_dir})
    endforeach()
    hf_add_manual()
    # Where each shell looks by itself.
    install(FILES cli/completions/holdfast.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME holdfast)
    install(FILES cli/completions/_holdfast
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES cli/completions/holdfast.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Distributions install into /usr, where the loader looks by itself and where no
# path may stand in a program or library. Elsewhere these find the libraries that
# were installed with them, and in the build tree those next to them, by the same
# path: one that CMake is to replace ends with an empty entry, which the loader
# takes for the current folder.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    function(hf_find_libraries rpath)
        set_target_properties(${ARGN} PROPERTIES
            BUILD_WITH_INSTALL_RPATH ON
            INSTALL_RPATH "${rpath}")
    endfunction()
    function(hf_find_libraries_from folder)
        file(RELATIVE_PATH to_libraries ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
        hf_find_libraries("$ORIGIN/${to_libraries};$ORIGIN" ${ARGN})
    endfunction()
    if(HF_SERVE)
        hf_find_libraries("$ORIGIN" holdfast_serve)
    endif()
    if(HF_COMMAND)
        hf_find_libraries_from(${CMAKE_INSTALL_FULL_BINDIR} holdfast_command)
    endif()
    if(command_programs)
        hf_find_libraries_from(${programs_full_dir} ${command_programs})
    endif()
endif()

# After the targets.
if(CMAKE_OBJCOPY AND NOT HF_SANITIZE)
    set(files)
    foreach(library ${libraries})
        list(APPEND files
            ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${library}>)
    endforeach()
    if(HF_HAS_POSTGRES)
        list(APPEND files
            ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:holdfast_postgres>)
    endif()
    if(HF_COMMAND)
        list(APPEND files
            ${CMAKE_INSTALL_BINDIR}/$<TARGET_FILE_NAME:holdfast_command>)
    endif()
    foreach(program ${command_programs})
        list(APPEND files ${programs_dir}/$<TARGET_FILE_NAME:${program}>)
    endforeach()
    install(CODE "set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(FILES \"${files}\")")
    install(SCRIPT cmake/strip.cmake)
endif()

# From where a .pc file lies to the prefix, so that an installed tree can be
# moved. Not below /usr, whose folders pkg-config leaves out of the flags if they
# are written like that; nor where a folder was given as an absolute path.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND
        NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH up
        /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" up ${up})
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
        set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()
endif()
foreach(name ${modules})
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
