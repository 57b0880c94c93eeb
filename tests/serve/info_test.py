# SPDX-License-Identifier: Apache-2.0
"""info_test.py PROGRAM - INFO, LATENCY, and what a single server replies."""

import sys
import time
import unittest

from server import Error, Server

PROGRAM = sys.argv.pop()


class Info(unittest.TestCase):
    def setUp(self):
        self.server = Server(PROGRAM, url="?max_size=64M")
        self.addCleanup(self.server.close)
        self.link = self.server.connect()
        self.addCleanup(self.link.close)

    def info(self, *sections):
        text = self.link.ask("INFO", *sections).decode()
        return dict(line.split(":", 1) for line in text.split("\r\n")
                    if line and line[0] != "#")

    def test_sections(self):
        info = self.info()
        self.assertEqual(info["redis_version"], "7.0.15")
        self.assertEqual(info["process_id"], str(self.server.process.pid))
        self.assertEqual(len(info["run_id"]), 40)
        self.assertEqual(info["connected_clients"], "1")
        self.assertEqual(info["maxmemory"], str(64 << 20))
        self.assertEqual(info["role"], "master")
        self.assertNotIn("cmdstat_info", info)
        self.assertEqual(list(self.info("CLUSTER", "nosuch")),
                         ["cluster_enabled"])
        self.assertIn("cmdstat_info", self.info("everything"))
        self.assertEqual(self.link.ask("INFO", "modules"), b"# Modules\r\n")

    def test_keys_are_counted(self):
        self.assertEqual(self.info("keyspace"), {})
        self.link.ask("SET", "a", 1)
        self.link.ask("SET", "b", 1, "EX", 1000)
        # On a busy machine counting seems long, and is not done each time.
        while "db0" not in self.info("keyspace"):
            time.sleep(0.01)
        count, expires, ttl = self.info("keyspace")["db0"].split(",")
        self.assertEqual((count, expires), ("keys=2", "expires=1"))
        self.assertTrue(900000 < int(ttl.split("=")[1]) <= 1000000)
        memory = self.info("memory")
        self.assertGreater(int(memory["used_memory"]), 0)
        self.assertGreaterEqual(int(memory["used_memory_peak"]),
                                int(memory["used_memory"]))
        self.assertAlmostEqual(
            float(memory["mem_fragmentation_ratio"]),
            int(memory["used_memory_rss"]) / int(memory["used_memory"]), 1)
        self.assertGreater(int(memory["total_system_memory"]),
                           int(memory["used_memory_rss"]))
        self.link.ask("MULTI")
        self.link.ask("DEL", "a", "b")
        self.link.ask("INFO", "keyspace")
        self.assertEqual(self.link.ask("EXEC"), [2, b"# Keyspace\r\n"])

    def test_the_peak_stays_when_the_data_is_gone(self):
        self.link.ask("SET", "large", "x" * 1000000)
        most = int(self.info("memory")["used_memory"])
        self.link.ask("FLUSHALL")
        memory = self.info("memory")
        self.assertLess(int(memory["used_memory"]), most)
        self.assertEqual(int(memory["used_memory_peak"]), most)

    def test_all_is_saved(self):
        saved = self.info("persistence")
        self.assertEqual(saved["rdb_changes_since_last_save"], "0")
        self.assertEqual(saved["rdb_last_bgsave_status"], "ok")
        self.assertEqual(int(saved["rdb_last_save_time"]),
                         self.link.ask("LASTSAVE"))

    def test_only_a_durable_store_saves(self):
        error = "ERR the store is not durable: nothing can be saved"
        self.assertEqual(self.link.ask("SAVE"), error)
        self.assertEqual(self.link.ask("BGSAVE"), error)
        server = Server(PROGRAM, scheme="file")
        self.addCleanup(server.close)
        link = server.connect()
        self.addCleanup(link.close)
        before = link.ask("LASTSAVE")
        while link.ask("LASTSAVE") == before:
            time.sleep(0.1)
            self.assertEqual(link.ask("BGSAVE"), b"Background saving started")
        self.assertEqual(link.ask("BGSAVE", "SCHEDULE"),
                         b"Background saving started")
        self.assertEqual(link.ask("BGSAVE", "now"), "ERR syntax error")
        self.assertEqual(link.ask("SAVE"), b"OK")
        link.ask("MULTI")
        self.assertEqual(link.ask("SAVE"),
                         "ERR Command not allowed inside a transaction")

    def test_rates_are_those_since_the_last_info(self):
        self.info("stats")
        for _ in range(50):
            self.link.ask("SET", "a", "x" * 10000)
        time.sleep(0.6)
        stats = self.info("stats")
        self.assertGreater(int(stats["instantaneous_ops_per_sec"]), 0)
        self.assertGreater(float(stats["instantaneous_input_kbps"]),
                           float(stats["instantaneous_output_kbps"]))

    def test_commands_are_counted(self):
        for _ in range(40):
            self.link.ask("SET", "a", 1)
        self.link.ask("LPUSH", "a", 1)
        self.link.ask("CLIENT", "ID")
        stats = self.info("commandstats")
        self.assertIn("calls=40,", stats["cmdstat_set"])
        self.assertIn("failed_calls=1", stats["cmdstat_lpush"])
        self.assertIn("calls=1,", stats["cmdstat_client|id"])
        times = self.link.ask("LATENCY", "HISTOGRAM", "set")
        self.assertEqual(times[0], b"set")
        self.assertEqual(times[1][1], times[1][3][-1])
        self.link.ask("CLIENT", "GETNAME")
        self.assertEqual(
            sorted(self.link.ask("LATENCY", "HISTOGRAM", "client")[::2]),
            [b"client|getname", b"client|id"])
        before = self.info("stats")
        self.assertEqual(before["total_error_replies"], "1")
        self.assertGreaterEqual(int(before["total_commands_processed"]), 44)
        self.link.ask("CONFIG", "RESETSTAT")
        self.assertNotIn("cmdstat_set", self.info("commandstats"))
        self.assertEqual(self.info("stats")["total_error_replies"], "0")

    def test_a_wait_is_one_call(self):
        other = self.server.connect()
        self.addCleanup(other.close)

        def stats(name):
            return self.info("commandstats")["cmdstat_" + name].split(",")

        for end, failed in (("XADD s * f v", 0), ("XGROUP DESTROY s g", 1)):
            self.link.ask("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
            self.link.ask("CONFIG", "RESETSTAT")
            other.send("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS",
                       "s", ">")
            while self.info("clients")["blocked_clients"] == "0":
                time.sleep(0.01)
            self.link.ask(*end.split())
            self.assertEqual(isinstance(other.read(), Error), bool(failed))
            found = stats("xreadgroup")
            self.assertEqual((found[0], found[-1]),
                             ("calls=1", f"failed_calls={failed}"))
        other.send("CLIENT", "ID")
        number = other.read()
        other.send("BLPOP", "none", 0)
        while not self.link.ask("CLIENT", "UNBLOCK", number, "ERROR"):
            time.sleep(0.01)
        self.assertIsInstance(other.read(), Error)
        self.assertEqual(stats("blpop")[-1], "failed_calls=1")

    def test_cached_scripts_are_counted(self):
        def count():
            return int(self.info("memory")["number_of_cached_scripts"])

        self.assertEqual(count(), 0)
        for text in ("return 1", "return 1", "return 2"):
            self.link.ask("SCRIPT", "LOAD", text)
        self.link.ask("EVAL", "return 3", 0)
        self.link.ask("EVAL", "return 2", 0)
        self.link.ask("EVAL", "wrong(", 0)
        self.assertEqual(count(), 3)
        self.link.ask("SCRIPT", "FLUSH")
        self.assertEqual(count(), 0)
        # Those that were not used for long are dropped.
        text = "return {" + "'x', " * 20000 + "'%d'}"
        for number in range(120):
            self.link.ask("SCRIPT", "LOAD", text % number)
        self.assertTrue(2 < count() < 120, count())

    def test_keys_and_errors_are_counted(self):
        ask = self.link.ask
        ask("SET", "a", "x")
        ask("SET", "short", 1, "PX", 1)
        while ask("EXISTS", "short"):
            pass
        ask("CONFIG", "RESETSTAT")
        ask("MGET", "a", "none", "a")
        ask("SET", "b", 1)  # does not look up, for Redis
        for _ in range(2):
            ask("INCR", "a")
        ask("EVALSHA", "0" * 40, 0)
        ask("EVAL", "return redis.error_reply('MINE is it')", 0)
        ask("SET", "short", 1, "PX", 1)
        while self.info("stats")["expired_keys"] == "0":
            ask("SET", "b", 1)
        stats = self.info("stats")
        self.assertEqual([stats["keyspace_hits"], stats["keyspace_misses"],
                          stats["expired_keys"]], ["2", "1", "1"])
        self.assertEqual(self.info("errorstats"),
                         {"errorstat_ERR": "count=2", "errorstat_MINE":
                          "count=1", "errorstat_NOSCRIPT": "count=1"})
        ask("CONFIG", "RESETSTAT")
        self.assertEqual(self.info("errorstats"), {})
        self.assertEqual(self.info("stats")["keyspace_hits"], "0")

    def test_there_is_one_server(self):
        ask = self.link.ask
        self.assertEqual(ask("ROLE"), [b"master", 0, []])
        self.assertEqual(ask("WAIT", 1, 1000), 0)
        self.assertEqual(ask("MODULE", "LIST"), [])
        self.assertEqual(ask("CLUSTER", "INFO"),
                         "ERR This instance has cluster support disabled")
        for name in ("REPLICAOF", "SLAVEOF"):
            self.assertEqual(ask(name, "no", "one"), b"OK")
            self.assertEqual(ask(name, "127.0.0.1", 6379),
                             "ERR this server cannot be a replica")
        self.assertIn(b"Redis ver. 7.0.15", ask("LOLWUT", "VERSION", 5))
        for line in ("DEBUG SLEEP 1", "FCALL f 0", "PFSELFTEST"):
            self.assertIsInstance(ask(*line.split()), Error)


if __name__ == "__main__":
    unittest.main()
