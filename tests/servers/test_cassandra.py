"""Cassandra: generated files, noam itself, and the programs of tests that need a server."""

import collections
import contextlib
import datetime
import decimal
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

from support import ROOT, RUN, ScriptFailed, cassandra, erasing, generated, names, noam, run, running, server, unique

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
                          ("clustering", "time", "timestamp", "desc"), ("clustering", "id_order", "blob", "desc"),
                          ("regular", "data", "text"), ("regular", "id", "timeuuid"), ("regular", "url", "text")])
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


class Running(unittest.TestCase):
    """noam itself, on a keyspace that goes with the test."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.keyspace = unique("noam")  # created by `noam deploy`
        self.addCleanup(cassandra.drop_keyspace, self.keyspace)
        self.store = running.url(self.keyspace)

    def batch(self, model, requests):
        batch = running.Batch(self.folder, model, self.store, requests)
        self.addCleanup(batch.kill)
        return batch

    def answers(self, model, *queries):
        """The rows of each query, which is a pair of a name and parameters."""
        requests = [{"run": name, "params": parameters} for name, parameters in queries]
        return [answer["rows"] for answer in self.batch(model, requests).finish()]

    def answer(self, model, query, **parameters):
        return self.answers(model, (query, parameters))[0]

    def check_at_rest(self, model):
        """All copies are right, and nothing is left of commands that were interrupted."""
        self.assertIn("no differences", noam("verify", model, "--store", self.store))
        noam("sweep", model, "--store", self.store)
        self.assertEqual(cassandra.unfinished(self.keyspace), [])


BANK = ROOT / "tests" / "models" / "bank.noam"
BLOG = ROOT / "examples" / "blog" / "blog.noam"
GAME = ROOT / "examples" / "game" / "game.noam"
MICROBLOG = ROOT / "examples" / "microblog" / "microblog.noam"
SHORTENER = ROOT / "examples" / "shortener" / "shortener.noam"
NAMES = ["ann", "ben", "cem", "dan", "eva", "fay"]
START = 100  # on each account


def opened():
    return [running.request("open", name=name, balance=START) for name in NAMES]


def transfers(chance, count, most):
    requests = []
    for number in range(count):
        payer, payee = chance.sample(NAMES, 2)
        requests.append(running.request("transfer", payer=payer, payee=payee, amount=chance.randint(1, most),
                                        about=f"{chance.choice(['rent', 'tea', 'a book'])} {number % 7}"))
    return requests


def shortener_of_numbers(folder):
    """The model, with the counts of seed001 as numbers. Native counters count twice what is sent twice."""
    model = folder / "shortener.noam"
    model.write_text(re.sub(r'counters: "native",? ?', "", SHORTENER.read_text()).replace(" with cassandra()", ""))
    return model


class Killed(Running):
    """noam is killed by SIGKILL at random moments, and run again."""

    @classmethod
    def setUpClass(cls):
        # A process that is killed while it deploys leaves a lock, which lasts half a minute. Other tests run meanwhile.
        cls.deploys = []
        for _ in range(3):
            keyspace = unique("noam")
            cls.addClassCleanup(cassandra.drop_keyspace, keyspace)
            command = ["deploy", BLOG, "--strategy", "timelines", "--store", running.url(keyspace)]
            program = running.start(*command)
            time.sleep(random.uniform(0.03, 0.5))
            program.kill()
            program.communicate()
            program = running.start(*command)
            cls.addClassCleanup(program.kill)
            cls.deploys.append((keyspace, program))

    def test_no_command_is_lost_or_applied_twice(self):
        noam("deploy", BANK, "--strategy", "tables", "--store", self.store)
        chance = random.Random()
        self.batch(BANK, opened()).finish()
        # No account runs empty, so the answer to a command does not depend on when it is decided. Another process meets
        # what this one leaves behind.
        requests = [*transfers(chance, 120, 1), *opened()]
        other = self.batch(BANK, transfers(chance, 60, 1))
        answers = []
        for _ in range(10):
            batch = self.batch(BANK, requests)
            batch.wait_for(min(len(answers) + chance.randrange(20), len(requests) - 1))
            time.sleep(chance.random() * 0.03)
            batch.kill()
            answers = self.check_repeated(answers, batch.answers())
        batch = self.batch(BANK, requests)
        answers = self.check_repeated(answers, batch.finish())
        self.assertEqual([answer.get("code") for answer in answers], [None] * 120 + ["exists"] * len(NAMES))
        self.check_transfers([*zip(other.requests, other.finish()), *zip(requests, answers)])
        self.check_at_rest(BANK)

    def check_repeated(self, before, now):
        """A command that is repeated is answered as it was. All answers that are known."""
        for old, new in zip(before, now):
            self.assertEqual(new, old)
        return max(before, now, key=len)

    def check_transfers(self, answered):
        """There are the transfers that were acknowledged, and they make the balances."""
        changes, counts, keys = collections.Counter(), collections.Counter(), []
        for sent, answer in answered:
            if answer["outcome"] == "applied":
                payer, payee = sent["params"]["payer"], sent["params"]["payee"]
                changes[payer] -= sent["params"]["amount"]
                changes[payee] += sent["params"]["amount"]
                counts.update([(payer, "payments"), (payee, "receipts")])
                keys += answer["keys"]
        self.assertEqual(self.transfers(), sorted(keys))
        for name in NAMES:
            self.assertEqual(self.answer(BANK, "account", name=name)[0]["a"]["balance"], START + changes[name])
            self.assertEqual(self.answer(BANK, "transfers", name=name),
                             [{"payments": counts[name, "payments"], "receipts": counts[name, "receipts"]}])

    def transfers(self):
        rows = cassandra.execute(f"SELECT id, noam_live FROM {self.keyspace}.transfers")
        return sorted(str(row.id) for row in rows if row.noam_live)

    def test_no_line_of_a_file_is_lost_or_loaded_twice(self):
        # What is counted is not stored itself, so a visit that is loaded twice counts twice.
        model = shortener_of_numbers(self.folder)
        noam("deploy", model, "--strategy", "seed001", "--store", self.store)
        noam("load", model, SHORTENER.parent / "sample" / "Url.jsonl", "--store", self.store)
        visits = self.folder / "Visit.jsonl"
        visits.write_text("".join(json.dumps({"url": "noam", "at": "2015-07-15T13:59:00Z", "country": "IT",
                                              "ip": f"192.0.2.{number % 250}"}) + "\n" for number in range(3000)))
        for _ in range(5):
            program = running.start("load", model, visits, "--store", self.store)
            time.sleep(random.uniform(0.05, 0.7))
            program.kill()
            program.communicate()
        noam("load", model, visits, "--store", self.store)
        self.assertEqual(self.answer(model, "visits_by_country", short="noam"), [{"country": "IT", "visits": 3000}])
        self.assertEqual(self.answer(model, "unique_visitors", short="noam"), [{"visitors": 250}])
        self.check_at_rest(model)

    def test_tables_are_completed_by_the_next_deploy(self):
        for keyspace, program in self.deploys:
            code, out, err = running.end(program)
            self.assertEqual(code, 0, err)
            # It waits for the lock of the one that was killed, and says so.
            self.assertRegex(err, rf"^(another process deploys to keyspace {keyspace}; waiting .*\n)?$")
            self.assertIn("`timelines`, 7 collections with 7 families", out)
            store = ["--store", running.url(keyspace)]
            self.assertIn("4 loaded", noam("load", BLOG, BLOG.parent / "sample", *store))
            self.assertEqual(noam("verify", BLOG, *store), "28 entries compared under `timelines`, no differences\n")


class Bulk(Running):
    """Loading a keyspace before anybody opens it."""

    def load(self, model, strategy, *sources):
        return ["load", model, *sources, "--bulk", "--strategy", strategy, "--store", self.store]

    def test_leaves_what_a_load_row_by_row_leaves(self):
        for model, strategy in [(MICROBLOG, "seed003"), (shortener_of_numbers(self.folder), "seed001")]:
            with self.subTest(model.stem):
                self.setUp()
                sample = ROOT / "examples" / model.stem / "sample"
                self.assertIn("entries written", noam(*self.load(model, strategy, sample)))
                self.assertIn("already loaded", noam("load", model, sample, "--store", self.store))
                row_by_row = f"rocksdb:{self.folder / model.stem}"
                noam("deploy", model, "--strategy", strategy, "--store", row_by_row)
                noam("load", model, sample, "--store", row_by_row)
                for store, folder in [(self.store, "bulk"), (row_by_row, "rows")]:
                    noam("export", model, "--to", self.folder / f"{model.stem}-{folder}", "--store", store)
                self.assertEqual(files_of(self.folder / f"{model.stem}-bulk"),
                                 files_of(self.folder / f"{model.stem}-rows"))
                self.check_at_rest(model)

    def test_is_followed_by_commands(self):
        noam(*self.load(BLOG, "timelines", BLOG.parent / "sample"))
        outcomes = self.batch(BLOG, [running.request("register", name="zoe"),
                                     running.request("follow", user="zoe", other="ann"),
                                     running.request("register", name="ann")]).finish()
        self.assertEqual([answer["outcome"] for answer in outcomes], ["applied", "applied", "refused"])
        self.check_at_rest(BLOG)

    def test_is_for_stores_that_nobody_has_opened(self):
        noam("deploy", BLOG, "--strategy", "timelines", "--store", self.store)
        code, _, err = running.end(running.start(*self.load(BLOG, "timelines", BLOG.parent / "sample")))
        self.assertEqual(code, 2)
        self.assertIn("was deployed before; load without --bulk", err)

    def test_bad_lines_are_told_and_left_out(self):
        users = self.folder / "User.jsonl"
        users.write_text('{"name": "ann"}\n{"name": 7}\n')
        code, out, err = running.end(running.start(*self.load(BLOG, "timelines", users)))
        self.assertEqual(code, 3, err)
        self.assertIn("1 loaded, 1 bad", out)
        self.assertIn("entries written", out)
        self.check_at_rest(BLOG)

    def test_that_was_killed_begins_anew(self):
        visits = self.folder / "Visit.jsonl"
        visits.write_text("".join(json.dumps({"url": "noam", "at": "2015-07-15T13:59:00Z", "country": "IT",
                                              "ip": f"192.0.2.{number % 250}"}) + "\n" for number in range(20000)))
        model = shortener_of_numbers(self.folder)
        command = self.load(model, "seed001", SHORTENER.parent / "sample" / "Url.jsonl", visits)
        program = running.start(*command)
        while not cassandra.execute("SELECT table_name FROM system_schema.tables WHERE keyspace_name = %s AND "
                                    "table_name = 'noam_deployment'", (self.keyspace,)):
            time.sleep(0.05)
        loading = lambda: [row.loading for row in cassandra.execute(f"SELECT loading FROM {self.keyspace}.noam_deployment")]
        while loading() in ([], [None]):
            time.sleep(0.01)
        program.kill()
        program.communicate()
        self.assertEqual(loading(), [True], "it was over before it was killed")
        code, _, err = running.end(running.start("run", model, "visits_by_country", "short=noam", "--store", self.store))
        self.assertEqual(code, 2)
        self.assertIn("is being loaded, or a load was interrupted", err)
        noam(*command)
        self.assertEqual(self.answer(model, "visits_by_country", short="noam"), [{"country": "IT", "visits": 20000}])
        self.check_at_rest(model)


def files_of(folder):
    return {path.name: sorted(path.read_text().splitlines()) for path in folder.iterdir()}


class Together(Running):
    def test_two_processes_transfer_and_a_reader_sees_what_is_committed(self):
        noam("deploy", BANK, "--strategy", "tables", "--store", self.store)
        self.batch(BANK, opened()).finish()
        chance = random.Random()
        batches = [self.batch(BANK, transfers(chance, 80, 60)) for _ in range(2)]
        seen, looks = set(), 0
        while any(batch.runs() for batch in batches):
            seen |= self.look()
            looks += 1
            if looks % 50 == 25:
                self.assertIn("no differences", noam("verify", BANK, "--store", self.store))
        answers = [answer for batch in batches for answer in batch.finish()]
        self.assertEqual({(answer["outcome"], answer.get("code")) for answer in answers},
                         {("applied", None), ("refused", "require")})
        keys = {key for answer in answers for key in answer.get("keys", [])}
        self.assertEqual(len(keys), sum(answer["outcome"] == "applied" for answer in answers))
        self.assertGreater(looks, 10)
        self.assertTrue(seen)
        self.assertLessEqual(seen, keys)
        self.assertEqual(self.look(), keys)
        self.assertEqual(sum(self.answer(BANK, "account", name=name)[0]["a"]["balance"] for name in NAMES),
                         START * len(NAMES))
        self.check_at_rest(BANK)

    def look(self):
        """The ids of all transfers that another program sees. A row without clustering columns, or without
        `noam_live`, is a head that stands alone."""
        for row in cassandra.execute(f"SELECT balance, paid, got, noam_live FROM {self.keyspace}.accounts"):
            if row.noam_live:
                self.assertEqual(row.balance, START - row.paid + row.got)
                self.assertGreaterEqual(row.balance, 0)
        rows = [row for row in cassandra.execute(f"SELECT id, noam_live FROM {self.keyspace}.transfers") if row.noam_live]
        for table in ["payments", "receipts", "words"]:
            rows += cassandra.execute(f"SELECT id FROM {self.keyspace}.{table}")
        return {str(row.id) for row in rows if row.id is not None}


class OtherPrograms(Running):
    """The statements of the seeds, sent by other programs, give what noam answers."""

    def rows(self, statement, *parameters):
        """Without heads that stand alone."""
        rows = cassandra.execute(statement.replace("FROM ", f"FROM {self.keyspace}."), parameters)
        return [row for row in rows if None not in (row[0], getattr(row, "noam_live", True))]

    @staticmethod
    def time(of):
        return of.isoformat(timespec="milliseconds") + "Z"

    def tweet(self, row):
        return {"id": row.tweet_id, "at": self.time(row.date_time), "content": row.content, "language": row.language,
                "likes": row.number_of_likes, "shares": row.number_of_shares}

    def test_the_tables_of_seed_003(self):
        noam("deploy", MICROBLOG, "--strategy", "seed003", "--store", self.store)
        run([MICROBLOG.parent / "generate", self.folder / "data", 12, 90])
        noam("load", MICROBLOG, self.folder / "data", "--store", self.store)
        commands = [running.request("post", id=7, author="ann", at="2026-07-01T00:00:00Z", content="late", language="en"),
                    running.request("post", id=1000, author="zoe", at="2026-07-01T00:00:01Z", content="bye", language="en"),
                    running.request("like", username="ben", tweet=7), running.request("share", username="ben", tweet=7),
                    running.request("delete_tweet", id=1001),
                    *(running.request("follow", follower=name, followed="ann") for name in ["ben", "cleo", "gus"]),
                    running.request("unfollow", follower="cleo", followed="ann")]
        answers = self.batch(MICROBLOG, commands).finish()
        self.assertEqual([answer["outcome"] for answer in answers], ["applied", "refused", *["applied"] * 7])
        cached = 0
        for user in self.rows("SELECT username, noam_live FROM users PER PARTITION LIMIT 1"):
            name = user.username
            with self.subTest(user=name):
                newest, posts, followed, followers = self.answers(
                    MICROBLOG, ("newest", {"username": name}), ("posts_of", {"author": name}),
                    ("followed_by", {"username": name}), ("followers_of", {"username": name}))
                found = self.rows("SELECT date_time, tweet_id, author, content, language, number_of_likes,"
                                  " number_of_shares FROM caches_by_users WHERE username = %s LIMIT 25", name)
                self.assertEqual([{**self.tweet(row), "author": row.author} for row in found], newest)
                cached += len(newest)
                found = self.rows("SELECT date_time, tweet_id, content, language, number_of_likes, number_of_shares,"
                                  " noam_live FROM tweets_by_authors WHERE author = %s", name)
                self.assertEqual([self.tweet(row) for row in found], posts)
                for kind, expected in [("follows", followed), ("follower", followers)]:
                    found = self.rows("SELECT rel_target_id, rel_target_username FROM follower_relations_by_users"
                                      " WHERE username = %s AND rel_type = %s", name, kind)
                    self.assertEqual([{"id": row[0], "username": row[1]} for row in found], expected)
        self.assertGreater(cached, 100)
        script = self.folder / "newest.cql"
        script.write_text("SELECT tweet_id FROM caches_by_users WHERE username = 'gus' LIMIT 25;\n")
        printed = re.findall(r"^ +(\d+)$", cassandra.cqlsh(script, self.keyspace), re.MULTILINE)
        newest = self.answer(MICROBLOG, "newest", username="gus")
        self.assertEqual((printed[0], printed), ("7", [str(row["id"]) for row in newest]))

    def test_the_tables_of_seed_001_with_native_counters(self):
        self.check_statistics(SHORTENER)

    def test_the_tables_of_seed_001_with_numbers(self):
        self.check_statistics(shortener_of_numbers(self.folder))

    def check_statistics(self, model):
        noam("deploy", model, "--strategy", "seed001", "--store", self.store)
        noam("load", model, SHORTENER.parent / "sample", "--store", self.store)
        chance = random.Random(1)
        visits = [running.request("visit", short=chance.choice(["noam", "x7Kp2mQd"]),
                                  at=f"2015-07-{chance.randint(14, 17)}T{chance.randint(10, 14)}:30:00Z",
                                  country=chance.choice(["IT", "DE", None]), ip=f"192.0.2.{chance.randint(1, 30)}")
                  for _ in range(60)]
        answers = self.batch(model, visits).finish()
        self.assertEqual({answer["outcome"] for answer in answers}, {"applied"})
        for short in ["noam", "x7Kp2mQd"]:
            hours, days, countries, unique_ones, target = self.answers(model, *(
                (query, {"short": short}) for query in ["visits_by_hour", "visits_by_day", "visits_by_country",
                                                        "unique_visitors", "resolve"]))
            rows = self.rows("SELECT hour, value FROM hourcounters WHERE short_url = %s", short)
            self.assertGreater(len(rows), 10)
            self.assertEqual([{"hour": self.time(row.hour), "visits": row.value} for row in rows], hours)
            rows = self.rows("SELECT day, value FROM daycounters WHERE short_url = %s", short)
            self.assertEqual([{"day": self.time(row.day), "visits": row.value} for row in rows], days)
            rows = self.rows("SELECT country, value FROM countrycounters WHERE short_url = %s", short)
            self.assertCountEqual([{"country": row.country.strip("\0") or None, "visits": row.value} for row in rows],
                                  countries)
            [row] = self.rows("SELECT value FROM uniquecounter WHERE short_url = %s", short)
            self.assertEqual([{"visitors": row.value}], unique_ones)
            self.assertEqual(len(self.rows("SELECT ip FROM uniquecounterips WHERE short_url = %s", short)), row.value)
            rows = self.rows("SELECT long_url, noam_live FROM urls WHERE short_url = %s", short)
            self.assertEqual([{"long": row.long_url} for row in rows], target)


class BadInput(Running):
    """Each is one line on standard error, soon, and changes nothing."""

    def check_refused(self, says, *arguments, code=2, environment=None):
        begin = time.monotonic()
        program = running.start(*arguments, environment=environment)
        ended, out, err = running.end(program)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual((ended, out, err.count("\n")), (code, "", 1), err)
        self.assertRegex(err, says)
        self.assertTrue(err.startswith("noam: "), err)

    def check_not_connected(self, says, place, **more):
        self.check_refused(says, "deploy", BLOG, "--store", f"cassandra://{place}", **more)
        self.check_refused(says, "run", BLOG, "timeline", "name=ann", "--store", f"cassandra://{place}", **more)

    def deploy(self, model, strategy, *data):
        noam("deploy", model, "--strategy", strategy, "--store", self.store)
        if data:
            noam("load", model, *data, "--store", self.store)

    @contextlib.contextmanager
    def unchanged(self):
        before = cassandra.contents(self.keyspace)
        yield
        self.assertEqual(cassandra.contents(self.keyspace), before)

    def test_a_host_that_does_not_exist(self):
        self.check_not_connected("unknown host: no-such-host.invalid:9042", "no-such-host.invalid/k")

    def test_a_port_that_is_closed(self):
        with running.listener(running.silence) as port:
            pass
        self.check_not_connected(f"127.0.0.1:{port}", f"127.0.0.1:{port}/k")

    def test_a_server_that_never_answers(self):
        with running.listener(running.silence) as port:
            self.check_not_connected(f"no node answered within 1000 ms .*127.0.0.1:{port}",
                                     f"127.0.0.1:{port}/k?connect_timeout=1s")

    def test_a_datacenter_that_does_not_exist(self):
        self.check_refused("unknown datacenter `mars`; the cluster has: datacenter1", "deploy", BLOG, "--store",
                           running.url(self.keyspace, "datacenter=mars"))
        self.assertEqual(cassandra.contents(self.keyspace), ([], {}))

    def test_a_keyspace_that_does_not_exist(self):
        for command in [["run", BLOG, "register", "name=zed"], ["run", BLOG, "--batch"], ["verify", BLOG],
                        ["load", BLOG, BLOG.parent / "sample"]]:
            self.check_refused(f"there is no keyspace `{self.keyspace}`; create it with `noam deploy",
                               *command, "--store", self.store)
        self.assertEqual(cassandra.execute("SELECT * FROM system_schema.keyspaces WHERE keyspace_name = %s",
                                           (self.keyspace,)), [])

    def test_a_keyspace_of_another_model(self):
        self.deploy(GAME, "eao", generated.FIGURE3)
        with self.unchanged():
            for command in [["deploy", BLOG], ["run", BLOG, "register", "name=zed"], ["verify", BLOG],
                            ["load", BLOG, BLOG.parent / "sample"]]:
                self.check_refused("was deployed with another design, `eao`: entity `Player` is only in the store",
                                   *command, "--store", self.store)

    def test_a_keyspace_of_another_design(self):
        self.deploy(BLOG, "timelines", BLOG.parent / "sample")
        with self.unchanged():
            for command in [["deploy", BLOG], ["run", BLOG, "register", "name=zed"], ["verify", BLOG]]:
                self.check_refused("was deployed under `timelines`, not under `etf`", *command, "--strategy", "etf", "--store",
                                   self.store)

    def test_a_table_that_lacks_a_column(self):
        self.deploy(BLOG, "timelines", BLOG.parent / "sample")
        cassandra.execute(f"ALTER TABLE {self.keyspace}.timelines DROP text")
        with self.unchanged():
            for command in [["deploy", BLOG], ["run", BLOG, "timeline", "name=ann"], ["verify", BLOG]]:
                self.check_refused(f"column `text` of table {self.keyspace}.timelines is missing", *command, "--store",
                                   self.store)

    def test_a_column_that_was_emptied_and_one_that_was_added(self):
        self.deploy(BLOG, "timelines", BLOG.parent / "sample")
        for change in ["DROP text", "ADD text text", "ADD more int"]:
            cassandra.execute(f"ALTER TABLE {self.keyspace}.timelines {change}")
        code, out, _ = running.end(running.start("verify", BLOG, "--store", self.store))
        self.assertEqual((code, out.count("is wrong: text is null")), (3, 8), out)
        self.check_refused("the copy in collection `timelines` is broken", "run", BLOG, "timeline", "name=ann", "--store",
                           self.store, code=3)
        noam("repair", BLOG, "--store", self.store)
        self.assertEqual(len(self.answer(BLOG, "timeline", name="ann")), 3)
        self.check_at_rest(BLOG)

    def test_a_table_that_is_missing(self):
        self.deploy(BLOG, "timelines", BLOG.parent / "sample")
        cassandra.execute(f"DROP TABLE {self.keyspace}.timelines")
        with self.unchanged():
            for command in [["deploy", BLOG], ["run", BLOG, "register", "name=zed"], ["verify", BLOG]]:
                self.check_refused(f"table {self.keyspace}.timelines is missing", *command, "--store", self.store)

    def test_rows_that_noam_did_not_write(self):
        self.deploy(BLOG, "timelines")
        generated.generate("cassandra", BLOG, "timelines", self.folder, BLOG.parent / "sample")
        for statement in cassandra.statements((self.folder / "data.cql").read_text()):
            if found := re.fullmatch(r"INSERT INTO (timelines .*)", statement):
                cassandra.execute(f"INSERT INTO {self.keyspace}.{found[1]}")
        with self.unchanged():
            for command in [["run", BLOG, "timeline", "name=ann"], ["verify", BLOG], ["repair", BLOG], ["sweep", BLOG],
                            ["stats", BLOG]]:
                self.check_refused(f"table {self.keyspace}.timelines has rows that noam did not write", *command, "--store",
                                   self.store)

    def test_a_server_with_passwords_and_tls(self):
        files = RUN / "cassandra-secure"
        mine = f"certificate={files}/client.pem&key={files}/client.key"
        right = f"ca={files}/ca.pem&{mine}"
        command = ["run", BLOG, "timeline", "name=ann", "--store"]
        # The node creates its superuser some moments after it answers.
        for _ in range(100):
            program = running.start(*command, running.url(self.keyspace, f"user=cassandra&{right}", "cassandra-secure"),
                                    environment={"NOAM_CASSANDRA_PASSWORD": "cassandra"})
            if "there is no keyspace" in running.end(program)[2]:
                break
            time.sleep(0.2)
        for says, options, password in [
                ("there is no keyspace", f"user=cassandra&{right}", "cassandra"),
                ("username cassandra and/or password are incorrect", f"user=cassandra&{right}", "wrong"),
                ("username nobody and/or password are incorrect", f"user=nobody&{right}", "cassandra"),
                ("the server requires a user and a password", right, "cassandra"),
                ("not connected: ", "user=cassandra", "cassandra"),
                ("the server's certificate was refused", f"user=cassandra&ca={files}/other.pem&{mine}", "cassandra")]:
            with self.subTest(says):
                self.check_refused(says, *command, running.url(self.keyspace, options, "cassandra-secure"),
                                   environment={"NOAM_CASSANDRA_PASSWORD": password})

    def deploys(self, *strategies):
        programs = [running.start("deploy", BLOG, "--strategy", strategy, "--store", self.store) for strategy in strategies]
        return [running.end(program) for program in programs]

    def test_two_deploys_at_once(self):
        for _ in range(3):
            with self.subTest():
                self.setUp()
                ended = self.deploys("timelines", "timelines")
                self.assertEqual([code for code, _, _ in ended], [0, 0], ended)
                self.assertEqual(sorted("already exists" in out for _, out, _ in ended), [False, True])

    def test_two_deploys_of_two_designs_at_once(self):
        for _ in range(3):
            with self.subTest():
                self.setUp()
                ended = self.deploys("timelines", "etf")
                self.assertEqual(sorted(code for code, _, _ in ended), [0, 2], ended)
                self.assertIn("was deployed under", "".join(err for _, _, err in ended))

    def test_a_server_that_answers_nonsense(self):
        for _ in range(10):
            with running.listener(running.noise) as port:
                self.check_not_connected(f"not connected: .*127.0.0.1:{port}", f"127.0.0.1:{port}/k")

    def test_a_server_that_wants_a_certificate(self):
        self.check_refused("certificate", "run", BLOG, "timeline", "name=ann", "--store", running.url(
            self.keyspace, f"user=cassandra&ca={RUN / 'cassandra-secure'}/ca.pem", "cassandra-secure"),
                           environment={"NOAM_CASSANDRA_PASSWORD": "cassandra"})

    def test_a_server_that_wants_tls(self):
        self.check_refused("TLS|tls", "run", BLOG, "timeline", "name=ann", "--store", running.url(
            self.keyspace, "user=cassandra", "cassandra-secure"), environment={"NOAM_CASSANDRA_PASSWORD": "cassandra"})

    def write_generated_rows(self, tables):
        generated.generate("cassandra", BLOG, "timelines", self.folder, BLOG.parent / "sample")
        for statement in cassandra.statements((self.folder / "data.cql").read_text()):
            if found := re.fullmatch(rf"INSERT INTO (({tables}) .*)", statement):
                cassandra.execute(f"INSERT INTO {self.keyspace}.{found[1]}")

    def test_rows_without_heads_in_a_table_without_clustering_columns(self):
        self.deploy(BLOG, "timelines")
        self.write_generated_rows("user|post")
        for command in [["verify", BLOG], ["export", BLOG, "--to", self.folder / "out"]]:
            with self.subTest(command[0]):
                self.check_refused("has rows that noam did not write", *command, "--store", self.store)

    def test_a_command_that_meets_rows_without_heads(self):
        self.deploy(BLOG, "timelines", BLOG.parent / "sample")
        cassandra.execute(f"INSERT INTO {self.keyspace}.user (name, follows, noam_version) VALUES ('zed', {{'ann'}}, 1)")
        cassandra.execute(f"INSERT INTO {self.keyspace}.timelines (reader, at, id, author, text) VALUES ('zoe', 0, 7, 'x', 'y')")
        noam("run", BLOG, "register", "name=zoe", "--store", self.store)
        # It reads the row, or writes to its partition.
        for parameters in [["register", "name=zed"], ["follow", "user=zoe", "other=ann"]]:
            with self.subTest(parameters[0]), self.unchanged():
                code, out, err = running.end(running.start("run", BLOG, *parameters, "--store", self.store))
                self.assertIn(code, (2, 3), out)
                self.assertIn("has rows that noam did not write", out + err)
                self.assertNotIn("repeat", out + err)

    def test_a_keyspace_of_generated_tables_stays_as_it_was(self):
        generated.generate("cassandra", BLOG, "timelines", self.folder, BLOG.parent / "sample")
        for name in ["schema.cql", "data.cql"]:
            text = (self.folder / name).read_text()
            text = text.replace("EXISTS blog\n", f"EXISTS {self.keyspace}\n").replace("USE blog", f"USE {self.keyspace}")
            (self.folder / name).write_text(text)
            cassandra.execute_file(self.folder / name)
        with self.unchanged():
            self.check_refused("has rows that noam did not write", "deploy", BLOG, "--strategy", "timelines", "--store",
                               self.store)

    def test_an_absent_key_finds_nobody(self):
        model = self.folder / "absent.noam"
        model.write_text("""\
model absent
entity A { id: int key  l: list<B> }
entity B { k: int key  t: text }
query q($id) { select a.l[-1].t as z from A a where a.id = $id }
command a($id) { insert A { id: $id } }
command b($k, $t) { insert B { k: $k, t: $t } }
""")
        noam("deploy", model, "--store", self.store)
        self.batch(model, [running.request("a", id=1), running.request("b", k=0, t="x")]).finish()
        self.assertEqual(self.answer(model, "q", id=1), [{"z": None}])


class Programs(unittest.TestCase):
    """The tests in C++ that need these servers."""

    def check_passes(self, name, *arguments, **environment):
        program = ROOT / "build" / "release" / "tests" / name
        self.assertTrue(program.exists(), f"{program} is missing; `make test-cassandra` builds it")
        place = server("cassandra")
        environment = {"NOAM_TEST_CASSANDRA": f"{place['host']}:{place['port']}", **environment}
        done = subprocess.run([program, *arguments], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stdout)
        if "[  PASSED  ] 0 tests" in done.stdout:
            self.skipTest("this noam was built without the driver")
        # Figures, if there are some.
        print(*(line for line in done.stdout.splitlines() if line.startswith("  ")), sep="\n")

    def test_the_driver(self):
        secure = server("cassandra-secure")
        self.check_passes("noam_cql_server_test", NOAM_TEST_CASSANDRA_SECURE=f"{secure['host']}:{secure['port']}",
                          NOAM_TEST_CASSANDRA_CERTIFICATES=str(RUN / "cassandra-secure"))

    def test_the_answers_of_noam(self):
        short = {"NOAM_DESIGNS": "1", "NOAM_PROPERTY_CASES": "20"} if os.environ.get("CI") else {}
        self.check_passes("noam_cassandra_test", **short)

    @unittest.skipIf(os.environ.get("CI"), "it takes minutes; `make test-cassandra` runs it")
    def test_the_contract_of_stores(self):
        self.check_passes("noam_contract_test", "--gtest_filter=*cassandra*")
