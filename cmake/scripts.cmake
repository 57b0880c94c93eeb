# SPDX-License-Identifier: Apache-2.0
# scripts/*.lua as C: sets generated_dir (an include directory) and scripts_c.

file(GLOB scripts CONFIGURE_DEPENDS scripts/*.lua)
file(GLOB script_pieces CONFIGURE_DEPENDS scripts/use/*.lua)
set(generated_dir ${PROJECT_BINARY_DIR}/generated)
set(scripts_c ${generated_dir}/script/scripts.c)

add_custom_command(
    OUTPUT ${scripts_c} ${generated_dir}/script/script_ids.h
        ${generated_dir}/script/script_words.h
    COMMAND Python3::Interpreter -B
        ${PROJECT_SOURCE_DIR}/tools/embed_scripts.py ${generated_dir} ${scripts}
    DEPENDS ${scripts} ${script_pieces}
        ${PROJECT_SOURCE_DIR}/tools/embed_scripts.py
        ${PROJECT_SOURCE_DIR}/tools/scriptfile.py
    COMMENT "Embedding scripts/"
    VERBATIM)
