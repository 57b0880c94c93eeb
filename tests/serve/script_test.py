# SPDX-License-Identifier: Apache-2.0
"""script_test.py PROGRAM - what scripts of different connections share."""

import sys
import unittest

from server import Server

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


if __name__ == "__main__":
    unittest.main()
