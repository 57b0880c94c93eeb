// SPDX-License-Identifier: Apache-2.0

// contend_rueidislock - rueidislock's worker of bench_contended, with one key
// for a name instead of its default of three.
package main

import (
    "context"
    "time"

    "holdfast/interop/contend"

    "github.com/redis/rueidis"
    "github.com/redis/rueidis/rueidislock"
)

func main() {
    contend.Main(func(address string) func() func() {
        locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
            ClientOption: rueidis.ClientOption{InitAddress: []string{address}},
            KeyMajority:  1,
            KeyValidity:  30 * time.Second,
        })
        contend.Check(err)
        return func() func() {
            _, release, err := locker.WithContext(context.Background(),
                contend.Lock)
            contend.Check(err)
            return release
        }
    })
}
