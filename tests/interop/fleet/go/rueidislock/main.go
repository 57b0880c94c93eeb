// SPDX-License-Identifier: Apache-2.0

// rueidislock PORT LOCK COUNTER MILLISECONDS - rueidislock's member. Its key for
// a name is PREFIX:0:NAME with KeyMajority 1, and three keys, :0 to :2, with
// 2, the default, two of which are enough: a library with one key cannot exclude that.
package main

import (
    "context"
    "errors"
    "strings"
    "time"

    "holdfast/fleet"

    "github.com/redis/go-redis/v9"
    "github.com/redis/rueidis"
    "github.com/redis/rueidis/rueidislock"
)

func main() {
    address := "127.0.0.1:" + fleet.Port()
    client := redis.NewClient(&redis.Options{Addr: address})
    locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
        ClientOption: rueidis.ClientOption{InitAddress: []string{address}},
        KeyPrefix:    "mutex",
        KeyMajority:  1,
        KeyValidity:  30 * time.Second,
    })
    fleet.Check(err)
    fleet.Run(client, func(ctx context.Context, name string) func() {
        waiting, giveUp := context.WithCancel(ctx)
        limit := time.AfterFunc(time.Second, giveUp)
        _, release, err := locker.WithContext(
            waiting, strings.TrimPrefix(name, "mutex:0:"))
        if errors.Is(err, context.Canceled) {
            return nil
        }
        fleet.Check(err)
        if !limit.Stop() {
            release()
            return nil
        }
        return func() { release(); giveUp() }
    })
}
