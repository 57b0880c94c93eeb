// SPDX-License-Identifier: Apache-2.0

// Models of locks and of what they protect: see ../../fault/lock_chaos.h.
package main

import (
    "fmt"
    "sort"
    "strings"
)

// lease is a lock of some capacity: 1 for an exclusive lock. A writer takes all
// of it, a reader or a permit a part.
type lease struct {
    token   int64  // of the last grant
    lapsed  bool   // what is granted does not exclude
    holders string // "hold:weight ..."
}

func parse(holders string) map[int64]int64 {
    weights := map[int64]int64{}
    for _, word := range strings.Fields(holders) {
        var hold, weight int64
        fmt.Sscanf(word, "%d:%d", &hold, &weight)
        weights[hold] = weight
    }
    return weights
}

func format(weights map[int64]int64) string {
    words := []string{}
    for hold, weight := range weights {
        words = append(words, fmt.Sprintf("%d:%d", hold, weight))
    }
    sort.Strings(words)
    return strings.Join(words, " ")
}

// leaseStep knows these calls:
//
//  acquire [hold, weight, capacity] -> [token]  there is room; the token grows
//  weigh [hold, weight]  a writer becomes a reader
//  end [hold]            it was released, or is no longer believed in
//  lapse [1], lapse [0]  from here to there the store may forget: those who
//                        hold, and what it grants meanwhile, exclude no one
func leaseStep(state interface{}, c call) (bool, interface{}) {
    next := state.(lease)
    weights := parse(next.holders)
    hold := c.In[0]
    switch c.Call {
    case "acquire":
        sum := c.In[1]
        for _, weight := range weights {
            sum += weight
        }
        if c.Out[0] <= next.token || sum > c.In[2] {
            return false, state
        }
        next.token = c.Out[0]
        if !next.lapsed {
            weights[hold] = c.In[1]
        }
    case "weigh":
        if _, holds := weights[hold]; holds {
            weights[hold] = c.In[1]
        }
    case "end":
        delete(weights, hold)
    case "lapse":
        next.lapsed = c.In[0] == 1
        weights = nil
    }
    next.holders = format(weights)
    return true, next
}

// register is a resource that knows the highest token it was given.
type register struct {
    token, value int64
}

// fence returns how a call with a token ends.
func (r register) fence(token int64) string {
    if token < r.token {
        return "CONFLICT"
    }
    return "OK"
}

// put writes value In[2] in place of In[1], which the same holder has read: no
// other one may have written since. A lower token than the holder's says that
// the register was wiped since.
func (r register) put(c call) (bool, interface{}) {
    outcome := r.fence(c.In[0])
    if outcome == "CONFLICT" {
        return c.Status == "" || c.Status == outcome, r
    }
    wiped := r.token < c.In[0]
    if c.Status == "" || c.Status == "OK" && (wiped || r.value == c.In[1]) {
        return true, register{c.In[0], c.In[2]}
    }
    return false, r
}

// registerStep: a resource in addition to the store. read [token] -> [value]
// raises the fence, too.
func registerStep(state interface{}, c call) (bool, interface{}) {
    found := state.(register)
    if c.Call == "write" {
        return found.put(c)
    }
    if found.fence(c.In[0]) == "CONFLICT" {
        return c.Status == "" || c.Status == "CONFLICT", found
    }
    return c.Status == "" || c.Status == "OK" && c.Out[0] == found.value,
        register{c.In[0], found.value}
}

// fencedStep: a hash that is written by hf_hash_put_fenced(): claim [token]
// only raises the fence, get reads without it.
func fencedStep(state interface{}, c call) (bool, interface{}) {
    found := state.(register)
    switch c.Call {
    case "put":
        return found.put(c)
    case "get":
        outcome := "OK"
        if found.value == 0 {
            outcome = "NOT_FOUND"
        }
        return c.Status == "" || c.Status == outcome && c.Out[0] == found.value,
            found
    }
    outcome := found.fence(c.In[0])
    if outcome == "OK" {
        found.token = c.In[0]
    }
    return c.Status == "" || c.Status == outcome, found
}
