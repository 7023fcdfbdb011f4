"""Redis."""

import pathlib
import tempfile
import unittest

from support import ScriptFailed, redis

LIBRARY = """\
#!lua name=counting
redis.register_function('count_up', function(keys, arguments)
  return redis.call('HINCRBY', keys[1], arguments[1], 1)
end)
"""


class Server(unittest.TestCase):
    def setUp(self):
        self.client = self.enterContext(redis.empty())
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "functions.lua"

    def test_calls_a_loaded_function(self):
        self.file.write_text(LIBRARY)
        self.assertEqual(redis.load_functions(self.file), "counting")
        self.assertEqual(redis.cli("FCALL", "count_up", "1", "player:mary", "games"), "1")
        self.assertEqual(self.client.fcall("count_up", 1, "player:mary", "games"), 2)
        self.assertEqual(self.client.hgetall("player:mary"), {"games": "2"})

    def test_takes_a_library_from_redis_cli(self):
        self.assertEqual(redis.cli("-x", "FUNCTION", "LOAD", text_in=LIBRARY), "counting")
        self.assertEqual(self.client.fcall("count_up", 1, "player:ann", "games"), 1)

    def test_a_wrong_library_fails(self):
        self.file.write_text(LIBRARY.replace("end)", "en)"))
        with self.assertRaisesRegex(ScriptFailed, "Error compiling function"):
            redis.load_functions(self.file)
        with self.assertRaisesRegex(ScriptFailed, "Error compiling function"):
            redis.cli("-x", "FUNCTION", "LOAD", text_in=self.file.read_text())
