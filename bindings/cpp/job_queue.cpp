/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.cpp - a queue of jobs that several programs work on.
 *
 *     job_queue put JOB PAYLOAD [DELAY_MS]
 *     job_queue work [SECONDS]
 *
 * Jobs are items of a timeline, due at their times. A worker takes the first
 * that is due and that it can lock. A lock that ends with its worker gives the
 * job back. The job and its result change in one transaction, and the fencing
 * token lets no worker that was paused replace the result of a newer one.
 */
#include <holdfast.hpp>

#include <cstring>
#include <iostream>

using namespace std::chrono_literals;
using clock_type = std::chrono::system_clock;

static const char JOBS[] = "{jobs}";

static std::string lock_of(const std::string &job)
{
    return "{jobs}:lock:" + job;
}

static std::string result_of(const std::string &job)
{
    return "{jobs}:result:" + job;
}

static void put(holdfast::client &store, const std::string &job,
                const std::string &payload, holdfast::milliseconds delay)
{
    store.timeline_add(JOBS, job, payload, 24h, {}, clock_type::now() + delay);
}

/* What a job is: here, its text backwards. */
static std::string run(const std::string &payload)
{
    return std::string(payload.rbegin(), payload.rend());
}

static bool work_on(holdfast::client &store, const std::string &job)
{
    holdfast::lock_options opts;

    opts.ttl = 10s; // renewed; what a killed worker blocks its job for
    auto held = holdfast::lock(store, lock_of(job), opts).try_acquire();
    if (!held)
        return false; // another worker has it

    /* It may have been finished between the look and the lock. */
    auto item = store.timeline_get(JOBS, job);
    if (!item)
        return false;

    std::string result = run(item->payload);
    holdfast::transaction finish(store);

    finish.if_token(lock_of(job), held->token());
    finish.set(result_of(job), result);
    finish.timeline_remove(JOBS, job);
    finish.add("{jobs}:runs:" + job, 1);
    if (!finish.exec())
        return false; // the lock was lost: another worker does it
    std::cout << job << " " << result << std::endl;
    return true;
}

/* One job that is due; false: there is none, or others have them all. */
static bool work(holdfast::client &store)
{
    holdfast::page_options due;

    due.ascending = true;
    due.to = clock_type::now();
    due.limit = 100;
    for (const auto &item : store.timeline_page(JOBS, due).items)
        if (work_on(store, item.id))
            return true;
    return false;
}

int main(int argc, char **argv)
try {
    holdfast::client store;

    if (argc >= 4 && std::strcmp(argv[1], "put") == 0) {
        put(store, argv[2], argv[3],
            holdfast::milliseconds(argc > 4 ? std::stoll(argv[4]) : 0));
        return 0;
    }
    if (argc >= 2 && std::strcmp(argv[1], "work") == 0) {
        auto until = clock_type::now() +
                     std::chrono::seconds(argc > 2 ? std::stoll(argv[2]) : 60);

        while (clock_type::now() < until)
            if (!work(store))
                std::this_thread::sleep_for(20ms);
        return 0;
    }
    std::cerr
        << "usage: job_queue put JOB PAYLOAD [DELAY_MS] | work [SECONDS]\n";
    return 2;
} catch (const holdfast::exception &failed) {
    std::cerr << failed.what() << "\n";
    return 1;
}
