"""Cassandra."""

import pathlib
import tempfile
import unittest

from support import ScriptFailed, cassandra

SCHEMA = """\
-- Two tables; the semicolon in this comment ; ends nothing.
CREATE TABLE players (username text PRIMARY KEY, city text);
CREATE TABLE games_by_player (
  username text, started timestamp, game text, score int,
  PRIMARY KEY (username, started, game)
) WITH CLUSTERING ORDER BY (started DESC, game ASC) AND comment = 'games; newest first';
"""


class Server(unittest.TestCase):
    def setUp(self):
        self.keyspace = self.enterContext(cassandra.keyspace())
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "schema.cql"

    def test_keeps_rows_in_the_order_of_the_table(self):
        self.file.write_text(SCHEMA)
        cassandra.execute_file(self.file)
        for day, game in [(1, "a"), (3, "c"), (2, "b"), (3, "d")]:
            cassandra.execute("INSERT INTO games_by_player (username, started, game) VALUES ('mary', %s, %s)",
                              (f"2026-01-0{day}", game))
        rows = cassandra.execute("SELECT game FROM games_by_player WHERE username = 'mary'")
        self.assertEqual([row.game for row in rows], ["c", "d", "b", "a"])

    def test_writes_under_a_condition(self):
        cassandra.execute("CREATE TABLE players (username text PRIMARY KEY, city text)")
        insert = "INSERT INTO players (username, city) VALUES ('mary', %s) IF NOT EXISTS"
        self.assertTrue(cassandra.execute(insert, ["Rome"])[0].applied)
        self.assertFalse(cassandra.execute(insert, ["Oslo"])[0].applied)
        self.assertEqual(cassandra.execute("SELECT city FROM players")[0].city, "Rome")

    def test_takes_a_file_from_cqlsh(self):
        self.file.write_text(SCHEMA + "INSERT INTO players (username, city) VALUES ('it''s', 'Oslo');\n"
                                      "SELECT city FROM players;\n")
        self.assertIn("Oslo", cassandra.cqlsh(self.file, self.keyspace))

    def test_a_wrong_file_fails_either_way(self):
        self.file.write_text("CREATE TABLE players (username text);\n")
        with self.assertRaisesRegex(ScriptFailed, "No PRIMARY KEY"):
            cassandra.execute_file(self.file)
        with self.assertRaisesRegex(ScriptFailed, "No PRIMARY KEY"):
            cassandra.cqlsh(self.file, self.keyspace)


class Statements(unittest.TestCase):
    def test_end_at_semicolons_outside_of_strings_comments_and_batches(self):
        self.assertEqual(
            cassandra.statements("A ';' -- b;\n; /* c; */ D \"e;\" ; BEGIN BATCH F; G; APPLY BATCH; H"),
            ["A ';'", 'D "e;"', "BEGIN BATCH F; G; APPLY BATCH", "H"])
