"""DynamoDB's API, as two emulators have it."""

import base64
import itertools
import json
import os
import pathlib
import re
import tempfile
import unittest
import uuid

from support import ROOT, dynamodb, erasing, generated, names, unique

BY_ID = {
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class OnEmulator:
    """The tests of both; `db` is the emulator."""

    def test_keeps_an_item(self):
        with self.db.table(BY_ID) as table:
            item = {"id": {"S": "g1"}, "score": {"N": "17"}, "players": {"SS": ["ann", "ben"]}}
            self.db.call("PutItem", {"TableName": table, "Item": item})
            found = self.db.call("GetItem", {"TableName": table, "Key": {"id": {"S": "g1"}}, "ConsistentRead": True})
            self.assertEqual(found["Item"], item)
            self.assertNotIn("Item", self.db.call("GetItem", {"TableName": table, "Key": {"id": {"S": "g2"}}}))

    def test_updates_under_a_condition(self):
        with self.db.table(BY_ID) as table:
            self.db.call("PutItem", {"TableName": table, "Item": {"id": {"S": "g1"}, "score": {"N": "17"}}})
            update = {"TableName": table, "Key": {"id": {"S": "g1"}}, "UpdateExpression": "ADD score :more",
                      "ConditionExpression": "score = :seen", "ReturnValues": "ALL_NEW",
                      "ExpressionAttributeValues": {":more": {"N": "3"}, ":seen": {"N": "17"}}}
            self.assertEqual(self.db.call("UpdateItem", update)["Attributes"]["score"], {"N": "20"})
            with self.assertRaises(dynamodb.DynamoDBError) as refused:
                self.db.call("UpdateItem", update)
            self.assertEqual(refused.exception.kind, "ConditionalCheckFailedException")


class Made:
    """Tables of a design, under names of their own."""

    def __init__(self, test, path, strategy, *data):
        self.db = test.db
        self.prefix = unique("noam")
        folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
        self.folder = generated.generate("dynamodb", path, strategy, folder, *data)
        self.schema = self.read("schema.json")
        for table in self.schema:
            test.addCleanup(self.db.drop, self.table(table["TableName"]))
            self.db.create(self.renamed(table))

    def read(self, name):
        return json.loads((self.folder / name).read_text())

    def table(self, name):
        return f"{self.prefix}.{name}"

    def call(self, action, request):
        return self.db.call(action, self.renamed(request))

    def renamed(self, part):
        if isinstance(part, dict):
            return {key: self.table(value) if key == "TableName" else self.renamed(value)
                    for key, value in part.items()}
        return [self.renamed(inner) for inner in part] if isinstance(part, list) else part

    def load(self):
        for line in (self.folder / "data.jsonl").read_text().splitlines():
            self.call("PutItem", json.loads(line))

    def items(self, table):
        return self.call("Scan", {"TableName": table})["Items"]

    def requests(self, statement=""):
        """Operation and request of every step of the statements that begin so."""
        for listed in self.read("statements.json"):
            if listed["statement"].startswith(statement):
                for natives in [*(step.get("requests", []) for step in listed["steps"]),
                                listed.get("for all of them", [])]:
                    yield from ((native["operation"], native["request"]) for native in natives if "request" in native)


def filled(part, given):
    """The request with values for its placeholders; of what is not given, some value of its type."""
    if isinstance(part, list):
        return [filled(inner, given) for inner in part]
    if isinstance(part, str):
        element = re.fullmatch(r"(.*\[):(.*)\]", part)
        return f"{element[1]}{given.get(element[2], 'x' + element[2])}]" if element else part
    if not isinstance(part, dict):
        return part
    if len(part) == 1:
        letter, value = next(iter(part.items()))
        if isinstance(value, str) and value.startswith(":") and letter in SOME:
            return {letter: given.get(value[1:], SOME[letter](value))}
    out = {key: filled(value, given) for key, value in part.items()}
    if out.get("Limit"):
        out["Limit"] = 5
    if "ClientRequestToken" in out:
        out["ClientRequestToken"] = str(uuid.uuid4())
    return out


def some_bytes(name):
    """Others each time: the items of a transaction must differ. What is called +FF sorts after what was before it."""
    some = b"\x30" + next(NUMBERS).to_bytes(4, "big")
    return base64.b64encode(some + b"\xff" if name.endswith("+FF") else some).decode()


NUMBERS = itertools.count(1)
SOME = {
    "S": lambda name: "b" if name.endswith("_to") else "a",
    "N": lambda name: "1",
    "B": some_bytes,
    "BOOL": lambda name: True,
    "L": lambda name: [],
    "M": lambda name: {},
    "SS": lambda name: ["a"],
    "NS": lambda name: ["1"],
    "BS": lambda name: ["YQ=="],
}


class ErasingApplication(erasing.Application):
    """A request is its operation and its body, with `made` to call it."""

    def __init__(self, made, design):
        super().__init__(design, {})
        self.made = made
        for listed in made.read("statements.json"):
            statement = self.statements[re.search(r" (\w+)\(", listed["statement"])[1]] = erasing.Statement()
            for step in listed["steps"]:
                requests = statement.add_step(step["step"])
                if requests is not None:
                    requests += self.requests(step.get("requests", []))
            statement.together = self.requests(listed.get("for all of them", []))

    @staticmethod
    def requests(natives):
        return [(native["operation"], native["request"]) for native in natives if "request" in native]

    def names(self, request):
        return re.findall(r'\{"[A-Z]+": ":(\w+)"\}', json.dumps(request[1]))

    def erases(self, request):
        return request[0] == "DeleteItem"

    def send(self, request, values):
        def shown(value):
            return value if isinstance(value, (str, list)) else str(value)
        self.made.call(request[0], filled(request[1], {name: shown(value) for name, value in values.items()}))


class Erasing:
    """The requests of tests/models/erasing.noam leave nothing that noam's own store would not keep."""

    def test_the_requests_leave_what_the_own_store_keeps(self):
        for design in erasing.DESIGNS:
            with self.subTest(design=design):
                erasing.compare(self, "dynamodb", design,
                                lambda folder, with_data, design=design: self.make_anew(folder, with_data, design),
                                lambda folder, design=design: ErasingApplication(self.made, design), self.contents)

    def make_anew(self, folder, with_data, design):
        self.made = Made(self, erasing.MODEL, design)
        self.made.folder = folder
        if with_data:
            self.made.load()

    def contents(self):
        found = {table["TableName"]: self.made.items(table["TableName"]) for table in self.made.schema}
        versions = {int(item["id"]["N"]): int(item.pop("noam_version")["N"]) for item in found["ps_table"]}
        # Sets come in any order, and so do items.
        return {table: sorted(json.dumps({name: sorted(value["SS"]) if "SS" in value else value
                                          for name, value in item.items()}, sort_keys=True) for item in items)
                for table, items in found.items()}, versions


class Generated:
    """What noam generates, on either emulator."""

    transactions = True

    def test_every_statement_is_taken(self):
        for path, strategy in [*generated.examples(), (ROOT / "tests" / "models" / "types.noam", "etf")]:
            with self.subTest(model=path.stem, strategy=strategy):
                self.assertGreater(self.take_all(Made(self, path, strategy)), 0)

    def take_all(self, made):
        """Sends every request, and says how many there are."""
        taken = 0
        for operation, request in made.requests():
            if operation == "TransactWriteItems" and not self.transactions:
                continue
            try:
                made.call(operation, filled(request, {}))
            except dynamodb.DynamoDBError as error:
                self.assertIn(error.kind, ["ConditionalCheckFailedException", "TransactionCanceledException"],
                              f"{operation} {json.dumps(request)}: {error}")
            taken += 1
        return taken

    def test_items_have_the_types_of_their_tables(self):
        models = ROOT / "tests" / "models"
        for path, strategy, data in [
                *((generated.GAME, strategy, generated.FIGURE3) for strategy in ["figure8", "eao"]),
                *((models / "types.noam", strategy, models / "types") for strategy in ["eao", "etf", "normalized"])]:
            with self.subTest(model=path.stem, strategy=strategy):
                made = Made(self, path, strategy, data)
                tables = {table["TableName"]: table for table in made.schema}
                items = [json.loads(line) for line in (made.folder / "data.jsonl").read_text().splitlines()]
                self.assertTrue(items)
                for put in items:
                    table = tables[put["TableName"]]
                    defined = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
                    self.assertEqual(set(defined), {one["AttributeName"] for one in table["KeySchema"]})
                    for name, letter in defined.items():
                        self.assertEqual(list(put["Item"][name]), [letter], put)
                        self.assertTrue(put["Item"][name][letter], put)

    def test_figure_7(self):
        made = Made(self, generated.GAME, "figure8", generated.FIGURE3)
        made.load()
        players = {item["username"]["S"]: item for item in made.items("Player")}
        self.assertEqual(
            {name: value for name, value in players["mary"].items() if not name.startswith("noam_")},
            {"username": {"S": "mary"}, "first_name": {"S": "Mary"}, "last_name": {"S": "Wilson"},
             "games[0]": {"M": {"game": {"S": "2345"}, "opponent": {"S": "rick"}}},
             "games[1]": {"M": {"game": {"S": "2611"}, "opponent": {"S": "ann"}}}})
        self.assertEqual(players["rick"]["score"], {"N": "42"})
        self.assertEqual(set(players["rick"]) - set(players["mary"]), {"score", "games[2]"})

    def test_two_who_change_one_aggregate_notice_each_other(self):
        made = Made(self, generated.GAME, "figure8", generated.FIGURE3)
        made.load()
        (operation, request), = [one for one in made.requests("command add_round(") if one[0] == "UpdateItem"]
        request = filled(request, {"id": "2345", "position": 2, "value": {"moves": {"S": "up"}},
                                   "noam_length_of_rounds": "3", "noam_version": "1", "noam_next_version": "2"})
        made.call(operation, request)
        with self.assertRaises(dynamodb.DynamoDBError) as refused:
            made.call(operation, request)
        self.assertEqual(refused.exception.kind, "ConditionalCheckFailedException")
        game, = made.items("Game")
        self.assertEqual(game["rounds[2]"], {"M": {"moves": {"S": "up"}}})
        self.assertEqual((game["noam_version"], game["noam_length_of_rounds"]), ({"N": "2"}, {"N": "3"}))

    def test_entries_come_in_the_order_of_their_keys(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        tweets = [(7, "2026-01-02"), (300, "2026-01-02"), (5, "2026-01-03"), (6, "1969-12-31")]
        (folder / "User.jsonl").write_text('{"username": "ann", "id": 1}\n')
        (folder / "Tweet.jsonl").write_text("".join(
            json.dumps({"id": number, "author": "ann", "at": f"{day}T00:00:00.000Z", "content": "x", "language": "en"})
            + "\n" for number, day in tweets))
        made = Made(self, ROOT / "examples" / "microblog" / "microblog.noam", "seed003", folder)
        made.load()
        operation, request = next(made.requests("query posts_of("))
        found = made.call(operation, filled(request, {"author": "ann"}))["Items"]
        self.assertEqual([int(item["tweet_id"]["N"]) for item in found], [5, 300, 7, 6])

    def test_all_types(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        thing = {"id": "t1", "yes": False, "number": -7, "ratio": 0.5, "price": "12.50", "name": "", "state": "open",
                 "bits": "AAE=", "at": "2024-02-29T23:59:59.999Z", "day": "2024-02-29",
                 "token": "0198c1f2-0000-7000-8000-000000000001", "address": "::1", "note": {"b": 1, "a": [2]},
                 "place": ["Rome", 4], "point": {"x": 1, "y": 2.5}, "numbers": [3, 1], "points": [{"x": 0, "y": 0.5}],
                 "tags": ["b", "a"], "near": [["Oslo", 1]], "prices": [["pear", "0.1"]], "visits": [[["Oslo", 1], 9]]}
        places = [{"town": town, "number": number} for town, number in [("Rome", 4), ("Oslo", 1)]]
        (folder / "Place.jsonl").write_text("".join(json.dumps(place) + "\n" for place in places))
        (folder / "Thing.jsonl").write_text(json.dumps(thing) + "\n")
        made = Made(self, ROOT / "tests" / "models" / "types.noam", "eao", folder)
        made.load()
        item, = made.items("Thing")
        oslo = {"L": [{"S": "Oslo"}, {"N": "1"}]}
        self.assertEqual(item.pop("tags")["SS"].sort(), None)
        self.assertEqual(item, {
            "id": {"S": "t1"}, "noam_version": {"N": "1"}, "yes": {"BOOL": False}, "number": {"N": "-7"},
            "ratio": {"N": "0.5"}, "price": {"N": "12.5"}, "name": {"S": ""}, "state": {"S": "open"},
            "bits": {"B": "AAE="}, "at": {"S": thing["at"]}, "day": {"S": "2024-02-29"},
            "token": {"S": thing["token"]}, "address": {"S": "::1"}, "note": {"S": '{"b":1,"a":[2]}'},
            "place": {"L": [{"S": "Rome"}, {"N": "4"}]}, "point": {"M": {"x": {"N": "1"}, "y": {"N": "2.5"}}},
            "numbers": {"L": [{"N": "3"}, {"N": "1"}]}, "points": {"L": [{"M": {"x": {"N": "0"}, "y": {"N": "0.5"}}}]},
            "near": {"L": [oslo]}, "prices": {"M": {"pear": {"N": "0.1"}}},
            "visits": {"L": [{"L": [oslo, {"N": "9"}]}]}})
        # Keys of two parts are bytes that sort as the parts do, and the parts beside them.
        found = sorted(made.items("Place"), key=lambda place: base64.b64decode(place["noam_block"]["B"]))
        self.assertEqual([(place["town"]["S"], place["number"]["N"]) for place in found], [("Oslo", "1"), ("Rome", "4")])
        self.assertEqual(base64.b64decode(found[0]["noam_block"]["B"]), b"\x30Oslo\x00\x01\x15\x01")


@unittest.skipIf("NOAM_WITHOUT_DYNOXIDE" in os.environ, "dynoxide is not available on this machine")
class Dynoxide(OnEmulator, Generated, Erasing, unittest.TestCase):
    db = dynamodb.dynoxide

    def test_reserved_words_and_odd_names(self):
        model = names.Names("dynamodb")
        path, data = model.write(self.enterContext(tempfile.TemporaryDirectory()))
        for strategy in ["eao", "etf"]:
            with self.subTest(strategy=strategy):
                made = Made(self, path, strategy, data)
                made.load()
                found = [made.items(table["TableName"]) for table in made.schema]
                self.assertEqual(model.texts() - names.texts(found), set())
                self.assertGreater(self.take_all(made), len(model.entities))

    def test_writes_several_items_or_none(self):
        with self.db.table(BY_ID) as table:
            def put(key):
                return {"Put": {"TableName": table, "Item": {"id": {"S": key}},
                                "ConditionExpression": "attribute_not_exists(id)"}}
            self.db.call("TransactWriteItems", {"TransactItems": [put("a"), put("b")]})
            with self.assertRaises(dynamodb.DynamoDBError) as refused:
                self.db.call("TransactWriteItems", {"TransactItems": [put("c"), put("a")]})
            self.assertEqual([reason["Code"] for reason in refused.exception.body["CancellationReasons"]],
                             ["None", "ConditionalCheckFailed"])
            items = self.db.call("Scan", {"TableName": table})["Items"]
            self.assertEqual(sorted(item["id"]["S"] for item in items), ["a", "b"])


class Dynalite(OnEmulator, Generated, Erasing, unittest.TestCase):
    db = dynamodb.dynalite
    transactions = False  # it has none
