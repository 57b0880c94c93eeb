# SPDX-License-Identifier: Apache-2.0
"""cases.py - what two libraries that share a lock must do for each other.

A case takes the driver that holds the lock first, the other one, and a name of
its own. It returns a text for the table, or raises Failure. The last one in
CASES kills the holder.
"""

import re
import signal

from driver import Failure, now_ms

LONG_MS = 30000  # a lease that does not end here
WAIT_MS = 10000  # shorter than that
EARLY_MS = 5  # clocks in ms
WAITING_S = 0.3  # by then a request has been refused


def expect(driver, reply, *wanted):
    if reply not in wanted:
        raise Failure(f"{driver.name}: {reply or 'no reply'}, not "
                      f"{' or '.join(wanted)}")


def take(driver, name, lease_ms=LONG_MS, wait_ms=0):
    expect(driver, driver.ask("acquire", name, wait_ms, lease_ms), "held")


def refused(driver, name, wait_ms=0):
    expect(driver, driver.ask("acquire", name, wait_ms, LONG_MS), "refused")


def give(driver):
    expect(driver, driver.ask("release"), "released", "unknown")


def still_has(holder, other, name):
    """The other one's late release has not taken it from the holder."""
    expect(other, other.ask("release"), "lost", "unknown")
    expect(holder, holder.ask("keep", 50), "kept")
    refused(other, name)
    give(holder)


def excludes(first, second, name):
    take(first, name)
    refused(second, name)
    take(second, name + ":other")
    give(second)
    give(first)
    take(second, name)
    refused(first, name)
    give(second)
    return "ok"


def wakes(first, second, name):
    take(first, name)
    second.send("acquire", name, WAIT_MS, LONG_MS)
    expect(second, second.receive(WAITING_S), "")
    give(first)
    released_ms = now_ms()
    expect(second, second.receive(), "held")
    took_ms = now_ms() - released_ms
    give(second)
    return f"{took_ms:.0f} ms"


def renews(first, second, name):
    take(first, name, lease_ms=3000)
    first.send("keep", 5000)
    refused(second, name, wait_ms=4500)
    expect(first, first.receive(), "kept")
    give(first)
    return "ok"


def breaks(first, second, name):
    take(first, name, lease_ms=1500)
    expect(second, second.ask("break", name), "broken")
    take(second, name)
    expect(first, first.ask("keep", 3000), "lost")
    still_has(second, first, name)
    return "ok"


def releases_late(first, second, name):
    take(first, name, lease_ms=1000)
    first.signal(signal.SIGSTOP)
    take(second, name, wait_ms=WAIT_MS)
    first.signal(signal.SIGCONT)
    still_has(second, first, name)
    return "ok"


def expires(first, second, name):
    lease_ms = 1000
    began_ms = now_ms()
    take(first, name, lease_ms=lease_ms)
    ends_ms = now_ms() + lease_ms
    first.die()
    take(second, name, wait_ms=WAIT_MS)
    if now_ms() < began_ms + lease_ms - EARLY_MS:
        raise Failure(f"{second.name} holds it before the lease has ended")
    after_ms = max(0, now_ms() - ends_ms)
    give(second)
    return f"{after_ms:.0f} ms"


def fails(first, second, name):
    """They store locks differently, so an error is the best there is."""
    take(first, name)
    try:
        reply = second.ask("acquire", name, 0, LONG_MS)
    except Failure as failure:
        if re.search("WRONGTYPE|held by a Redisson lock", str(failure)):
            return "error"
        raise
    raise Failure(f"{second.name}: {reply}, not an error")


CASES = (excludes, wakes, renews, breaks, releases_late, expires)
APART = (fails,)
