// SPDX-License-Identifier: Apache-2.0

// Package fleet is what Go's members of the mixed fleet (fleet.py) share.
package fleet

import (
    "bufio"
    "context"
    "fmt"
    "os"
    "strconv"
    "time"

    "github.com/redis/go-redis/v9"
)

// Acquire returns what releases the lock, or nil if it gave up.
type Acquire func(ctx context.Context, name string) func()

func Check(err error) {
    if err != nil {
        fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
        os.Exit(1)
    }
}

func Port() string { return os.Args[1] }

// Run holds the lock for 10 ms at a time and counts.
func Run(client *redis.Client, acquire Acquire) {
    ctx := context.Background()
    name, counter := os.Args[2], os.Args[3]
    milliseconds, err := strconv.Atoi(os.Args[4])
    Check(err)
    Check(client.Ping(ctx).Err())
    fmt.Println("ready")
    _, _ = bufio.NewReader(os.Stdin).ReadString('\n')
    end := time.Now().Add(time.Duration(milliseconds) * time.Millisecond)
    held := 0
    for time.Now().Before(end) {
        release := acquire(ctx, name)
        if release == nil {
            continue
        }
        value, err := client.Get(ctx, counter).Int()
        Check(err)
        time.Sleep(10 * time.Millisecond)
        Check(client.Set(ctx, counter, value+1, 0).Err())
        release()
        held++
    }
    fmt.Println(held)
}
