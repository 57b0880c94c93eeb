# SPDX-License-Identifier: Apache-2.0
# hf_harden(target): protections of the library and the command, as
# distributions build theirs; each only where the compiler and linker have it.
# With a sanitizer there are none: it reports more than they stop. ADR 0078.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(hardening_compile)
set(hardening_link)
if(NOT HF_SANITIZE)
    # Clang only warns of an option that it does not use.
    set(CMAKE_REQUIRED_FLAGS -Werror)
    # The last two are one protection: of x86 and of ARM.
    foreach(flag -fstack-protector-strong -fstack-clash-protection
            -fcf-protection -mbranch-protection=standard)
        string(MAKE_C_IDENTIFIER "HF_HAS${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            list(APPEND hardening_compile ${flag})
        endif()
    endforeach()

    # shstk: start files of a C library that was built without shadow stacks
    # lack the mark, and then the linker would leave it out.
    set(flags relro now)
    if(HF_HAS_fcf_protection)
        list(APPEND flags shstk)
    endif()
    foreach(flag ${flags})
        check_linker_flag(C LINKER:-z,${flag} HF_HAS_z_${flag})
        if(HF_HAS_z_${flag})
            list(APPEND hardening_link LINKER:-z,${flag})
        endif()
    endforeach()

    # A packager's own level stays. Without optimization it is a warning, and
    # 3 is one where the compiler has only 2.
    if(NOT CMAKE_C_FLAGS MATCHES _FORTIFY_SOURCE)
        set(CMAKE_REQUIRED_FLAGS
            "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
        check_c_source_compiles(
            "#include <stdio.h>\nint main(void) { return 0; }" HF_HAS_FORTIFY_3)
        set(level $<IF:$<BOOL:${HF_HAS_FORTIFY_3}>,3,2>)
        set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
        list(APPEND hardening_compile
            $<${optimized}:-U_FORTIFY_SOURCE>
            $<${optimized}:-D_FORTIFY_SOURCE=${level}>)
    endif()
    unset(CMAKE_REQUIRED_FLAGS)
endif()

function(hf_harden target)
    target_compile_options(${target} PRIVATE ${hardening_compile})
    target_link_options(${target} PRIVATE ${hardening_link})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
