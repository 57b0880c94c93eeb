# SPDX-License-Identifier: Apache-2.0
# How every C file of the project is compiled: hf_compile(target), and what is
# installed: hf_reproducible(target).

set(hf_warnings
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings)
if(HF_WERROR)
    list(APPEND hf_warnings -Werror)
endif()

if(HF_SANITIZE)
    # Everything, not only our targets: one program cannot be half sanitized.
    add_compile_options(-fsanitize=${HF_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${HF_SANITIZE})
    if(HF_SANITIZE MATCHES undefined)
        add_compile_options(-fno-sanitize-recover=undefined)
    endif()
    # Fences are not tracked; tools/tsan.supp has what they order.
    if(HF_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL GNU)
        add_compile_options(-Wno-tsan)
    endif()
    # The sanitizers' own symbols come from the program.
    set(no_undefined "")
else()
    set(no_undefined LINKER:-z,defs)
endif()

if(HF_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "HF_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# hf_reproducible(target): what is installed is the same, byte for byte, in
# whatever folders it was built. Without optimization the folders stay, for the
# debugger.
function(hf_reproducible target)
    set(sources /usr/src/holdfast-${PROJECT_VERSION})
    foreach(map ${PROJECT_SOURCE_DIR}=${sources}
            ${PROJECT_BINARY_DIR}=${sources}/build)
        target_compile_options(${target} PRIVATE
            $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-ffile-prefix-map=${map}>)
    endforeach()
    set_target_properties(${target} PROPERTIES BUILD_RPATH_USE_ORIGIN ON)
endfunction()

function(hf_compile target)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE ${hf_warnings})
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
endfunction()
