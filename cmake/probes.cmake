# SPDX-License-Identifier: Apache-2.0
# Whether the libraries have USDT probes (src/util/probe.h): sets `probes`.
if(NOT HF_PROBES MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "HF_PROBES is ${HF_PROBES}; it may be AUTO, ON or OFF")
endif()
set(probes NO)
if(NOT HF_PROBES STREQUAL "OFF")
    include(CheckIncludeFile)
    check_include_file(sys/sdt.h HF_HAVE_SDT)
    if(HF_HAVE_SDT)
        set(probes YES)
    elseif(HF_PROBES STREQUAL "ON")
        message(FATAL_ERROR "HF_PROBES=ON needs <sys/sdt.h>, which Debian has "
            "in systemtap-sdt-dev")
    endif()
endif()
