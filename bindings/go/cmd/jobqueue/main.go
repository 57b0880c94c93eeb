// SPDX-License-Identifier: Apache-2.0

// A queue of jobs that several programs work on.
//
//	jobqueue put JOB PAYLOAD
//	jobqueue work [SECONDS]
//
// The job of a worker that was killed is taken by another when its lease ends,
// so it may be done twice. Its result is stored only while the worker has the
// job: one that was paused does not replace the result of a newer one.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast/holdfast-go"
)

const jobs = "{jobs}"

// What a job is: here, its text backwards, which takes a while.
func reversed(payload []byte) []byte {
	time.Sleep(20 * time.Millisecond)
	result := slices.Clone(payload)
	slices.Reverse(result)
	return result
}

func workOn(ctx context.Context, store *holdfast.Client, job *holdfast.Job) error {
	defer job.Release() // puts it back, if it was not ended
	result := reversed(job.Payload)
	write := store.Txn()
	write.IfHeld(job.Hold)
	write.Set(jobs+":result:"+job.ID, result)
	write.Add(jobs+":runs:"+job.ID, 1)
	written, err := write.Exec(ctx)
	if written {
		err = job.Done()
	}
	if errors.Is(err, holdfast.Lost) || errors.Is(err, holdfast.Expired) {
		return nil // another worker has the job
	}
	if written && err == nil {
		fmt.Printf("%s %s\n", job.ID, result)
	}
	return err
}

func work(ctx context.Context, store *holdfast.Client, queue *holdfast.Queue) error {
	for {
		job, err := queue.Take(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := workOn(context.Background(), store, job); err != nil {
			return err
		}
	}
}

func run(store *holdfast.Client, words []string) error {
	ctx := context.Background()
	// Renewed; what a killed worker delays its job for.
	queue := store.Queue(jobs, holdfast.LockOptions{TTL: 5 * time.Second})
	switch {
	case len(words) == 3 && words[0] == "put":
		put, err := queue.Put(ctx, []byte(words[2]), holdfast.PutOptions{ID: words[1]})
		if err == nil && !put {
			err = fmt.Errorf("the queue has %s already", words[1])
		}
		return err
	case len(words) >= 1 && words[0] == "work":
		seconds := 60
		if len(words) > 1 {
			seconds, _ = strconv.Atoi(words[1])
		}
		limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
		return work(limited, store, queue)
	}
	return fmt.Errorf("usage: jobqueue put JOB PAYLOAD | work [SECONDS]")
}

func main() {
	store, err := holdfast.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := run(store, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
