"""Redis."""

import concurrent.futures
import json
import pathlib
import re
import shlex
import tempfile
import unittest
import urllib.parse

import redis as driver

from support import ScriptFailed, erasing, generated, names, redis

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


class Generated(unittest.TestCase):
    """What `noam generate --target redis` writes."""

    def setUp(self):
        self.client = self.enterContext(redis.empty())
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def make(self, path, strategy, *data):
        generated.generate("redis", path, strategy, self.folder, *data)
        redis.load_functions(self.folder / "functions.lua")
        if data:
            redis.cli(text_in=(self.folder / "data.redis").read_text())

    def model(self, text, design, **instances):
        """A model of the test's own, with data by entity."""
        path = self.folder / "model.noam"
        path.write_text(text)
        files = []
        for entity, rows in instances.items():
            files.append(self.folder / f"{entity}.jsonl")
            files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.make(path, design, *files)

    def call(self, name, keys, **arguments):
        """FCALL, with arguments by name."""
        words = [str(word) for pair in arguments.items() for word in pair]
        return self.client.fcall(name, len(keys), *keys, *words)

    def read(self, name, keys, **arguments):
        words = [str(word) for pair in arguments.items() for word in pair]
        rows = self.client.fcall_ro(name, len(keys), *keys, *words)
        return [dict(zip(row[::2], row[1::2])) for row in rows]

    def everything(self):
        return everything(self.client)

    def test_has_the_objects_of_figure_3(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        self.assertEqual(self.client.hgetall("game:Player:{rick}"), {
            "first_name": "Ricky", "last_name": "Doe", "score": "42", "noam_version": "1", "noam_length_of_games": "3",
            "games[0]": '{"game":"2345","opponent":"mary"}', "games[1]": '{"game":"7425","opponent":"ann"}',
            "games[2]": '{"game":"1241","opponent":"johnny"}'})
        last = self.read("game_Player_games_read", ["game:Player:{rick}"], noam_reverse=1, noam_limit=1)
        self.assertEqual(last, [{"position": "2", "value": '{"game":"1241","opponent":"johnny"}'}])

    def test_holds_values_of_every_type(self):
        models = generated.ROOT / "tests" / "models"
        for strategy in ["eao", "etf", "normalized"]:
            redis.clear(self.client)
            self.make(models / "types.noam", strategy, models / "types")
            full = self.client.hgetall("types:Thing:{full}")
            for field, text in {"yes": "true", "number": "-9223372036854775808", "ratio": "0.1",
                                "price": "1234567890.125", "state": "open", "bits": "\0\1\udcff",
                                "name": "größe 'quoted' \"twice\" \\ {brace}: $x", "at": "2024-02-29T23:59:59.999Z",
                                "day": "2024-02-29", "address": "192.168.0.1", "place": '["Rome",1]'}.items():
                self.assertEqual(full[field], text)
            self.assertEqual(self.client.hget("types:Thing:{odd%3A %7Bx%7D\n#1}", "name"), "")
        self.assertEqual(full["near[it's \"here\":-7]"], "1")
        self.assertEqual(self.read("types_Thing_near_read", ["types:Thing:{full}"]),
                         [{"near": "Rome:1"}, {"near": "it's \"here\":-7"}])

    def test_notices_two_writers_of_one_aggregate(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        mary, ann = ["game:Player:{mary}"], ["game:Player:{ann}"]
        self.assertEqual(self.call("game_Player_score_put", mary, noam_version=1, score=1), ["applied", "2"])
        self.assertEqual(self.call("game_Player_first_name_put", mary, noam_version=1, first_name="M"), ["conflict", "2"])
        self.assertEqual(self.call("game_Player_first_name_put", ann, noam_version=1, first_name="A"),
                         ["refused", "absent"])
        self.assertEqual(self.call("game_Player_username_insert", ann, noam_length_of_games=0), ["applied", "1"])
        self.assertEqual(self.call("game_Player_username_insert", ann, noam_length_of_games=0), ["refused", "exists"])
        self.assertEqual(self.call("game_Player_score_put", mary, noam_version=2), ["applied", "3"])
        self.assertIsNone(self.client.hget(mary[0], "score"))
        self.assertEqual(self.client.hget(mary[0], "first_name"), "Mary")

    def test_of_many_writers_one_wins(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)

        def write(number):
            return self.call("game_Player_score_put", ["game:Player:{mary}"], noam_version=1, score=number)

        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(write, range(40)))
        self.assertEqual(answers.count(["applied", "2"]), 1)
        self.assertEqual(answers.count(["conflict", "2"]), 39)
        self.assertEqual(self.client.hget("game:Player:{mary}", "score"), str(answers.index(["applied", "2"])))

    def test_does_several_calls_as_one(self):
        self.make(generated.GAME, "figure8", generated.FIGURE3)
        before = self.everything()
        key = "game:Player:{ann}"
        new = ["game_Player_username_insert", 1, 2, "noam_length_of_games", 0,
               "game_Player_first_name_put", 1, 4, "noam_version", 0, "first_name", "Ann"]
        games = ["game_Player_games_put", 1, 6, "noam_version", 7, "position", 0, "value", "{}"]
        answer = self.client.fcall("game_together", 3, key, key, "game:Player:{mary}", *new, *games)
        self.assertEqual(answer, ["conflict", "1", "game_Player_games_put"])
        self.assertEqual(self.everything(), before)
        with self.assertRaisesRegex(driver.ResponseError, "value: not JSON"):
            self.client.fcall("game_together", 3, key, key, "game:Player:{mary}", *new, *games[:-1], "{")
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.client.fcall("game_together", 2, key, key, *new), ["applied", "1"])
        self.assertEqual(self.client.hgetall(key),
                         {"first_name": "Ann", "noam_length_of_games": "0", "noam_version": "1"})
        erase = ["game_Player_username_erase", 1, 2, "noam_version", 1,
                 "game_Player_first_name_erase", 1, 2, "noam_version", 1]
        self.assertEqual(self.client.fcall("game_together", 2, key, key, *erase), ["applied", "0"])
        self.assertEqual(self.everything(), before)

    def test_appends_to_a_list(self):
        self.make(generated.GAME, "figure9", generated.FIGURE3)
        for key in ["game:Game:{2345}", "game:Game:{1}"]:
            self.client.hset("game:Game:{1}", mapping={"rounds": "[]", "noam_version": "1"})
            before = json.loads(self.client.hget(key, "rounds"))
            self.assertEqual(self.call("game_Game_append", [key], rounds='[{"moves":"]["}]'), ["applied", "2"])
            self.assertEqual(json.loads(self.client.hget(key, "rounds")), [*before, {"moves": "]["}])
        with self.assertRaisesRegex(driver.ResponseError, "rounds: not a list of elements"):
            self.call("game_Game_append", ["game:Game:{2345}"], rounds='{}')
        self.assertEqual(self.call("game_Game_append", ["game:Game:{2}"], rounds="[]"), ["refused", "absent"])

    def test_adds_exactly(self):
        self.make(generated.ROOT / "examples" / "shortener" / "shortener.noam", "seed000")
        keys = ["shortener:url:{abc}:hours", "shortener:url:{abc}:hours:order"]
        hours = [f"2024-05-01T{hour:02}:00:00.000Z" for hour in range(3)]

        def visit(number):
            return self.call("shortener_url_hours_add", keys, hour=hours[number % 3], visits=1)

        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            self.assertEqual(set(map(tuple, threads.map(visit, range(300)))), {("applied",)})
        newest_first = [{"hour": hour, "visits": "100"} for hour in reversed(hours)]
        self.assertEqual(self.read("shortener_url_hours_read", keys), newest_first)
        self.assertEqual(self.read("shortener_url_hours_read", keys, hour_after=hours[0]), newest_first[:2])
        self.assertEqual(self.read("shortener_url_hours_read", keys, hour_to=hours[0]), newest_first[2:])
        self.call("shortener_url_hours_add", keys, hour=hours[1], visits=-100)
        self.assertEqual(sorted(self.client.hkeys(keys[0])), [hours[0], hours[2]])
        self.assertEqual(self.client.zcard(keys[1]), 2)

    def test_keeps_no_more_than_the_limit(self):
        self.model("""model m
entity Note { id: int key  group: text  text: text }
design d { collection newest of Note n by group { copy [id desc]: text limit 3 } }
""", "d")
        keys = ["m:newest:{g}:entries", "m:newest:{g}:entries:order"]
        for number in [5, 1, 9, 3, 7]:
            self.call("m_newest_entries_put", keys, id=number, text=f"n{number}")
        self.assertEqual([row["id"] for row in self.read("m_newest_entries_read", keys)], ["9", "7", "5"])
        self.assertEqual(self.client.hgetall(keys[0]), {"9": "n9", "7": "n7", "5": "n5"})

    def test_functions_and_data_agree_on_every_key(self):
        """What noam writes to a file, the functions make of the plain values, too: keys of every type, in order."""
        self.model(KEYS, "all", Thing=things())
        before = self.everything()
        copies = ["entries", "texts", "ints", "decimals", "bools", "times", "uuids", "towns", "floats", "sums"]
        rows = {}
        for group in ["g", "h%3A%7B1%7D"]:
            for copy in copies:
                data = f"keys:things:{{{group}}}:{copy}"
                keys = [key for key in (data, data + ":order") if key in before]
                rows[copy, tuple(keys)] = self.read(f"keys_things_{copy}_read", keys)
        numbers = [row["id"] for row in rows["entries", ("keys:things:{g}:entries", "keys:things:{g}:entries:order")]]
        self.assertEqual(numbers, sorted(numbers, key=int))
        self.client.flushdb()
        for (copy, keys), found in rows.items():
            self.assertTrue(found)
            for row in found:
                row.pop("noam_version", None)
                kind = {"entries": "insert", "sums": "add"}.get(copy, "put")
                self.assertEqual(self.call(f"keys_things_{copy}_{kind}", keys, **row)[0], "applied")
        after = self.everything()
        self.assertEqual(after, {key: before[key] for key in before if key.startswith("keys:things")})

    def test_every_request_is_understood(self):
        for path, strategy in generated.examples():
            with self.subTest(model=path.stem, strategy=strategy):
                redis.clear(self.client)
                self.make(path, strategy)
                self.try_requests()

    def test_reserved_words_and_odd_names(self):
        model = names.Names("redis")
        path, data = model.write(self.enterContext(tempfile.TemporaryDirectory()))
        for strategy in ["eao", "etf"]:
            with self.subTest(strategy=strategy):
                redis.clear(self.client)
                self.make(path, strategy, data)
                found = self.everything()
                keys = [urllib.parse.unquote(re.search(r"\{(.*)\}", key)[1]) for key in found]
                self.assertEqual(model.texts() - names.texts([found, keys]), set())
                self.try_requests()

    def try_requests(self):
        lines = (self.folder / "statements.redis").read_text().splitlines()
        requests = [line for line in lines if line and not line.startswith("#")]
        self.assertTrue(requests)
        for request in requests:
            self.try_request(request)

    def try_request(self, line):
        """With values that the functions take: where one is not, they tell what they want."""
        given = {"cursor": "0", "noam_limit": "3", "noam_version": "1"}
        for _ in range(60):
            words = [re.sub(r"\$(\w+)", lambda name: given.get(name[1], "x"), word) for word in shlex.split(line)]
            try:
                return self.client.execute_command(*words)
            except driver.ResponseError as error:
                wrong = re.fullmatch(r"(\w+?): not (.*)", str(error))
                self.assertTrue(wrong, f"{line}: {error}")
                fitting = next((value for what, value in FITTING.items() if wrong[2].startswith(what)), None)
                self.assertIsNotNone(fitting, f"{line}: {error}")
                for bound in ["", "_from", "_to", "_gone"]:
                    given[wrong[1] + bound] = fitting
        self.fail(f"no values for {line}")


FITTING = {
    "an int": "1", "a timestamp": "2024-05-01T12:00:00.000Z", "a date": "2024-05-01", "JSON": "[]", "a list": "[]",
    "true": "true", "a uuid": "0d8a6c2e-7d1c-11ee-b962-0242ac120002", "an address": "127.0.0.1", "a decimal": "1",
    "a float": "1", "bytes": "00", "2 parts": "a:1", "a number": "1",
}

KEYS = """model keys

entity Town {
  name: text
  number: int
  key (name, number)
}

entity Thing {
  id: int key
  group: text
  t: text
  i: int?
  d: decimal
  b: bool
  y: bytes
  at: timestamp
  day: date
  u: uuid
  e: timeuuid
  a: inet
  town: Town?
  f: float
}

design all {
  collection things of Thing x by group {
    entry [id]: t, i, d, b, y, at, day, u, e, a, town, f
    copy texts[t, id desc]: d
    copy ints[i desc, id]: t
    copy decimals[d desc, id]: t, i
    copy bools[b, y, id]
    copy times[at, day desc, id]: a
    copy uuids[u, e desc, a desc, id]: b
    copy towns[town desc, id]: t
    copy floats[f, id]: t
    copy sums[t]: sum(x.d) as total, count(*) as n, sum(x.id) as ids
  }
}
"""


def things():
    """Values at the edges, each with some others."""
    texts = ["a", "ab", "ä", "a:b", "{x}", "%", "z z", 'q"uote\\', "new\nline", "it's", "\U0001F600", ""]
    ints = [0, 1, -1, 255, 256, -255, -256, 65535, 2**31, -2**31, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63]
    decimals = ["0", "1", "-1", "0.5", "-0.5", "10", "12.34", "-12.34", "0.00001", "99999999999999999999.5", "100.01"]
    addresses = ["1.2.3.4", "255.0.0.1", "::", "::1", "2001:db8::1", "fe80::1:2", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"]
    days = ["1970-01-01", "1969-12-31", "2024-02-29", "0001-01-01", "9999-12-31", "2000-03-01"]
    floats = [0, 1.5, -1.5, 1e300, -1e-300]
    rows = []
    for number in range(120):
        row = {"id": ints[number % 7] + number * 10**15, "group": ["g", "h:{1}"][number % 2], "t": texts[number % 11],
               "d": decimals[number % 10], "b": number % 3 == 0, "y": ["", "AA==", "AP8=", "/w=="][number % 4],
               "at": f"{days[number % 6]}T{number % 24:02}:{number % 60:02}:59.{number:03}Z", "day": days[number % 5],
               "u": f"{number * 7919 % 65536:04x}0000-0000-4000-8000-{number:012x}",
               "e": f"{number * 104729 % 2**32:08x}-{number:04x}-11ee-b962-0242ac120002", "a": addresses[number % 8],
               "f": floats[number % 5]}
        if number % 4:
            row["i"] = ints[number % 14]
        if number % 3:
            row["town"] = [["Rome", "a:b%", ""][number % 2], [1, -5, 300][number % 3]]
        rows.append(row)
    return rows


def everything(client):
    found = {}
    for key in client.keys("*"):
        is_hash = client.type(key) == "hash"
        found[key] = client.hgetall(key) if is_hash else client.zrange(key, 0, -1)
    return found


class ErasingApplication(erasing.Application):
    def __init__(self, client, design, text):
        super().__init__(design, erasing.statements(text, "# "))
        self.client = client
        for statement in self.statements.values():
            statement.together = [request for request in statement.together if "erasing:ps:{" in request]

    def names(self, request):
        return re.findall(r"\$(\w+)", request)

    def erases(self, request):
        return "_erase " in request

    def send(self, request, values):
        def text(name):
            value = values[name[1]]
            return json.dumps(value, separators=(",", ":")) if isinstance(value, list) else str(value)
        answer = self.client.execute_command(*(re.sub(r"\$(\w+)", text, word) for word in request.split(" ")))
        if answer[0] != "applied":
            raise AssertionError(f"{request}: {answer}")


class Erasing(unittest.TestCase):
    """The requests of tests/models/erasing.noam leave nothing that noam's own store would not keep."""

    def setUp(self):
        self.client = self.enterContext(redis.empty())

    def make_anew(self, folder, with_data):
        redis.clear(self.client)
        redis.load_functions(folder / "functions.lua")
        if with_data:
            redis.cli(text_in=(folder / "data.redis").read_text())

    def contents(self):
        found = everything(self.client)
        versions = {int(re.search(r"\{(.*)\}", key)[1]): int(found[key].pop("noam_version"))
                    for key in found if key.startswith("erasing:ps:")}
        return found, versions

    def test_the_requests_leave_what_the_own_store_keeps(self):
        for design in erasing.DESIGNS:
            with self.subTest(design=design):
                erasing.compare(self, "redis", design, self.make_anew, lambda folder, design=design: ErasingApplication(
                    self.client, design, (folder / "statements.redis").read_text()), self.contents)
