// SPDX-License-Identifier: Apache-2.0

// contend_redsync - redsync's worker of bench_contended, with its defaults but
// for the lease.
package main

import (
    "context"
    "errors"
    "time"

    "holdfast/interop/contend"

    "github.com/go-redsync/redsync/v4"
    "github.com/go-redsync/redsync/v4/redis/goredis/v9"
    "github.com/redis/go-redis/v9"
)

func main() {
    contend.Main(func(address string) func() func() {
        client := redis.NewClient(&redis.Options{Addr: address})
        contend.Check(client.Ping(context.Background()).Err())
        mutex := redsync.New(goredis.NewPool(client)).NewMutex(contend.Lock,
            redsync.WithExpiry(30*time.Second))
        return func() func() {
            for {
                err := mutex.Lock()
                var taken *redsync.ErrTaken
                if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
                    continue
                }
                contend.Check(err)
                return func() {
                    _, err := mutex.Unlock()
                    contend.Check(err)
                }
            }
        }
    })
}
