// SPDX-License-Identifier: Apache-2.0

// Model of work that is done once.
package main

// What is known about an earlier claim that ended without a result.
const (
    sure = iota // there was none
    doubt
    perhaps // it was given back, or not
)

// undone is the token of a claim with an unknown outcome, which the library
// gives back if it can: until then the work is claimed, or in doubt. Of a store
// that may be sent a claim twice this model knows too little: the first may
// have been taken over before the second is refused.
const undone = -1

// work is what a record says; a lease may have ended at any time.
type work struct {
    claim  int64 // token of the last claim; 0: it was given back, or undone
    doubt  int
    result int64 // 0: it is not done
}

func (w work) isNew() bool {
    return w.result == 0 && w.claim <= 0 && w.doubt != doubt
}

// takeOver is the claim of another by one that has this token.
func (w work) takeOver(token int64) work {
    switch {
    case w.claim > 0:
        w.doubt = doubt
    case w.claim == undone && w.doubt == sure:
        w.doubt = perhaps
    }
    w.claim = token
    return w
}

// onceStep knows these calls:
//
//  claim [retry] -> [token, or the result]  retry 1: of work in doubt, too
//  complete [token, result]
//  fail [token]  the work is given back
func onceStep(state interface{}, c call) (bool, interface{}) {
    found := state.(work)
    if c.Call == "claim" {
        return claimStep(found, c)
    }
    next, mine := found, found.claim == c.In[0] && found.result == 0
    if mine && c.Call == "complete" {
        next.result = c.In[1]
    } else if mine {
        next.claim = 0
    }
    switch c.Status {
    case "OK":
        return mine, next
    case "LOST":
        return !mine && found != work{}, found
    case "EXPIRED":
        return !mine && found.isNew(), found
    }
    return c.Status == "", next
}

func claimStep(found work, c call) (bool, interface{}) {
    retries := c.In[0] == 1
    switch c.Status {
    case "OK":
        if found.isNew() && !retries {
            return true, work{claim: c.Out[0]}
        }
        return retries && found.result == 0, found.takeOver(c.Out[0])
    case "HELD":
        return found.result == 0 && found.claim != 0, found
    case "CONFLICT":
        return found.result != 0 && c.Out[0] == found.result, found
    case "EXPIRED":
        return found.result == 0 && (found.claim != 0 || found.doubt != sure),
            found
    case "":
        if found.result == 0 && (retries || found.isNew()) {
            return true, found.takeOver(undone)
        }
        return true, found
    }
    return false, found
}
