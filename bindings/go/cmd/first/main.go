// SPDX-License-Identifier: Apache-2.0

// The first example of README.md, as it is there.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/holdfast/holdfast-go"
)

func main() {
	store, err := holdfast.Open("") // $HOLDFAST_STORE, else this user's memory
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	hold, err := store.Lock("backup", holdfast.LockOptions{}).Acquire(ctx)
	if err != nil {
		log.Fatal(err) // another backup has been running for 5 s
	}
	defer hold.Release()

	count, err := store.Add(ctx, "backup:count", 1)
	if err != nil {
		log.Fatal(err)
	}
	store.PutFenced(ctx, "backup:last", []byte("today"), hold.Token())
	fmt.Println("backup", count)
}
