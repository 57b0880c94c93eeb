# SPDX-License-Identifier: Apache-2.0
# libholdfast-postgres.so, which libholdfast loads when a URL names PostgreSQL:
# nothing else is linked with libpq. Sets HF_HAS_POSTGRES.
set(HF_HAS_POSTGRES OFF)
if(HF_POSTGRES)
    pkg_check_modules(holdfast_pq IMPORTED_TARGET libpq>=14)
    set(HF_HAS_POSTGRES ${holdfast_pq_FOUND})
    if(NOT HF_HAS_POSTGRES AND NOT HF_POSTGRES STREQUAL AUTO)
        message(FATAL_ERROR "HF_POSTGRES=ON needs libpq-dev (tools/deps.sh records)")
    endif()
endif()
if(NOT HF_HAS_POSTGRES)
    message(NOTICE "Without the module for PostgreSQL and its tests: HF_POSTGRES "
        "is OFF, or libpq-dev is not installed (tools/deps.sh records)")
    return()
endif()

# setup.sql as bytes, as a literal may not be so long.
set(setup_sql ${PROJECT_SOURCE_DIR}/src/records/postgres/setup.sql)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${setup_sql})
file(READ ${setup_sql} setup_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," setup_bytes "${setup_bytes}")
file(CONFIGURE OUTPUT ${generated_dir}/pg_setup_sql.h
    CONTENT "static const char setup_sql[] = {@setup_bytes@0};\n" @ONLY)

file(GLOB postgres_sources CONFIGURE_DEPENDS
    RELATIVE ${PROJECT_SOURCE_DIR} src/records/postgres/*.c)
add_library(holdfast_postgres MODULE ${postgres_sources})
hf_compile(holdfast_postgres)
hf_harden(holdfast_postgres)
hf_reproducible(holdfast_postgres)
target_include_directories(holdfast_postgres PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${generated_dir}
    # backend.h has types of the engine.
    $<TARGET_PROPERTY:PkgConfig::holdfast_lmdb,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(holdfast_postgres PRIVATE
    holdfast_common PkgConfig::holdfast_pq)
target_link_options(holdfast_postgres PRIVATE ${no_undefined})
if(NOT APPLE)
    # It lies among libraries, whose tools look for a name.
    target_link_options(holdfast_postgres PRIVATE
        LINKER:-soname,libholdfast-postgres.so)
endif()
set_target_properties(holdfast_postgres PROPERTIES
    C_VISIBILITY_PRESET hidden
    OUTPUT_NAME holdfast-postgres)
# For the generated headers.
add_dependencies(holdfast_postgres holdfast_objects)
if(HF_INSTALL)
    install(TARGETS holdfast_postgres
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
