# SPDX-License-Identifier: Apache-2.0
# An overlay port, of the checkout that it is in:
#
#     vcpkg install holdfast --overlay-ports=packaging/vcpkg
#
# vcpkg has no Lua 5.1 and no bit library for it. They come from the system
# (Debian: liblua5.1-0-dev, lua-bitop-dev), by its pkg-config.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
    serve HF_SERVE
    command HF_COMMAND
    probes HF_PROBES
    postgres HF_POSTGRES)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${features} -DHF_TESTS=OFF -DHF_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME holdfast CONFIG_PATH lib/cmake/holdfast)
vcpkg_fixup_pkgconfig()
if(HF_COMMAND)
    # In one folder, where the command looks, too.
    file(GLOB programs "${CURRENT_PACKAGES_DIR}/libexec/holdfast/holdfast-*")
    file(COPY ${programs} DESTINATION "${CURRENT_PACKAGES_DIR}/bin")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/libexec"
        "${CURRENT_PACKAGES_DIR}/debug/libexec")
    vcpkg_copy_tools(TOOL_NAMES holdfast holdfast-serve holdfast-top AUTO_CLEAN)
endif()

# Both kinds of library stay, whichever vcpkg asks for: the CMake package has a
# target for each, and the command is linked with the shared ones.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE"
    "${SOURCE_PATH}/NOTICE")
