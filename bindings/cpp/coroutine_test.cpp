/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coroutine_test.cpp - co_await on calls of holdfast.hpp, resumed by a loop
 * that polls the client's descriptor.
 */
#include <holdfast.hpp>

#include <poll.h>

#include "check.hpp"

#ifndef HOLDFAST_COROUTINES
#error "compile with C++20"
#endif

using namespace std::chrono_literals;
using holdfast::client;

/* A coroutine that starts at once; the first exception is kept for run(). */
struct job {
    struct promise_type {
        job get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend()
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            thrown = std::current_exception();
        }
    };
    static std::exception_ptr thrown;
};
std::exception_ptr job::thrown;

static void run(client &store)
{
    struct pollfd polled = {store.fd(), POLLIN, 0};

    while (store.dispatch() > 0)
        CHECK(poll(&polled, 1, 30000) > 0);
    if (job::thrown)
        std::rethrow_exception(std::exchange(job::thrown, nullptr));
}

static job count(client &store, const holdfast::lock &lock, int id, int &inside,
                 std::vector<int> &order)
{
    holdfast::hold held = co_await holdfast::acquire(lock, 60s);
    int64_t value = 0;

    CHECK(inside++ == 0);
    order.push_back(id);
    holdfast::error err =
        co_await holdfast::start([&](const hf_async *async, hf_error *e) {
            return hf_value_add_start(store.get(), hf_str("coroutines"), 1,
                                      nullptr, &value, async, e);
        });
    CHECK(!err && value == static_cast<int64_t>(order.size()));
    inside--;
    held.release();
}

TEST(coroutines_take_a_lock_in_order)
{
    client store;
    holdfast::lock lock(store, "coroutine-lock");
    std::vector<int> order;
    int inside = 0;

    for (int id = 0; id < 50; id++)
        count(store, lock, id, inside, order);
    run(store);
    CHECK(order.size() == 50);
    for (int id = 0; id < 50; id++)
        CHECK(order[static_cast<std::size_t>(id)] == id);
}

static job expect(const holdfast::lock &lock, holdfast::milliseconds wait,
                  holdfast::status expected, holdfast::status &got)
{
    try {
        holdfast::hold held = co_await holdfast::acquire(lock, wait);
    } catch (const holdfast::exception &failed) {
        got = failed.status();
    }
    CHECK(got == expected);
}

TEST(a_coroutine_gets_the_exception)
{
    client store;
    holdfast::status got = HF_OK;
    holdfast::lock lock(store, "held"), invalid(store, "");
    holdfast::hold held = lock.acquire();

    expect(lock, 10ms, HF_TIMEOUT, got);
    run(store);
    CHECK(got == HF_TIMEOUT);
    expect(invalid, 10ms, HF_INVALID, got);
    run(store);
    CHECK(got == HF_INVALID);
}

static job work(holdfast::queue &jobs, std::string &done)
{
    for (;;) {
        holdfast::job taken = co_await holdfast::take(jobs, 5s);

        if (taken.payload() == "end")
            co_return; // puts it back, for the others
        done += taken.payload();
        holdfast::error err =
            co_await holdfast::start([&](const hf_async *async, hf_error *e) {
                return hf_queue_done_start(taken.get(), async, e);
            });
        CHECK(!err && !taken);
    }
}

TEST(coroutines_take_jobs)
{
    client store;
    holdfast::queue jobs(store, "coroutine-jobs");
    std::string done;

    for (int i = 0; i < 3; i++)
        work(jobs, done);
    for (const char *payload : {"a", "b", "c", "d", "end"})
        CHECK(jobs.put(payload));
    run(store);
    CHECK(done == "abcd" && jobs.inspect().ready == 1);
}

static job once_for_all(holdfast::once &once, int &runs)
{
    holdfast::claim claim = co_await holdfast::begin(once, 30s);

    if (claim) {
        runs++;
        holdfast::error err =
            co_await holdfast::start([&](const hf_async *async, hf_error *e) {
                return hf_once_complete_start(claim.get(), 5, hf_str("x"),
                                              async, e);
            });
        CHECK(!err);
    } else {
        CHECK(claim.is_done() && claim.result().status == 5);
        CHECK(claim.result().result == "x");
    }
}

TEST(one_coroutine_does_the_work)
{
    client store;
    holdfast::once once(store, "coroutine-once");
    int runs = 0;

    for (int i = 0; i < 10; i++)
        once_for_all(once, runs);
    run(store);
    CHECK(runs == 1);
}
