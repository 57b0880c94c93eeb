// SPDX-License-Identifier: Apache-2.0

// The model of a work queue: see ../jobs.c.
package main

import (
    "fmt"
    "math"
    "sort"
    "strings"
)

// job is taken under a hold, or ready: untaken, or given back. When it was put
// only matters as long as it is untaken.
type job struct {
    number, priority, hold int64
    began, returned        int64
}

const (
    givenBack = 0
    untaken   = -1
)

// A state is the text of its jobs: first those that were taken, in the order in
// which they were for the first time, which is their order in the queue, as it
// lasts; then those that are untaken. Which of these comes first is decided by
// the take that finds it out: the orders in which they may have been put would
// be as many states, for which no time is enough.
func parseJobs(state string) []job {
    all := []job{}
    for _, word := range strings.Fields(state) {
        var j job
        fmt.Sscanf(word, "%d:%d:%d:%d:%d", &j.number, &j.priority, &j.hold,
            &j.began, &j.returned)
        all = append(all, j)
    }
    return all
}

func formatJobs(all []job) string {
    words := []string{}
    for _, j := range all {
        words = append(words, fmt.Sprintf("%d:%d:%d:%d:%d", j.number,
            j.priority, j.hold, j.began, j.returned))
    }
    return strings.Join(words, " ")
}

// put adds a job behind each that was taken.
func put(all []job, j job) []job {
    i := len(all)
    for i > 0 && all[i-1].hold == untaken && all[i-1].number > j.number {
        i--
    }
    next := append(append([]job{}, all[:i]...), j)
    return append(next, all[i:]...)
}

// first are the indices of those of which one is the first that is ready: of
// untaken jobs, each that was not put after another.
func first(all []job) []int {
    best := []int{}
    for i, j := range all {
        if j.hold > 0 || len(best) > 0 && j.priority < all[best[0]].priority {
            continue
        }
        if len(best) > 0 && j.priority > all[best[0]].priority {
            best = nil
        }
        if len(best) == 0 || all[best[0]].hold == untaken {
            best = append(best, i)
        }
    }
    earliest := int64(math.MaxInt64)
    for _, i := range best {
        if all[i].returned < earliest {
            earliest = all[i].returned
        }
    }
    possible := []int{}
    for _, i := range best {
        if all[i].began <= earliest {
            possible = append(possible, i)
        }
    }
    return possible
}

// take gives a job to a hold.
func take(all []job, i int, hold int64) []job {
    next := append([]job{}, all...)
    if next[i].hold == untaken {
        taken := sort.Search(len(all), func(k int) bool {
            return all[k].hold == untaken
        })
        copy(next[taken+1:], all[taken:i])
        next[taken] = job{number: all[i].number, priority: all[i].priority}
        i = taken
    }
    next[i].hold = hold
    return next
}

// end is what a hold's job becomes; false: it has none.
func end(all []job, call string, hold int64) ([]job, bool) {
    for i, j := range all {
        switch {
        case j.hold != hold:
            continue
        case call == "done" || call == "fail":
            return append(append([]job{}, all[:i]...), all[i+1:]...), true
        }
        next := append([]job{}, all...)
        next[i].hold = givenBack
        return next, true
    }
    return all, false
}

func putStep(all []job, c call) []string {
    j := job{c.In[0], c.In[1], untaken, c.Began, c.Returned}
    if c.Status == "" {
        j.returned = math.MaxInt64
    }
    return []string{formatJobs(put(all, j))}
}

func takeStep(all []job, c call) []string {
    states := []string{}
    ready := first(all)
    for _, i := range ready {
        if c.Status == "" ||
            c.Status == "OK" && len(c.Out) > 0 && c.Out[0] == all[i].number {
            states = append(states, formatJobs(take(all, i, c.In[len(c.In)-1])))
        }
    }
    if len(ready) == 0 && (c.Status == "" || c.Status == "HELD") {
        states = append(states, formatJobs(all))
    }
    return states
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
func queueStep(state string, c call) []string {
    all := parseJobs(state)
    switch c.Call {
    case "put":
        return putStep(all, c)
    case "take":
        return takeStep(all, c)
    case "undo":
        all, _ = end(all, c.Call, c.In[len(c.In)-1])
        return []string{formatJobs(all)}
    }
    all, held := end(all, strings.TrimSuffix(c.Call, ",take"), c.In[0])
    switch {
    case !held && (c.Status == "" || c.Status == "EXPIRED"):
        return []string{state}
    case !held:
        return nil
    case strings.HasSuffix(c.Call, ",take"):
        return takeStep(all, c)
    case c.Status == "" || c.Status == "OK":
        return []string{formatJobs(all)}
    }
    return nil
}
