// SPDX-License-Identifier: Apache-2.0

// checker - is a history of ../history.c linearizable? Reads it from standard
// input; the models are those of ../models.c. Exit status: 0 yes, 1 no, 2 it
// could not be decided.
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
    "value":   {int64(0), valueStep},
    "counter": {counter{}, counterStep},
    "txn":     {registers{}, txnStep},
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

func model(name string) porcupine.Model {
    of := steps[name]
    return porcupine.Model{
        Init: func() interface{} { return of.start },
        Step: func(state, input, output interface{}) (bool, interface{}) {
            return of.step(state, input.(call))
        },
    }
}

func read() (map[int][]call, error) {
    histories := map[int][]call{}
    lines := bufio.NewScanner(os.Stdin)
    for lines.Scan() {
        var c call
        if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
            return nil, err
        }
        if _, known := steps[c.Model]; !known {
            return nil, fmt.Errorf("no model %q", c.Model)
        }
        histories[c.Key] = append(histories[c.Key], c)
    }
    return histories, lines.Err()
}

func check(history []call) porcupine.CheckResult {
    operations := []porcupine.Operation{}
    for _, c := range history {
        returned := c.Returned
        if c.Status == "" {
            returned = math.MaxInt64
        }
        operations = append(operations, porcupine.Operation{
            ClientId: c.Client, Input: c, Call: c.Began, Return: returned})
    }
    return porcupine.CheckOperationsTimeout(model(history[0].Model), operations,
        timeLimit)
}

func report(key int, history []call, result porcupine.CheckResult) {
    fmt.Printf("key %d: %s\n", key, result)
    sort.Slice(history, func(i, j int) bool {
        return history[i].Began < history[j].Began
    })
    for _, c := range history {
        fmt.Printf("  %d..%d client %d: %s %v -> %s %v\n", c.Began, c.Returned,
            c.Client, c.Call, c.In, c.Status, c.Out)
    }
}

func main() {
    histories, err := read()
    if err != nil || len(histories) == 0 {
        fmt.Println("no history:", err)
        os.Exit(2)
    }
    calls, unknown := 0, 0
    for key, history := range histories {
        calls += len(history)
        for _, c := range history {
            if c.Status == "" {
                unknown++
            }
        }
        switch result := check(history); result {
        case porcupine.Ok:
        case porcupine.Illegal:
            report(key, history, result)
            fmt.Println("not linearizable")
            os.Exit(1)
        default:
            report(key, history, result)
            os.Exit(2)
        }
    }
    fmt.Printf("%d calls on %d keys, %d with an unknown outcome: linearizable\n",
        calls, len(histories), unknown)
}
