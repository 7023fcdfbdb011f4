"""MongoDB's protocol, as mongo-java-server has it."""

import datetime
import json
import pathlib
import re
import tempfile
import unittest
import uuid

import bson
import pymongo.errors

from support import ROOT, ScriptFailed, bson_schema, erasing, generated, mongo, names

SCRIPT = """\
db.createCollection("players", {validator: {$jsonSchema: {bsonType: "object", required: ["username"]}}});
db.players.createIndex({username: 1}, {unique: true, name: "by_username"});
db.getCollection("players").insertMany([{username: "mary", games: NumberLong(17)}, {username: "ann", games: 3}]);
const found = db.players.findOne({username: "mary"}, {_id: 0});
if (db.players.countDocuments({}) === 2) print("found", found.username);
db.players.find({}, {_id: 0, username: 1}).sort({username: 1}).forEach(printjson);
"""


class Server(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(mongo.database())
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "schema.js"

    def test_pushes_to_a_list(self):
        self.db.players.insert_one({"_id": "mary", "games": [1]})
        self.db.players.update_one({"_id": "mary"},
                                   {"$push": {"games": {"$each": [2, 3], "$position": 0, "$slice": 2}}})
        self.assertEqual(self.db.players.find_one({"_id": "mary"}), {"_id": "mary", "games": [2, 3]})

    def test_runs_a_script_of_mongosh(self):
        self.file.write_text(SCRIPT)
        self.assertEqual(mongo.run_script(self.file, self.db.name),
                         'found mary\n{"username":"ann"}\n{"username":"mary"}\n')
        self.assertEqual(self.db.players.index_information()["by_username"]["unique"], True)
        # A number has the type that the script gave it.
        self.assertIsInstance(self.db.players.find_one({"username": "mary"})["games"], bson.Int64)
        self.assertNotIsInstance(self.db.players.find_one({"username": "ann"})["games"], bson.Int64)
        with self.assertRaises(pymongo.errors.DuplicateKeyError):
            self.db.players.insert_one({"username": "mary"})

    def test_a_wrong_script_fails(self):
        for text, reason in [("db.players.createIndx({a: 1})", "createIndx is not a function"),
                             ("db.players.insertOne({_id: 1}); db.players.insertOne({_id: 1})", "E11000.*schema.js:1"),
                             ("db.players.updateOne({}, {$psh: {a: 1}})", "psh")]:
            with self.subTest(text), self.assertRaisesRegex(ScriptFailed, f"(?s){reason}"):
                self.file.write_text(text)
                mongo.run_script(self.file, self.db.name)


# Runs requests with a value for every variable, and says which the server refuses. Keys that are taken are no refusal.
TRY_ALL = """
const functions = new Set(
  ["db", "NumberLong", "NumberInt", "NumberDecimal", "ISODate", "UUID", "BinData", "Double", "eval", "text"]);
function values(text) {
  const { properties } = schemas[text.match(/getCollection\\("(.*?)"\\)/)[1]];
  const is_list = (name) => (properties[name] || properties[name.replace(/_$/, "")] || {}).bsonType === "array";
  return new Proxy({}, {
    has: (target, name) => !functions.has(name),
    get: (target, name) => (typeof name === "symbol" ? undefined : is_list(name) ? [1] : 1),
  });
}
for (const text of texts) {
  try {
    let answer;
    with (values(text)) answer = eval(text);
    if (answer && answer.toArray) answer.toArray();
  } catch (error) {
    if (!/E11000/.test(error.message)) print(error.message, "IN", text);
  }
}
"""

THING = {
    "id": "t1", "yes": True, "number": 2**53 + 1, "ratio": 2.0, "price": "1234567890123456789012345678901.234",
    "name": "a \"quoted\" \u2028 name", "state": "paid", "bits": "AP8=", "at": "2024-02-29T23:59:59.999Z",
    "day": "2024-02-29", "token": "123e4567-e89b-12d3-a456-426614174000",
    "event": "123e4567-e89b-12d3-a456-426614174000", "address": "2001:db8::1",
    "note": {"b": [1, 2.5, None], "a": {"x": "y"}}, "place": ["Rome", 7], "point": {"x": 1},
    "numbers": [3, 1, 2], "points": [{"x": 1, "y": 2.5, "label": "here"}], "tags": ["red", "blue"],
    "near": [["Oslo", 1], ["Rome", 7]], "prices": [["a.b", "1.5"], ["$c", "2"]], "visits": [[["Rome", 7], 3]],
}


class Generated(unittest.TestCase):
    """What `noam generate --target mongodb` writes."""

    def setUp(self):
        self.db = self.enterContext(mongo.database())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def make(self, path, strategy, *data):
        """Makes the collections, and fills them; with data, twice. Keeps the schemas by collection."""
        generated.generate("mongodb", path, strategy, self.folder, *data)
        self.db.client.drop_database(self.db.name)
        printed = self.run_files("schema.js", *(["schema.js", "data.js", "data.js"] if data else []),
                                 of_each="printjson([name, schema]);")
        self.schemas = dict(json.loads(line) for line in printed.splitlines())

    def run_files(self, *files, of_each="", then=""):
        """One after another, with `of_each` for each collection, and `then`; by one program, since it starts slowly."""
        text = "const schemas = {};\n" + "".join((self.folder / name).read_text() for name in files) + then
        # mongo-java-server has no collMod, by which a validator is made anew, and forgets validators.
        text = text.replace("else db.runCommand({ collMod: name, ...options });", f"\n{of_each}")
        script = self.folder / "all.js"
        script.write_text(text)
        return mongo.run_script(script, self.db.name)

    def requests(self):
        """Those of statements.js, each once."""
        text = re.sub(r"^//.*\n", "", (self.folder / "statements.js").read_text(), flags=re.MULTILINE)
        return list(dict.fromkeys(request.strip() for request in text.split(";\n") if request.strip()))

    def evaluate(self, request, **values):
        """What a request answers, as JSON."""
        script = self.folder / "request.js"
        names = "".join(f"const {name} = {value};\n" for name, value in values.items())
        script.write_text(f"{names}const answer = {request};\nprintjson(answer && answer.toArray ? answer.toArray() : answer);\n")
        return json.loads(mongo.run_script(script, self.db.name))

    def refused(self):
        """Of the requests, after the schema."""
        return self.run_files("schema.js", of_each="schemas[name] = schema;", then=(
            f"const texts = {json.dumps(self.requests())};\n{TRY_ALL}"))

    def test_every_example_under_every_design_is_made_and_every_request_taken(self):
        for path, strategy in generated.examples():
            with self.subTest(model=path.stem, strategy=strategy):
                generated.generate("mongodb", path, strategy, self.folder)
                self.db.client.drop_database(self.db.name)
                self.assertTrue(self.requests())
                self.assertEqual(self.refused()[:2000], "")

    def test_reserved_words_and_odd_names(self):
        model = names.Names("mongodb")
        path, data = model.write(self.enterContext(tempfile.TemporaryDirectory()))
        for strategy in ["eao", "etf"]:
            with self.subTest(strategy=strategy):
                self.make(path, strategy, data)
                found = [list(self.db[name].find()) for name in self.db.list_collection_names()]
                self.assertEqual(model.texts() - names.texts(found), set())
                self.assertEqual(self.refused()[:2000], "")

    def wrong_documents(self):
        """What the validators refuse of all that is there; and how many documents there are."""
        wrong, count = [], 0
        self.assertEqual(set(self.schemas), set(self.db.list_collection_names()))
        for name, schema in self.schemas.items():
            for document in self.db[name].find():
                count += 1
                wrong += bson_schema.errors(schema, document, name)
        return wrong, count

    def test_documents_obey_their_validators(self):
        types = ROOT / "tests" / "models" / "types.noam"
        samples = [(path, strategy, path.parent / "sample") for path, strategy in generated.examples()
                   if (path.parent / "sample").is_dir()]
        for path, strategy, data in [
                *((generated.GAME, strategy, generated.FIGURE3) for strategy in ["figure8", "figure13", "eao"]),
                *((types, strategy, types.with_suffix("")) for strategy in ["eao", "etf", "normalized"]), *samples]:
            with self.subTest(model=path.stem, strategy=strategy):
                self.make(path, strategy, data)
                wrong, count = self.wrong_documents()
                self.assertEqual(wrong, [])
                self.assertGreater(count, 0)

    def test_wrong_documents_do_not_obey_their_validators(self):
        models = ROOT / "tests" / "models"
        self.make(models / "types.noam", "eao", models / "types")
        schema, full = self.schemas["Thing"], self.db.Thing.find_one({"_id": "full"})
        self.assertEqual(bson_schema.errors(schema, full), [])
        for name, value in {"number": 1.5, "yes": "true", "state": "lost", "price": 1.0, "at": "2024-02-29",
                            "numbers": [1, "2"], "tags": ["a", "a"], "points": [{"x": "1", "y": 0.5}], "bits": "AA==",
                            "prices": [{"key": "a"}], "place": "Rome", "point": {"y": 1.5}}.items():
            with self.subTest(name):
                self.assertTrue(bson_schema.errors(schema, {**full, name: value}))
        for name in ["_id", "id", "noam_version", "numbers"]:
            with self.subTest(without=name):
                self.assertTrue(bson_schema.errors(schema, {key: full[key] for key in full if key != name}))
        self.make(generated.GAME, "figure13", generated.FIGURE3)
        mary = self.db.Player.find_one({"_id": "mary"})
        self.assertTrue(bson_schema.errors(self.schemas["Player"], {**mary, "games[0]": {"game": 2345}}))

    def test_figures_6_and_12(self):
        for strategy in ["eao", "figure9", "figure8"]:
            with self.subTest(strategy=strategy):
                self.make(generated.GAME, strategy, generated.FIGURE3)
                mary = self.db.Player.find_one({"_id": "mary"})
                self.assertEqual(mary, {
                    "_id": "mary", "username": "mary", "first_name": "Mary", "last_name": "Wilson",
                    "games": [{"game": "2345", "opponent": "rick"}, {"game": "2611", "opponent": "ann"}],
                    "noam_version": 1})
                self.assertIsInstance(self.db.Player.find_one({"_id": "rick"})["score"], bson.Int64)
                self.assertEqual(self.db.Game.find_one({"_id": "2345"})["first_player"], "mary")

    def test_figure_13(self):
        self.make(generated.GAME, "figure13", generated.FIGURE3)
        self.assertEqual(self.db.Player.find_one({"_id": "mary"}), {
            "_id": "mary", "username": "mary", "first_name": "Mary", "last_name": "Wilson",
            "games[0]": {"game": "2345", "opponent": "rick"}, "games[1]": {"game": "2611", "opponent": "ann"},
            "noam_length_of_games": 2, "noam_version": 1})
        read = next(request for request in self.requests() if "findOne" in request and "last_name: 1" in request)
        self.assertEqual(self.evaluate(read, username='"mary"')["last_name"], "Wilson")

    def test_two_who_change_one_aggregate_notice_each_other(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        add = next(request for request in self.requests() if '["rounds." + position]: value' in request)
        given = {"id": '"2345"', "position": 2, "value": '{ moves: "west" }', "noam_version": 1, "noam_next_version": 2}
        self.assertEqual([self.evaluate(add, **given)["matchedCount"] for _ in range(2)], [1, 0])
        game = self.db.Game.find_one({"_id": "2345"})
        self.assertEqual([one["moves"] for one in game["rounds"]], ["north, east", "east, south", "west"])
        self.assertEqual(game["noam_version"], 2)

    def test_values_have_the_types_of_the_database(self):
        things = self.folder / "Thing.jsonl"
        things.write_text(json.dumps(THING))
        (self.folder / "out").mkdir()
        self.folder = self.folder / "out"
        for strategy in ["eao", "normalized"]:
            with self.subTest(strategy=strategy):
                self.make(ROOT / "tests" / "models" / "types.noam", strategy, things)
                options = bson.CodecOptions(uuid_representation=bson.binary.UuidRepresentation.STANDARD)
                thing = self.db.get_collection("Thing", options).find_one({"_id": "t1"})
                self.assertIsInstance(thing["number"], bson.Int64)
                self.assertIsInstance(thing["ratio"], float)
                token = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")
                expected = {
                    "_id": "t1", "id": "t1", "yes": True, "number": 2**53 + 1, "ratio": 2.0,
                    "price": bson.Decimal128("1234567890123456789012345678901.234"), "name": THING["name"],
                    "state": "paid", "bits": b"\x00\xff", "at": datetime.datetime(2024, 2, 29, 23, 59, 59, 999000),
                    "day": datetime.datetime(2024, 2, 29), "token": token, "event": token, "address": "2001:db8::1",
                    "note": THING["note"], "place": {"town": "Rome", "number": 7}, "point": {"x": 1, "y": 0.5},
                    "numbers": [3, 1, 2], "points": THING["points"], "tags": ["blue", "red"],
                    "near": [{"town": "Oslo", "number": 1}, {"town": "Rome", "number": 7}],
                    "prices": [{"key": "$c", "value": bson.Decimal128("2")},
                               {"key": "a.b", "value": bson.Decimal128("1.5")}],
                    "visits": [{"key": {"town": "Rome", "number": 7}, "value": 3}], "noam_version": 1}
                self.assertEqual(thing, expected)
                self.assertEqual(list(thing["note"]), ["b", "a"])

    def test_entries_come_in_the_order_of_the_design(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "User.jsonl").write_text(json.dumps({"username": "ann", "id": 1}))
        (data / "Tweet.jsonl").write_text("\n".join(
            json.dumps({"id": number, "author": "ann", "at": f"2024-01-0{day}T00:00:00.000Z", "content": "hello",
                        "language": "en"}) for number, day in [(1, 2), (2, 1), (3, 2), (4, 3)]))
        self.folder = self.folder / "out"
        self.folder.mkdir()
        self.make(ROOT / "examples" / "microblog" / "microblog.noam", "seed003", data / "User.jsonl",
                  data / "Tweet.jsonl")
        read = next(request for request in self.requests()
                    if request.startswith('db.getCollection("tweets_by_authors").find({ "_id.author": author }'))
        found = self.evaluate(read, author='"ann"')
        self.assertEqual([row["_id"]["tweet_id"] for row in found], [4, 3, 1, 2])
        # What is sorted by an index is not sorted again.
        self.assertEqual(list(self.db.tweets_by_authors.index_information()["in_order"]["key"]),
                         [("_id.author", 1), ("_id.date_time", -1), ("_id.tweet_id", -1)])


class ErasingApplication(erasing.Application):
    """Keeps the requests for one script, since a program that runs scripts starts slowly."""

    def __init__(self, design, text):
        super().__init__(design, erasing.statements(text, "// "))
        self.script = ""

    def names(self, request):
        return re.findall(r"\w+", request)

    def erases(self, request):
        return ".deleteOne(" in request

    def send(self, request, values):
        given = "".join(f"const {name} = {self.value(value)};\n" for name, value in values.items())
        self.script += (f"{{\n{given}const answer = {request.rstrip(';')};\n"
                        "if (answer.insertedId === undefined && !answer.matchedCount && !answer.upsertedCount && "
                        f"!answer.deletedCount) throw new Error({json.dumps(request)});\n}}\n")

    @staticmethod
    def value(value):
        return f'NumberLong("{value}")' if isinstance(value, int) else json.dumps(value)


class Erasing(unittest.TestCase):
    """The requests of tests/models/erasing.noam leave nothing that noam's own store would not keep."""

    def make_anew(self, folder, with_data):
        self.db.client.drop_database(self.db.name)
        self.run_text(folder, "".join((folder / name).read_text() for name in ["schema.js", *["data.js"] * with_data]))

    def run_text(self, folder, text):
        (folder / "all.js").write_text(text)
        mongo.run_script(folder / "all.js", self.db.name)

    def application(self, folder, design):
        self.sender = ErasingApplication(design, (folder / "statements.js").read_text())
        return self.sender

    def contents(self, folder):
        self.run_text(folder, self.sender.script)
        self.sender.script = ""
        found = {name: list(self.db[name].find().sort("_id")) for name in sorted(self.db.list_collection_names())}
        versions = {row["_id"]: row.pop("noam_version") for row in found["ps"]}
        return found, versions

    def test_the_requests_leave_what_the_own_store_keeps(self):
        for design in erasing.DESIGNS:
            with self.subTest(design=design):
                self.db = self.enterContext(mongo.database())
                folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
                erasing.compare(self, "mongodb", design, self.make_anew,
                                lambda folder, design=design: self.application(folder, design),
                                lambda folder=folder: self.contents(folder))
