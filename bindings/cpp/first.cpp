/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first.cpp - the first example of README.md, as it is there.
 */
#include <holdfast.hpp>

#include <iostream>

int main()
{
    using namespace std::chrono_literals;
    holdfast::client store; // $HOLDFAST_STORE, else this user's memory
    auto held = holdfast::lock(store, "backup").try_acquire(5s);

    if (!held) {
        std::cout << "another backup has been running for 5 s\n";
        return 1;
    }
    auto count = store.add("backup:count", 1);
    store.put_fenced("backup:last", "number 1", held->token());
    std::cout << "backup " << *count << "\n";
} // releases the lock
