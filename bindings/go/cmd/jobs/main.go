// SPDX-License-Identifier: Apache-2.0

// The second example of README.md, as it is there.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast/holdfast-go"
)

func sendOnce(ctx context.Context, store *holdfast.Client, job *holdfast.Job) error {
	defer job.Release() // puts it back, if it was not ended
	// The job may be done again; its mail is sent once.
	once := store.Once("sent:"+job.ID, holdfast.OnceOptions{}, holdfast.LockOptions{})
	claim, err := once.Claim(ctx)
	if err != nil {
		return err
	}
	defer claim.Release()
	if claim.Before == nil {
		fmt.Printf("sending %s\n", job.Payload)
		if err := claim.Complete(0, nil); err != nil {
			return err
		}
	}
	return job.Done()
}

func main() {
	ctx := context.Background()
	store, err := holdfast.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	mail := store.Queue("mail", holdfast.LockOptions{})
	mail.Put(ctx, []byte("to: ann"), holdfast.PutOptions{Attempts: 5})
	job, err := mail.TryTake(ctx) // Take waits for one
	for err == nil && job != nil {
		if err = sendOnce(ctx, store, job); err == nil {
			job, err = mail.TryTake(ctx)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}
