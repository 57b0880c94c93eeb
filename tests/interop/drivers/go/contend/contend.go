// SPDX-License-Identifier: Apache-2.0

// Package contend is what Go's workers of bench_contended share. The board, a
// file that they count in, is described in bench/contended.h.
package contend

import (
    "fmt"
    "os"
    "strconv"
    "sync"
    "sync/atomic"
    "syscall"
    "time"
    "unsafe"

    "golang.org/x/sys/unix"
)

const (
    Lock    = "contended"
    hold    = time.Millisecond
    stop    = 0 // words
    since   = 1
    by      = 2
    inside  = 3
    overlap = 4
    total   = 5
    worker  = 8 // four each
    logAt   = 4096
    logMax  = 1000000
)

// A Library makes the lock of one client: what acquires it, and returns what
// releases it.
type Library func(address string) func() func()

func Check(err error) {
    if err != nil {
        fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
        os.Exit(1)
    }
}

func number(i int) int {
    value, err := strconv.Atoi(os.Args[i])
    Check(err)
    return value
}

type board struct {
    words *[512]uint64
    log   *[logMax]uint32
}

func open(path string) board {
    file, err := os.OpenFile(path, os.O_RDWR, 0)
    Check(err)
    memory, err := syscall.Mmap(int(file.Fd()), 0, logAt+4*logMax,
        syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
    Check(err)
    return board{(*[512]uint64)(unsafe.Pointer(&memory[0])),
        (*[logMax]uint32)(unsafe.Pointer(&memory[logAt]))}
}

func (b board) get(i int) uint64        { return atomic.LoadUint64(&b.words[i]) }
func (b board) set(i int, value uint64) { atomic.StoreUint64(&b.words[i], value) }
func (b board) add(i int, value uint64) { b.set(i, b.get(i)+value) }

// Nanoseconds of CLOCK_MONOTONIC.
func now() uint64 {
    var at unix.Timespec
    Check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
    return uint64(at.Nano())
}

func (b board) enter(self uint64, at uint64) {
    after, i := at-b.get(since), b.get(total)
    if b.get(inside) != 0 {
        b.add(overlap, 1)
    }
    b.set(inside, self)
    if b.get(by) == self {
        after = 0
    }
    if i < logMax {
        atomic.StoreUint32(&b.log[i], uint32(min(after, 1<<32-1)))
    }
    b.set(total, i+1)
}

func (b board) leave(self uint64, entered uint64) {
    at, own := now(), worker+4*int(self-1)
    b.add(own+1, 1)
    b.add(own+2, at-entered)
    b.set(inside, 0)
    b.set(by, self)
    b.set(since, at)
}

func (b board) work(self uint64, acquire func() func(), pause time.Duration) {
    b.set(worker+4*int(self-1), 1)
    for b.get(stop) == 0 {
        time.Sleep(time.Millisecond)
    }
    for now() < b.get(stop) {
        release := acquire()
        at := now()
        b.enter(self, at)
        time.Sleep(hold)
        b.leave(self, at)
        release()
        if pause > 0 {
            time.Sleep(pause)
        }
    }
}

// Main runs PORT BOARD FIRST COUNT PAUSE_US apart|together.
func Main(library Library) {
    address := "127.0.0.1:" + os.Args[1]
    b := open(os.Args[2])
    first, count := number(3), number(4)
    pause := time.Duration(number(5)) * time.Microsecond
    var workers sync.WaitGroup
    for i := range count {
        acquire := library(address)
        workers.Go(func() { b.work(uint64(first+i+1), acquire, pause) })
    }
    workers.Wait()
    time.Sleep(200 * time.Millisecond) // a release may run in the background
}
