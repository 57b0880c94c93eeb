// SPDX-License-Identifier: Apache-2.0

// checker - is a history linearizable? Reads it from standard input, as printed
// by ../recording.c: the models of ../models.c are here, those of locks in
// leases.go, of work that is done once in once.go. Exit status: 0 yes, 1 no, 2 it could not be decided.
package main

import (
    "bufio"
    "encoding/json"
    "fmt"
    "math"
    "os"
    "sort"
    "time"

    "github.com/anishathalye/porcupine"
)

// Enough for a history of ../history.c on a slow machine.
const timeLimit = 60 * time.Second

// A call; without Status its outcome is unknown.
type call struct {
    Model    string
    Key      int
    Client   int
    Call     string
    In       []int64
    Status   string
    Out      []int64
    Began    int64
    Returned int64
}

// A step says whether a call may have had this outcome in a state, and which
// state follows. A call with an unknown outcome has its effect, perhaps after
// all others.
type step func(state interface{}, c call) (bool, interface{})

var steps = map[string]struct {
    start interface{}
    step  step
}{
    "value":     {int64(0), valueStep},
    "hash":      {int64(0), valueStep}, // a field
    "counter":   {counter{}, counterStep},
    "txn":       {registers{}, txnStep},
    "once":      {}, // see model()
    "queue":     {},
    "register":  {register{}, registerStep},
    "fenced":    {register{}, fencedStep},
    "mutex":     {lease{}, leaseStep},
    "rwlock":    {lease{}, leaseStep},
    "semaphore": {lease{}, leaseStep},
    "election":  {lease{}, leaseStep},
}

// compare is what a call finds that expects a value; 0 is absent.
func compare(found, expected int64) string {
    switch {
    case found == expected:
        return "OK"
    case found == 0:
        return "NOT_FOUND"
    }
    return "CONFLICT"
}

func valueStep(state interface{}, c call) (bool, interface{}) {
    found := state.(int64)
    outcome, next := "OK", found
    switch c.Call {
    case "get":
        if found == 0 {
            outcome = "NOT_FOUND"
        }
    case "set":
        next = c.In[0]
    case "cas":
        outcome = compare(found, c.In[0])
        if outcome == "OK" {
            next = c.In[1]
        }
    case "delete_if":
        // No value is 0, so an absent key is never the expected one.
        outcome = compare(found, c.In[0])
        if found == 0 {
            outcome = "NOT_FOUND"
        } else if outcome == "OK" {
            next = 0
        }
    }
    if c.Status == "" {
        return true, next
    }
    fits := outcome == c.Status
    if c.Call == "get" || outcome == "CONFLICT" {
        fits = fits && c.Out[0] == found
    }
    return fits, next
}

type counter struct {
    exists bool
    number int64
}

// The lower bound of the counters is 0.
func counterStep(state interface{}, c call) (bool, interface{}) {
    found := state.(counter)
    if c.Call == "get" {
        outcome := "OK"
        if !found.exists {
            outcome = "NOT_FOUND"
        }
        return c.Status == "" || c.Status == outcome && c.Out[0] == found.number,
            found
    }
    next := counter{true, found.number + c.In[0]}
    outcome, number := "OK", next.number
    if next.number < 0 {
        outcome, number, next = "CONFLICT", found.number, found
    }
    return c.Status == "" || c.Status == outcome && c.Out[0] == number, next
}

type registers [2]int64

// In has what is expected of each register, -1 for anything, and what is
// written, 0 for nothing.
func txnStep(state interface{}, c call) (bool, interface{}) {
    found := state.(registers)
    if c.Call == "read" {
        return c.Status == "" || c.Status == "OK" &&
            found == registers{c.Out[0], c.Out[1]}, found
    }
    outcome, next := "OK", found
    for i := range found {
        if c.In[i] >= 0 && c.In[i] != found[i] {
            outcome = "CONFLICT"
        }
        if c.In[2+i] != 0 {
            next[i] = c.In[2+i]
        }
    }
    if outcome == "CONFLICT" {
        next = found
    }
    return c.Status == "" || c.Status == outcome, next
}

// lost is the state of data on which nothing is claimed any more: its server was
// replaced by one that may lack its last writes.
type lost struct{}

// faulty adds what happens to all data of a store.
func faulty(start interface{}, of step) step {
    return func(state interface{}, c call) (bool, interface{}) {
        _, gone := state.(lost)
        switch {
        case gone || c.Call == "lose":
            return true, lost{}
        case c.Call == "wipe":
            return true, start
        }
        return of(state, c)
    }
}

// severalModel has more than one next state: it is not known what arrives of a
// call, or what a take without a reply took.
func severalModel[State any](start State, next func(State, call) []State) porcupine.Model {
    model := porcupine.NondeterministicModel{
        Init: func() []interface{} { return []interface{}{start} },
        Step: func(state, input, output interface{}) []interface{} {
            all := []interface{}{}
            for _, possible := range next(state.(State), input.(call)) {
                all = append(all, possible)
            }
            return all
        },
    }
    return model.ToModel()
}

func model(name string) porcupine.Model {
    switch name {
    case "once":
        return severalModel(work{}, onceStep)
    case "queue":
        return severalModel("", queueStep)
    }
    of := steps[name]
    next := faulty(of.start, of.step)
    return porcupine.Model{
        Init: func() interface{} { return of.start },
        Step: func(state, input, output interface{}) (bool, interface{}) {
            return next(state, input.(call))
        },
    }
}

// Each key of each model has a history of its own.
type subject struct {
    model string
    key   int
}

func read() (map[subject][]call, error) {
    histories := map[subject][]call{}
    lines := bufio.NewScanner(os.Stdin)
    for lines.Scan() {
        var c call
        if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
            return nil, err
        }
        if _, known := steps[c.Model]; !known {
            return nil, fmt.Errorf("no model %q", c.Model)
        }
        of := subject{c.Model, c.Key}
        histories[of] = append(histories[of], c)
    }
    return histories, lines.Err()
}

// check also returns the calls that fit, in an order in which they do.
func check(history []call) (porcupine.CheckResult, []call) {
    operations := []porcupine.Operation{}
    for _, c := range history {
        returned := c.Returned
        if c.Status == "" {
            returned = math.MaxInt64
        }
        operations = append(operations, porcupine.Operation{
            ClientId: c.Client, Input: c, Call: c.Began, Return: returned})
    }
    result, info := porcupine.CheckOperationsVerbose(model(history[0].Model),
        operations, timeLimit)
    longest := []call{}
    for _, part := range info.PartialLinearizationsOperations() {
        for _, fitting := range part {
            if len(fitting) <= len(longest) {
                continue
            }
            longest = longest[:0]
            for _, o := range fitting {
                longest = append(longest, o.Input.(call))
            }
        }
    }
    return result, longest
}

func printCall(mark string, c call) {
    status := c.Status
    if status == "" {
        status = "?"
    }
    fmt.Printf("  %s %d..%d client %d: %s %v -> %s %v\n", mark, c.Began,
        c.Returned, c.Client, c.Call, c.In, status, c.Out)
}

// Calls around the offending one that are printed.
const around = 12

// report prints the last calls that fit, marked =, in their order, and then the
// first that do not, marked !, by their beginning.
func report(of subject, history, fitting []call, result porcupine.CheckResult) {
    fmt.Printf("%s, key %d: %s\n", of.model, of.key, result)
    left := map[string]int{}
    for _, c := range history {
        left[fmt.Sprint(c)]++
    }
    for i, c := range fitting {
        left[fmt.Sprint(c)]--
        if i >= len(fitting)-around {
            printCall("=", c)
        }
    }
    sort.Slice(history, func(i, j int) bool {
        return history[i].Began < history[j].Began
    })
    shown := 0
    for _, c := range history {
        if left[fmt.Sprint(c)] > 0 && shown < around {
            left[fmt.Sprint(c)]--
            printCall("!", c)
            shown++
        }
    }
}

// A tally of one model, for the summary.
type tally struct{ histories, calls, unknown, illegal int }

func (t *tally) add(history []call, result porcupine.CheckResult) {
    t.histories++
    t.calls += len(history)
    for _, c := range history {
        if c.Status == "" {
            t.unknown++
        }
    }
    if result == porcupine.Illegal {
        t.illegal++
    }
}

func main() {
    histories, err := read()
    if err != nil || len(histories) == 0 {
        fmt.Println("no history:", err)
        os.Exit(2)
    }
    tallies := map[string]*tally{}
    status := 0
    for of, history := range histories {
        result, fitting := check(history)
        if tallies[of.model] == nil {
            tallies[of.model] = &tally{}
        }
        tallies[of.model].add(history, result)
        switch {
        case result == porcupine.Ok:
            continue
        case result == porcupine.Illegal:
            status = 1
        case status == 0:
            status = 2
        }
        report(of, history, fitting, result)
    }
    for name, t := range tallies {
        fmt.Printf("%s: %d calls on %d keys, %d with an unknown outcome; "+
            "%d keys not linearizable\n", name, t.calls, t.histories,
            t.unknown, t.illegal)
    }
    os.Exit(status)
}
