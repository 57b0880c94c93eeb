/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.cpp - a queue of jobs that several programs work on.
 *
 *     job_queue put JOB PAYLOAD [DELAY_MS]
 *     job_queue work [SECONDS]
 *
 * The job of a worker that was killed is taken by another when its lease ends,
 * so it may be done twice. Its result is stored only while the worker has the
 * job: one that was paused does not replace the result of a newer one.
 */
#include <holdfast.hpp>

#include <cstring>
#include <iostream>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

/* What a job is: here, its text backwards, which takes a while. */
static std::string run(const std::string &payload)
{
    std::this_thread::sleep_for(20ms);
    return std::string(payload.rbegin(), payload.rend());
}

static void work_on(holdfast::client &store, holdfast::job &job)
try {
    std::string result = run(job.payload());
    holdfast::transaction write(store);

    write.if_held(job);
    write.set("{jobs}:result:" + job.id(), result);
    write.add("{jobs}:runs:" + job.id(), 1);
    if (!write.exec())
        return;
    job.done();
    std::cout << job.id() << " " << result << std::endl;
} catch (const holdfast::exception &failed) {
    if (failed.status() != HF_LOST && failed.status() != HF_EXPIRED)
        throw; // else another worker has the job
}

int main(int argc, char **argv)
try {
    holdfast::client store;
    holdfast::lock_options opts;

    opts.ttl = 5s; // renewed; what a killed worker delays its job for
    holdfast::queue jobs(store, "{jobs}", opts);

    if (argc >= 4 && std::strcmp(argv[1], "put") == 0) {
        holdfast::put_options put;

        put.id = argv[2];
        put.delay = holdfast::milliseconds(argc > 4 ? std::stoll(argv[4]) : 0);
        return jobs.put(argv[3], put) ? 0 : 1;
    }
    if (argc >= 2 && std::strcmp(argv[1], "work") == 0) {
        auto until = clock_type::now() +
                     std::chrono::seconds(argc > 2 ? std::stoll(argv[2]) : 60);

        while (clock_type::now() < until)
            if (auto job = jobs.try_take(1s))
                work_on(store, *job);
        return 0;
    }
    std::cerr
        << "usage: job_queue put JOB PAYLOAD [DELAY_MS] | work [SECONDS]\n";
    return 2;
} catch (const holdfast::exception &failed) {
    std::cerr << failed.what() << "\n";
    return 1;
}
