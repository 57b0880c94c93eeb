// SPDX-License-Identifier: Apache-2.0

// A queue of jobs that several programs work on.
//
//	jobqueue put JOB PAYLOAD
//	jobqueue work [SECONDS]
//
// Jobs are items of a timeline, due at their times. A worker takes the first
// that is due and that it can lock; a lock that ends with its worker gives the
// job back. The job and its result change in one transaction, and the fencing
// token lets no worker that was paused replace the result of a newer one.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast/holdfast-go"
)

const jobs = "{jobs}"

// True: the job was done here.
func workOn(ctx context.Context, store *holdfast.Client, job string) (bool, error) {
	name := jobs + ":lock:" + job
	hold, err := store.Lock(name, holdfast.LockOptions{TTL: 10 * time.Second}).TryAcquire(ctx)
	if err != nil || hold == nil {
		return false, err // nil: another worker has it
	}
	defer hold.Release()

	// It may have been finished between the look and the lock.
	item, err := store.TimelineGet(ctx, jobs, job)
	if err != nil || item == nil {
		return false, err
	}
	result := slices.Clone(item.Payload) // what a job is: its text backwards
	slices.Reverse(result)

	finish := store.Txn()
	finish.IfToken(name, hold.Token())
	finish.Set(jobs+":result:"+job, result)
	finish.TimelineRemove(jobs, job)
	finish.Add(jobs+":runs:"+job, 1)
	done, err := finish.Exec(ctx)
	if done {
		fmt.Printf("%s %s\n", job, result)
	}
	return done, err // false: the lock was lost, another worker does it
}

// One job that is due; false: there is none, or others have them all.
func work(ctx context.Context, store *holdfast.Client) (bool, error) {
	due, err := store.TimelineDue(ctx, jobs, time.Now(), 100)
	for _, item := range due {
		if done, err := workOn(ctx, store, item.ID); done || err != nil {
			return done, err
		}
	}
	return false, err
}

func run(ctx context.Context, store *holdfast.Client, words []string) error {
	switch {
	case len(words) == 3 && words[0] == "put":
		return store.TimelineAdd(ctx, jobs, words[1], []byte(words[2]), 24*time.Hour, time.Now())
	case len(words) >= 1 && words[0] == "work":
		seconds := 60
		if len(words) > 1 {
			seconds, _ = strconv.Atoi(words[1])
		}
		until := time.Now().Add(time.Duration(seconds) * time.Second)
		for time.Now().Before(until) {
			done, err := work(ctx, store)
			if err != nil {
				return err
			}
			if !done {
				time.Sleep(20 * time.Millisecond)
			}
		}
		return nil
	}
	return fmt.Errorf("usage: jobqueue put JOB PAYLOAD | work [SECONDS]")
}

func main() {
	store, err := holdfast.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := run(context.Background(), store, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
