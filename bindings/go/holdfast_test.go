// SPDX-License-Identifier: Apache-2.0

package holdfast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var ctx = context.Background()

// On the store that HOLDFAST_STORE names.
func open(t *testing.T) *Client {
	t.Helper()
	store, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

var number atomic.Int64

func fresh(name string) string {
	return fmt.Sprintf("%s-%d-%d", name, os.Getpid(), number.Add(1))
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, good bool) {
	t.Helper()
	if !good {
		t.Fatal("not as expected")
	}
}

func TestValues(t *testing.T) {
	store, key := open(t), fresh("key")
	check(t, must[[]byte](t)(store.Get(ctx, key)) == nil)
	check(t, must[bool](t)(store.Set(ctx, key, []byte("a\x00b"), SetOptions{TTL: time.Minute})))
	check(t, string(must[[]byte](t)(store.Get(ctx, key))) == "a\x00b")
	check(t, !must[bool](t)(store.Set(ctx, key, nil, SetOptions{NX: true})))
	check(t, must[bool](t)(store.Set(ctx, key, []byte{}, SetOptions{XX: true, KeepTTL: true})))
	empty := must[[]byte](t)(store.Get(ctx, key))
	check(t, empty != nil && len(empty) == 0)
	check(t, must[bool](t)(store.Set(ctx, key, nil, SetOptions{ExpiresAt: time.Now().Add(-time.Second)})))
	check(t, !must[bool](t)(store.Delete(ctx, key)))
	check(t, must[int64](t)(store.Add(ctx, key, 5)) == 5)
	check(t, must[bool](t)(store.Delete(ctx, key)))
	check(t, must[bool](t)(store.PutFenced(ctx, key, []byte("new"), 7)))
	check(t, !must[bool](t)(store.PutFenced(ctx, key, []byte("late"), 6)))
}

func TestARevisionIsUsedOnce(t *testing.T) {
	store, key := open(t), fresh("revised")
	put := func(value string, expected uint64) (bool, uint64) {
		done, revision, err := store.PutRevised(ctx, key, []byte(value),
			expected, SetOptions{TTL: time.Minute})
		check(t, err == nil)
		return done, revision
	}
	done, first := put("a", RevisionNone)
	value, read, err := store.GetRevised(ctx, key)
	check(t, err == nil && done && string(value) == "a" && read == first)
	done, second := put("b", first)
	check(t, done && second > first)
	done, current := put("c", first)
	check(t, !done && current == second)
	done, current, err = store.DeleteRevised(ctx, key, first)
	check(t, err == nil && !done && current == second)
	done, _, err = store.DeleteRevised(ctx, key, RevisionAny)
	check(t, err == nil && done)
	value, _, err = store.GetRevised(ctx, key)
	check(t, err == nil && value == nil)
	done, current = put("d", 7)
	check(t, !done && current == 0)
}

func TestCompareAndSet(t *testing.T) {
	store, key := open(t), fresh("test:String:cas")
	done, _, err := store.CompareAndSet(ctx, key, nil, []byte("1"), 0)
	check(t, done && err == nil)
	done, current, err := store.CompareAndSet(ctx, key, []byte("2"), []byte("3"), 0)
	check(t, !done && string(current) == "1" && err == nil)
	done, _, err = store.CompareAndSet(ctx, key, []byte("1"), []byte("4"), time.Minute)
	check(t, done && err == nil)
	done, current, err = store.CompareAndSet(ctx, fresh("none"), []byte(""), []byte("4"), 0)
	check(t, !done && current == nil && err == nil)
}

func TestErrors(t *testing.T) {
	store, key := open(t), fresh("hash")
	check(t, must[bool](t)(store.Set(ctx, key, []byte("x"), SetOptions{})))
	_, err := store.Add(ctx, key, 1)
	check(t, errors.Is(err, WrongType) && err.Error() != "")
	_, err = Open("no-such-scheme:")
	check(t, errors.Is(err, Invalid) && !errors.Is(err, Held))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = store.Get(ended, key)
	check(t, errors.Is(err, context.Canceled))
}

func TestLock(t *testing.T) {
	store := open(t)
	lock := store.Lock(fresh("lock"), LockOptions{TTL: time.Minute})
	hold := must[*Hold](t)(lock.Acquire(ctx))
	check(t, hold.IsHeld() && hold.Token() > 0)
	check(t, must[*Hold](t)(lock.TryAcquire(ctx)) == nil)
	limited, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := lock.Acquire(limited)
	check(t, errors.Is(err, context.DeadlineExceeded))
	token := hold.Token()
	check(t, hold.Release() == nil && !hold.IsHeld() && hold.Release() == nil)
	hold = must[*Hold](t)(lock.Acquire(ctx))
	check(t, hold.Token() > token && hold.Release() == nil)
}

func TestGoroutinesExcludeEachOther(t *testing.T) {
	lock := open(t).Lock(fresh("lock"), LockOptions{})
	var inside, worst atomic.Int64
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < 10; i++ {
				hold, err := lock.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if now := inside.Add(1); now > worst.Load() {
					worst.Store(now)
				}
				inside.Add(-1)
				if err := hold.Release(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	check(t, worst.Load() == 1)
}

func TestCancellingAtAnyMomentLeavesNoLock(t *testing.T) {
	lock := open(t).Lock(fresh("lock"), LockOptions{})
	for i := 0; i < 40; i++ {
		limited, cancel := context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
		if hold, err := lock.Acquire(limited); err == nil {
			check(t, hold.Release() == nil)
		}
		cancel()
		check(t, must[*Hold](t)(lock.Acquire(ctx)).Release() == nil)
	}
}

func TestALostLock(t *testing.T) {
	store := open(t)
	lock := store.Lock(fresh("lock"), LockOptions{TTL: 300 * time.Millisecond, NoRenew: true})
	hold := must[*Hold](t)(lock.Acquire(ctx))
	select {
	case reason := <-hold.Lost():
		check(t, reason == Expired) // reported before the validity ends
	case <-time.After(30 * time.Second):
		t.Fatal("the loss was not reported")
	}
	time.Sleep(100 * time.Millisecond) // until it has ended in the store too
	check(t, !hold.IsHeld())
	txn := store.Txn()
	txn.IfHeld(hold)
	_, err := txn.Exec(ctx)
	check(t, errors.Is(err, Lost))
	check(t, errors.Is(hold.Release(), Expired))
}

func TestOtherLocks(t *testing.T) {
	store, name := open(t), fresh("rw")
	one := must[*Hold](t)(store.ReadLock(name, LockOptions{}).Acquire(ctx))
	two := must[*Hold](t)(store.ReadLock(name, LockOptions{}).Acquire(ctx))
	writer := store.WriteLock(name, LockOptions{})
	check(t, must[*Hold](t)(writer.TryAcquire(ctx)) == nil)
	check(t, one.Release() == nil && two.Release() == nil)
	hold := must[*Hold](t)(writer.Acquire(ctx))
	check(t, must[*Hold](t)(store.ReadLock(name, LockOptions{}).TryAcquire(ctx)) == nil)
	check(t, hold.Release() == nil)

	permit := store.Semaphore(fresh("s"), 2, LockOptions{})
	one = must[*Hold](t)(permit.Acquire(ctx))
	two = must[*Hold](t)(permit.Acquire(ctx))
	check(t, must[*Hold](t)(permit.TryAcquire(ctx)) == nil)
	check(t, one.Release() == nil && two.Release() == nil)
}

func TestOneGoroutineFillsACacheEntry(t *testing.T) {
	store, key, tag := open(t), fresh("c"), fresh("tag")
	var fills atomic.Int64
	var all sync.WaitGroup
	opts := CacheOptions{TTL: time.Minute, Tag: tag}
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			value, err := store.GetOrFill(ctx, key, opts, func() ([]byte, error) {
				fills.Add(1)
				time.Sleep(30 * time.Millisecond)
				return []byte("row"), nil
			})
			if err != nil || string(value) != "row" {
				t.Error(value, err)
			}
		}()
	}
	all.Wait()
	check(t, fills.Load() == 1)
	check(t, must[bool](t)(store.Invalidate(ctx, tag)))
	down := errors.New("the database is down")
	_, err := store.GetOrFill(ctx, key, opts, func() ([]byte, error) { return nil, down })
	check(t, errors.Is(err, down))
	value, err := store.GetOrFill(ctx, key, opts, func() ([]byte, error) { return nil, nil })
	check(t, value == nil && err == nil)
}

func TestTransaction(t *testing.T) {
	store, tag := open(t), fresh("{t")+"}"
	txn := store.Txn()
	txn.IfExists(tag + "a")
	txn.Set(tag+"b", []byte("x"))
	check(t, !must[bool](t)(txn.Exec(ctx)))
	check(t, must[bool](t)(store.Set(ctx, tag+"a", []byte("1"), SetOptions{})))
	check(t, store.TimelineAdd(ctx, tag+"t", "id", []byte("p"), time.Minute, time.Time{}) == nil)
	item := must[*Item](t)(store.TimelineGet(ctx, tag+"t", "id"))
	check(t, string(item.Payload) == "p" && time.Since(item.At) < time.Minute)
	txn = store.Txn()
	txn.IfValue(tag+"a", []byte("1"))
	txn.Add(tag+"n", 3)
	txn.TimelineRemove(tag+"t", "id")
	check(t, must[bool](t)(txn.Exec(ctx)))
	check(t, string(must[[]byte](t)(store.Get(ctx, tag+"n"))) == "3")
	check(t, must[*Item](t)(store.TimelineGet(ctx, tag+"t", "id")) == nil)
}

func TestATransactionNeedsALease(t *testing.T) {
	store, tag := open(t), fresh("{t")+"}"
	key := tag + "k"
	for _, lock := range []*Lock{
		store.Lock(tag+"lock", LockOptions{}),
		store.ReadLock(tag+"read", LockOptions{}),
		store.WriteLock(tag+"write", LockOptions{}),
		store.Semaphore(tag+"permits", 2, LockOptions{}),
	} {
		hold := must[*Hold](t)(lock.Acquire(ctx))
		now, late, never := store.Txn(), store.Txn(), store.Txn()
		now.IfHeld(hold)
		now.Set(key, []byte("1"))
		late.IfHeld(hold)
		late.Set(key, []byte("2"))
		check(t, must[bool](t)(now.Exec(ctx)))
		check(t, hold.Release() == nil)
		check(t, !must[bool](t)(late.Exec(ctx)))
		check(t, string(must[[]byte](t)(store.Get(ctx, key))) == "1")
		never.IfHeld(hold)
		_, err := never.Exec(ctx)
		check(t, errors.Is(err, Invalid))
		check(t, must[bool](t)(store.Delete(ctx, key)))
	}
}

func TestATransactionNeedsAToken(t *testing.T) {
	store, tag := open(t), fresh("{t")+"}"
	name, key := tag+"lock", tag+"k"
	hold := must[*Hold](t)(store.Lock(name, LockOptions{}).Acquire(ctx))
	token := hold.Token()
	set := func(token uint64, value string) (bool, error) {
		txn := store.Txn()
		txn.IfToken(name, token)
		txn.Set(key, []byte(value))
		return txn.Exec(ctx)
	}
	check(t, !must[bool](t)(set(token+1, "1")))
	check(t, must[[]byte](t)(store.Get(ctx, key)) == nil)
	check(t, must[bool](t)(set(token, "2")))
	check(t, hold.Release() == nil)
	check(t, !must[bool](t)(set(token, "3")))
	_, err := set(0, "4")
	check(t, errors.Is(err, Invalid))
	check(t, string(must[[]byte](t)(store.Get(ctx, key))) == "2")
}

func TestATransactionNeedsAFence(t *testing.T) {
	store, tag := open(t), fresh("{t")+"}"
	fenced, key := tag+"f", tag+"k"
	set := func(token uint64) (bool, error) {
		txn := store.Txn()
		txn.IfFence(fenced, token)
		txn.Set(key, []byte{byte(token)})
		txn.PutFenced(fenced, []byte("1"), token)
		return txn.Exec(ctx)
	}
	check(t, must[bool](t)(set(7)))
	check(t, !must[bool](t)(set(6)))
	check(t, must[[]byte](t)(store.Get(ctx, key))[0] == 7)
}
