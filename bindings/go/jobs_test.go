// SPDX-License-Identifier: Apache-2.0

package holdfast

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var brief = LockOptions{TTL: 200 * time.Millisecond, NoRenew: true}

func TestAJobIsTakenUntilItIsDone(t *testing.T) {
	store, name := open(t), "{"+fresh("q")+"}"
	queue := store.Queue(name, LockOptions{})
	opts := PutOptions{ID: "a", Attempts: 3}
	check(t, must[bool](t)(queue.Put(ctx, []byte("first"), opts)))
	check(t, !must[bool](t)(queue.Put(ctx, []byte("first"), opts)))
	check(t, must[bool](t)(queue.Put(ctx, []byte("sec\x00nd"), PutOptions{})))
	job := must[*Job](t)(queue.Take(ctx))
	check(t, job.IsHeld() && job.Token() > 0 && job.ID == "a")
	check(t, string(job.Payload) == "first" && job.Attempts == 3)
	check(t, time.Since(job.PutAt) < time.Hour)
	check(t, job.Release() == nil) // as if it had not been taken
	job = must[*Job](t)(queue.Take(ctx))
	check(t, job.ID == "a" && job.Attempt == 1)
	info := must[QueueInfo](t)(queue.Inspect(ctx))
	check(t, info.Taken == 1 && info.Ready == 1)
	txn := store.Txn()
	txn.IfHeld(job.Hold)
	txn.Set(name+"result", []byte("1"))
	check(t, must[bool](t)(txn.Exec(ctx)))
	check(t, job.Done() == nil && job.Release() == nil)
	check(t, errors.Is(job.Done(), Invalid))
	ready := must[[]JobInfo](t)(queue.List(ctx, JobReady, 0, 10))
	check(t, len(ready) == 1 && string(ready[0].Payload) == "sec\x00nd")
	job = must[*Job](t)(queue.TryTake(ctx))
	check(t, must[*Job](t)(queue.TryTake(ctx)) == nil && job.Done() == nil)
	_, err := queue.Put(ctx, nil, PutOptions{Priority: 10})
	check(t, errors.Is(err, Invalid))
	limited, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = queue.Take(limited)
	check(t, errors.Is(err, context.DeadlineExceeded))
}

func TestAJobEndsAsItIsSaid(t *testing.T) {
	queue := open(t).Queue(fresh("q"), LockOptions{})
	take := func() *Job {
		t.Helper()
		limited, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		return must[*Job](t)(queue.Take(limited))
	}
	check(t, must[bool](t)(queue.Put(ctx, nil, PutOptions{ID: "a", Attempts: 2})))
	check(t, take().Defer(time.Millisecond) == nil)
	job := take()
	check(t, job.Attempt == 1 && job.Again(time.Millisecond) == nil)
	job = take()
	check(t, job.Attempt == 2)
	check(t, job.Backoff(time.Second, time.Minute) == 2*time.Second)
	check(t, job.Again(0) == nil)
	check(t, must[QueueInfo](t)(queue.Inspect(ctx)).Dead == 1)
	check(t, must[bool](t)(queue.Revive(ctx, "a")))
	check(t, !must[bool](t)(queue.Revive(ctx, "a")))
	check(t, take().Fail() == nil)
	check(t, len(must[[]JobInfo](t)(queue.List(ctx, JobDead, 0, 10))) == 1)
	check(t, must[int](t)(queue.ReviveOldest(ctx, 5)) == 1)
	check(t, queue.Pause(ctx) == nil)
	check(t, must[QueueInfo](t)(queue.Inspect(ctx)).Paused)
	check(t, must[*Job](t)(queue.TryTake(ctx)) == nil)
	check(t, queue.Resume(ctx) == nil && take().Done() == nil)
}

func TestJobsHavePrioritiesDelaysAndGroups(t *testing.T) {
	queue := open(t).Queue(fresh("q"), LockOptions{})
	first := PutOptions{Priority: 9, ID: "f", Remember: time.Hour}
	for _, one := range []struct {
		payload string
		opts    PutOptions
	}{{"one", PutOptions{Group: "g", Priority: 1}},
		{"two", PutOptions{Group: "g"}},
		{"later", PutOptions{Delay: time.Hour}}, {"first", first}} {
		check(t, must[bool](t)(queue.Put(ctx, []byte(one.payload), one.opts)))
	}
	job := must[*Job](t)(queue.Take(ctx))
	check(t, string(job.Payload) == "first" && job.Priority == 9)
	one := must[*Job](t)(queue.Take(ctx))
	check(t, string(one.Payload) == "one" && one.Group == "g")
	check(t, must[*Job](t)(queue.TryTake(ctx)) == nil && job.Done() == nil)
	check(t, !must[bool](t)(queue.Put(ctx, nil, first)))
	info := must[QueueInfo](t)(queue.Inspect(ctx))
	check(t, info.Behind == 1 && info.Delayed == 1 && info.Remembered == 1)
	check(t, one.Done() == nil)
	two := must[*Job](t)(queue.Take(ctx))
	check(t, string(two.Payload) == "two" && two.Done() == nil)
}

func TestNextEndsAJobAndTakesAnother(t *testing.T) {
	store, name := open(t), fresh("q")
	queue := store.Queue(name, LockOptions{})
	for _, payload := range []string{"a", "b", "c"} {
		must[bool](t)(queue.Put(ctx, []byte(payload), PutOptions{}))
	}
	done := ""
	limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	job := must[*Job](t)(queue.Take(ctx))
	var err error
	for err == nil {
		done += string(job.Payload)
		err = job.Next(limited, JobDone, 0)
	}
	check(t, errors.Is(err, context.DeadlineExceeded) && done == "abc")
	info := must[QueueInfo](t)(queue.Inspect(ctx))
	check(t, info.Taken == 0 && info.Ready == 0 && job.Release() == nil)

	must[bool](t)(queue.Put(ctx, []byte("e"), PutOptions{}))
	must[bool](t)(queue.Put(ctx, []byte("f"), PutOptions{}))
	job = must[*Job](t)(queue.Take(ctx))
	check(t, job.Next(ctx, JobAgain, time.Hour) == nil)
	check(t, string(job.Payload) == "f" && job.Done() == nil)
	check(t, must[QueueInfo](t)(queue.Inspect(ctx)).Delayed == 1)

	must[bool](t)(queue.Put(ctx, []byte("g"), PutOptions{}))
	late := must[*Job](t)(store.Queue(name, brief).Take(ctx))
	other := must[*Job](t)(queue.Take(ctx)) // once the lease has ended
	check(t, string(other.Payload) == "g" && other.Attempt == 2)
	check(t, errors.Is(late.Next(ctx, JobDone, 0), Expired))
	check(t, other.Done() == nil)
}

func TestWorkIsDoneOnce(t *testing.T) {
	store, key := open(t), fresh("once")
	once := store.Once(key, OnceOptions{Fingerprint: []byte("body")},
		LockOptions{})
	check(t, must[*OnceInfo](t)(once.Inspect(ctx)) == nil)
	claim := must[*Claim](t)(once.Claim(ctx))
	check(t, claim.IsHeld() && claim.Before == nil)
	info := must[*OnceInfo](t)(once.Inspect(ctx))
	check(t, info.State == OnceClaimed && info.Owner != "" && info.Result == nil)
	check(t, claim.Release() == nil) // it has failed
	var runs atomic.Int64
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			claim, err := once.Claim(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer claim.Release()
			if claim.Before == nil {
				runs.Add(1)
				err = claim.Complete(7, []byte("result"))
			} else if claim.Before.Status != 7 ||
				string(claim.Before.Result) != "result" {
				t.Error(claim.Before)
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	check(t, runs.Load() == 1)
	info = must[*OnceInfo](t)(once.Inspect(ctx))
	check(t, info.State == OnceDone && string(info.Result.Result) == "result")
	check(t, info.Tick.IsZero())
	other := OnceOptions{Fingerprint: []byte("other")}
	_, err := store.Once(key, other, LockOptions{}).Claim(ctx)
	check(t, errors.Is(err, Invalid))
	check(t, must[bool](t)(once.Delete(ctx)) && !must[bool](t)(once.Delete(ctx)))
	claim = must[*Claim](t)(once.Claim(ctx))
	limited, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	_, err = once.Claim(limited)
	check(t, errors.Is(err, context.DeadlineExceeded) && claim.Release() == nil)
}

func TestWorkInDoubtIsNotDoneAgain(t *testing.T) {
	store, key := open(t), fresh("once")
	killed := must[*Claim](t)(store.Once(key, OnceOptions{}, brief).Claim(ctx))
	time.Sleep(300 * time.Millisecond)
	once := store.Once(key, OnceOptions{}, LockOptions{})
	_, err := once.Claim(ctx)
	check(t, errors.Is(err, Expired))
	check(t, must[*OnceInfo](t)(once.Inspect(ctx)).State == OnceDoubt)
	again := store.Once(key, OnceOptions{RetryDoubt: true}, LockOptions{})
	claim := must[*Claim](t)(again.Claim(ctx))
	check(t, errors.Is(killed.Complete(0, nil), Lost))
	check(t, claim.Complete(0, nil) == nil && killed.Release() != nil)
}

func TestWorkIsDoneOnceInAPeriod(t *testing.T) {
	day := 24 * time.Hour
	once := open(t).Once(fresh("once"),
		OnceOptions{Period: day, Keep: 30 * day,
			Early: day - time.Millisecond}, LockOptions{}) // of the next midnight
	check(t, must[*Claim](t)(once.Claim(ctx)).Complete(0, nil) == nil)
	info := must[*OnceInfo](t)(once.Inspect(ctx))
	check(t, info.Tick.Unix() > 0 && info.Tick.Unix()%86400 == 0)
	check(t, time.Since(info.Tick) < time.Minute)
	check(t, info.Remaining > 29*day)
}

func TestMembersOfASetExpireOneByOne(t *testing.T) {
	store, key := open(t), fresh("set")
	add := func(opts SetAddOptions, members ...string) int {
		t.Helper()
		return must[int](t)(store.SetAdd(ctx, key, members, opts))
	}
	has := func(member string) (time.Duration, bool) {
		t.Helper()
		ttl, there, err := store.SetHas(ctx, key, member)
		check(t, err == nil)
		return ttl, there
	}
	check(t, add(SetAddOptions{}, "ann", "a\x00b") == 2)
	check(t, add(SetAddOptions{TTL: time.Minute}, "ann", "bob") == 1)
	ttl, there := has("bob")
	check(t, there && ttl > 50*time.Second && ttl <= time.Minute)
	ttl, there = has("a\x00b")
	check(t, there && ttl == Persistent)
	_, there = has("eve")
	check(t, !there && add(SetAddOptions{NX: true}, "bob") == 0)
	check(t, add(SetAddOptions{XX: true}, "eve") == 0)
	check(t, add(SetAddOptions{TTL: time.Second, KeepTTL: true}, "bob") == 0)
	some := must[map[string]time.Duration](t)(store.SetHasMembers(ctx, key, "eve", "bob"))
	check(t, len(some) == 1 && some["bob"] > 50*time.Second)
	check(t, must[int](t)(store.SetExpire(ctx, key, Persistent, "bob", "eve")) == 1)
	page, next, err := store.SetPage(ctx, key, "", 0)
	check(t, err == nil && next == "" && len(page) == 3)
	check(t, page["bob"] == Persistent && page["ann"] > 50*time.Second)
	check(t, must[int](t)(store.SetExpire(ctx, key, time.Millisecond, "ann")) == 1)
	time.Sleep(20 * time.Millisecond)
	check(t, must[int](t)(store.SetCount(ctx, key)) == 2)
	check(t, must[int](t)(store.SetRemove(ctx, key, "ann", "bob")) == 1)
	_, err = store.SetAdd(ctx, key, nil, SetAddOptions{})
	check(t, errors.Is(err, Invalid))
}

func TestARankOrdersMembersByScore(t *testing.T) {
	store, key := open(t), fresh("rank")
	add := func(member string, score float64, opts RankAddOptions) bool {
		t.Helper()
		return must[bool](t)(store.RankAdd(ctx, key, member, score, opts))
	}
	check(t, add("ann", 30, RankAddOptions{}) && add("bob", 10, RankAddOptions{}))
	check(t, !add("bob", 5, RankAddOptions{GT: true}))
	check(t, !add("bob", 15, RankAddOptions{LT: true}))
	check(t, !add("bob", 15, RankAddOptions{NX: true}))
	check(t, !add("eve", 15, RankAddOptions{XX: true}))
	place := must[*RankPlace](t)(store.RankIncrement(ctx, key, "eve", 20.5,
		RankAddOptions{TTL: time.Minute}))
	check(t, *place == RankPlace{20.5, 1, 3})
	check(t, must[*RankPlace](t)(store.RankGet(ctx, key, "bob")).Rank == 2)
	check(t, must[*RankPlace](t)(store.RankGet(ctx, key, "none")) == nil)
	top := must[[]RankMember](t)(store.RankPage(ctx, key, 0, 2, Descending))
	check(t, len(top) == 2 && top[0].Member == "ann" && top[1].Rank == 1)
	check(t, top[0].TTL == Persistent && top[1].TTL > 50*time.Second)
	low := must[[]RankMember](t)(store.RankPage(ctx, key, 0, 1, Ascending))
	check(t, low[0].Member == "bob" && low[0].Score == 10)
	around := must[[]RankMember](t)(store.RankAround(ctx, key, "eve", 1, Ascending))
	check(t, len(around) == 3 && around[0].Member == "bob")
	check(t, len(must[[]RankMember](t)(store.RankAround(ctx, key, "none", 1, 0))) == 0)
	inf := math.Inf(1)
	check(t, must[int](t)(store.RankCount(ctx, key, -inf, inf)) == 3)
	check(t, must[int](t)(store.RankCount(ctx, key, 20, inf)) == 2)
	check(t, must[int](t)(store.RankCount(ctx, key, -inf, 20)) == 1)
	check(t, must[bool](t)(store.RankExpire(ctx, key, "eve", Persistent)))
	check(t, !must[bool](t)(store.RankExpire(ctx, key, "none", time.Second)))
	removed, more, err := store.RankTrim(ctx, key, 2)
	check(t, removed == 1 && !more && err == nil)
	check(t, must[int](t)(store.RankRemove(ctx, key, "ann", "bob")) == 1)
	_, err = store.SetCount(ctx, key)
	check(t, errors.Is(err, WrongType))
}
