# SPDX-License-Identifier: Apache-2.0
# cli/manual/*.txt as C: sets manual_c. And the man pages.

# At the foot of each page: not the day of the build, so that the same sources
# make the same pages. To be changed with the version.
set(HF_MANUAL_DATE 2026-11-26)

file(GLOB manual_texts CONFIGURE_DEPENDS cli/manual/*.txt)
set(manual_c ${PROJECT_BINARY_DIR}/generated/manual.c)

add_custom_command(
    OUTPUT ${manual_c}
    COMMAND Python3::Interpreter -B
        ${PROJECT_SOURCE_DIR}/tools/embed_manual.py
        ${manual_c} ${manual_texts}
    DEPENDS ${manual_texts} ${PROJECT_SOURCE_DIR}/tools/embed_manual.py
    COMMENT "Embedding cli/manual/"
    VERBATIM)

# The man pages, of what the command prints and of the headers. They need the
# command to run here: in a cross build, in an emulator.
function(hf_add_manual)
    if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
        message(STATUS "cross build without an emulator: no man pages")
        return()
    endif()
    set(folder ${PROJECT_BINARY_DIR}/manual)
    file(GLOB programs CONFIGURE_DEPENDS tools/manual/*.py)
    file(GLOB headers CONFIGURE_DEPENDS include/*.h include/holdfast/*.h
        include/holdfast/loop/*.h)
    add_custom_command(
        OUTPUT ${folder}/made
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND holdfast_command help --json > ${folder}/help.json
        COMMAND Python3::Interpreter -B
            ${PROJECT_SOURCE_DIR}/tools/manual/make.py
            ${folder} ${folder}/help.json ${PROJECT_SOURCE_DIR}/include
            "${HF_MANUAL_DATE}"
        COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
        DEPENDS holdfast_command ${programs} ${headers}
        COMMENT "Making the man pages"
        VERBATIM)
    add_custom_target(manual ALL DEPENDS ${folder}/made)
    foreach(section 1 3 7)
        install(DIRECTORY ${folder}/man${section}
            DESTINATION ${CMAKE_INSTALL_MANDIR})
    endforeach()
endfunction()
