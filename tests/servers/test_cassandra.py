"""Cassandra."""

import datetime
import decimal
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from support import ROOT, RUN, ScriptFailed, cassandra, erasing, generated, names, server

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

    def make_example(self, name, strategy):
        folder = ROOT / "examples" / name
        return self.make(folder / f"{name}.noam", strategy, folder / "sample")

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

    def test_reserved_words_and_odd_names(self):
        model = names.Names("cassandra", 24)
        path, data = model.write(self.enterContext(tempfile.TemporaryDirectory()))
        for strategy in ["eao", "etf"]:
            with self.subTest(strategy=strategy):
                keyspace = self.make(path, strategy, data)
                self.prepared()
                tables = [row.table_name for row in cassandra.execute(
                    "SELECT table_name FROM system_schema.tables WHERE keyspace_name = %s", (keyspace,))]
                rows = [row for table in tables for row in cassandra.execute(f"SELECT * FROM {table}")]
                self.assertEqual(model.texts() - names.texts(rows), set())

    def test_a_model_may_be_called_like_a_keyspace_of_the_server(self):
        for model in ["system", "select"]:
            with self.subTest(model):
                path, _ = names.Names("cassandra", 1, model).write(self.enterContext(tempfile.TemporaryDirectory()))
                self.make(path, "eao")
                self.prepared()

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
        keyspace = self.make_example("shortener", "seed001")
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

        # What a redirect and the page of statistics ask, and a visit as the authors of the seed count it.
        self.assertEqual(cassandra.execute("SELECT long_url FROM urls WHERE short_url = 'noam'")[0].long_url,
                         "https://example.com/data-modeling-in-the-nosql-world")
        cassandra.execute("UPDATE hourcounters SET value = value + 1 WHERE short_url = 'noam' AND"
                          " hour = '2015-07-15 14:00:00+0000'")
        rows = cassandra.execute("SELECT hour, value FROM hourcounters WHERE short_url = 'noam'")
        self.assertEqual([(row.hour.day, row.hour.hour, row.value) for row in rows], [(16, 8, 1), (15, 14, 3), (15, 13, 1)])
        rows = cassandra.execute("SELECT day, value FROM daycounters WHERE short_url = 'noam'")
        self.assertEqual([(row.day.day, row.value) for row in rows], [(16, 1), (15, 3)])
        rows = cassandra.execute("SELECT country, value FROM countrycounters WHERE short_url = 'noam'")
        self.assertEqual([(row.country, row.value) for row in rows], [("\0", 1), ("DE", 1), ("IT", 2)])
        self.assertEqual(cassandra.execute("SELECT value FROM uniquecounter WHERE short_url = 'noam'")[0].value, 3)
        rows = cassandra.execute("SELECT ip FROM uniquecounterips WHERE short_url = 'noam'")
        self.assertEqual([row.ip for row in rows], ["192.0.2.1", "192.0.2.2", "2001:db8::7"])

    def test_the_five_tables_of_seed_003(self):
        keyspace = self.make_example("microblog", "seed003")
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

        # Whom an account follows, its posts, and its start page, newest first.
        rows = cassandra.execute("SELECT rel_target_username FROM follower_relations_by_users WHERE username = 'ann'"
                                 " AND rel_type = 'follows'")
        self.assertEqual([row.rel_target_username for row in rows], ["bob", "cem"])
        rows = cassandra.execute("SELECT tweet_id, number_of_likes FROM tweets_by_authors WHERE author = 'bob'")
        self.assertEqual([tuple(row) for row in rows], [(13, 1), (11, 2)])
        rows = cassandra.execute("SELECT tweet_id, author, number_of_shares FROM caches_by_users"
                                 " WHERE username = 'ann' LIMIT 2")
        self.assertEqual([tuple(row) for row in rows], [(13, "bob", 0), (12, "cem", 1)])
        newest = cassandra.execute("SELECT follower_json FROM top100_followers_by_time WHERE uuid = 'top100' LIMIT 1")
        self.assertEqual(json.loads(newest[0].follower_json)[0], {"username": "ann", "follows": 2})

    def test_events_counters_and_animals_of_seed_004(self):
        keyspace = self.make_example("eventlog", "seed004")
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
        # Two were there before.
        self.assertEqual(cassandra.execute("SELECT count FROM event_metrics WHERE hour = %s AND event_type = 'click'",
                                           (hour,))[0].count, 4)
        self.assertEqual(cassandra.execute("SELECT count FROM url_metrics WHERE hour = %s AND url = %s",
                                           (hour, "http://example.com"))[0].count, 4)
        rows = cassandra.execute("SELECT time FROM events WHERE hour = %s AND event_type = 'click'", (hour,))
        self.assertEqual([row.time.second for row in rows], [49, 23])
        rows = cassandra.execute("SELECT name FROM animals WHERE family = 'Felidae' AND genus = 'Panthera'")
        self.assertEqual([row.name for row in rows], ["lion", "tiger"])

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

    def test_values_of_every_type_are_read_back(self):
        types = ROOT / "tests" / "models" / "types.noam"
        for strategy in ["eao", "etf", "normalized"]:
            with self.subTest(strategy=strategy):
                self.make(types, strategy, types.with_suffix(""))
                self.assertTrue(self.prepared())
                full = cassandra.execute("SELECT * FROM thing WHERE id = 'full'")[0]
                self.assertEqual((full.yes, full.number, full.ratio), (True, -2**63, 0.1))
                self.assertEqual(full.price, decimal.Decimal("1234567890.125"))
                self.assertEqual(full.name, "größe 'quoted' \"twice\" \\ {brace}: $x")
                self.assertEqual(full.bits, b"\0\1\xff")
                self.assertEqual(full.at, datetime.datetime(2024, 2, 29, 23, 59, 59, 999000))
                self.assertEqual(str(full.day), "2024-02-29")
                self.assertEqual(str(full.event), "50554d6e-29bb-11e5-b345-feff819cdc9f")
                self.assertEqual(full.address, "192.168.0.1")
                self.assertEqual(json.loads(full.note), {"b": [1, None, "x"], "a": 1.5})
                self.assertEqual(full.place, ("Rome", 1))
                self.assertEqual((full.point.x, full.point.y, full.point.label), (1, 2.25, "p"))
                # Who refers to nobody is found by it, too.
                ids = [row.id for row in cassandra.execute("SELECT id FROM thing_by_place WHERE has_place = false"
                                                           " AND place = ('', 0)")]
                self.assertEqual(ids, ["empty", "odd: {x}\n#1"])
                ids = [row.id for row in cassandra.execute("SELECT id FROM thing_by_other WHERE other = %s", ("\0",))]
                self.assertEqual(ids, ["empty", "odd: {x}\n#1"])


class ErasingApplication(erasing.Application):
    """Counts are read, and written under the condition that they are what was read."""

    totals = True

    def names(self, request):
        return re.findall(r":(\w+)", request)

    def erases(self, request):
        return request.startswith("DELETE")

    def send(self, request, values):
        prepared = cassandra.session().prepare(request.rstrip(";"))
        names = [re.sub(r"\W", "", name) for name in self.names(request)]
        bound = [set(values[name]) if name == "tags" else values[name] for name in names]
        answer = cassandra.session().execute(prepared, bound).one()
        if answer is not None and not answer.applied:
            raise AssertionError(f"{request} was not applied: {values}")


class Erasing(unittest.TestCase):
    """The requests of tests/models/erasing.noam leave nothing that noam's own store would not keep."""

    def make_anew(self, folder, with_data):
        cassandra.drop_keyspace("erasing")
        cassandra.execute_file(folder / "schema.cql")
        if with_data:
            cassandra.execute_file(folder / "data.cql")

    def contents(self):
        tables = [row.table_name for row in cassandra.execute(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'erasing'")]
        rows = {table: [row._asdict() for row in cassandra.execute(f"SELECT * FROM erasing.{table}")] for table in tables}
        versions = {row["id"]: row.pop("noam_version") for row in rows["ps"]}
        return {table: sorted(map(repr, found)) for table, found in rows.items()}, versions

    def test_the_requests_leave_what_the_own_store_keeps(self):
        self.addCleanup(cassandra.drop_keyspace, "erasing")
        for design in erasing.DESIGNS:
            with self.subTest(design=design):
                erasing.compare(self, "cassandra", design, self.make_anew, lambda folder, design=design: ErasingApplication(
                    design, erasing.statements((folder / "statements.cql").read_text(), "-- ")), self.contents)


class Driver(unittest.TestCase):
    """noam::cql. The tests of tests/cql are a program of their own."""

    def test_on_these_servers(self):
        program = ROOT / "build" / "release" / "tests" / "noam_cql_server_test"
        self.assertTrue(program.exists(), f"{program} is missing; `make test-servers` builds it")
        open_one, secure = server("cassandra"), server("cassandra-secure")
        environment = {"NOAM_TEST_CASSANDRA": f"{open_one['host']}:{open_one['port']}",
                       "NOAM_TEST_CASSANDRA_SECURE": f"{secure['host']}:{secure['port']}",
                       "NOAM_TEST_CASSANDRA_CERTIFICATES": str(RUN / "cassandra-secure")}
        done = subprocess.run([program], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout)
        if "[  PASSED  ] 0 tests" in done.stdout:
            self.skipTest("this noam was built without the driver")
        # Figures, if there are some.
        print(*(line for line in done.stdout.splitlines() if line.startswith("  ")), sep="\n")
