// SPDX-License-Identifier: Apache-2.0

// The model of a work queue: see ../jobs.c.
package main

import (
    "fmt"
    "sort"
    "strings"
)

// job is taken under a hold, or ready: 0.
type job struct {
    number, priority, order, hold int64
}

// jobs has them as text, as a state is compared, in the order in which those
// that are ready are taken; put counts all that there were.
type jobs struct {
    put  int64
    list string
}

func parseJobs(list string) []job {
    all := []job{}
    for _, word := range strings.Fields(list) {
        var j job
        fmt.Sscanf(word, "%d:%d:%d:%d", &j.number, &j.priority, &j.order, &j.hold)
        all = append(all, j)
    }
    return all
}

func formatJobs(all []job) string {
    sort.Slice(all, func(i, k int) bool {
        if all[i].priority != all[k].priority {
            return all[i].priority > all[k].priority
        }
        return all[i].order < all[k].order
    })
    words := []string{}
    for _, j := range all {
        words = append(words, fmt.Sprintf("%d:%d:%d:%d", j.number, j.priority, j.order, j.hold))
    }
    return strings.Join(words, " ")
}

// held is the index of the one under a hold; 0: of the first that is ready.
func held(all []job, hold int64) int {
    for i, j := range all {
        if j.hold == hold {
            return i
        }
    }
    return -1
}

// queueStep knows these calls:
//
//  put [number, priority]
//  take [hold] -> [number]  the first that is ready; HELD: none is
//  done, again [hold, number]
//  done,take [hold, number, next hold] -> [number]  the two in one step, and so
//               again, defer and fail; HELD: it is ended, and none is ready
//  undo [..., hold]  a take got no reply: what it took, if anything, goes back,
//               at any time or never
func queueStep(state interface{}, c call) (bool, interface{}) {
    next := state.(jobs)
    all := parseJobs(next.list)
    outcome := "OK"
    end := strings.TrimSuffix(c.Call, ",take")
    takes := end != c.Call
    if end == "undo" {
        c.In = c.In[len(c.In)-1:]
    }
    if takes || end != "put" && end != "take" {
        i := held(all, c.In[0])
        switch {
        case i < 0:
            outcome, takes = "EXPIRED", false
        case end == "done" || end == "fail":
            all = append(all[:i], all[i+1:]...)
        default:
            all[i].hold = 0
        }
    }
    switch {
    case end == "put":
        next.put++
        all = append(all, job{c.In[0], c.In[1], next.put, 0})
    case takes || end == "take":
        if i := held(all, 0); i >= 0 {
            if c.Status != "" && (len(c.Out) == 0 || c.Out[0] != all[i].number) {
                return false, state
            }
            all[i].hold = c.In[len(c.In)-1]
        } else {
            outcome = "HELD"
        }
    }
    next.list = formatJobs(all)
    return c.Status == "" || c.Status == outcome, next
}
