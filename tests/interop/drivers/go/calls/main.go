// SPDX-License-Identifier: Apache-2.0

// calls PORT PROTOCOL - go-redis's program for clients.py.
package main

import (
    "context"
    "encoding/json"
    "fmt"
    "maps"
    "math"
    "os"
    "reflect"
    "slices"
    "strconv"
    "strings"
    "sync"
    "time"

    "github.com/redis/go-redis/v9"
)

var (
    ctx      = context.Background()
    r, other *redis.Client
    allBytes string
)

// plain is what a command returned, or its error.
func plain(result any) any {
    command, ok := result.(redis.Cmder)
    if !ok {
        if err, ok := result.(error); ok {
            return err.Error()
        }
        return result
    }
    if command.Err() != nil {
        return command.Err().Error()
    }
    return reflect.ValueOf(command).MethodByName("Val").Call(nil)[0].Interface()
}

func show(step string, results ...any) {
    for i := range results {
        results[i] = plain(results[i])
    }
    text, err := json.Marshal(results)
    if err != nil {
        text = []byte(err.Error())
    }
    fmt.Println(step, string(text))
}

func later(call func()) {
    go func() {
        time.Sleep(100 * time.Millisecond)
        call()
    }()
}

func gone(key string) any {
    until := time.Now().Add(30 * time.Second)
    for r.Exists(ctx, key).Val() == 1 && time.Now().Before(until) {
        time.Sleep(10 * time.Millisecond)
    }
    return r.Get(ctx, key)
}

func sorted(list []string) []string {
    slices.Sort(list)
    return list
}

func stringCalls() {
    show("connect", r.Ping(ctx), r.Echo(ctx, "hello"),
        r.ClientID(ctx).Val() > 0)
    show("string", r.Set(ctx, "s", "a", 0), r.Get(ctx, "s"),
        r.Get(ctx, "none"), r.SetNX(ctx, "s", "b", 0),
        r.SetArgs(ctx, "s", "c", redis.SetArgs{Get: true}),
        r.Append(ctx, "s", "de"), r.GetRange(ctx, "s", 1, -1),
        r.SetRange(ctx, "s", 1, "XY"), r.StrLen(ctx, "s"),
        r.GetDel(ctx, "s"), r.Get(ctx, "s"))
    show("binary", r.Set(ctx, allBytes, allBytes, 0),
        r.Get(ctx, allBytes).Val() == allBytes, r.Del(ctx, allBytes))
    large := strings.Repeat(allBytes, 8192)
    show("large", r.Set(ctx, "large", large, 0),
        r.Get(ctx, "large").Val() == large)
    show("number", r.Incr(ctx, "n"), r.IncrBy(ctx, "n", 41),
        r.Decr(ctx, "n"), r.IncrByFloat(ctx, "f", 0.5),
        r.MSet(ctx, "m1", "1", "m2", "2"), r.MGet(ctx, "m1", "none", "m2"))
    show("bits", r.SetBit(ctx, "bits", 7, 1), r.GetBit(ctx, "bits", 7),
        r.BitCount(ctx, "bits", nil))
    show("expiry", r.Set(ctx, "e", "1", 100*time.Second),
        r.TTL(ctx, "e").Val() > 90*time.Second, r.Persist(ctx, "e"),
        r.TTL(ctx, "e"), r.PExpire(ctx, "e", 50*time.Millisecond), gone("e"))
    show("keys", r.Type(ctx, "n"), r.Exists(ctx, "n", "none", "f"),
        r.Rename(ctx, "n", "n2"), r.Copy(ctx, "n2", "n3", 0, false),
        sorted(r.Keys(ctx, "n*").Val()), r.Del(ctx, "n2", "none"),
        r.Rename(ctx, "none", "x"))
}

func collections() {
    show("hash", r.HSet(ctx, "h", "a", "1", "b", "2"), r.HGet(ctx, "h", "a"),
        r.HGetAll(ctx, "h"), r.HMGet(ctx, "h", "a", "none"),
        r.HIncrBy(ctx, "h", "a", 9), r.HDel(ctx, "h", "b"), r.HLen(ctx, "h"),
        r.HGetAll(ctx, "none"))
    show("list", r.RPush(ctx, "l", "a", "b", "c", "b"),
        r.LRange(ctx, "l", 0, -1), r.LPopCount(ctx, "l", 2),
        r.LInsertBefore(ctx, "l", "b", "x"), r.LRem(ctx, "l", 1, "b"),
        r.LLen(ctx, "l"), r.LPop(ctx, "none"),
        r.LMove(ctx, "l", "l2", "LEFT", "RIGHT"))
    show("set", r.SAdd(ctx, "t", "a", "b", "c"),
        sorted(r.SMembers(ctx, "t").Val()), r.SIsMember(ctx, "t", "a"),
        r.SMIsMember(ctx, "t", "a", "z"), r.SAdd(ctx, "t2", "b", "c", "d"),
        sorted(r.SInter(ctx, "t", "t2").Val()), r.SRem(ctx, "t", "a"),
        r.SCard(ctx, "t"))
    show("zset", r.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"},
        redis.Z{Score: 2.5, Member: "b"}),
        r.ZAdd(ctx, "z", redis.Z{Score: math.Inf(1), Member: "c"}),
        r.ZRange(ctx, "z", 0, -1), r.ZScore(ctx, "z", "b"),
        r.ZScore(ctx, "z", "none"), r.ZIncrBy(ctx, "z", 2, "a"),
        r.ZRangeByScoreWithScores(ctx, "z",
            &redis.ZRangeBy{Min: "(2", Max: "3"}),
        r.ZRank(ctx, "z", "a"), r.ZRank(ctx, "z", "none"),
        r.ZPopMin(ctx, "z", 1), r.ZCard(ctx, "z"))
    show("sort", r.RPush(ctx, "ids", 3, 1, 2),
        r.MSet(ctx, "w3", "three", "w1", "one", "w2", "two"),
        r.Sort(ctx, "ids", &redis.Sort{}),
        r.Sort(ctx, "ids", &redis.Sort{Get: []string{"w*"}, Order: "DESC"}))
}

// count is how many different names an iterator finds.
func count(scan *redis.ScanCmd, step int) int {
    found := map[string]bool{}
    iterator := scan.Iterator()
    for i := 0; iterator.Next(ctx); i++ {
        if i%step == 0 {
            found[iterator.Val()] = true
        }
    }
    return len(found)
}

func scans() {
    names := map[string]string{}
    scores := []redis.Z{}
    for i := range 300 {
        name := fmt.Sprintf("scan:%d", i)
        names[name] = strconv.Itoa(i)
        scores = append(scores, redis.Z{Score: 1, Member: name})
    }
    show("scan", r.MSet(ctx, names), count(r.Scan(ctx, 0, "scan:*", 50), 1),
        r.HSet(ctx, "sh", names), count(r.HScan(ctx, "sh", 0, "", 50), 2),
        r.SAdd(ctx, "ss", slices.Collect(maps.Keys(names))),
        count(r.SScan(ctx, "ss", 0, "", 10), 1),
        r.ZAdd(ctx, "sz", scores...), count(r.ZScan(ctx, "sz", 0, "", 10), 2))
}

func pipeline() {
    var sum int64
    results, _ := r.Pipelined(ctx, func(p redis.Pipeliner) error {
        for range 500 {
            p.Incr(ctx, "p")
        }
        p.LPush(ctx, "p", "x")
        p.Get(ctx, "p")
        return nil
    })
    for _, result := range results[:500] {
        sum += result.(*redis.IntCmd).Val()
    }
    show("pipeline", sum, results[500], results[501])
}

func multi() {
    results, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
        p.Set(ctx, "x", "1", 0)
        p.Incr(ctx, "x")
        p.LPush(ctx, "x", "y")
        p.Get(ctx, "x")
        return nil
    })
    conflict := r.Watch(ctx, func(tx *redis.Tx) error {
        other.Set(ctx, "w", "changed", 0)
        _, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
            p.Set(ctx, "w", "mine", 0)
            return nil
        })
        return err
    }, "w")
    show("multi", results[0], results[1], results[2], results[3], err,
        conflict, r.Get(ctx, "w"))
}

func scripts() {
    zeros := strings.Repeat("0", 40)
    script := redis.NewScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    keys := []string{"i"}
    show("script", r.Eval(ctx, "return {1, 'two', {3, false}, "+
        "redis.status_reply('fine')}", nil),
        script.Run(ctx, r, keys, 5), script.Run(ctx, r, keys, 5),
        r.ScriptExists(ctx, script.Hash(), zeros), r.EvalSha(ctx, zeros, nil),
        r.Eval(ctx, "return redis.error_reply('MINE it failed')", nil),
        r.Eval(ctx, "return redis.call('LPUSH', KEYS[1], 1)", keys),
        r.Eval(ctx, "nonsense(", nil))
}

func message(p *redis.PubSub) any {
    found, err := p.ReceiveTimeout(ctx, 30*time.Second)
    if err != nil {
        return err
    }
    return fmt.Sprintf("%q", fmt.Sprint(found))
}

func messages() {
    p := r.Subscribe(ctx, "c1")
    defer p.Close()
    show("pubsub", message(p), p.PSubscribe(ctx, "c?"), message(p),
        r.Publish(ctx, "c1", "\x00\r\n\xff"), message(p), message(p),
        r.Publish(ctx, "none", "x"), r.PubSubNumSub(ctx, "c1"),
        p.Unsubscribe(ctx, "c1"), message(p), p.Ping(ctx, "x"), message(p))
}

func blocking() {
    later(func() { other.RPush(ctx, "b1", "late") })
    show("block", r.BLPop(ctx, 30*time.Second, "b0", "b1"),
        r.BRPop(ctx, time.Second, "b1"), other.RPush(ctx, "b1", "1", "2"),
        r.BRPop(ctx, time.Second, "b1"),
        r.BLMove(ctx, "b1", "b2", "LEFT", "RIGHT", time.Second))
    later(func() { other.ZAdd(ctx, "bz", redis.Z{Score: 3, Member: "m"}) })
    show("block_zset", r.BZPopMin(ctx, 30*time.Second, "bz"),
        r.BZPopMax(ctx, time.Second, "bz"))
}

func failures() {
    show("error", r.LPush(ctx, "s2", "x"), r.Get(ctx, "s2"),
        r.Do(ctx, "NONSENSE", "a"), r.Do(ctx, "GET"),
        r.Do(ctx, "SET", "s", "1", "EX", "-1"), r.Set(ctx, "s3", "x", 0),
        r.Incr(ctx, "s3"))
}

func parallel() {
    var group sync.WaitGroup
    for range 20 {
        group.Go(func() {
            for range 50 {
                r.Incr(ctx, "par")
            }
        })
    }
    group.Wait()
    show("parallel", r.Get(ctx, "par"))
}

func main() {
    protocol, _ := strconv.Atoi(os.Args[2])
    options := redis.Options{Addr: "127.0.0.1:" + os.Args[1],
        Protocol: protocol, ClientName: "calls", PoolSize: 30}
    for i := range 256 {
        allBytes += string([]byte{byte(i)})
    }
    r, other = redis.NewClient(&options), redis.NewClient(&options)
    r.FlushAll(ctx)
    stringCalls()
    collections()
    scans()
    pipeline()
    multi()
    scripts()
    messages()
    blocking()
    failures()
    parallel()
}
