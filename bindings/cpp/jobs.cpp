/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.cpp - the second example of README.md, as it is there.
 */
#include <holdfast.hpp>

#include <iostream>

int main()
{
    using namespace std::chrono_literals;
    holdfast::client store;
    holdfast::queue mail(store, "mail");

    mail.put("to: ann");
    while (auto job = mail.try_take(100ms)) {
        // The job may be done again; its mail is sent once.
        auto sent = holdfast::once(store, "sent:" + job->id()).claim();

        if (!sent.is_done()) {
            std::cout << "sending " << job->payload() << "\n";
            sent.complete(0);
        }
        job->done();
    }
}
