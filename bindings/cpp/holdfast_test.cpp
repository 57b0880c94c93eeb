/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdfast_test.cpp - holdfast.hpp on the store that HOLDFAST_STORE names. The
 * first five tests are the articles of docs/explanation/articles.md.
 */
#include <holdfast.hpp>

#include <atomic>

#include "check.hpp"

using namespace std::chrono_literals;
using holdfast::client;

static client &store()
{
    static client one;

    return one;
}

/* A name that no other test has used. */
static std::string fresh(const std::string &name)
{
    static std::atomic<int> count{0};

    return name + std::to_string(++count);
}

TEST(article_1_a_hash_and_its_expiry)
{
    std::string key = fresh("key");
    holdfast::hash_options opts;

    opts.ttl = 1000s;
    CHECK(store().hash_put(key, {{"field1", "value1"}, {"field2", "value2"}},
                           opts));
    CHECK(store().hash_get_all(key).size() == 2);
    CHECK(store().hash_get(key, "field2") == "value2");
    CHECK(store().ttl(key) > 990s);
    opts.only_if_absent = true;
    CHECK(!store().hash_put(key, {{"field1", "other"}}, opts));
    CHECK(store().hash_get(key, "field1") == "value1");
    CHECK(store().hash_remove(key));
    CHECK(store().hash_get_all(key).empty());
}

TEST(article_2_compare_and_set)
{
    std::string key = fresh("test:String:cas"), hash = fresh("test:Hash:cas");

    CHECK(store().cas(key, std::nullopt, "1"));
    auto refused = store().cas(key, "2", "3");
    CHECK(!refused && refused.current == "1");
    CHECK(store().cas(key, "1", "4", 60s));
    CHECK(store().get(key) == "4" && store().ttl(key) > 50s);
    CHECK(store().hash_put(hash, {{"testField", "1"}}));
    CHECK(store().hash_cas(hash, "testField", "1", "4"));
    CHECK(store().hash_cas(hash, "testField", "1", "5").current == "4");
}

TEST(article_3_a_list_whose_items_expire)
{
    std::string key = fresh("ptxlist");
    auto at = [](int64_t s) {
        return holdfast::time_point(std::chrono::seconds(s));
    };

    store().timeline_add(key, "key5", "data5", 12h, {{"fee", 20.0}},
                         at(1540458294));
    store().timeline_add(key, "key3", "data3", 12h,
                         {{"fee", 30.0}, {"from", std::string("ann")}},
                         at(1540458293));
    store().timeline_add(key, "key1", "data1", 30ms, {}, at(1540458290));
    std::this_thread::sleep_for(60ms);
    auto page = store().timeline_page(key);
    CHECK(page.items.size() == 2 && page.next.empty());
    CHECK(page.items[0].payload == "data5" && page.items[1].id == "key3");
    CHECK(page.items[1].at == at(1540458293));
    CHECK(std::get<std::string>(page.items[1].attributes["from"]) == "ann");
    holdfast::page_options by_fee;
    by_fee.order_by = "fee";
    by_fee.limit = 1;
    page = store().timeline_page(key, by_fee);
    CHECK(page.items.size() == 1 && page.items[0].id == "key3");
    by_fee.cursor = page.next;
    CHECK(store().timeline_page(key, by_fee).items[0].id == "key5");
    CHECK(store().timeline_remove(key, "key5"));
    CHECK(!store().timeline_get(key, "key5"));
    CHECK(store().timeline_count(key) == 1);
}

TEST(article_4_set_with_expiry)
{
    std::string key = fresh("key");
    std::optional<std::string> previous;
    holdfast::set_options opts;

    opts.ttl = 5s;
    CHECK(store().set(key, "value", opts));
    CHECK(store().ttl(key) <= 5s);
    opts.only_if_absent = true;
    CHECK(!store().set(key, "other", opts));
    holdfast::set_options keep;
    keep.keep_ttl = true;
    keep.previous = &previous;
    CHECK(store().set(key, std::string("a\0b", 3), keep));
    CHECK(previous == "value" && store().ttl(key) <= 5s);
    CHECK(store().get(key) == std::string("a\0b", 3));
    holdfast::set_options past;
    past.expires_at = std::chrono::system_clock::now() - 1s;
    CHECK(store().set(key, "gone", past));
    CHECK(!store().get(key) && !store().ttl(key));
}

TEST(article_5_a_distributed_lock)
{
    holdfast::lock lock(store(), fresh("yang37"));
    auto held = lock.acquire(10s);

    CHECK(held.is_held() && held.token() > 0 && held.remaining() > 20s);
    CHECK(!lock.try_acquire());
    CHECK(!lock.try_acquire(20ms));
    CHECK_THROWS(HF_TIMEOUT, lock.acquire(20ms));
    uint64_t token = held.token();
    held.release();
    CHECK(!held);
    CHECK(lock.acquire().token() > token);
}

TEST(a_hold_releases_at_the_end_of_its_scope)
{
    holdfast::lock lock(store(), fresh("l"));

    {
        auto held = lock.acquire();
        holdfast::hold moved = std::move(held);

        CHECK(moved && !held);
    }
    CHECK(lock.try_acquire());
}

TEST(a_lost_lock_is_reported)
{
    std::string name = fresh("l");
    std::atomic<int> reason{HF_OK};
    holdfast::lock_options opts;

    opts.ttl = 300ms;
    opts.renew = false;
    opts.on_lost = [&](holdfast::status why) { reason = why; };
    auto held = holdfast::lock(store(), name, opts).acquire();
    for (int i = 0; i < 500 && reason == HF_OK; i++)
        std::this_thread::sleep_for(10ms);
    /* Until it has ended in the store too. */
    std::this_thread::sleep_for(100ms);
    CHECK(reason == HF_EXPIRED && !held.is_held());
    CHECK_THROWS(HF_LOST, holdfast::transaction(store()).if_held(held));
    CHECK_THROWS(HF_EXPIRED, held.release());
}

TEST(readers_share_and_a_writer_excludes)
{
    std::string name = fresh("rw");
    auto reads = holdfast::read_lock(store(), name);
    auto writes = holdfast::write_lock(store(), name);

    {
        auto one = reads.acquire(), two = reads.acquire();
        CHECK(one && two && !writes.try_acquire());
    }
    auto writer = writes.acquire(5s);
    CHECK(!reads.try_acquire());
    uint64_t token = writer.token();
    writer.downgrade();
    CHECK(writer && writer.token() == token && reads.try_acquire());
}

TEST(a_semaphore_has_n_permits)
{
    auto permits = holdfast::semaphore(store(), fresh("s"), 3);
    auto one = permits.acquire(), two = permits.acquire();
    auto three = permits.try_acquire();

    CHECK(three && !permits.try_acquire());
    two.release();
    CHECK(permits.try_acquire());
}

TEST(a_mutex_excludes_threads_and_may_be_locked_again)
{
    holdfast::mutex mutex(store(), fresh("m"));
    int counter = 0;
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 25; i++) {
                std::unique_lock<holdfast::mutex> outer(mutex);
                std::lock_guard<holdfast::mutex> inner(mutex);

                CHECK(mutex.is_held() && mutex.token() > 0);
                counter++;
            }
        });
    for (std::thread &one : threads)
        one.join();
    CHECK(counter == 100);
    std::unique_lock<holdfast::mutex> lock(mutex, 1s);
    std::thread([&] {
        CHECK(!mutex.try_lock() && !mutex.try_lock_for(1ms) && !mutex.token());
    }).join();
}

TEST(failures_throw_or_are_set)
{
    holdfast::error err;
    std::string key = fresh("h");

    store().hash_put(key, {{"a", "b"}});
    CHECK_THROWS(HF_WRONG_TYPE, store().get(key));
    CHECK(!store().get(key, err) && err && err.status() == HF_WRONG_TYPE);
    CHECK(err.kind() == HF_KIND_USAGE && err.message()[0] != '\0');
    CHECK(!store().get(fresh("none"), err) && !err);
    client bad("no-such-scheme:", err);
    CHECK(err.status() == HF_INVALID && bad.get() == nullptr);
    CHECK_THROWS(HF_INVALID, client("no-such-scheme:"));
    auto held = holdfast::lock(store(), "", {}).acquire(1s, err);
    CHECK(err.status() == HF_INVALID && !held);
}

TEST(counters_have_bounds)
{
    std::string key = fresh("n");
    holdfast::add_options opts;

    opts.max = 5;
    CHECK(store().add(key, 4, opts) == 4);
    CHECK(!store().add(key, 2, opts));
    CHECK(store().add(key, -14) == -10);
    CHECK(store().hash_add(fresh("h"), "f", 3) == 3);
}

TEST(a_fenced_write_refuses_an_older_token)
{
    std::string key = fresh("f");

    CHECK(store().put_fenced(key, "new", 7));
    CHECK(!store().put_fenced(key, "late", 6));
    CHECK(store().get(key) == "new");
}

TEST(a_revision_is_used_once)
{
    std::string key = fresh("r");
    auto first = store().put_revised(key, "a", HF_REVISION_NONE);
    auto read = store().get_revised(key);

    CHECK(first && read && read->value == "a");
    CHECK(read->revision == first.revision);
    auto second = store().put_revised(key, "b", first.revision);
    CHECK(second && second.revision > first.revision);
    auto late = store().put_revised(key, "c", first.revision);
    CHECK(!late && late.revision == second.revision);
    CHECK(!store().remove_revised(key, first.revision));
    CHECK(store().remove_revised(key, second.revision));
    CHECK(!store().get_revised(key));
    CHECK(store().put_revised(key, "d", 7).revision == 0);
}

TEST(one_thread_fills_a_cache_entry)
{
    std::string key = fresh("c");
    std::atomic<int> fills{0};
    std::vector<std::thread> threads;
    holdfast::cache_options opts;

    opts.ttl = 60s;
    opts.tags = {"tag:" + key};
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&] {
            CHECK(store().cache_get_or_fill(
                      key,
                      [&] {
                          fills++;
                          std::this_thread::sleep_for(30ms);
                          return std::optional<std::string>("row");
                      },
                      opts) == "row");
        });
    for (std::thread &one : threads)
        one.join();
    CHECK(fills == 1);
    CHECK(store().cache_invalidate(opts.tags[0]));
    bool thrown = false;
    try {
        store().cache_get_or_fill(
            key,
            []() -> std::optional<std::string> {
                throw std::domain_error("the database is down");
            },
            opts);
    } catch (const std::domain_error &) {
        thrown = true;
    }
    CHECK(thrown);
}

TEST(a_transaction_applies_all_or_nothing)
{
    std::string tag = fresh("{t") + "}", a = tag + "a", b = tag + "b";

    store().set(a, "1");
    {
        holdfast::transaction txn(store());
        txn.if_value(a, "2");
        txn.set(b, "x");
        CHECK(!txn.exec() && txn.failed() == 0u && !store().get(b));
    }
    holdfast::transaction txn(store());
    txn.if_value(a, "1");
    txn.if_absent(b);
    txn.remove(a);
    txn.add(b, 5);
    txn.timeline_add(tag + "t", "id", "payload", 60s);
    CHECK(txn.exec() && txn.status_of(0) == HF_OK && !txn.failed());
    CHECK(!store().get(a) && store().get(b) == "5");
    CHECK(store().timeline_count(tag + "t") == 1);
}

TEST(a_transaction_needs_a_lease)
{
    std::string tag = fresh("{t") + "}", key = tag + "k";
    const holdfast::lock kinds[] = {
        holdfast::lock(store(), tag + "lock"),
        holdfast::read_lock(store(), tag + "read"),
        holdfast::write_lock(store(), tag + "write"),
        holdfast::semaphore(store(), tag + "permits", 2)};

    for (const holdfast::lock &kind : kinds) {
        holdfast::transaction now(store()), late(store()), never(store());
        auto held = kind.acquire();

        now.if_held(held);
        now.set(key, "1");
        late.if_held(held);
        late.set(key, "2");
        CHECK(now.exec() && store().get(key) == "1");
        held.release();
        CHECK(!late.exec() && late.failed() == 0u && store().get(key) == "1");
        CHECK_THROWS(HF_INVALID, never.if_held(held));
        CHECK(store().remove(key));
    }
}

TEST(a_transaction_needs_a_token)
{
    std::string tag = fresh("{t") + "}", name = tag + "lock", key = tag + "k";
    auto held = holdfast::lock(store(), name).acquire();
    uint64_t token = held.token();
    auto set = [&](uint64_t with, const std::string &value) {
        holdfast::transaction txn(store());

        txn.if_token(name, with);
        txn.set(key, value);
        return txn.exec();
    };

    CHECK(!set(token + 1, "1") && !store().get(key));
    CHECK(set(token, "2"));
    held.release();
    CHECK(!set(token, "3") && store().get(key) == "2");
    CHECK_THROWS(HF_INVALID, set(0, "4"));
}

TEST(a_transaction_needs_a_fence)
{
    std::string tag = fresh("{t") + "}", fenced = tag + "f", key = tag + "k";
    auto set = [&](uint64_t token) {
        holdfast::transaction txn(store());

        txn.if_fence(fenced, token);
        txn.set(key, std::to_string(token));
        txn.put_fenced(fenced, "1", token);
        return txn.exec();
    };

    CHECK(set(7) && !set(6) && store().get(key) == "7");
}

TEST(a_job_is_taken_until_it_is_done)
{
    holdfast::queue jobs(store(), fresh("{q") + "}");
    holdfast::put_options opts;

    opts.id = "a";
    opts.attempts = 3;
    CHECK(jobs.put("first", opts) && !jobs.put("again", opts));
    CHECK(jobs.put("second"));
    {
        auto job = jobs.take();

        CHECK(job && job.token() > 0 && job.payload() == "first");
        CHECK(job.id() == "a" && job.info().attempt == 1 &&
              job.info().attempts == 3);
        CHECK(std::chrono::system_clock::now() - job.info().put < 1h);
    } // goes back as if it had not been taken
    auto job = jobs.take();
    CHECK(job.id() == "a" && job.info().attempt == 1);
    CHECK(job.backoff(1s, 3s) == 1s);
    CHECK(jobs.inspect().taken == 1 && jobs.inspect().ready == 1);
    CHECK(jobs.list(HF_QUEUE_READY).at(0).payload == "second");
    holdfast::transaction now(store()), late(store());
    now.if_held(job);
    now.set(jobs.name() + "result", "1");
    late.if_held(job);
    late.set(jobs.name() + "result", "2");
    CHECK(now.exec());
    job.done();
    CHECK(!job && !late.exec() && store().get(jobs.name() + "result") == "1");
    CHECK_THROWS(HF_INVALID, job.done());
    CHECK(jobs.try_take()->payload() == "second");
}

TEST(a_job_ends_as_it_is_said)
{
    holdfast::queue jobs(store(), fresh("q"));
    holdfast::put_options opts;

    opts.id = "a";
    opts.attempts = 2;
    CHECK(jobs.put("x", opts));
    jobs.take().defer(1ms);
    auto job = jobs.take(10s);
    CHECK(job.info().attempt == 1);
    job.again(1ms);
    job = jobs.take(10s);
    CHECK(job.info().attempt == 2 && job.backoff(1s, 10s) == 2s);
    job.again();
    CHECK(!jobs.try_take() && jobs.inspect().dead == 1);
    CHECK(jobs.revive("a") && !jobs.revive("a"));
    jobs.take().fail();
    CHECK(jobs.list(HF_QUEUE_DEAD).size() == 1 && jobs.revive(5) == 1);
    jobs.pause();
    CHECK(jobs.inspect().paused && !jobs.try_take());
    CHECK_THROWS(HF_TIMEOUT, jobs.take(1ms));
    jobs.resume();
    CHECK(jobs.try_take());
}

TEST(jobs_have_priorities_delays_and_groups)
{
    holdfast::queue jobs(store(), fresh("q"));
    holdfast::put_options opts;

    opts.group = "g";
    opts.priority = 1;
    CHECK(jobs.put("one", opts) && jobs.put("behind", opts));
    opts = {};
    opts.delay = 1h;
    CHECK(jobs.put("later", opts));
    opts = {};
    opts.priority = 9;
    opts.id = "first";
    opts.remember = 1h;
    CHECK(jobs.put("first", opts));
    auto first = jobs.take(), one = jobs.take();
    CHECK(first.payload() == "first" && first.info().priority == 9);
    CHECK(one.payload() == "one" && one.info().group == "g" &&
          !jobs.try_take());
    first.done();
    CHECK(!jobs.put("first", opts));
    auto info = jobs.inspect();
    CHECK(info.behind == 1 && info.delayed == 1 && info.remembered == 1);
    one.done();
    CHECK(jobs.take().payload() == "behind");
}

TEST(next_ends_a_job_and_takes_another)
{
    holdfast::queue jobs(store(), fresh("q"));
    holdfast::lock_options brief;
    std::string done;

    for (const char *payload : {"a", "b", "c"})
        CHECK(jobs.put(payload));
    auto job = jobs.take();
    do
        done += job.payload();
    while (job.next(HF_QUEUE_DONE, 1ms));
    CHECK(done == "abc" && !job && jobs.inspect().taken == 0);
    CHECK(jobs.put("d") && job.next(HF_QUEUE_DONE));
    CHECK(!job.next(HF_QUEUE_AGAIN, 0ms, 1h) && jobs.inspect().delayed == 1);

    /* Another worker has the job: said, and the next call takes one. */
    brief.ttl = 200ms;
    brief.renew = false;
    holdfast::queue slow(store(), jobs.name(), brief);
    CHECK(jobs.put("e"));
    auto late = slow.take();
    auto other = jobs.take(30s);
    CHECK(other.payload() == "e" && other.info().attempt == 2);
    CHECK_THROWS(HF_EXPIRED, late.next(HF_QUEUE_DONE));
    other.done();
    CHECK(jobs.put("f") && late.next(HF_QUEUE_DONE) && late.payload() == "f");
    late.done();
}

TEST(work_is_done_once)
{
    holdfast::once_options opts;
    std::string key = fresh("once");

    opts.fingerprint = "body";
    holdfast::once work(store(), key, opts);
    CHECK(!work.inspect());
    {
        auto claim = work.claim();
        CHECK(claim && !claim.is_done());
        CHECK(work.inspect()->state == HF_ONCE_CLAIMED);
        CHECK(work.inspect()->owner == claim.owner());
        CHECK_THROWS(HF_TIMEOUT, work.claim(1ms));
    } // it has failed
    auto claim = work.claim();
    claim.complete(7, "result");
    CHECK(!claim);
    auto again = work.claim();
    CHECK(!again && again.is_done() && again.result().status == 7);
    CHECK(again.result().result == "result");
    CHECK(work.inspect()->state == HF_ONCE_DONE);
    CHECK(work.inspect()->result.result == "result" && !work.inspect()->tick);
    opts.fingerprint = "other";
    CHECK_THROWS(HF_INVALID, holdfast::once(store(), key, opts).claim());
    CHECK(work.remove() && !work.remove() && work.claim());
}

TEST(work_in_doubt_is_not_done_again)
{
    holdfast::once_options opts;
    holdfast::lock_options brief;
    std::string key = fresh("once");

    brief.ttl = 200ms;
    brief.renew = false;
    auto killed = holdfast::once(store(), key, opts, brief).claim();
    CHECK(killed);
    std::this_thread::sleep_for(300ms);
    CHECK_THROWS(HF_EXPIRED, holdfast::once(store(), key).claim());
    CHECK(holdfast::once(store(), key).inspect()->state == HF_ONCE_DOUBT);
    opts.retry_doubt = true;
    auto claim = holdfast::once(store(), key, opts).claim();
    CHECK(claim);
    CHECK_THROWS(HF_LOST, killed.complete(0));
    claim.complete(0);
}

TEST(work_is_done_once_in_a_period)
{
    holdfast::once_options opts;

    opts.period = 24h;
    opts.early = 24h - 1ms; // so it is that of the next midnight
    opts.keep = 720h;
    holdfast::once work(store(), fresh("once"), opts);
    auto claim = work.claim();
    CHECK(claim);
    claim.complete(0);
    auto info = work.inspect();
    CHECK(info->tick && info->tick->time_since_epoch() % 24h == 0ms);
    CHECK(*info->tick > std::chrono::system_clock::now() - 1min);
    CHECK(info->remaining > 700h);
}

TEST(members_of_a_set_expire_one_by_one)
{
    std::string key = fresh("set");
    holdfast::set_add_options opts;

    CHECK(store().set_add(key, {"ann", std::string("a\0b", 3)}) == 2);
    opts.ttl = 1min;
    CHECK(store().set_add(key, {"ann", "bob"}, opts) == 1);
    CHECK(store().set_has(key, "bob") > 50s && !store().set_has(key, "eve"));
    CHECK(store().set_has(key, std::string("a\0b", 3)) == -1ms);
    auto some = store().set_has_members(key, {"eve", "ann"});
    CHECK(!some[0] && some[1] <= 1min);
    opts.only_if_absent = true;
    CHECK(store().set_add(key, {"bob"}, opts) == 0);
    CHECK(store().set_expire(key, -1ms, {"bob", "eve"}) == 1);
    CHECK(store().set_has(key, "bob") == -1ms);
    auto page = store().set_page(key);
    CHECK(page.members.size() == 3 && page.next.empty());
    CHECK(store().set_expire(key, 1ms, {"ann"}) == 1);
    std::this_thread::sleep_for(20ms);
    CHECK(store().set_count(key) == 2);
    CHECK(store().set_remove(key, {"ann", "bob"}) == 1);
    CHECK_THROWS(HF_INVALID, store().set_add(key, {}));
}

TEST(a_rank_orders_members_by_score)
{
    std::string key = fresh("rank");
    holdfast::rank_add_options opts;

    CHECK(store().rank_add(key, "ann", 30) && store().rank_add(key, "bob", 10));
    opts.only_if_greater = true;
    CHECK(!store().rank_add(key, "bob", 5, opts));
    opts = {};
    opts.only_if_present = true;
    CHECK(!store().rank_add(key, "eve", 5, opts));
    opts = {};
    opts.ttl = 1min;
    auto place = store().rank_increment(key, "eve", 20.5, opts);
    CHECK(place && place->score == 20.5 && place->rank == 1);
    CHECK(place->count == 3);
    CHECK(store().rank_get(key, "bob")->rank == 2);
    CHECK(!store().rank_get(key, "none"));
    auto top = store().rank_page(key, 0, 2);
    CHECK(top.size() == 2 && top[0].member == "ann" && top[1].ttl > 50s);
    CHECK(top[0].ttl == -1ms && top[1].rank == 1);
    CHECK(store().rank_page(key, 0, 1, true).at(0).member == "bob");
    CHECK(store().rank_around(key, "eve", 1).size() == 3);
    CHECK(store().rank_around(key, "none", 1).empty());
    CHECK(store().rank_count(key) == 3 && store().rank_count(key, 20) == 2);
    CHECK(store().rank_count(key, {}, 20) == 1);
    CHECK(store().rank_expire(key, "eve", -1ms));
    CHECK(!store().rank_expire(key, "none", 1s));
    CHECK(store().rank_trim(key, 2).removed == 1);
    CHECK(store().rank_remove(key, {"ann", "bob"}) == 1);
    CHECK_THROWS(HF_WRONG_TYPE, store().set_count(key));
}
