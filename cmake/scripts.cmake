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

# The same as functions of C, for the embedded store: a file for each noun.
set(native_c ${generated_dir}/script/native_scripts.c)
foreach(script ${scripts})
    get_filename_component(name ${script} NAME)
    string(REGEX REPLACE "_.*" "" noun ${name})
    list(APPEND native_c ${generated_dir}/script/native_${noun}.c)
endforeach()
list(REMOVE_DUPLICATES native_c)
add_custom_command(
    OUTPUT ${native_c} ${generated_dir}/script/native_ids.h
    COMMAND Python3::Interpreter -B
        ${PROJECT_SOURCE_DIR}/tools/embed_native.py ${generated_dir} ${scripts}
    DEPENDS ${scripts} ${script_pieces}
        ${PROJECT_SOURCE_DIR}/tools/embed_native.py
        ${PROJECT_SOURCE_DIR}/tools/embed_scripts.py
        ${PROJECT_SOURCE_DIR}/tools/lua_pattern.py
        ${PROJECT_SOURCE_DIR}/tools/lua_syntax.py
        ${PROJECT_SOURCE_DIR}/tools/lua_to_c.py
        ${PROJECT_SOURCE_DIR}/tools/lua_types.py
        ${PROJECT_SOURCE_DIR}/tools/scriptfile.py
    COMMENT "Translating scripts/"
    VERBATIM)
# A script's variables need not all be used, nor its parentheses (clang).
set_source_files_properties(${native_c} PROPERTIES COMPILE_OPTIONS
    "-Os;-Wno-unused-variable;-Wno-unused-but-set-variable;-Wno-unused-const-variable;-Wno-parentheses-equality")
