// SPDX-License-Identifier: Apache-2.0

// queue_asynq - asynq with its defaults, as bench/peers/queues.py describes it.
// Its lease is 30 s, and workers that are idle look each second.
package main

import (
    "bufio"
    "context"
    "fmt"
    "os"
    "strings"
    "sync"
    "time"

    "holdfast/interop/driver"

    "github.com/hibiken/asynq"
    "golang.org/x/sys/unix"
)

func now() int64 {
    var at unix.Timespec
    driver.Check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
    return at.Nano()
}

func scan(text string, numbers ...any) {
    _, err := fmt.Sscan(text, numbers...)
    driver.Check(err)
}

func work(redis asynq.RedisClientOpt, name string, words string) {
    var mutex sync.Mutex
    var slots, every, hold, count int
    seen := map[int]bool{}
    scan(words, &slots, &every, &hold)
    server := asynq.NewServer(redis, asynq.Config{Concurrency: slots,
        Queues: map[string]int{name: 1}, LogLevel: asynq.FatalLevel})
    handle := func(_ context.Context, job *asynq.Task) error {
        var put, number int
        scan(string(job.Payload()), &put, &number)
        mutex.Lock()
        count++
        seen[number] = true
        if count%every == 0 {
            fmt.Println(count, len(seen), now()-int64(put))
        }
        mutex.Unlock()
        time.Sleep(time.Duration(hold) * time.Millisecond)
        return nil
    }
    driver.Check(server.Start(asynq.HandlerFunc(handle)))
}

func main() {
    redis := asynq.RedisClientOpt{Addr: driver.Address()}
    if os.Args[2] == "work" {
        work(redis, os.Args[3], strings.Join(os.Args[4:], " "))
    }
    client, next := asynq.NewClient(redis), 0
    fmt.Println("ready", driver.Version("github.com/hibiken/asynq"))
    for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
        var verb, queue string
        count, began := 0, now()
        scan(lines.Text()+" 0", &verb, &queue, &count)
        if verb == "left" {
            info, err := asynq.NewInspector(redis).GetQueueInfo(queue)
            driver.Check(err)
            fmt.Println(info.Size)
            continue
        }
        for range count {
            payload := fmt.Sprintf("%-100s", fmt.Sprint(now(), " ", next))
            next++
            _, err := client.Enqueue(asynq.NewTask("job", []byte(payload)),
                asynq.Queue(queue))
            driver.Check(err)
        }
        fmt.Println((now() - began) / int64(count))
    }
}
