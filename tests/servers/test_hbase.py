"""HBase, through its Thrift2 gateway."""

import json
import pathlib
import re
import struct
import tempfile
import unittest

from support import ROOT, ScriptFailed, erasing, generated, hbase, names, run, unique


class Server(unittest.TestCase):
    def setUp(self):
        self.namespace = unique("noam")
        self.addCleanup(hbase.drop_namespace, self.namespace)
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "schema.rb"

    def run_script(self, text):
        self.file.write_text(text.replace("NAMESPACE", self.namespace))
        hbase.run_script(self.file)

    def test_keeps_a_row_of_two_families(self):
        self.run_script("create_namespace 'NAMESPACE'\ncreate 'NAMESPACE:players', 'profile', 'games'\n")
        table = f"{self.namespace}:players"
        with hbase.client() as gateway:
            hbase.put(gateway, table, "mary", {("profile", "city"): "Rome", ("games", b"\x00\x01"): "17"})
            self.assertEqual(hbase.get(gateway, table, "mary"),
                             {(b"profile", b"city"): b"Rome", (b"games", b"\x00\x01"): b"17"})
            self.assertEqual(hbase.get(gateway, table, "nobody"), {})

    def test_makes_families_as_a_script_says(self):
        self.run_script("""\
            create_namespace 'NAMESPACE'
            create 'NAMESPACE:games', {NAME => 'd', VERSIONS => 3, TTL => 86400, BLOOMFILTER => 'ROWCOL',
                                       NEW_VERSION_BEHAVIOR => true}, {SPLITS => ["\\x40", "\\x80"]}
            alter 'NAMESPACE:games', {NAME => 'e', IN_MEMORY => true}
            put 'NAMESPACE:games', 'g1', 'd:score', '17'
            """)
        with hbase.client() as gateway:
            table = hbase.table_name(f"{self.namespace}:games")
            first, second = gateway.getTableDescriptor(table).columns
            self.assertEqual((first.name, first.maxVersions, first.timeToLive), (b"d", 3, 86400))
            self.assertEqual(first.bloomnFilterType, hbase.types.TBloomFilterType.ROWCOL)
            self.assertEqual(first.attributes[b"NEW_VERSION_BEHAVIOR"], b"true")
            self.assertEqual((second.name, second.inMemory), (b"e", True))
            self.assertEqual(len(gateway.getAllRegionLocations(f"{self.namespace}:games".encode())), 3)
            self.assertEqual(hbase.get(gateway, f"{self.namespace}:games", "g1"), {(b"d", b"score"): b"17"})

    def test_a_wrong_script_fails(self):
        for text, reason in [("create 'NAMESPACE:t', {NAME => 'f', VERSION => 3}", "uninitialized constant VERSION"),
                             ("create 'NAMESPACE:t', {NAME => 'f', SPLIT_ENABLED => false}", "unknown: SPLIT_ENABLED"),
                             ("creat 'NAMESPACE:t', 'f'", "undefined method"),
                             ("create 'NAMESPACE:t', 'f'", "NamespaceNotFoundException")]:
            with self.subTest(text), self.assertRaisesRegex(ScriptFailed, reason):
                self.run_script(text)


class Scripts(unittest.TestCase):
    """Runs scripts in a namespace of the test's own."""

    def renamed(self, text):
        return (text.replace(f"create_namespace '{self.model}'", f"create_namespace '{self.namespace}'")
                .replace(f"'{self.model}:", f"'{self.namespace}:"))

    def run_file(self, name):
        return self.run_text((self.folder / name).read_text())

    def run_text(self, text):
        file = self.folder / "renamed.rb"
        file.write_text(self.renamed(text))
        return hbase.run_script(file)


class Generated(Scripts):
    def make(self, path, strategy, *data):
        """Tables in a namespace of their own, with the data where there is some."""
        self.namespace = unique("noam")
        self.addCleanup(hbase.drop_namespace, self.namespace)
        self.folder = generated.generate("hbase", path, strategy, self.enterContext(tempfile.TemporaryDirectory()), *data)
        self.model = re.search(r"create_namespace '(.*)'", (self.folder / "schema.rb").read_text())[1]
        self.run_file("schema.rb")
        if data:
            self.run_file("data.rb")

    def statement(self, heading):
        """The lines of one statement, with the methods that they call."""
        text = (self.folder / "statements.rb").read_text()
        found = re.search(rf"^# {re.escape(heading)}.*?(?=^$|\Z)", text, re.MULTILINE | re.DOTALL)[0]
        return "load File.join(__dir__, 'noam.rb')\n" + found

    def row(self, table, row):
        with hbase.client() as gateway:
            return hbase.get(gateway, f"{self.namespace}:{table}", row)

    def test_every_statement_is_taken(self):
        # Tables take long to make and to drop, so not every strategy is tried.
        examples = ROOT / "examples"
        for path, strategy in [(generated.GAME, "figure8"), (generated.GAME, "independent_pairs"),
                               (examples / "shortener" / "shortener.noam", "seed000"),
                               (examples / "microblog" / "microblog.noam", "seed003"),
                               (examples / "eventlog" / "eventlog.noam", "seed004"),
                               (ROOT / "tests" / "models" / "types.noam", "etf")]:
            with self.subTest(model=path.stem, strategy=strategy):
                self.make(path, strategy)
                self.assertGreater(len(self.run_all()), 0)

    def run_all(self):
        """Every statement, with some value for every variable."""
        text = (self.folder / "statements.rb").read_text()
        variables = set(re.findall(r"\$(\w+)", re.sub("^#.*", "", text, flags=re.MULTILINE)))
        values = [f"${name} = {some_value(text, name)}\n" for name in sorted(variables)]
        return self.run_text("".join(values) + text)

    def test_reserved_words_and_odd_names(self):
        # Few tables, with all words as columns.
        model = names.Names("hbase", 3)
        path, data = model.write(self.enterContext(tempfile.TemporaryDirectory()))
        self.make(path, "etf", data)
        with hbase.client() as gateway:
            tables = gateway.getTableNamesByNamespace(self.namespace)
            found = [hbase.scan_text(gateway, f"{self.namespace}:{table.qualifier.decode()}", {"COLUMN": "e"})
                     for table in tables]
        self.assertEqual(model.texts() - names.texts(found), set())
        self.assertGreater(len(self.run_all()), len(model.entities))

    def test_figure_3_is_read_back(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        cells = {qualifier.decode(): value for (_, qualifier), value in self.row("Player", "rick").items()}
        self.assertEqual(cells.pop("games[0000000000]"), b'{"game":"2345","opponent":"mary"}')
        self.assertEqual({name: cells[name] for name in ["first_name", "last_name", "score", "noam_version"]},
                         {"first_name": b"Ricky", "last_name": b"Doe", "score": number(42), "noam_version": number(1)})
        given = self.run_text("$username = 'mary'\n" + self.statement("query player("))
        self.assertEqual([value for found in given for _, _, value in found if value.startswith(b"{")],
                         [b'{"game":"2345","opponent":"rick"}', b'{"game":"2611","opponent":"ann"}'])

    def test_two_who_change_one_aggregate_notice_each_other(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        script = ("$id = '2345'\n$noam_version = 1\n$noam_next_version = 2\n$noam_length_of_rounds = 3\n"
                  "$position = 2\n$value = {'moves' => 'up'}\n" + self.statement("command add_round("))
        self.assertEqual([self.run_text(script)[-1] for _ in range(2)], [True, False])
        cells = self.row("Game", "2345")
        self.assertEqual(cells[b"e", b"rounds[0000000002]"], b'{"moves":"up"}')
        self.assertEqual(cells[b"e", b"noam_version"], number(2))

    def test_an_instance_is_made_once(self):
        self.make(generated.GAME, "eao")
        new = "$username = 'mary'\n$first_name = 'M'\n$last_name = ''\n" + self.statement("command new_player(")
        self.assertEqual([self.run_text(new)[-1] for _ in range(2)], [True, False])
        self.assertEqual(self.row("Player", "mary"), {
            (b"e", b"first_name"): b"M", (b"e", b"last_name"): b"\x00\x01", (b"e", b"noam_version"): number(1)})

    def test_counters_are_added_to(self):
        self.make(ROOT / "examples" / "shortener" / "shortener.noam", "seed000")
        hour = 1_700_000_000_000 // 3_600_000 * 3_600_000
        script = self.statement("command visit(")
        lines = [line for line in script.splitlines() if line.startswith(("load", "incr"))]
        values = f"$short = 'x'\n$hour = {hour}\n$day = {hour}\n$country = nil\n$ip = '::1'\n$visits = 1\n$noam_weight = 1\n"
        for _ in range(3):
            self.run_text(values + "\n".join(lines))
        self.run_text(values.replace(str(hour), str(hour + 3_600_000)) + "\n".join(lines))
        cells = self.row("url", "x")
        # Newest first.
        hours = [(qualifier, value) for (family, qualifier), value in cells.items() if family == b"hours"]
        self.assertEqual([value for _, value in sorted(hours)], [number(1), number(3)])
        self.assertEqual(cells[b"countries", b"\x00"], number(4))
        since = self.run_text(f"$short = 'x'\n$hour_from = {hour + 1}\n" + self.statement("query hours_since("))
        self.assertEqual([value for found in since for family, _, value in found if family == b"hours"], [number(1)])

    def test_keys_are_made_as_noam_makes_them(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        tweets = [(7, "2026-01-02"), (300, "2026-01-02"), (5, "2026-01-03"), (-6, "1969-12-31")]
        (folder / "User.jsonl").write_text('{"username": "ann", "id": 1}\n')
        (folder / "Tweet.jsonl").write_text("".join(
            json.dumps({"id": key, "author": "ann", "at": f"{day}T00:00:00.000Z", "content": "x", "language": "en"})
            + "\n" for key, day in tweets))
        self.make(ROOT / "examples" / "microblog" / "microblog.noam", "seed003", folder)
        found = self.run_text("$author = 'ann'\n" + self.statement("query posts_of("))[0]
        ids = [(qualifier, struct.unpack(">q", value)[0]) for _, qualifier, value in found
               if qualifier.endswith(b"\x00tweet_id")]
        self.assertEqual([key for _, key in ids], [5, 300, 7, -6])
        day = 86_400_000
        for (qualifier, key), at in zip(ids, [20456 * day, 20455 * day, 20455 * day, -day]):
            made = run(["ruby", "-e", f"load '{self.folder}/noam.rb'; print noam_key(desc({at}), desc({key})).unpack1('H*')"])
            self.assertEqual(qualifier.removesuffix(b"\x00tweet_id").hex(), made)


class ErasingApplication(erasing.Application):
    """Keeps the requests for one script."""

    def __init__(self, design, text):
        super().__init__(design, erasing.statements(text, "# "))
        self.script = "load File.join(__dir__, 'noam.rb')\n"

    def names(self, request):
        return re.findall(r"\$(\w+)", request)

    def erases(self, request):
        return request.startswith("delete ") or ", {}, [" in request

    def send(self, request, values):
        given = "".join(f"${name} = {'nil' if value is None else json.dumps(value)}\n" for name, value in values.items())
        self.script += given + request + "\n"


class Erasing(Scripts):
    """The requests of tests/models/erasing.noam leave nothing that noam's own store would not keep."""

    def make_anew(self, folder, with_data):
        hbase.drop_namespace(self.namespace)
        self.folder, self.model = folder, "erasing"
        self.run_file("schema.rb")
        if with_data:
            self.run_file("data.rb")

    def application(self, folder, design):
        self.sender = ErasingApplication(design, (folder / "statements.rb").read_text())
        return self.sender

    def contents(self):
        # A conditional write says whether it happened.
        self.assertNotIn(False, self.run_text(self.sender.script))
        self.sender.script = ""
        found, versions = {}, {}
        with hbase.client() as gateway:
            for table in gateway.getTableNamesByNamespace(self.namespace):
                name = table.qualifier.decode()
                for result in gateway.getScannerResults(f"{self.namespace}:{name}".encode(), hbase.types.TScan(), 1000):
                    cells = {(cell.family, cell.qualifier): cell.value for cell in result.columnValues}
                    if name == "ps":
                        key, = struct.unpack(">q", cells[b"e", b"id"])
                        versions[key], = struct.unpack(">q", cells.pop((b"e", b"noam_version")))
                    found[name, result.row] = cells
        return found, versions

    def test_the_requests_leave_what_the_own_store_keeps(self):
        for design in erasing.DESIGNS:
            with self.subTest(design=design):
                self.namespace = unique("noam")
                self.addCleanup(hbase.drop_namespace, self.namespace)
                erasing.compare(self, "hbase", design, self.make_anew,
                                lambda folder, design=design: self.application(folder, design), self.contents)


def number(value):
    return struct.pack(">q", value)


def some_value(text, name):
    """A value that the methods around the variable take."""
    for method, value in [("timeuuid", "'0198c1f2-0000-7000-8000-000000000001'"), ("inet", "'::1'"), ("position", "0"),
                          ("uuid", "'0198c1f2-0000-7000-8000-000000000001'"), ("int", "1"), ("float", "1.5")]:
        if re.search(rf"\b{method}\(\${name}\)", text):
            return value
    return "1" if re.search(rf"incr .*, \${name}$", text, re.MULTILINE) or name == "noam_limit" else "'a'"
