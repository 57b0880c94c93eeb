# SPDX-License-Identifier: Apache-2.0
# cli/http/page.html and its scripts as C: sets page_c. Needs cmake/scripts.cmake.

set(page_c ${PROJECT_BINARY_DIR}/generated/page.c)
set(page_scripts ${PROJECT_SOURCE_DIR}/cli/http/page_change.lua
    ${PROJECT_SOURCE_DIR}/cli/http/page_read.lua)

add_custom_command(
    OUTPUT ${page_c}
    COMMAND Python3::Interpreter -B
        ${PROJECT_SOURCE_DIR}/tools/embed_page.py
        ${page_c} ${PROJECT_SOURCE_DIR}/cli/http/page.html
        ${PROJECT_SOURCE_DIR}/scripts/use ${page_scripts}
    DEPENDS ${PROJECT_SOURCE_DIR}/cli/http/page.html ${page_scripts}
        ${script_pieces}
        ${PROJECT_SOURCE_DIR}/tools/embed_page.py
        ${PROJECT_SOURCE_DIR}/tools/embed_scripts.py
        ${PROJECT_SOURCE_DIR}/tools/scriptfile.py
    COMMENT "Embedding cli/http/page.html"
    VERBATIM)
