# SPDX-License-Identifier: Apache-2.0
# cli/manual/*.txt as C: sets manual_c.

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
