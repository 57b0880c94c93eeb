# SPDX-License-Identifier: Apache-2.0
"""script_test.py PROGRAM - what scripts of different connections share."""

import sys
import time
import unittest

from server import Server, encode, until_busy

PROGRAM = sys.argv.pop()
READ_ONLY = "Attempt to modify a readonly table"


class Script(unittest.TestCase):
    def test_no_trace_for_the_next(self):
        with Server(PROGRAM) as server:
            one, two = server.connect(), server.connect()
            for table in ("_G", "redis", "string"):
                reply = one.ask("EVAL", f"table.insert({table}, 'secret')", 0)
                self.assertIn(READ_ONLY, str(reply))
                self.assertIsNone(
                    two.ask("EVAL", f"return rawget({table}, 1)", 0))
            one.close()
            two.close()

    def test_busy(self):
        """Beyond the threshold others get BUSY, and can stop the script."""
        with Server(PROGRAM) as server:
            runs, asks = server.connect(), server.connect()
            asks.ask("SET", "a", 1)
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            runs.send("EVAL", "while true do redis.call('GET', 'a') end", 0)
            runs.send("INCR", "a")
            until_busy(server)
            late = server.connect()
            self.assertIn("BUSY", str(late.ask("GET", "a")))
            self.assertEqual(late.ask("MULTI"), b"OK")
            self.assertIn("BUSY", str(late.ask("INCR", "a")))
            self.assertEqual(asks.ask("script", "kill"), b"OK")
            self.assertIn("killed by user", str(runs.read()))
            self.assertEqual(runs.read(), 2)
            self.assertIn("EXECABORT", str(late.ask("EXEC")))
            self.assertEqual(late.ask("GET", "a"), b"2")
            self.assertIn("NOTBUSY", str(late.ask("SCRIPT", "KILL")))
            late.send("GET", "a")
            self.assertEqual(late.read(), b"2")
            for each in runs, asks, late:
                each.close()

    def test_busy_with_others_in_the_round(self):
        """What ran before in the same round is kept, what waits is answered."""
        with Server(PROGRAM) as server:
            runs, asks = server.connect(), server.connect()
            asks.ask("CONFIG", "SET", "lua-time-limit", 20)
            runs.socket.sendall(
                encode("RPUSH", "l", 1) +
                encode("EVAL", "while true do end", 0) +
                encode("RPUSH", "l", 2) + encode("LLEN", "l"))
            until_busy(server)
            more = [server.connect() for _ in range(20)]
            for each in more:
                each.send("PING")
            for each in more:
                self.assertIn("BUSY", str(each.read()))
                each.close()
            self.assertEqual(asks.ask("SCRIPT", "KILL"), b"OK")
            self.assertEqual(runs.read(), 1)
            self.assertIn("killed by user", str(runs.read()))
            self.assertEqual([runs.read(), runs.read()], [2, 2])
            runs.close()
            asks.close()

    def test_busy_answered_in_the_round(self):
        """A script that is undone does not take back what was answered."""
        with Server(PROGRAM) as server:
            admin = server.connect()
            admin.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            admin.ask("SET", "a", "value")
            for _ in range(6):
                # In the same turn, and without a unit in it.
                runs, asks = server.connect(), server.connect()
                asks.ask("PING")
                runs.ask("PING")
                asks.send("CONFIG", "GET", "timeout")
                runs.send("EVAL", "while true do end", 0)
                asks.read()  # BUSY, if the script was there first
                while asks.ask("SCRIPT", "KILL") != b"OK":
                    time.sleep(0.02)
                self.assertIn("killed by user", str(runs.read()))
                self.assertEqual(asks.ask("GET", "a"), b"value")
                runs.close()
                asks.close()
            admin.close()

    def test_busy_for_longer_than_the_lock_is_waited_for(self):
        """A script that was stopped does not run again, although another
        process has the writer lock before what ran with the script."""
        with Server(PROGRAM, scheme="file",
                    url="?script_budget_ms=60000") as server, \
                Server(PROGRAM, store=f"file:{server.folder}/store") as other:
            runs, asks = server.connect(), server.connect()
            waits = other.connect()
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            waits.ask("PING")
            runs.socket.sendall(encode("SET", "a", 1) +
                                encode("EVAL", "while true do end", 0))
            time.sleep(3)
            waits.send("SET", "b", 1)
            time.sleep(3)
            self.assertEqual(asks.ask("SCRIPT", "KILL"), b"OK")
            self.assertIn("NOTBUSY", str(asks.ask("SCRIPT", "KILL")))
            self.assertEqual(runs.read(), b"OK")
            self.assertIn("killed by user", str(runs.read()))
            waits.read()
            for each in runs, asks, waits:
                each.close()

    def test_busy_writer(self):
        """A script that wrote is not killed; its budget ends it."""
        with Server(PROGRAM, url="?script_budget_ms=200") as server:
            runs, asks = server.connect(), server.connect()
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 20)
            runs.send("EVAL", "redis.call('SET', 'b', 1) while true do end", 0)
            until_busy(server)
            self.assertIn("UNKILLABLE", str(asks.ask("SCRIPT", "KILL")))
            self.assertIn("budget of 200 ms", str(runs.read()))
            self.assertIsNone(asks.ask("GET", "b"))
            asks.ask("CONFIG", "SET", "busy-reply-threshold", 0)
            runs.send("EVAL", "while true do end", 0)
            self.assertIn("budget of 200 ms", str(runs.read()))
            runs.close()
            asks.close()


if __name__ == "__main__":
    unittest.main()
