# SPDX-License-Identifier: Apache-2.0
# cli/http/page.html as C: sets page_c.

set(page_c ${PROJECT_BINARY_DIR}/generated/page.c)

add_custom_command(
    OUTPUT ${page_c}
    COMMAND Python3::Interpreter -B
        ${PROJECT_SOURCE_DIR}/tools/embed_page.py
        ${page_c} ${PROJECT_SOURCE_DIR}/cli/http/page.html
    DEPENDS ${PROJECT_SOURCE_DIR}/cli/http/page.html
        ${PROJECT_SOURCE_DIR}/tools/embed_page.py
    COMMENT "Embedding cli/http/page.html"
    VERBATIM)
