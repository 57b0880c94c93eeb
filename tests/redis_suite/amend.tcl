# SPDX-License-Identifier: Apache-2.0
#
# amend.tcl - loaded by the suite's own client after its procedures.

# What has no counterpart in a store without encodings, snapshots,
# latency events and a cycle that removes expired keys is answered here: an error
# to what is sent between tests would end the unit. Not with redis-server, for
# which no test is left out.
set debug_answered {^(set-active-expire|quicklist-packed-threshold)$}
set config_answered {^(hash|list|set|zset)-max-|^list-compress|^save$|^latency-monitor-threshold$}
array set config {}

proc answer {name what value} {
    if {$what eq "set"} {
        set ::config($name) $value
        return OK
    }
    if {![info exists ::config($name)]} {set ::config($name) 128}
    return [list $name $::config($name)]
}

rename ::redis::__dispatch__ ::redis::suite_dispatch
proc ::redis::__dispatch__ {id method args} {
    lassign $args what name value
    if {$::denytags ne {}} {
        switch -nocase $method {
            debug {if {[regexp -nocase $::debug_answered $what]} {return OK}}
            config {
                if {[regexp $::config_answered $name] &&
                        ![string match *introspection* $::curfile]} {
                    return [answer $name $what $value]
                }
            }
        }
    }
    uplevel 1 [list ::redis::suite_dispatch $id $method {*}$args]
}

# Is all that it asks of DEBUG answered above?
proc has_debug {code} {
    foreach {_ what} [regexp -all -inline -nocase {\mdebug +([\w-]+)} $code] {
        if {![regexp -nocase $::debug_answered $what]} {return 0}
    }
    return 1
}

# Reports each test with its tags, which the suite only uses to leave tests out.
rename test suite_test
proc test {name code {okpattern undefined} {tags {}}} {
    if {[has_debug $code]} {
        set tags [lsearch -all -inline -not $tags needs:debug]
    }
    send_data_packet $::test_server_fd test [list $name [concat $::tags $tags]]
    uplevel 1 [list suite_test $name $code $okpattern $tags]
}
