// SPDX-License-Identifier: Apache-2.0

// Package driver is what Go's drivers share; driver.py has the protocol.
package driver

import (
    "bufio"
    "context"
    "fmt"
    "os"
    "runtime/debug"
    "strconv"
    "strings"
    "time"

    "github.com/redis/go-redis/v9"
)

// Poll is how long to wait between two attempts.
const Poll = 20 * time.Millisecond

const (
    countWait  = time.Second
    countLease = 30 * time.Second
)

// Held is a lock that was acquired.
type Held interface {
    Renew() bool     // false: it is lost
    Release() string // what the driver replies
}

// Acquire returns nil if it was refused. With a wait of 0 it tries once.
type Acquire func(name string, wait, lease time.Duration) Held

// A Client is what go-redis makes.
type Client = *redis.Client

// Keys of a lock.
var Keys = func(name string) []string { return []string{name} }

type driver struct {
    client  Client
    acquire Acquire
    held    Held
    lease   time.Duration
}

func Check(err error) {
    if err != nil {
        fmt.Println("error", err)
        os.Exit(1)
    }
}

func Address() string { return "127.0.0.1:" + os.Args[1] }

// Version is that of a module in this program.
func Version(module string) string {
    info, _ := debug.ReadBuildInfo()
    for _, one := range info.Deps {
        if one.Path == module {
            return strings.TrimPrefix(one.Version, "v")
        }
    }
    return "unknown"
}

func number(word string) int {
    value, err := strconv.Atoi(word)
    Check(err)
    return value
}

func milliseconds(word string) time.Duration {
    return time.Duration(number(word)) * time.Millisecond
}

func microseconds(word string) time.Duration {
    return time.Duration(number(word)) * time.Microsecond
}

func Choose(yes bool, one, other string) string {
    if yes {
        return one
    }
    return other
}

func (d *driver) keep(duration time.Duration) bool {
    for end := time.Now().Add(duration); time.Now().Before(end); {
        time.Sleep(min(d.lease/3, time.Until(end)))
        if !d.held.Renew() {
            return false
        }
    }
    return true
}

func (d *driver) count(name, counter string, last int,
    hold, pause time.Duration) int {
    ctx := context.Background()
    times, value := 0, 0
    for value < last {
        held := d.acquire(name, countWait, countLease)
        if held == nil {
            continue
        }
        var err error
        value, err = d.client.Get(ctx, counter).Int()
        Check(err)
        if value < last {
            time.Sleep(hold)
            Check(d.client.Set(ctx, counter, value+1, 0).Err())
            times++
        }
        if held.Release() == "lost" {
            fmt.Println("error lost")
            os.Exit(1)
        }
        time.Sleep(pause)
    }
    return times
}

func (d *driver) pairs(name string, duration time.Duration) time.Duration {
    pairs, began := time.Duration(0), time.Now()
    for time.Since(began) < duration {
        d.acquire(name, countWait, countLease).Release()
        pairs++
    }
    return time.Since(began) / pairs
}

func (d *driver) obey(words []string) string {
    switch words[0] {
    case "acquire":
        d.lease = milliseconds(words[3])
        d.held = d.acquire(words[1], milliseconds(words[2]), d.lease)
        return Choose(d.held != nil, "held", "refused")
    case "keep":
        return Choose(d.keep(milliseconds(words[1])), "kept", "lost")
    case "release":
        return d.held.Release()
    case "break":
        deleted, err := d.client.Del(context.Background(),
            Keys(words[1])...).Result()
        Check(err)
        return Choose(deleted > 0, "broken", "free")
    case "count":
        return strconv.Itoa(d.count(words[1], words[2], number(words[3]),
            microseconds(words[4]), microseconds(words[5])))
    case "pairs":
        return strconv.FormatInt(d.pairs(words[1],
            milliseconds(words[2])).Nanoseconds(), 10)
    }
    return "error no such command"
}

// Main runs PORT.
func Main(module string, library func(client Client) Acquire) {
    client := redis.NewClient(&redis.Options{Addr: Address()})
    Check(client.Ping(context.Background()).Err())
    d := driver{client: client, acquire: library(client)}
    fmt.Println("ready", Version(module))
    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
        fmt.Println(d.obey(strings.Fields(lines.Text())))
    }
}
