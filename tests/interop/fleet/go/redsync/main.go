// SPDX-License-Identifier: Apache-2.0

// redsync PORT LOCK COUNTER MILLISECONDS - redsync's member.
package main

import (
    "context"
    "errors"
    "time"

    "holdfast/fleet"

    "github.com/go-redsync/redsync/v4"
    "github.com/go-redsync/redsync/v4/redis/goredis/v9"
    "github.com/redis/go-redis/v9"
)

func main() {
    client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + fleet.Port()})
    pool := redsync.New(goredis.NewPool(client))
    fleet.Run(client, func(ctx context.Context, name string) func() {
        mutex := pool.NewMutex(name, redsync.WithExpiry(30*time.Second))
        err := mutex.LockContext(ctx)
        var taken *redsync.ErrTaken
        if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
            return nil
        }
        fleet.Check(err)
        return func() {
            _, err := mutex.UnlockContext(ctx)
            fleet.Check(err)
        }
    })
}
