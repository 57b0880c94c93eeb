/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.hpp - tests: TEST(name) { CHECK(...); }, and main() that runs them all.
 */
#ifndef BINDINGS_CPP_CHECK_HPP
#define BINDINGS_CPP_CHECK_HPP

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

struct test {
    const char *name;
    void (*run)();
};

inline std::vector<test> &tests()
{
    static std::vector<test> all;

    return all;
}

struct registered {
    registered(const char *name, void (*run)())
    {
        tests().push_back({name, run});
    }
};

#define TEST(name)                                                             \
    static void name();                                                        \
    static registered registered_##name(#name, name);                          \
    static void name()

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition))                                                      \
            throw std::logic_error(std::string(__FILE__) + ":" +               \
                                   std::to_string(__LINE__) +                  \
                                   ": " #condition);                           \
    } while (0)

/* Does it throw holdfast::exception with this status? */
#define CHECK_THROWS(expected, expression)                                     \
    do {                                                                       \
        holdfast::status got_ = HF_OK;                                         \
        try {                                                                  \
            expression;                                                        \
        } catch (const holdfast::exception &thrown_) {                         \
            got_ = thrown_.status();                                           \
        }                                                                      \
        CHECK(got_ == (expected));                                             \
    } while (0)

int main()
{
    unsigned failed = 0;

    for (const test &one : tests()) {
        try {
            one.run();
            std::printf("ok %s\n", one.name);
        } catch (const std::exception &thrown) {
            std::printf("FAILED %s: %s\n", one.name, thrown.what());
            failed++;
        }
    }
    std::printf("%zu passed, %u failed\n", tests().size() - failed, failed);
    return failed == 0 && !tests().empty() ? 0 : 1;
}

#endif
