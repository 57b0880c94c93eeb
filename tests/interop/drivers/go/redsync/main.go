// SPDX-License-Identifier: Apache-2.0

// redsync PORT - redsync's driver.
package main

import (
    "errors"
    "time"

    "holdfast/interop/driver"

    "github.com/go-redsync/redsync/v4"
    "github.com/go-redsync/redsync/v4/redis/goredis/v9"
)

type held struct{ *redsync.Mutex }

// Whether it was taken by another, or had expired.
func taken(err error) bool {
    var all *redsync.ErrTaken
    var one *redsync.ErrNodeTaken
    return errors.As(err, &all) || errors.As(err, &one) ||
        errors.Is(err, redsync.ErrFailed) ||
        errors.Is(err, redsync.ErrLockAlreadyExpired)
}

func outcome(done bool, err error) bool {
    if taken(err) {
        return false
    }
    driver.Check(err)
    return done
}

func (h held) Renew() bool { return outcome(h.Extend()) }

func (h held) Release() string {
    return driver.Choose(outcome(h.Unlock()), "released", "lost")
}

func main() {
    driver.Main("github.com/go-redsync/redsync/v4",
        func(client driver.Client) driver.Acquire {
            pool := redsync.New(goredis.NewPool(client))
            return func(name string, wait, lease time.Duration) driver.Held {
                mutex := pool.NewMutex(name, redsync.WithExpiry(lease),
                    redsync.WithTries(1+int(wait/driver.Poll)),
                    redsync.WithRetryDelay(driver.Poll))
                if !outcome(true, mutex.Lock()) {
                    return nil
                }
                return held{mutex}
            }
        })
}
