// SPDX-License-Identifier: Apache-2.0

// Model of work that is done once.
package main

import (
    "fmt"
    "math"
    "strings"
)

// work is what a record says; the clocks of store and clients run alike.
type work struct {
    claim  int64 // token of the claim; -number: its token is not known; 0: none
    doubt  bool  // an earlier claim ended without a result
    until  int64 // the claim's lease does not end before this, ns
    result int64 // 0: it is not done
    sent   string
}

// sending is a call that may reach the store at any time, any number of times:
// its effect is not known, or it may have been sent again.
type sending struct {
    number, retries, until int64 // a claim
    token                  int64 // or the claim that is given back; 0: a claim
}

// Leases end by the store's clock, which may be adjusted meanwhile.
const slack = 1000000

func (w work) isNew() bool {
    return w.result == 0 && w.claim == 0 && !w.doubt
}

// giveBack is the record after its work has failed.
func (w work) giveBack() work {
    w.claim, w.until = 0, 0
    return w
}

// grant gives the work to a claim, at an instant not after now.
func (w work) grant(claim, retries, until, now int64) (work, bool) {
    fits := w.isNew() ||
        w.result == 0 && retries == 1 && w.until <= now
    w.doubt = !w.isNew()
    w.claim, w.until = claim, until
    return w, fits
}

func parseSent(list string) []sending {
    all := []sending{}
    for _, word := range strings.Fields(list) {
        var s sending
        fmt.Sscanf(word, "%d:%d:%d:%d", &s.number, &s.retries, &s.until, &s.token)
        all = append(all, s)
    }
    return all
}

func (s sending) String() string {
    return fmt.Sprintf(" %d:%d:%d:%d", s.number, s.retries, s.until, s.token)
}

// settled is the record once it is known that a call arrives no more.
func (w work) settled(number int64) work {
    for _, s := range parseSent(w.sent) {
        if s.number == number {
            w.sent = strings.Replace(w.sent, s.String(), "", 1)
        }
    }
    return w
}

// arrive is what a call that was sent may do to a record. A claim that got no
// reply is also given back by its client, at any time.
func (s sending) arrive(w work, now int64) []work {
    next := []work{}
    switch {
    case s.token != 0:
        if w.claim == s.token && w.result == 0 {
            next = append(next, w.giveBack())
        }
    case w.claim == -s.number && w.result == 0:
        next = append(next, w.giveBack())
    default:
        if granted, fits := w.grant(-s.number, s.retries, s.until, now); fits {
            next = append(next, granted)
        }
    }
    return next
}

// reachable are the records that a record may have become until now.
func reachable(from work, now int64) []work {
    all, known := []work{from}, map[work]bool{from: true}
    sent := parseSent(from.sent)
    for i := 0; i < len(all); i++ {
        for _, s := range sent {
            for _, next := range s.arrive(all[i], now) {
                if !known[next] {
                    known[next] = true
                    all = append(all, next)
                }
            }
        }
    }
    return all
}

// onceStep knows these calls:
//
//  claim [retry, number, lease] -> [token, or the result]  retry 1: of work in
//                                                 doubt, too; a lease of so many ns
//  complete [token, result]
//  fail [token, number]  the work is given back
//  claim_sent, fail_sent  the call with these arguments may arrive from now on,
//                         until that call; at any time if it got no reply
func onceStep(found work, c call) []work {
    now := c.Returned
    if c.Status == "" {
        now = math.MaxInt64
    }
    switch c.Call {
    case "claim_sent":
        found.sent += sending{c.In[1], c.In[0], c.Began + c.In[2] - slack, 0}.String()
        return []work{found}
    case "fail_sent":
        found.sent += sending{c.In[1], 0, 0, c.In[0]}.String()
        return []work{found}
    }
    next := []work{}
    for _, w := range reachable(found, now) {
        if c.Call == "claim" {
            next = append(next, claimStep(w, c)...)
        } else {
            next = append(next, endStep(w, c)...)
        }
    }
    return next
}

// endStep: a release that is sent again while the lease is valid is OK, whatever
// the second finds.
func endStep(found work, c call) []work {
    next, mine := found, found.claim == c.In[0] && found.result == 0
    if mine && c.Call == "complete" {
        next.result = c.In[1]
    } else if mine {
        next = found.giveBack()
    }
    resent := false
    if c.Call == "fail" {
        next = next.settled(c.In[1])
        resent = next.sent != found.sent
    }
    fits := c.Status == ""
    switch c.Status {
    case "OK":
        fits = mine || resent
    case "LOST":
        fits = !mine && (found.claim != 0 || found.doubt || found.result != 0)
    case "EXPIRED":
        fits = !mine && found.isNew()
    }
    if !fits {
        return nil
    }
    return []work{next}
}

func claimStep(found work, c call) []work {
    next, own := found.settled(c.In[1]), found.claim == -c.In[1]
    fits := false
    switch c.Status {
    case "OK":
        until := c.Began + c.In[2] - slack
        if own {
            fits = found.result == 0
            next.claim = c.Out[0]
        } else {
            next, fits = next.grant(c.Out[0], c.In[0], until, c.Returned)
        }
    case "HELD":
        fits = found.result == 0 && found.claim != 0 && !own
    case "CONFLICT":
        fits = found.result != 0 && c.Out[0] == found.result
    case "EXPIRED":
        fits = found.result == 0 && !own && c.In[0] == 0 && !found.isNew() &&
            found.until <= c.Returned
    }
    if !fits {
        return nil
    }
    return []work{next}
}
