# SPDX-License-Identifier: Apache-2.0
# The test of the test. PROGRAM finds nothing; with each fault that it can put
# in it must exit with 1 and show a difference of at most `longest` operations.

set(arguments --seed 5 --ops 20000)
set(longest 5)

execute_process(COMMAND ${PROGRAM} ${arguments}
    RESULT_VARIABLE result OUTPUT_VARIABLE output)
if(result EQUAL 77)
    message(STATUS "${output}")
    return()
endif()
if(NOT result EQUAL 0)
    message(FATAL_ERROR "without a fault: exit status ${result}\n${output}")
endif()

foreach(mutation
    reply write expiry error key hash list set zset sort weight script)
    execute_process(COMMAND ${PROGRAM} ${arguments} --mutate ${mutation}
        RESULT_VARIABLE result OUTPUT_VARIABLE output)
    if(result EQUAL 77)
        message(STATUS "${mutation}: hidden by a difference of this server")
        continue()
    endif()
    if(NOT result EQUAL 1)
        message(FATAL_ERROR
            "${mutation}: exit status ${result}, not 1\n${output}")
    endif()
    if(NOT output MATCHES "DIFFERENCE: ([0-9]+) operations, shrunk from")
        message(FATAL_ERROR "${mutation}: not shrunk\n${output}")
    endif()
    if(CMAKE_MATCH_1 GREATER longest)
        message(FATAL_ERROR
            "${mutation}: ${CMAKE_MATCH_1} operations\n${output}")
    endif()
    message(STATUS "${mutation}: found, ${CMAKE_MATCH_1} operations")
endforeach()
