# SPDX-License-Identifier: Apache-2.0
# The test of a test. PROGRAM with ARGUMENTS finds nothing; with OPTION and each
# of FAULTS, which it then has on purpose, it must exit with 1 and show a
# difference of at most LONGEST operations.

separate_arguments(ARGUMENTS)
separate_arguments(FAULTS)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS}
    RESULT_VARIABLE result OUTPUT_VARIABLE output)
if(result EQUAL 77)
    message(STATUS "${output}")
    return()
endif()
if(NOT result EQUAL 0)
    message(FATAL_ERROR "without a fault: exit status ${result}\n${output}")
endif()

foreach(fault ${FAULTS})
    execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} ${OPTION} ${fault}
        RESULT_VARIABLE result OUTPUT_VARIABLE output)
    if(result EQUAL 77)
        message(STATUS "${fault}: hidden by a difference of this server")
        continue()
    endif()
    if(NOT result EQUAL 1)
        message(FATAL_ERROR
            "${fault}: exit status ${result}, not 1\n${output}")
    endif()
    if(NOT output MATCHES "DIFFERENCE: ([0-9]+) operations, shrunk from")
        message(FATAL_ERROR "${fault}: not shrunk\n${output}")
    endif()
    if(CMAKE_MATCH_1 GREATER LONGEST)
        message(FATAL_ERROR
            "${fault}: ${CMAKE_MATCH_1} operations\n${output}")
    endif()
    message(STATUS "${fault}: found, ${CMAKE_MATCH_1} operations")
endforeach()
