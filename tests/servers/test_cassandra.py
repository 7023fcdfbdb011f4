"""Cassandra."""

import datetime
import pathlib
import re
import tempfile
import unittest

from support import ROOT, ScriptFailed, cassandra, generated

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


class Generated(unittest.TestCase):
    """What `noam generate --target cassandra` writes."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def make(self, path, strategy, *data):
        """Creates the schema, and puts the data in. The keyspace goes with the test."""
        generated.generate("cassandra", path, strategy, self.folder, *data)
        keyspace = re.search(r"^USE (\w+);", (self.folder / "schema.cql").read_text(), re.MULTILINE)[1]
        self.addCleanup(cassandra.drop_keyspace, keyspace)
        cassandra.drop_keyspace(keyspace)
        cassandra.execute_file(self.folder / "schema.cql")
        if data:
            cassandra.execute_file(self.folder / "data.cql")
        return keyspace

    def prepared(self):
        """Every statement of statements.cql that the server takes: all of them."""
        texts = [text for text in cassandra.statements((self.folder / "statements.cql").read_text())
                 if not text.upper().startswith("USE ")]
        for text in set(texts):
            try:
                cassandra.session().prepare(text)
            except Exception as error:
                raise ScriptFailed(f"{error}\n{text}") from error
        return texts

    def test_every_example_under_every_design_is_created_and_every_statement_prepared(self):
        for path, strategy in generated.examples():
            with self.subTest(model=path.stem, strategy=strategy):
                self.make(path, strategy)
                self.assertTrue(self.prepared())

    def test_the_schema_file_goes_through_cqlsh_twice(self):
        self.make(generated.GAME, "figure8")
        cassandra.cqlsh(self.folder / "schema.cql")

    def columns(self, keyspace, table):
        """Kind, name and type, in the order of the key; clustering columns with their order."""
        rows = cassandra.execute("SELECT * FROM system_schema.columns WHERE keyspace_name = %s AND table_name = %s",
                                 (keyspace, table))
        kinds = ["partition_key", "clustering", "static", "regular"]
        rows.sort(key=lambda row: (kinds.index(row.kind), row.position, row.column_name))
        return [(row.kind, row.column_name, row.type) + ((row.clustering_order,) if row.kind == "clustering" else ())
                for row in rows if not row.column_name.startswith("noam_")]

    def caching(self, keyspace, table):
        return cassandra.execute("SELECT caching FROM system_schema.tables WHERE keyspace_name = %s AND table_name = %s",
                                 (keyspace, table))[0].caching

    def test_the_six_tables_of_seed_001(self):
        keyspace = self.make(ROOT / "examples" / "shortener" / "shortener.noam", "seed001")
        key = ("partition_key", "short_url", "text")
        value = ("regular", "value", "counter")
        self.assertEqual(self.columns(keyspace, "urls"),
                         [key, ("regular", "created", "timestamp"), ("regular", "custom", "boolean"),
                          ("regular", "long_url", "text")])
        self.assertEqual(self.columns(keyspace, "countrycounters"), [key, ("clustering", "country", "text", "asc"), value])
        self.assertEqual(self.columns(keyspace, "hourcounters"), [key, ("clustering", "hour", "timestamp", "desc"), value])
        self.assertEqual(self.columns(keyspace, "daycounters"), [key, ("clustering", "day", "timestamp", "desc"), value])
        self.assertEqual(self.columns(keyspace, "uniquecounter"), [key, value])
        self.assertEqual(self.columns(keyspace, "uniquecounterips"), [key, ("clustering", "ip", "text", "asc")])
        for table in ["countrycounters", "hourcounters", "daycounters"]:
            self.assertEqual(dict(self.caching(keyspace, table)), {"keys": "ALL", "rows_per_partition": "10"})

        # A visit as the authors of the seed count it.
        for hour in [13, 14, 14]:
            cassandra.execute("UPDATE hourcounters SET value = value + 1 WHERE short_url = 'x' AND hour = %s",
                              (f"2015-07-15 {hour}:00:00+0000",))
        rows = cassandra.execute("SELECT hour, value FROM hourcounters WHERE short_url = 'x'")
        self.assertEqual([(row.hour.hour, row.value) for row in rows], [(14, 2), (13, 1)])

    def test_the_five_tables_of_seed_003(self):
        keyspace = self.make(ROOT / "examples" / "microblog" / "microblog.noam", "seed003")
        self.assertEqual(self.columns(keyspace, "follower_relations_by_users"),
                         [("partition_key", "username", "text"), ("clustering", "rel_type", "text", "asc"),
                          ("clustering", "rel_target_id", "bigint", "asc"),
                          ("clustering", "rel_target_username", "text", "asc")])
        order = [("clustering", "date_time", "timestamp", "desc"), ("clustering", "tweet_id", "bigint", "desc")]
        numbers = [("regular", "number_of_likes", "int"), ("regular", "number_of_shares", "int")]
        self.assertEqual(self.columns(keyspace, "tweets_by_authors"),
                         [("partition_key", "author", "text"), *order, ("regular", "content", "text"),
                          ("regular", "language", "text"), *numbers])
        self.assertEqual(self.columns(keyspace, "caches_by_users"),
                         [("partition_key", "username", "text"), *order, ("regular", "author", "text"),
                          ("regular", "content", "text"), ("regular", "language", "text"), *numbers])
        for table in ["top100_accounts_by_time", "top100_followers_by_time"]:
            self.assertEqual(self.columns(keyspace, table),
                             [("partition_key", "uuid", "text"), ("clustering", "ts", "timeuuid", "desc"),
                              ("regular", "follower_json", "text")])

    def test_events_counters_and_animals_of_seed_004(self):
        keyspace = self.make(ROOT / "examples" / "eventlog" / "eventlog.noam", "seed004")
        # Theirs has room for one event a millisecond, and for one animal a genus: `id` and `name` keep them apart.
        self.assertEqual(self.columns(keyspace, "events"),
                         [("partition_key", "hour", "timestamp"), ("partition_key", "event_type", "text"),
                          ("clustering", "time", "timestamp", "desc"), ("clustering", "id", "timeuuid", "desc"),
                          ("regular", "data", "text"), ("regular", "url", "text")])
        self.assertEqual(self.columns(keyspace, "animals"),
                         [("partition_key", "family", "text"), ("clustering", "genus", "text", "asc"),
                          ("clustering", "name", "text", "asc"), ("regular", "species", "text"),
                          ("regular", "subspecies", "text")])
        # The batch of the seed is one of the statements of the command.
        batch = next(text for text in self.prepared() if text.startswith("BEGIN COUNTER BATCH"))
        hour = datetime.datetime(2013, 6, 13, 11)
        for _ in range(2):
            cassandra.session().execute(cassandra.session().prepare(batch),
                                        [1, hour, "click", 1, hour, "http://example.com"])
        self.assertEqual(cassandra.execute("SELECT count FROM event_metrics")[0].count, 2)
        self.assertEqual(cassandra.execute("SELECT count FROM url_metrics")[0].count, 2)

    def test_figure_3_is_read_back_by_the_statements(self):
        for strategy, length in [("figure8", None), ("figure11", None), ("eao", 2)]:
            with self.subTest(strategy=strategy):
                self.make(generated.GAME, strategy, generated.FIGURE3)
                session = cassandra.session()
                reads = [text for text in self.prepared() if text.startswith("SELECT")]
                of_players = [text for text in reads if "FROM player WHERE" in text]
                mary = {}
                for text in of_players:
                    for row in session.execute(session.prepare(text), ["mary"]):
                        mary.update({name: value for name, value in row._asdict().items() if value is not None})
                self.assertEqual(mary["first_name"], "Mary")
                self.assertEqual(mary["last_name"], "Wilson")
                self.assertNotIn("score", mary)
                rounds = [text for text in reads if re.search(r", rounds\b.* FROM game WHERE id", text)]
                rows = list(session.execute(session.prepare(rounds[0]), ["2345"]))
                found = rows[0].rounds if length else [row.rounds for row in rows]
                self.assertEqual([(one.moves is not None, one.comments is not None, one.spell) for one in found],
                                 [(True, True, None), (True, False, "light")])

    def test_two_who_change_one_aggregate_notice_each_other(self):
        self.make(generated.GAME, "figure11", generated.FIGURE3)
        batch = next(text for text in self.prepared() if "INSERT INTO game (id, position, rounds)" in text
                     and "IF noam_version" in text)
        session = cassandra.session()
        prepared = session.prepare(batch)
        names = [column.name for column in prepared.column_metadata]
        given = {"noam_next_version": 2, "noam_version": 1, "id": "2345", "position": 2, "rounds": None}
        values = [given[name] for name in names]
        self.assertTrue(session.execute(prepared, values).one().applied)
        self.assertFalse(session.execute(prepared, values).one().applied)
