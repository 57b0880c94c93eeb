/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast.hpp - libholdfast for C++17 and later. Header-only: link
 * libholdfast, as for C.
 *
 * Contents:
 * - holdfast::client: values, hashes, timelines, sets, ranks, cache entries of
 * a store
 * - holdfast::lock, read_lock(), write_lock(), semaphore(), and holdfast::hold,
 *   the guard that an acquire returns
 * - holdfast::mutex: a lock for std::unique_lock and std::scoped_lock
 * - holdfast::queue, and holdfast::job, the guard of a job that was taken
 * - holdfast::once, and holdfast::claim, the guard of work that is done once
 * - holdfast::transaction
 * - holdfast::start(), acquire(), take(), begin(): co_await (C++20)
 * - holdfast::error, holdfast::exception
 *
 * @code
 * void back_up(holdfast::client &store)
 * {
 *     using namespace std::chrono_literals;
 *     auto held = holdfast::lock(store, "backup").try_acquire(5s);
 *
 *     if (!held)
 *         return; // another one was running for 5 s
 *     while (held->is_held() && copy_next_file())
 *         store.put_fenced("backup:at", now(), held->token());
 * } // releases it
 * @endcode
 *
 * **Errors.** Each call ends in a parameter `error &err`. Without it, what
 * fails throws holdfast::exception; with it nothing is thrown but
 * std::bad_alloc, and `err` is set, or cleared if the call succeeds. Ordinary
 * outcomes are results, not errors: an empty std::optional for what is not
 * there, false for a condition that is not met.
 *
 * **Time.** Durations are std::chrono::milliseconds, so that seconds and
 * minutes convert by themselves. holdfast::forever waits without a limit.
 *
 * **Threads.** A client may be used by all threads. A hold belongs to one
 * thread at a time. Each acquire has a handle of its own, so the threads of one
 * program exclude each other too.
 *
 * What is not here can be called by the functions of C: get() of each class
 * returns what they take.
 */
#ifndef HOLDFAST_HPP
#define HOLDFAST_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#if defined(__cpp_impl_coroutine) && __cplusplus >= 202002L
#include <coroutine>
#define HOLDFAST_COROUTINES 1
#endif

#include "holdfast.h"

namespace holdfast
{

using status = hf_status;
using kind = hf_kind;
using milliseconds = std::chrono::milliseconds;
using time_point = std::chrono::system_clock::time_point;

/** Wait without a time limit. */
inline constexpr milliseconds forever{HF_FOREVER};

/* ------------------------------------------------------------------ errors */

/** What a call reports; true if it failed. */
class error
{
  public:
    error() = default;

    explicit operator bool() const
    {
        return raw_.status != HF_OK;
    }
    holdfast::status status() const
    {
        return raw_.status;
    }
    /** What to do about it: retry, find out, change the call. */
    holdfast::kind kind() const
    {
        return hf_status_kind(raw_.status);
    }
    /** The errno that caused it, or 0. */
    int sys_errno() const
    {
        return raw_.sys_errno;
    }
    const char *message() const
    {
        return raw_.message;
    }
    hf_error *get()
    {
        return &raw_;
    }

  private:
    hf_error raw_ = HF_ERROR_INIT;
};

/** Thrown by calls without an `err`. */
class exception : public std::runtime_error
{
  public:
    explicit exception(const holdfast::error &err)
        : std::runtime_error(std::string(hf_status_name(err.status())) + ": " +
                             err.message()),
          error_(err)
    {
    }

    const holdfast::error &error() const
    {
        return error_;
    }
    holdfast::status status() const
    {
        return error_.status();
    }
    holdfast::kind kind() const
    {
        return error_.kind();
    }

  private:
    holdfast::error error_;
};

/** The default of each `err`: failures throw. */
inline error &throws()
{
    static error marker;

    return marker;
}

namespace detail
{

inline hf_bytes view(std::string_view text)
{
    return hf_view(text.data(), text.size());
}

inline std::string text_of(hf_bytes bytes)
{
    return bytes.size == 0
               ? std::string()
               : std::string(static_cast<const char *>(bytes.data), bytes.size);
}

/** Bytes that a call allocates. */
class buffer
{
  public:
    buffer() = default;
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        hf_buffer_free(&raw_);
    }

    hf_buffer *get()
    {
        return &raw_;
    }
    std::string text() const
    {
        return text_of(hf_view(raw_.data, raw_.size));
    }
    std::optional<std::string> value() const
    {
        return raw_.data == nullptr ? std::nullopt : std::optional(text());
    }

  private:
    hf_buffer raw_ = HF_BUFFER_INIT;
};

/** The error of one call, until it is thrown or given to the caller. */
class outcome
{
  public:
    explicit outcome(error &to) : to_(to)
    {
    }

    hf_error *get()
    {
        return own_.get();
    }

    /** Is it HF_OK or one of `others`? If not, this throws or sets the error.
     */
    template <class... Statuses> bool accept(status got, Statuses... others)
    {
        bool accepted = got == HF_OK || (... || (got == others));

        if (accepted)
            own_ = error();
        report();
        return accepted;
    }

  private:
    void report()
    {
        if (&to_ != &throws())
            to_ = own_;
        else if (own_)
            throw exception(own_);
    }

    error &to_;
    error own_;
};

template <class Raw, void (*Free)(Raw *)> struct freer {
    void operator()(Raw *raw) const
    {
        Free(raw);
    }
};

template <class Raw, void (*Free)(Raw *)>
using owned = std::unique_ptr<Raw, freer<Raw, Free>>;

inline std::vector<hf_bytes> views(const std::vector<std::string> &texts)
{
    std::vector<hf_bytes> found;

    for (const std::string &text : texts)
        found.push_back(view(text));
    return found;
}

inline uint32_t flag(bool given, uint32_t bit)
{
    return given ? bit : 0;
}

inline int64_t unix_ms(time_point at)
{
    return std::chrono::duration_cast<milliseconds>(at.time_since_epoch())
        .count();
}

inline time_point from_unix_ms(int64_t ms)
{
    return time_point(milliseconds(ms));
}

} /* namespace detail */

/* ----------------------------------------------------------------- options */

/** Of client::set(), client::put_fenced() and client::put_revised(). */
struct set_options {
    milliseconds ttl{0};                  /**< 0: it does not expire */
    std::optional<time_point> expires_at; /**< by the store's clock */
    bool only_if_absent = false;          /**< NX */
    bool only_if_present = false;         /**< XX */
    bool keep_ttl = false;                /**< KEEPTTL */
    std::optional<std::string> *previous = nullptr; /**< [out] GET */
};

/** Of client::add() and client::hash_add(). */
struct add_options {
    std::optional<int64_t> min, max; /**< bounds of the result */
    milliseconds ttl{0};             /**< of a key that is created */
};

/** Of client::hash_put(). */
struct hash_options {
    milliseconds ttl{0};       /**< of the key; 0: as it was */
    milliseconds field_ttl{0}; /**< of these fields; 0: none */
    bool replace = false;      /**< delete all other fields */
    bool only_if_absent = false;
    bool only_if_present = false;
};

/** Of client::cache_put() and client::cache_get_or_fill(). */
struct cache_options {
    milliseconds ttl{0};    /**< how long it is fresh; needed */
    milliseconds stale{0};  /**< then returned while it is filled again */
    milliseconds error{0};  /**< then returned if filling it fails */
    milliseconds absent{0}; /**< how long "no value" is remembered; 0: the
                                 smaller of `ttl` and 1 s; -1 ms: not at all */
    milliseconds wait{0};   /**< for the fill of another; 0: 10 s */
    std::vector<std::string> tags;
};

/** Of a lock. */
struct lock_options {
    milliseconds ttl{0};         /**< lease; 0: 30 s */
    milliseconds max_hold{0};    /**< lost after this time; 0: never */
    milliseconds lost_margin{0}; /**< report a loss this much earlier */
    milliseconds min_hold{0};    /**< no one else gets it before */
    milliseconds delay{0};       /**< after a holder that vanished */
    bool renew = true;           /**< in the background */
    unsigned priority = 0;       /**< 0..HF_LOCK_PRIORITY_MAX */
    /** Called on the library's thread as soon as the lock is lost, with the
     *  reason; it must return soon, and not throw. See hf_lock_lost_fn. */
    std::function<void(status)> on_lost;
};

using attributes = std::map<std::string, std::variant<double, std::string>>;

/** Of client::timeline_page(). */
struct page_options {
    bool ascending = false; /**< oldest or lowest first */
    std::size_t limit = 0;  /**< most items; 0: 20 */
    std::string cursor;     /**< timeline_page::next of the page before */
    std::string order_by;   /**< an attribute; empty: time */
    std::optional<double> min, max; /**< of that attribute */
    std::optional<time_point> from, to;
};

/** Of client::set_add(). */
struct set_add_options {
    milliseconds ttl{0}; /**< of the members; 0: a member that is there keeps
                              its own, a new one does not expire */
    bool only_if_absent = false;  /**< only members that are not there */
    bool only_if_present = false; /**< only those that are */
    bool keep_ttl = false;        /**< only new members get `ttl` */
};

/** Of client::rank_add() and client::rank_increment(). */
struct rank_add_options {
    milliseconds ttl{0};          /**< as of set_add_options */
    bool only_if_absent = false;  /**< NX */
    bool only_if_present = false; /**< XX */
    bool only_if_greater = false; /**< GT: the new score, or it is new */
    bool only_if_less = false;    /**< LT */
    bool keep_ttl = false;        /**< KEEPTTL */
};

/** Of queue::put(). */
struct put_options {
    std::string id;           /**< empty: a random one */
    milliseconds delay{0};    /**< no one takes it before */
    int64_t priority = 0;     /**< 0..HF_QUEUE_PRIORITY_MAX; highest first */
    int64_t attempts = 0;     /**< then it is a dead letter; 0: no limit */
    milliseconds remember{0}; /**< how long its id is refused, even after it is
                                   done; 0: until it is done */
    std::string group; /**< of which one job at a time is taken; empty: none */
};

/** Of a piece of work; see hf_once_options. */
struct once_options {
    std::string fingerprint;  /**< of the request; with another one the key is
                                   HF_INVALID */
    milliseconds keep{0};     /**< the record; 0: 24 h, or twice the period */
    milliseconds period{0};   /**< it is done once in each; 0: once */
    milliseconds early{0};    /**< how long before a multiple of the period */
    bool retry_doubt = false; /**< claim work in doubt too: its effect may
                                   happen a second time */
};

/* ----------------------------------------------------------------- results */

/** -1 ms: it does not expire. */
struct set_member {
    std::string member;
    milliseconds ttl{0};
};

/** Of client::set_page(). */
struct set_page {
    std::vector<set_member> members;
    std::string next; /**< empty: no members follow */
};

/** Where a member of a rank is. */
struct rank_place {
    double score = 0;
    std::size_t rank = 0;  /**< 0: the top */
    std::size_t count = 0; /**< of all members */
};

/** A member of client::rank_page(). */
struct rank_member {
    std::string member;
    double score = 0;
    std::size_t rank = 0; /**< in the order of the page */
    milliseconds ttl{0};  /**< -1 ms: it does not expire */
};

/** Of client::rank_trim(). */
struct rank_trimmed {
    std::size_t removed = 0;
    bool more = false; /**< call it again */
};

using queue_state = hf_queue_state;     /**< HF_QUEUE_READY and so on */
using queue_outcome = hf_queue_outcome; /**< HF_QUEUE_DONE and so on */

/** A job, as it was when it was taken or listed. */
struct job_info {
    std::string id;
    std::string payload;
    std::string group;    /**< empty: none */
    int64_t attempt = 0;  /**< how often it was taken, this time included */
    int64_t attempts = 0; /**< how often at most; 0: no limit */
    int64_t priority = 0;
    time_point put; /**< when, by the store's clock */
};

/** How many jobs are in which state; see hf_queue_info. */
struct queue_info {
    int64_t ready = 0, taken = 0, delayed = 0, behind = 0, dead = 0;
    int64_t remembered = 0; /**< ids of jobs that are done */
    int64_t waiters = 0;    /**< workers that wait, one for each client */
    bool paused = false;
};

/** Of work that is done. */
struct once_result {
    int32_t status = 0; /**< a number of the caller's */
    std::string result;
};

/** The record of a piece of work; see hf_once_info. */
struct once_info {
    hf_once_state state = HF_ONCE_ABSENT;
    milliseconds remaining{0}; /**< of a claim: its lease; else the record */
    int64_t waiters = 0;
    std::optional<time_point> tick; /**< none: there is no period */
    uint64_t token = 0;             /**< of a claim */
    std::string owner;              /**< of a claim */
    once_result result;             /**< of work that is done */
};

/** Of client::get_revised(). */
struct revised_value {
    std::string value;
    uint64_t revision = 0;
};

/** Of client::put_revised() and client::remove_revised(). */
struct revised_result {
    bool done = false;
    uint64_t revision = 0; /**< the new one; of a refused call the current one;
                                0: no key */

    explicit operator bool() const
    {
        return done;
    }
};

struct cas_result {
    bool done = false;                  /**< the value was replaced */
    std::optional<std::string> current; /**< of a refused one; none: no key */

    explicit operator bool() const
    {
        return done;
    }
};

struct timeline_item {
    std::string id;
    std::string payload;
    time_point at;
    milliseconds ttl{0};
    holdfast::attributes attributes;
};

struct timeline_page {
    std::vector<timeline_item> items;
    std::string next; /**< empty: no items follow */
};

namespace detail
{

inline hf_value_set_options raw_of(const set_options &from)
{
    hf_value_set_options raw = HF_VALUE_SET_OPTIONS_INIT;

    raw.ttl_ms = from.ttl.count();
    if (from.expires_at)
        raw.expires_unix_ms = unix_ms(*from.expires_at);
    raw.flags = flag(from.only_if_absent, HF_SET_NX) |
                flag(from.only_if_present, HF_SET_XX) |
                flag(from.keep_ttl, HF_SET_KEEPTTL) |
                flag(from.previous != nullptr, HF_SET_GET);
    return raw;
}

inline hf_add_options raw_of(const add_options &from)
{
    hf_add_options raw = HF_ADD_OPTIONS_INIT;

    raw.flags = flag(from.min.has_value(), HF_ADD_MIN) |
                flag(from.max.has_value(), HF_ADD_MAX);
    raw.min = from.min.value_or(0);
    raw.max = from.max.value_or(0);
    raw.ttl_ms = from.ttl.count();
    return raw;
}

inline hf_hash_put_options raw_of(const hash_options &from)
{
    hf_hash_put_options raw = HF_HASH_PUT_OPTIONS_INIT;

    raw.flags = flag(from.replace, HF_HASH_REPLACE) |
                flag(from.only_if_absent, HF_HASH_NX) |
                flag(from.only_if_present, HF_HASH_XX);
    raw.ttl_ms = from.ttl.count();
    raw.field_ttl_ms = from.field_ttl.count();
    return raw;
}

/** `tags` must outlive what is returned. */
inline hf_cache_options raw_of(const cache_options &from,
                               const std::vector<hf_bytes> &tags)
{
    hf_cache_options raw = HF_CACHE_OPTIONS_INIT;

    raw.ttl_ms = from.ttl.count();
    raw.stale_ms = from.stale.count();
    raw.error_ms = from.error.count();
    raw.absent_ms = from.absent.count();
    raw.wait_ms = from.wait.count();
    raw.tags = tags.data();
    raw.tag_count = tags.size();
    return raw;
}

inline hf_cas_options cas_options(milliseconds ttl)
{
    hf_cas_options raw = HF_CAS_OPTIONS_INIT;

    raw.ttl_ms = ttl.count();
    return raw;
}

using field_list =
    std::initializer_list<std::pair<std::string_view, std::string_view>>;

inline std::vector<hf_field> raw_of(field_list fields)
{
    std::vector<hf_field> raw;

    for (const auto &[name, value] : fields)
        raw.push_back({view(name), view(value)});
    return raw;
}

/** They must outlive what is returned. */
inline std::vector<hf_attribute> raw_of(const attributes &from)
{
    std::vector<hf_attribute> raw;

    for (const auto &[name, value] : from)
        if (const double *number = std::get_if<double>(&value))
            raw.push_back(hf_attribute_number(view(name), *number));
        else
            raw.push_back(hf_attribute_text(
                view(name), view(std::get<std::string>(value))));
    return raw;
}

inline timeline_item item_of(const hf_timeline_item &raw)
{
    timeline_item item;

    item.id = text_of(raw.id);
    item.payload = text_of(raw.payload);
    item.at = from_unix_ms(raw.at_ms);
    item.ttl = milliseconds(raw.ttl_ms);
    for (std::size_t i = 0; i < raw.attribute_count; i++) {
        const hf_attribute &one = raw.attributes[i];

        if (one.kind == HF_ATTRIBUTE_NUMBER)
            item.attributes[text_of(one.name)] = one.number;
        else
            item.attributes[text_of(one.name)] = text_of(one.text);
    }
    return item;
}

inline hf_set_add_options raw_of(const set_add_options &from)
{
    hf_set_add_options raw = HF_SET_ADD_OPTIONS_INIT;

    raw.flags = flag(from.only_if_absent, HF_SET_NX) |
                flag(from.only_if_present, HF_SET_XX) |
                flag(from.keep_ttl, HF_SET_KEEPTTL);
    raw.ttl_ms = from.ttl.count();
    return raw;
}

inline hf_rank_add_options raw_of(const rank_add_options &from)
{
    hf_rank_add_options raw = HF_RANK_ADD_OPTIONS_INIT;

    raw.flags = flag(from.only_if_absent, HF_RANK_NX) |
                flag(from.only_if_present, HF_RANK_XX) |
                flag(from.only_if_greater, HF_RANK_GT) |
                flag(from.only_if_less, HF_RANK_LT) |
                flag(from.keep_ttl, HF_RANK_KEEPTTL);
    raw.ttl_ms = from.ttl.count();
    return raw;
}

/** `from` must outlive what is returned. */
inline hf_queue_options raw_of(const put_options &from)
{
    hf_queue_options raw = HF_QUEUE_OPTIONS_INIT;

    raw.delay_ms = from.delay.count();
    raw.priority = from.priority;
    raw.attempts = from.attempts;
    raw.remember_ms = from.remember.count();
    raw.group = view(from.group);
    return raw;
}

/** `from` must outlive what is returned. */
inline hf_once_options raw_of(const once_options &from)
{
    hf_once_options raw = HF_ONCE_OPTIONS_INIT;

    raw.flags = flag(from.retry_doubt, HF_ONCE_RETRY_DOUBT);
    raw.fingerprint = view(from.fingerprint);
    raw.keep_ms = from.keep.count();
    raw.period_ms = from.period.count();
    raw.early_ms = from.early.count();
    return raw;
}

inline job_info info_of(const hf_job &raw)
{
    return {text_of(raw.id),
            text_of(raw.payload),
            text_of(raw.group),
            raw.attempt,
            raw.attempts,
            raw.priority,
            from_unix_ms(raw.put_ms)};
}

inline std::vector<rank_member> members_of(const hf_rank_members &raw)
{
    std::vector<rank_member> found;

    for (std::size_t i = 0; i < raw.count; i++)
        found.push_back({text_of(raw.items[i].member), raw.items[i].score,
                         raw.items[i].rank, milliseconds(raw.items[i].ttl_ms)});
    return found;
}

/** Items that a call allocates. */
class items
{
  public:
    items() = default;
    items(const items &) = delete;
    items &operator=(const items &) = delete;
    ~items()
    {
        hf_timeline_items_free(&raw_);
    }

    hf_timeline_items *get()
    {
        return &raw_;
    }
    timeline_page page() const
    {
        timeline_page found;

        for (std::size_t i = 0; i < raw_.count; i++)
            found.items.push_back(item_of(raw_.items[i]));
        found.next = text_of(raw_.next);
        return found;
    }

  private:
    hf_timeline_items raw_ = HF_TIMELINE_ITEMS_INIT;
};

/** A fill that calls a function of C++. */
struct filling {
    std::function<std::optional<std::string>()> compute;
    std::exception_ptr thrown;

    static void run(void *user, hf_cache_fill *fill)
    {
        auto *self = static_cast<filling *>(user);
        hf_status got = HF_NOT_FOUND;
        std::optional<std::string> value;

        try {
            value = self->compute();
            if (value)
                got = HF_OK;
        } catch (...) {
            self->thrown = std::current_exception();
            got = HF_UNAVAILABLE;
        }
        (void)!hf_cache_fill_done(
            fill, got, view(value ? std::string_view(*value) : ""), nullptr);
    }
};

} /* namespace detail */

/* ------------------------------------------------------------------ client */

/** An open store. It is closed at the end of its scope. */
class client
{
  public:
    /**
     * Open a store; see hf_client_open() for URLs. With `err` and a failure
     * the client is empty: get() is NULL.
     */
    explicit client(const std::string &url, const hf_client_options *opts,
                    error &err = throws())
    {
        detail::outcome done(err);
        hf_client *raw = nullptr;

        if (done.accept(hf_client_open(url.c_str(), opts, &raw, done.get())))
            raw_.reset(raw);
    }
    explicit client(const std::string &url = {}, error &err = throws())
        : client(url, nullptr, err)
    {
    }

    hf_client *get() const
    {
        return raw_.get();
    }

    /** End the waits of all threads: they get HF_CANCELLED. */
    void interrupt(error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_client_interrupt(get(), done.get()));
    }

    /* Values. */

    /** false: only_if_absent or only_if_present refused it. */
    bool set(std::string_view key, std::string_view value,
             const set_options &opts = {}, error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer previous;
        hf_value_set_options raw = detail::raw_of(opts);
        status got = hf_value_set(get(), detail::view(key), detail::view(value),
                                  &raw, previous.get(), done.get());

        if (done.accept(got, HF_CONFLICT, HF_NOT_FOUND) &&
            opts.previous != nullptr)
            *opts.previous = previous.value();
        return got == HF_OK;
    }

    std::optional<std::string> get(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer value;

        done.accept(
            hf_value_get(get(), detail::view(key), value.get(), done.get()),
            HF_NOT_FOUND);
        return value.value();
    }

    /** false: there was none. */
    bool remove(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_value_delete(get(), detail::view(key), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /** Compare and set; `expected` std::nullopt: the key must not exist. */
    cas_result cas(std::string_view key,
                   std::optional<std::string_view> expected,
                   std::string_view value, milliseconds ttl = {},
                   error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer current;
        hf_bytes known = detail::view(expected.value_or(""));
        hf_cas_options raw = detail::cas_options(ttl);
        status got =
            hf_value_cas(get(), detail::view(key), expected ? &known : nullptr,
                         detail::view(value), &raw, current.get(), done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return {got == HF_OK, current.value()};
    }

    /** Add to a counter. None: the result would be out of bounds. */
    std::optional<int64_t> add(std::string_view key, int64_t delta,
                               const add_options &opts = {},
                               error &err = throws())
    {
        detail::outcome done(err);
        hf_add_options raw = detail::raw_of(opts);
        int64_t value = 0;
        status got = hf_value_add(get(), detail::view(key), delta, &raw, &value,
                                  done.get());

        done.accept(got, HF_CONFLICT);
        return got == HF_OK ? std::optional(value) : std::nullopt;
    }

    /** Set a value unless a newer holder has written: false. */
    bool put_fenced(std::string_view key, std::string_view value,
                    uint64_t token, const set_options &opts = {},
                    error &err = throws())
    {
        detail::outcome done(err);
        hf_value_set_options raw = detail::raw_of(opts);
        status got =
            hf_value_put_fenced(get(), detail::view(key), detail::view(value),
                                token, &raw, nullptr, done.get());

        done.accept(got, HF_CONFLICT);
        return got == HF_OK;
    }

    /** A value and its revision: a number that never comes again. */
    std::optional<revised_value> get_revised(std::string_view key,
                                             error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer value;
        uint64_t revision = 0;
        status got = hf_value_get_revised(get(), detail::view(key), value.get(),
                                          &revision, done.get());

        done.accept(got, HF_NOT_FOUND);
        if (got != HF_OK)
            return std::nullopt;
        return revised_value{value.value().value_or(""), revision};
    }

    /** Set a value if it has this revision; HF_REVISION_NONE: if there is none;
     * HF_REVISION_ANY: in any case. */
    revised_result put_revised(std::string_view key, std::string_view value,
                               uint64_t expected, const set_options &opts = {},
                               error &err = throws())
    {
        detail::outcome done(err);
        hf_value_set_options raw = detail::raw_of(opts);
        uint64_t revision = 0;
        status got =
            hf_value_put_revised(get(), detail::view(key), detail::view(value),
                                 expected, &raw, &revision, done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return {got == HF_OK, revision};
    }

    /** Delete a value if it has this revision, or HF_REVISION_ANY. */
    revised_result remove_revised(std::string_view key, uint64_t expected,
                                  error &err = throws())
    {
        detail::outcome done(err);
        uint64_t revision = 0;
        status got = hf_value_delete_revised(get(), detail::view(key), expected,
                                             &revision, done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return {got == HF_OK, revision};
    }

    /* Hashes. */

    /** false: only_if_absent or only_if_present refused it. */
    bool hash_put(std::string_view key, detail::field_list fields,
                  const hash_options &opts = {}, error &err = throws())
    {
        detail::outcome done(err);
        hf_hash_put_options raw = detail::raw_of(opts);
        std::vector<hf_field> list = detail::raw_of(fields);
        status got = hf_hash_put(get(), detail::view(key), list.data(),
                                 list.size(), &raw, done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return got == HF_OK;
    }

    std::optional<std::string> hash_get(std::string_view key,
                                        std::string_view field,
                                        error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer value;

        done.accept(hf_hash_get(get(), detail::view(key), detail::view(field),
                                value.get(), done.get()),
                    HF_NOT_FOUND);
        return value.value();
    }

    /** All fields; empty: no such key. */
    std::map<std::string, std::string> hash_get_all(std::string_view key,
                                                    error &err = throws())
    {
        detail::outcome done(err);
        hf_fields fields = HF_FIELDS_INIT;
        std::map<std::string, std::string> found;
        status got =
            hf_hash_get_all(get(), detail::view(key), &fields, done.get());
        std::unique_ptr<hf_fields, detail::freer<hf_fields, hf_fields_free>>
            freed(&fields);

        done.accept(got, HF_NOT_FOUND);
        for (std::size_t i = 0; i < fields.count; i++)
            found[detail::text_of(fields.items[i].name)] =
                detail::text_of(fields.items[i].value);
        return found;
    }

    /** Compare and set a field; std::nullopt: it must not exist. */
    cas_result hash_cas(std::string_view key, std::string_view field,
                        std::optional<std::string_view> expected,
                        std::string_view value, milliseconds ttl = {},
                        error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer current;
        hf_bytes known = detail::view(expected.value_or(""));
        hf_cas_options raw = detail::cas_options(ttl);
        status got =
            hf_hash_cas(get(), detail::view(key), detail::view(field),
                        expected ? &known : nullptr, detail::view(value), &raw,
                        current.get(), done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return {got == HF_OK, current.value()};
    }

    /** Add to a field. None: the result would be out of bounds. */
    std::optional<int64_t> hash_add(std::string_view key,
                                    std::string_view field, int64_t delta,
                                    const add_options &opts = {},
                                    error &err = throws())
    {
        detail::outcome done(err);
        hf_add_options raw = detail::raw_of(opts);
        int64_t value = 0;
        status got = hf_hash_add(get(), detail::view(key), detail::view(field),
                                 delta, &raw, &value, done.get());

        done.accept(got, HF_CONFLICT);
        return got == HF_OK ? std::optional(value) : std::nullopt;
    }

    /** false: there was none. */
    bool hash_remove(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_hash_delete(get(), detail::view(key), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /* Keys of any type. */

    /** None: no such key. -1 ms: it does not expire. */
    std::optional<milliseconds> ttl(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        int64_t ms = 0;
        status got = hf_key_ttl(get(), detail::view(key), &ms, done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK ? std::optional(milliseconds(ms)) : std::nullopt;
    }

    /* Timelines. */

    /** Add an item, or replace the one with its id. */
    void timeline_add(std::string_view key, std::string_view id,
                      std::string_view payload, milliseconds ttl,
                      const attributes &with = {},
                      std::optional<time_point> at = {}, error &err = throws())
    {
        detail::outcome done(err);
        hf_timeline_add_options raw = HF_TIMELINE_ADD_OPTIONS_INIT;
        std::vector<hf_attribute> list = detail::raw_of(with);

        raw.at_ms = at ? detail::unix_ms(*at) : 0;
        raw.attributes = list.data();
        raw.attribute_count = list.size();
        done.accept(hf_timeline_add(get(), detail::view(key), detail::view(id),
                                    detail::view(payload), ttl.count(), &raw,
                                    done.get()));
    }

    std::optional<timeline_item> timeline_get(std::string_view key,
                                              std::string_view id,
                                              error &err = throws())
    {
        detail::outcome done(err);
        detail::items found;
        status got = hf_timeline_get(get(), detail::view(key), detail::view(id),
                                     found.get(), done.get());

        done.accept(got, HF_NOT_FOUND);
        if (got != HF_OK)
            return std::nullopt;
        return found.page().items.front();
    }

    holdfast::timeline_page timeline_page(std::string_view key,
                                          const page_options &opts = {},
                                          error &err = throws())
    {
        detail::outcome done(err);
        hf_timeline_page_options raw = HF_TIMELINE_PAGE_OPTIONS_INIT;
        detail::items found;

        raw.flags = detail::flag(opts.ascending, HF_TIMELINE_ASCENDING);
        raw.limit = opts.limit;
        raw.cursor = detail::view(opts.cursor);
        raw.order_by = detail::view(opts.order_by);
        raw.min = opts.min ? &*opts.min : nullptr;
        raw.max = opts.max ? &*opts.max : nullptr;
        raw.from_ms = opts.from ? detail::unix_ms(*opts.from) : 0;
        raw.to_ms = opts.to ? detail::unix_ms(*opts.to) : 0;
        done.accept(hf_timeline_page(get(), detail::view(key), &raw,
                                     found.get(), done.get()));
        return found.page();
    }

    /** false: there was none. */
    bool timeline_remove(std::string_view key, std::string_view id,
                         error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_timeline_remove(get(), detail::view(key),
                                        detail::view(id), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    std::size_t timeline_count(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        std::size_t count = 0;

        done.accept(
            hf_timeline_count(get(), detail::view(key), &count, done.get()));
        return count;
    }

    /* Sets. */

    /** Add members; how many of them are new. */
    std::size_t set_add(std::string_view key,
                        const std::vector<std::string> &members,
                        const set_add_options &opts = {}, error &err = throws())
    {
        detail::outcome done(err);
        hf_set_add_options raw = detail::raw_of(opts);
        std::vector<hf_bytes> list = detail::views(members);
        std::size_t added = 0;

        done.accept(hf_set_add(get(), detail::view(key), list.data(),
                               list.size(), &raw, &added, done.get()));
        return added;
    }

    /** How many of them were there. */
    std::size_t set_remove(std::string_view key,
                           const std::vector<std::string> &members,
                           error &err = throws())
    {
        detail::outcome done(err);
        std::vector<hf_bytes> list = detail::views(members);
        std::size_t removed = 0;

        done.accept(hf_set_remove(get(), detail::view(key), list.data(),
                                  list.size(), &removed, done.get()));
        return removed;
    }

    /** How long a member stays; -1 ms: until it is removed. None: there is no
     *  such member. */
    std::optional<milliseconds> set_has(std::string_view key,
                                        std::string_view member,
                                        error &err = throws())
    {
        detail::outcome done(err);
        int64_t ms = 0;
        status got = hf_set_has(get(), detail::view(key), detail::view(member),
                                &ms, done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK ? std::optional(milliseconds(ms)) : std::nullopt;
    }

    /** The same of some members, at one instant. */
    std::vector<std::optional<milliseconds>>
    set_has_members(std::string_view key,
                    const std::vector<std::string> &members,
                    error &err = throws())
    {
        detail::outcome done(err);
        std::vector<hf_bytes> list = detail::views(members);
        std::vector<int64_t> ttls(list.size(), -2);
        std::vector<std::optional<milliseconds>> found;

        done.accept(hf_set_has_members(get(), detail::view(key), list.data(),
                                       list.size(), ttls.data(), done.get()));
        for (int64_t ms : ttls)
            found.push_back(ms == -2 ? std::nullopt
                                     : std::optional(milliseconds(ms)));
        return found;
    }

    std::size_t set_count(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);
        std::size_t count = 0;

        done.accept(hf_set_count(get(), detail::view(key), &count, done.get()));
        return count;
    }

    /** Set the time to live of members; -1 ms: they no longer expire. How many
     *  of them are there. */
    std::size_t set_expire(std::string_view key, milliseconds ttl,
                           const std::vector<std::string> &members,
                           error &err = throws())
    {
        detail::outcome done(err);
        std::vector<hf_bytes> list = detail::views(members);
        std::size_t found = 0;

        done.accept(hf_set_expire(get(), detail::view(key), ttl.count(),
                                  list.data(), list.size(), &found,
                                  done.get()));
        return found;
    }

    /** Some members; `cursor`: set_page::next of the page before. `limit` 0:
     *  about 100. */
    holdfast::set_page set_page(std::string_view key,
                                std::string_view cursor = {},
                                std::size_t limit = 0, error &err = throws())
    {
        detail::outcome done(err);
        hf_set_members raw = HF_SET_MEMBERS_INIT;
        holdfast::set_page page;
        status got = hf_set_page(get(), detail::view(key), detail::view(cursor),
                                 limit, &raw, done.get());
        detail::owned<hf_set_members, hf_set_members_free> freed(&raw);

        done.accept(got);
        for (std::size_t i = 0; i < raw.count; i++)
            page.members.push_back({detail::text_of(raw.items[i].member),
                                    milliseconds(raw.items[i].ttl_ms)});
        page.next = detail::text_of(raw.next);
        return page;
    }

    /* Ranks. */

    /** Give a member a score. false: an option refused it. */
    bool rank_add(std::string_view key, std::string_view member, double score,
                  const rank_add_options &opts = {}, error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_add_options raw = detail::raw_of(opts);
        status got = hf_rank_add(get(), detail::view(key), detail::view(member),
                                 score, &raw, nullptr, done.get());

        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /** Add to the score of a member, 0 of a new one; where it is then. None: an
     *  option refused it. */
    std::optional<rank_place>
    rank_increment(std::string_view key, std::string_view member, double delta,
                   const rank_add_options &opts = {}, error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_add_options raw = detail::raw_of(opts);
        hf_rank_place place = {};

        status got =
            hf_rank_increment(get(), detail::view(key), detail::view(member),
                              delta, &raw, &place, done.get());
        done.accept(got, HF_CONFLICT, HF_NOT_FOUND);
        return place_of(got, place);
    }

    /** None: no such member. */
    std::optional<rank_place> rank_get(std::string_view key,
                                       std::string_view member,
                                       error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_place place = {};
        status got = hf_rank_get(get(), detail::view(key), detail::view(member),
                                 &place, nullptr, done.get());

        done.accept(got, HF_NOT_FOUND);
        return place_of(got, place);
    }

    /** The top members, or with `ascending` those of the least scores. `limit`
     *  0: 20. */
    std::vector<rank_member> rank_page(std::string_view key,
                                       std::size_t offset = 0,
                                       std::size_t limit = 0,
                                       bool ascending = false,
                                       error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_members raw = HF_RANK_MEMBERS_INIT;
        status got = hf_rank_page(get(), detail::view(key), offset, limit,
                                  detail::flag(ascending, HF_RANK_ASCENDING),
                                  &raw, done.get());
        detail::owned<hf_rank_members, hf_rank_members_free> freed(&raw);

        done.accept(got);
        return detail::members_of(raw);
    }

    /** A member, and at most `each` on each side of it. Empty: no such member.
     */
    std::vector<rank_member>
    rank_around(std::string_view key, std::string_view member, std::size_t each,
                bool ascending = false, error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_members raw = HF_RANK_MEMBERS_INIT;
        status got = hf_rank_around(
            get(), detail::view(key), detail::view(member), each,
            detail::flag(ascending, HF_RANK_ASCENDING), &raw, done.get());
        detail::owned<hf_rank_members, hf_rank_members_free> freed(&raw);

        done.accept(got, HF_NOT_FOUND);
        return detail::members_of(raw);
    }

    /** All members, or those whose score is in a range. */
    std::size_t rank_count(std::string_view key, std::optional<double> min = {},
                           std::optional<double> max = {},
                           error &err = throws())
    {
        detail::outcome done(err);
        std::size_t count = 0;

        done.accept(hf_rank_count(get(), detail::view(key),
                                  min ? &*min : nullptr, max ? &*max : nullptr,
                                  &count, done.get()));
        return count;
    }

    /** How many of them were there. */
    std::size_t rank_remove(std::string_view key,
                            const std::vector<std::string> &members,
                            error &err = throws())
    {
        detail::outcome done(err);
        std::vector<hf_bytes> list = detail::views(members);
        std::size_t removed = 0;

        done.accept(hf_rank_remove(get(), detail::view(key), list.data(),
                                   list.size(), &removed, done.get()));
        return removed;
    }

    /** Remove what has expired, and all but the top `keep`; -1: all may stay.
     */
    rank_trimmed rank_trim(std::string_view key, int64_t keep,
                           error &err = throws())
    {
        detail::outcome done(err);
        hf_rank_trimmed raw = {};

        done.accept(
            hf_rank_trim(get(), detail::view(key), keep, &raw, done.get()));
        return {raw.removed, raw.more};
    }

    /** Set the time to live of a member; -1 ms: it no longer expires. false:
     *  no such member. */
    bool rank_expire(std::string_view key, std::string_view member,
                     milliseconds ttl, error &err = throws())
    {
        detail::outcome done(err);
        status got =
            hf_rank_expire(get(), detail::view(key), detail::view(member),
                           ttl.count(), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /* Cache entries. */

    /**
     * The value of an entry; if there is none, `compute` makes it, in one of
     * all programs that share the store. None: `compute` returned none. What
     * `compute` throws is thrown here, also with `err`; others that wait for it
     * get HF_UNAVAILABLE.
     */
    std::optional<std::string>
    cache_get_or_fill(std::string_view key,
                      std::function<std::optional<std::string>()> compute,
                      const cache_options &opts, error &err = throws())
    {
        detail::outcome done(err);
        detail::buffer value;
        detail::filling fill{std::move(compute), nullptr};
        std::vector<hf_bytes> tags = detail::views(opts.tags);
        hf_cache_options raw = detail::raw_of(opts, tags);
        status got =
            hf_cache_get_or_fill(get(), detail::view(key), detail::filling::run,
                                 &fill, &raw, value.get(), nullptr, done.get());

        if (fill.thrown && got != HF_OK)
            std::rethrow_exception(fill.thrown);
        done.accept(got, HF_NOT_FOUND);
        return value.value();
    }

    void cache_put(std::string_view key, std::string_view value,
                   const cache_options &opts, error &err = throws())
    {
        detail::outcome done(err);
        std::vector<hf_bytes> tags = detail::views(opts.tags);
        hf_cache_options raw = detail::raw_of(opts, tags);

        done.accept(hf_cache_put(get(), detail::view(key), detail::view(value),
                                 &raw, done.get()));
    }

    /** Invalidate all entries with a tag. false: there is none. */
    bool cache_invalidate(std::string_view tag, error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_cache_invalidate(get(), detail::view(tag), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /* For event loops. */

    /** Polls readable while dispatch() has something to do. */
    int fd(error &err = throws())
    {
        detail::outcome done(err);
        int found = -1;

        done.accept(hf_client_fd(get(), &found, done.get()));
        return found;
    }

    /** Resume what has completed; how many calls are in progress still. */
    std::size_t dispatch(error &err = throws())
    {
        detail::outcome done(err);
        std::size_t running = 0;

        done.accept(hf_client_dispatch(get(), &running, done.get()));
        return running;
    }

  private:
    static std::optional<rank_place> place_of(status got,
                                              const hf_rank_place &raw)
    {
        if (got != HF_OK)
            return std::nullopt;
        return rank_place{raw.score, raw.rank, raw.count};
    }

    detail::owned<hf_client, hf_client_close> raw_;
};

/* ------------------------------------------------------------------- locks */

namespace detail
{

/** A handle, and what its callback needs. */
struct handle {
    std::function<void(status)> on_lost;
    /* Freed in the reverse order: first `main`, which releases it. */
    owned<hf_lock, hf_lock_free> pair;
    owned<hf_lock, hf_lock_free> main;

    static void report(hf_lock *, hf_status reason, void *user)
    {
        static_cast<handle *>(user)->on_lost(reason);
    }
};

inline hf_lock_options raw_of(const lock_options &from, handle &to)
{
    hf_lock_options raw = HF_LOCK_OPTIONS_INIT;

    raw.ttl_ms = from.ttl.count();
    raw.max_hold_ms = from.max_hold.count();
    raw.lost_margin_ms = from.lost_margin.count();
    raw.min_hold_ms = from.min_hold.count();
    raw.delay_ms = from.delay.count();
    raw.flags = flag(!from.renew, HF_LOCK_NO_RENEW);
    raw.priority = from.priority;
    if (from.on_lost) {
        to.on_lost = from.on_lost;
        raw.on_lost = handle::report;
        raw.user = &to;
    }
    return raw;
}

} /* namespace detail */

/** A lock, or permits, that are held until release() or the end of the scope.
 *  Empty after a failed acquire with `err`, and after a move. */
class hold
{
  public:
    hold() = default;
    explicit hold(std::unique_ptr<detail::handle> acquired)
        : handle_(std::move(acquired))
    {
    }

    /** Is it held and valid? Check before each effect: a comparison of two
     *  numbers. */
    bool is_held() const
    {
        return handle_ && hf_lock_is_held(get());
    }
    explicit operator bool() const
    {
        return is_held();
    }

    /** The fencing token: pass it with each write. */
    uint64_t token() const
    {
        return handle_ ? hf_lock_token(get()) : 0;
    }

    /** How long is_held() stays true without another renewal. */
    milliseconds remaining() const
    {
        return milliseconds(handle_ ? hf_lock_remaining_ms(get()) : 0);
    }

    std::string owner() const
    {
        char text[HF_OWNER_SIZE] = "";

        if (handle_)
            hf_lock_owner(get(), text);
        return text;
    }

    /** Renew the lease now; needed without lock_options::renew only. */
    void renew(error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_lock_renew(get(), done.get()));
    }

    /** Release it, and learn whether it was held until then: HF_LOST and
     *  HF_EXPIRED are errors here. */
    void release(error &err = throws())
    {
        detail::outcome done(err);
        std::unique_ptr<detail::handle> ended = std::move(handle_);

        if (ended)
            done.accept(hf_lock_release(ended->main.get(), done.get()));
    }

    /** From writing to reading, in one step. */
    void downgrade(error &err = throws())
    {
        detail::outcome done(err);

        if (done.accept(hf_rwlock_downgrade(get(), done.get())))
            std::swap(handle_->main, handle_->pair);
    }

    /** NULL: empty. */
    hf_lock *get() const
    {
        return handle_ ? handle_->main.get() : nullptr;
    }

  private:
    std::unique_ptr<detail::handle> handle_;
};

/** The name and options of a lock; each acquire returns a hold of its own. The
 *  client must outlive it, not the holds. */
class lock
{
  public:
    /** Makes handles; see read_lock() and others. */
    using maker =
        std::function<status(hf_client *, hf_bytes, const hf_lock_options *,
                             detail::handle &, hf_error *)>;

    lock(client &store, std::string name, lock_options opts = {})
        : lock(store, std::move(name), std::move(opts), exclusive)
    {
    }
    lock(client &store, std::string name, lock_options opts, maker make)
        : client_(store.get()), name_(std::move(name)), opts_(std::move(opts)),
          make_(std::move(make))
    {
    }

    const std::string &name() const
    {
        return name_;
    }

    /** Wait for it; what is not acquired in time is HF_TIMEOUT. */
    hold acquire(milliseconds wait = forever, error &err = throws()) const
    {
        detail::outcome done(err);
        std::unique_ptr<detail::handle> made;

        if (done.accept(run(wait, made, done.get())))
            return hold(std::move(made));
        return {};
    }

    /** The same; none if another holds it. */
    std::optional<hold> try_acquire(milliseconds wait = {},
                                    error &err = throws()) const
    {
        detail::outcome done(err);
        std::unique_ptr<detail::handle> made;
        status got = run(wait, made, done.get());

        done.accept(got, HF_TIMEOUT);
        if (got != HF_OK)
            return std::nullopt;
        return hold(std::move(made));
    }

    /** A handle that is not acquired, for functions of C. */
    status make(std::unique_ptr<detail::handle> &to, hf_error *err) const
    {
        to = std::make_unique<detail::handle>();

        hf_lock_options raw = detail::raw_of(opts_, *to);

        return make_(client_, detail::view(name_), &raw, *to, err);
    }

  private:
    static status exclusive(hf_client *store, hf_bytes name,
                            const hf_lock_options *opts, detail::handle &to,
                            hf_error *err)
    {
        hf_lock *raw = nullptr;
        status got = hf_lock_new(store, name, opts, &raw, err);

        to.main.reset(raw);
        return got;
    }

    status run(milliseconds wait, std::unique_ptr<detail::handle> &to,
               hf_error *err) const
    {
        status got = make(to, err);

        return got == HF_OK ? hf_lock_acquire(to->main.get(), wait.count(), err)
                            : got;
    }

    hf_client *client_;
    std::string name_;
    lock_options opts_;
    maker make_;
};

namespace detail
{

inline lock::maker pair_maker(bool writes, bool prefer_writers)
{
    return [=](hf_client *store, hf_bytes name, const hf_lock_options *opts,
               handle &to, hf_error *err) {
        hf_lock *read = nullptr, *write = nullptr;
        status got = hf_rwlock_new(
            store, name, flag(prefer_writers, HF_RWLOCK_PREFER_WRITERS), opts,
            &read, writes ? &write : nullptr, err);

        to.main.reset(writes ? write : read);
        to.pair.reset(writes ? read : nullptr);
        return got;
    };
}

} /* namespace detail */

/** The lock of a name, for reading: many at a time. */
inline lock read_lock(client &store, std::string name, lock_options opts = {})
{
    return lock(store, std::move(name), std::move(opts),
                detail::pair_maker(false, false));
}

/** The same for writing: one, and no reader. */
inline lock write_lock(client &store, std::string name, lock_options opts = {},
                       bool prefer_writers = false)
{
    return lock(store, std::move(name), std::move(opts),
                detail::pair_maker(true, prefer_writers));
}

/** `weight` of the `permits` of a semaphore. */
inline lock semaphore(client &store, std::string name, int64_t permits,
                      int64_t weight = 1, lock_options opts = {})
{
    auto make = [=](hf_client *raw_client, hf_bytes raw_name,
                    const hf_lock_options *raw_opts, detail::handle &to,
                    hf_error *err) {
        hf_lock *raw = nullptr;
        status got = hf_semaphore_new_weighted(raw_client, raw_name, permits,
                                               weight, raw_opts, &raw, err);

        to.main.reset(raw);
        return got;
    };

    return lock(store, std::move(name), std::move(opts), make);
}

/**
 * A lock with the functions of std::recursive_timed_mutex, for std::unique_lock
 * and its kin. Threads of this program exclude each other as well.
 *
 * unlock() has no way to say that the lock was lost: check is_held() before
 * each effect.
 */
class mutex
{
  public:
    explicit mutex(holdfast::lock of) : lock_(std::move(of))
    {
    }
    mutex(client &store, std::string name, lock_options opts = {})
        : mutex(holdfast::lock(store, std::move(name), std::move(opts)))
    {
    }

    void lock()
    {
        take(forever, throws());
    }
    bool try_lock()
    {
        return take({}, throws());
    }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &wait)
    {
        auto ms = std::chrono::ceil<milliseconds>(wait);

        return take(ms < milliseconds(0) ? milliseconds(0) : ms, throws());
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &until)
    {
        return try_lock_for(until - Clock::now());
    }

    void unlock() noexcept
    {
        hold ended;
        std::lock_guard<std::mutex> guard(guard_);
        auto mine = find();

        if (mine != holds_.end() && --mine->second.count == 0) {
            ended = std::move(mine->second.held);
            holds_.erase(mine);
        }
    }

    /** Of this thread. */
    bool is_held() const
    {
        std::lock_guard<std::mutex> guard(guard_);
        auto mine = holds_.find(std::this_thread::get_id());

        return mine != holds_.end() && mine->second.held.is_held();
    }

    uint64_t token() const
    {
        std::lock_guard<std::mutex> guard(guard_);
        auto mine = holds_.find(std::this_thread::get_id());

        return mine == holds_.end() ? 0 : mine->second.held.token();
    }

  private:
    struct entry {
        hold held;
        unsigned count = 0;
    };

    std::map<std::thread::id, entry>::iterator find()
    {
        return holds_.find(std::this_thread::get_id());
    }

    bool take(milliseconds wait, error &err)
    {
        {
            std::lock_guard<std::mutex> guard(guard_);
            auto mine = find();

            if (mine != holds_.end()) {
                mine->second.count++;
                return true;
            }
        }
        std::optional<hold> held = lock_.try_acquire(wait, err);

        if (!held)
            return false;
        std::lock_guard<std::mutex> guard(guard_);

        holds_[std::this_thread::get_id()] = {std::move(*held), 1};
        return true;
    }

    holdfast::lock lock_;
    mutable std::mutex guard_;
    std::map<std::thread::id, entry> holds_;
};

/* ------------------------------------------------------------------ queues */

namespace detail
{

inline status make_job(hf_client *store, hf_bytes name,
                       const hf_lock_options *opts, handle &to, hf_error *err)
{
    hf_lock *raw = nullptr;
    status got = hf_queue_new(store, name, opts, &raw, err);

    to.main.reset(raw);
    return got;
}

} /* namespace detail */

/**
 * A job that was taken. It is held under a lease, as a lock is, until it is
 * ended; one that is not goes back to its place at the end of the scope, as if
 * it had not been taken. Ending it is HF_EXPIRED if the lease had ended and the
 * job is back in the queue, or another worker's.
 */
class job : public hold
{
  public:
    job() = default;
    /** Of a hold that queue::taker() made. */
    explicit job(hold &&taken) : hold(std::move(taken))
    {
        read();
    }

    const std::string &id() const
    {
        return info_.id;
    }
    const std::string &payload() const
    {
        return info_.payload;
    }
    /** All of it, as it was when it was taken. */
    const job_info &info() const
    {
        return info_;
    }

    /** It is gone from the queue. */
    void done(error &err = throws())
    {
        detail::outcome ended(err);

        ended.accept(hf_queue_done(get(), ended.get()));
    }

    /** Try it again after a delay; after the last attempt it is a dead letter.
     */
    void again(milliseconds delay = {}, error &err = throws())
    {
        detail::outcome ended(err);

        ended.accept(hf_queue_again(get(), delay.count(), ended.get()));
    }

    /** Not now: it goes back as if it had not been taken. */
    void defer(milliseconds delay, error &err = throws())
    {
        detail::outcome ended(err);

        ended.accept(hf_queue_defer(get(), delay.count(), ended.get()));
    }

    /** It is a dead letter, whatever attempts are left. */
    void fail(error &err = throws())
    {
        detail::outcome ended(err);

        ended.accept(hf_queue_fail(get(), ended.get()));
    }

    /** `first`, doubled for each attempt after the first, up to `most`: for
     *  again(). */
    milliseconds backoff(milliseconds first, milliseconds most) const
    {
        hf_job raw = HF_JOB_INIT;

        raw.attempt = info_.attempt;
        return milliseconds(
            hf_queue_backoff(&raw, first.count(), most.count()));
    }

    /** End it and take the next one, in one request; `delay` is for
     *  HF_QUEUE_AGAIN and HF_QUEUE_DEFER. false: it was ended, and no other was
     *  ready in time. After HF_EXPIRED, call it again. */
    bool next(queue_outcome how, milliseconds wait = forever,
              milliseconds delay = {}, error &err = throws())
    {
        detail::outcome ended(err);
        status got =
            hf_queue_next(get(), how, delay.count(), wait.count(), ended.get());

        if (got == HF_OK)
            read();
        ended.accept(got, HF_TIMEOUT);
        return got == HF_OK;
    }

  private:
    void read()
    {
        hf_job raw = HF_JOB_INIT;

        if (get() != nullptr && hf_queue_job(get(), &raw, nullptr) == HF_OK)
            info_ = detail::info_of(raw);
    }

    job_info info_;
};

/**
 * A work queue. Each job is done at least once, and at any time at most one
 * worker has a valid lease on it; see holdfast/queue.h. The client must outlive
 * it, not the jobs.
 */
class queue
{
  public:
    /** The options are those of the leases on jobs. */
    queue(client &store, std::string name, lock_options opts = {})
        : client_(store.get()),
          taker_(store, std::move(name), std::move(opts), detail::make_job)
    {
    }

    const std::string &name() const
    {
        return taker_.name();
    }

    /** For functions that take a lock: what it acquires is a job. */
    const lock &taker() const
    {
        return taker_;
    }

    /** Put a job. false: the queue has one with that id, or remembers it. */
    bool put(std::string_view payload, const put_options &opts = {},
             error &err = throws())
    {
        detail::outcome done(err);
        hf_queue_options raw = detail::raw_of(opts);
        status got =
            hf_queue_put(client_, detail::view(name()), detail::view(opts.id),
                         detail::view(payload), &raw, done.get());

        done.accept(got, HF_CONFLICT);
        return got == HF_OK;
    }

    /** Wait for a job; HF_TIMEOUT: none was ready in time. */
    job take(milliseconds wait = forever, error &err = throws()) const
    {
        return job(taker_.acquire(wait, err));
    }

    /** The same; none if none was ready in time. */
    std::optional<job> try_take(milliseconds wait = {},
                                error &err = throws()) const
    {
        std::optional<hold> held = taker_.try_acquire(wait, err);

        if (!held)
            return std::nullopt;
        return job(std::move(*held));
    }

    queue_info inspect(error &err = throws()) const
    {
        detail::outcome done(err);
        hf_queue_info raw = HF_QUEUE_INFO_INIT;

        done.accept(
            hf_queue_inspect(client_, detail::view(name()), &raw, done.get()));
        return {raw.ready, raw.taken,      raw.delayed, raw.behind,
                raw.dead,  raw.remembered, raw.waiters, raw.paused};
    }

    /** Jobs in one state, which are not taken by this. */
    std::vector<job_info> list(queue_state state, int64_t offset = 0,
                               int64_t count = 100, error &err = throws()) const
    {
        detail::outcome done(err);
        hf_queue_jobs raw = HF_QUEUE_JOBS_INIT;
        std::vector<job_info> found;
        status got = hf_queue_list(client_, detail::view(name()), state, offset,
                                   count, &raw, done.get());
        detail::owned<hf_queue_jobs, hf_queue_jobs_free> freed(&raw);

        done.accept(got);
        for (std::size_t i = 0; i < raw.count; i++)
            found.push_back(detail::info_of(raw.jobs[i]));
        return found;
    }

    /** Give no job to anyone, until resume(). */
    void pause(error &err = throws())
    {
        set_paused(true, err);
    }
    void resume(error &err = throws())
    {
        set_paused(false, err);
    }

    /** Move a dead letter back. false: none has the id. */
    bool revive(std::string_view id, error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_queue_revive(client_, detail::view(name()),
                                     detail::view(id), 1, nullptr, done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

    /** Move back those that are dead letters for longest; how many. */
    int64_t revive(int64_t count, error &err = throws())
    {
        detail::outcome done(err);
        int64_t moved = 0;

        done.accept(hf_queue_revive(client_, detail::view(name()),
                                    detail::view(""), count, &moved,
                                    done.get()));
        return moved;
    }

  private:
    void set_paused(bool paused, error &err)
    {
        detail::outcome done(err);

        done.accept(
            hf_queue_pause(client_, detail::view(name()), paused, done.get()));
    }

    hf_client *client_;
    lock taker_;
};

/* -------------------------------------------------------------------- once */

/**
 * The claim of a piece of work, or the result of what was done before. One that
 * is held and not completed says at the end of the scope that the work has
 * failed, and may be done again.
 */
class claim : public hold
{
  public:
    claim() = default;
    /** Of a handle whose acquire has returned `got`, for coroutines. */
    claim(status got, std::unique_ptr<detail::handle> of)
        : hold(std::move(of)), done_(got == HF_CONFLICT)
    {
        int32_t number = 0;
        hf_bytes text = {nullptr, 0};

        if (done_ && hf_once_result(get(), &number, &text, nullptr) == HF_OK)
            result_ = {number, detail::text_of(text)};
    }

    /** Was the work done before? If not, it is the caller's to do. */
    bool is_done() const
    {
        return done_;
    }

    /** Of work that was done before. */
    const once_result &result() const
    {
        return result_;
    }

    /** Store the result; the claim is over. HF_LOST, HF_EXPIRED: another has
     *  claimed the work, or the record is gone. */
    void complete(int32_t number, std::string_view text = {},
                  error &err = throws())
    {
        detail::outcome stored(err);

        stored.accept(
            hf_once_complete(get(), number, detail::view(text), stored.get()));
    }

  private:
    bool done_ = false;
    once_result result_;
};

/** Work that is done once, with a result that is kept; see holdfast/once.h. The
 *  client must outlive it, not the claims. */
class once
{
  public:
    once(client &store, std::string key, once_options opts = {},
         lock_options lease = {})
        : client_(store.get()),
          claimer_(
              store, std::move(key), std::move(lease),
              [opts = std::move(opts)](hf_client *raw_client, hf_bytes name,
                                       const hf_lock_options *raw_opts,
                                       detail::handle &to, hf_error *err) {
                  hf_once_options raw = detail::raw_of(opts);
                  hf_lock *made = nullptr;
                  status got =
                      hf_once_new(raw_client, name, &raw, raw_opts, &made, err);

                  to.main.reset(made);
                  return got;
              })
    {
    }

    const std::string &key() const
    {
        return claimer_.name();
    }

    /** For functions that take a lock: what it acquires is a claim. */
    const lock &claimer() const
    {
        return claimer_;
    }

    /** Claim the work, or wait for its result. HF_TIMEOUT: another has had it
     *  for so long; HF_EXPIRED: it is in doubt. */
    holdfast::claim claim(milliseconds wait = forever, error &err = throws())
    {
        detail::outcome done(err);
        std::unique_ptr<detail::handle> made;
        status got = claimer_.make(made, done.get());

        if (got == HF_OK)
            got = hf_lock_acquire(made->main.get(), wait.count(), done.get());
        if (!done.accept(got, HF_CONFLICT))
            return {};
        return holdfast::claim(got, std::move(made));
    }

    /** None: there is no record. */
    std::optional<once_info> inspect(error &err = throws()) const
    {
        detail::outcome done(err);
        hf_once_info raw = HF_ONCE_INFO_INIT;
        status got =
            hf_once_inspect(client_, detail::view(key()), &raw, done.get());
        detail::owned<hf_once_info, hf_once_info_free> freed(&raw);

        done.accept(got, HF_NOT_FOUND);
        if (got != HF_OK)
            return std::nullopt;
        return once_info{
            raw.state,
            milliseconds(raw.remaining_ms),
            raw.waiters,
            raw.tick_ms == 0 ? std::nullopt
                             : std::optional(detail::from_unix_ms(raw.tick_ms)),
            raw.token,
            raw.owner,
            {raw.status,
             detail::text_of(hf_view(raw.result.data, raw.result.size))}};
    }

    /** Delete the record, in whatever state: the work is new. false: there was
     *  none. */
    bool remove(error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_once_delete(client_, detail::view(key()), done.get());

        done.accept(got, HF_NOT_FOUND);
        return got == HF_OK;
    }

  private:
    hf_client *client_;
    lock claimer_;
};

/* ------------------------------------------------------------ transactions */

/** Operations that run together, all or none, if all conditions hold. */
class transaction
{
  public:
    explicit transaction(client &store, error &err = throws())
        : client_(store.get())
    {
        detail::outcome done(err);
        hf_txn *raw = nullptr;

        if (done.accept(hf_txn_new(client_, nullptr, &raw, done.get())))
            raw_.reset(raw);
        queue_.txn = raw;
    }

    hf_txn *get() const
    {
        return raw_.get();
    }

    void if_exists(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_txn_if_exists(get(), detail::view(key), done.get()));
    }

    void if_absent(std::string_view key, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_txn_if_absent(get(), detail::view(key), done.get()));
    }

    void if_value(std::string_view key, std::string_view value,
                  error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_txn_if_value(get(), detail::view(key),
                                    detail::view(value), done.get()));
    }

    /** Its lease is held when the transaction is executed; the hold may end
     *  before. HF_LOST: it was lost already. */
    void if_held(const hold &held, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(hf_txn_if_held(get(), held.get(), done.get()));
    }

    /** The lock is held with this token, which its holder has passed on. */
    void if_token(std::string_view name, uint64_t token, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(
            hf_txn_if_token(get(), detail::view(name), token, done.get()));
    }

    /** No fenced write of the key with a higher token came before. */
    void if_fence(std::string_view key, uint64_t token, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(
            hf_txn_if_fence(get(), detail::view(key), token, done.get()));
    }

    /** Queue any call: `start(client, async, err)` passes these to its
     *  `_start` function. Its results must live until exec() has returned. */
    template <class Start> void queue(Start &&start, error &err = throws())
    {
        detail::outcome done(err);

        done.accept(start(client_, &queue_, done.get()));
    }

    void set(std::string_view key, std::string_view value,
             const set_options &opts = {}, error &err = throws())
    {
        hf_value_set_options raw = detail::raw_of(opts);

        raw.flags &= ~static_cast<uint32_t>(HF_SET_GET);
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_value_set_start(c, detail::view(key),
                                          detail::view(value), &raw, nullptr, a,
                                          e);
            },
            err);
    }

    void put_fenced(std::string_view key, std::string_view value,
                    uint64_t token, error &err = throws())
    {
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_value_put_fenced_start(c, detail::view(key),
                                                 detail::view(value), token,
                                                 nullptr, nullptr, a, e);
            },
            err);
    }

    void remove(std::string_view key, error &err = throws())
    {
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_value_delete_start(c, detail::view(key), a, e);
            },
            err);
    }

    void add(std::string_view key, int64_t delta, error &err = throws())
    {
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_value_add_start(c, detail::view(key), delta, nullptr,
                                          nullptr, a, e);
            },
            err);
    }

    void timeline_add(std::string_view key, std::string_view id,
                      std::string_view payload, milliseconds ttl,
                      error &err = throws())
    {
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_timeline_add_start(
                    c, detail::view(key), detail::view(id),
                    detail::view(payload), ttl.count(), nullptr, a, e);
            },
            err);
    }

    void timeline_remove(std::string_view key, std::string_view id,
                         error &err = throws())
    {
        queue(
            [&](hf_client *c, const hf_async *a, hf_error *e) {
                return hf_timeline_remove_start(c, detail::view(key),
                                                detail::view(id), a, e);
            },
            err);
    }

    /** Execute it, once. false: a condition does not hold; see failed(). */
    bool exec(error &err = throws())
    {
        detail::outcome done(err);
        status got = hf_txn_exec(get(), done.get());

        done.accept(got, HF_CONFLICT);
        return got == HF_OK;
    }

    /** Of an operation, by the order in which they were queued. */
    holdfast::status status_of(std::size_t index) const
    {
        return hf_txn_status(get(), index, nullptr);
    }

    /** The condition or operation because of which exec() failed. */
    std::optional<std::size_t> failed() const
    {
        std::size_t index = hf_txn_failed(get());

        return index == HF_TXN_NONE ? std::nullopt : std::optional(index);
    }

  private:
    hf_client *client_;
    hf_async queue_ = HF_ASYNC_INIT;
    detail::owned<hf_txn, hf_txn_free> raw_;
};

/* -------------------------------------------------------------- coroutines */

#ifdef HOLDFAST_COROUTINES

/**
 * `co_await start(f)` runs the call that `f(async, err)` starts by a `_start`
 * function, and returns its error. client::dispatch() resumes the coroutine.
 * The coroutine must not be destroyed meanwhile.
 */
template <class Start> class starting
{
  public:
    explicit starting(Start start) : start_(std::move(start))
    {
    }

    bool await_ready() const noexcept
    {
        return false;
    }

    bool await_suspend(std::coroutine_handle<> waiting)
    {
        hf_async async = HF_ASYNC_INIT;

        waiting_ = waiting;
        async.done = done;
        async.user = this;
        /* What could not be started has failed already. */
        return start_(&async, error_.get()) == HF_OK;
    }

    error await_resume() const
    {
        return error_;
    }

  private:
    static void done(void *user, hf_status, const hf_error *err)
    {
        auto *self = static_cast<starting *>(user);

        if (err != nullptr)
            *self->error_.get() = *err;
        self->waiting_.resume();
    }

    Start start_;
    error error_;
    std::coroutine_handle<> waiting_;
};

template <class Start> starting<Start> start(Start call)
{
    return starting<Start>(std::move(call));
}

/** `co_await acquire(lock, wait)` returns a hold, or throws. */
class acquire
{
  public:
    explicit acquire(const lock &of, milliseconds wait = forever)
        : wait_(wait), lock_(of), starting_(starter{this})
    {
    }
    acquire(const acquire &) = delete;
    acquire &operator=(const acquire &) = delete;

    bool await_ready() const noexcept
    {
        return false;
    }
    bool await_suspend(std::coroutine_handle<> waiting)
    {
        return starting_.await_suspend(waiting);
    }
    hold await_resume()
    {
        end();
        return hold(std::move(made_));
    }

  protected:
    /** Its status, if that is HF_OK or `other`; else this throws. */
    status end(status other = HF_OK)
    {
        error err = starting_.await_resume();

        if (err && err.status() != other)
            throw exception(err);
        return err.status();
    }

    std::unique_ptr<detail::handle> made_;

  private:
    struct starter {
        acquire *self;

        status operator()(const hf_async *async, hf_error *err)
        {
            status got = self->lock_.make(self->made_, err);

            return got == HF_OK
                       ? hf_lock_acquire_start(self->made_->main.get(),
                                               self->wait_.count(), async, err)
                       : got;
        }
    };

    milliseconds wait_;
    const lock &lock_;
    starting<starter> starting_;
};

/** `co_await take(queue, wait)` returns a job, or throws. */
class take : public acquire
{
  public:
    explicit take(const queue &of, milliseconds wait = forever)
        : acquire(of.taker(), wait)
    {
    }
    job await_resume()
    {
        return job(acquire::await_resume());
    }
};

/** `co_await begin(once, wait)` returns a claim, or throws. */
class begin : public acquire
{
  public:
    explicit begin(const once &of, milliseconds wait = forever)
        : acquire(of.claimer(), wait)
    {
    }
    claim await_resume()
    {
        status got = end(HF_CONFLICT);

        return claim(got, std::move(made_));
    }
};

#endif

} /* namespace holdfast */

#endif /* HOLDFAST_HPP */
