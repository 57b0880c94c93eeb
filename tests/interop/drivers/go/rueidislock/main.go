// SPDX-License-Identifier: Apache-2.0

// rueidislock PORT MAJORITY - rueidislock's driver. Its keys for a name are
// "mutex:0:NAME" and, with the default majority of 2, also "mutex:1:NAME" and
// "mutex:2:NAME", of which it needs two. It renews a lock by itself.
package main

import (
    "context"
    "errors"
    "fmt"
    "os"
    "strconv"
    "strings"
    "time"

    "holdfast/interop/driver"

    "github.com/redis/rueidis"
    "github.com/redis/rueidis/rueidislock"
)

const (
    prefix  = "mutex"
    named   = prefix + ":0:"
    keysFmt = prefix + ":%d:%s"
)

type held struct {
    ctx    context.Context
    cancel context.CancelFunc
}

func (h held) Renew() bool { return h.ctx.Err() == nil }

// It does not say whether the lock was still held.
func (h held) Release() string {
    mayHold := h.Renew()
    h.cancel()
    return driver.Choose(mayHold, "unknown", "lost")
}

type library struct {
    majority int32
    lockers  map[time.Duration]rueidislock.Locker
}

func (l library) locker(lease time.Duration) rueidislock.Locker {
    if l.lockers[lease] == nil {
        locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
            ClientOption: rueidis.ClientOption{
                InitAddress: []string{driver.Address()}},
            KeyPrefix:    prefix,
            KeyMajority:  l.majority,
            KeyValidity:  lease,
            TryNextAfter: time.Second,
        })
        driver.Check(err)
        l.lockers[lease] = locker
    }
    return l.lockers[lease]
}

// A deadline of the context would be one of the lock.
func within(wait time.Duration, locker rueidislock.Locker, name string) (
    context.Context, context.CancelFunc, error) {
    if wait == 0 {
        return locker.TryWithContext(context.Background(), name)
    }
    waiting, giveUp := context.WithCancel(context.Background())
    limit := time.AfterFunc(wait, giveUp)
    ctx, cancel, err := locker.WithContext(waiting, name)
    if err == nil && !limit.Stop() {
        cancel()
        err = context.Canceled
    }
    return ctx, cancel, err
}

func (l library) acquire(name string, wait, lease time.Duration) driver.Held {
    name = strings.TrimPrefix(name, named)
    ctx, cancel, err := within(wait, l.locker(lease), name)
    if errors.Is(err, rueidislock.ErrNotLocked) ||
        errors.Is(err, context.Canceled) {
        return nil
    }
    driver.Check(err)
    return held{ctx, cancel}
}

func main() {
    majority, err := strconv.Atoi(os.Args[2])
    driver.Check(err)
    driver.Keys = func(name string) []string {
        var keys []string
        for i := range 2*majority - 1 {
            keys = append(keys, fmt.Sprintf(keysFmt, i,
                strings.TrimPrefix(name, named)))
        }
        return keys
    }
    driver.Main("github.com/redis/rueidis", func(driver.Client) driver.Acquire {
        return library{int32(majority),
            map[time.Duration]rueidislock.Locker{}}.acquire
    })
}
