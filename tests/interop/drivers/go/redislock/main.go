// SPDX-License-Identifier: Apache-2.0

// redislock PORT - driver of redislock by bsm.
package main

import (
    "context"
    "errors"
    "time"

    "holdfast/interop/driver"

    "github.com/bsm/redislock"
)

type held struct {
    lock  *redislock.Lock
    lease time.Duration
}

func outcome(err error) bool {
    if errors.Is(err, redislock.ErrNotObtained) ||
        errors.Is(err, redislock.ErrLockNotHeld) ||
        errors.Is(err, context.DeadlineExceeded) {
        return false
    }
    driver.Check(err)
    return true
}

func (h held) Renew() bool {
    return outcome(h.lock.Refresh(context.Background(), h.lease, nil))
}

func (h held) Release() string {
    return driver.Choose(outcome(h.lock.Release(context.Background())),
        "released", "lost")
}

func main() {
    driver.Main("github.com/bsm/redislock",
        func(client driver.Client) driver.Acquire {
            locker := redislock.New(client)
            return func(name string, wait, lease time.Duration) driver.Held {
                retry := redislock.LimitRetry(
                    redislock.LinearBackoff(driver.Poll), int(wait/driver.Poll))
                ctx, cancel := context.WithTimeout(context.Background(),
                    wait+time.Minute)
                defer cancel()
                lock, err := locker.Obtain(ctx, name, lease,
                    &redislock.Options{RetryStrategy: retry})
                if !outcome(err) {
                    return nil
                }
                return held{lock, lease}
            }
        })
}
