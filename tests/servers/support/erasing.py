"""An application of tests/models/erasing.noam: it sends the requests that are generated for the commands, with values
for their placeholders, as the steps above them say. Beside it, noam's own store runs the same commands."""

import collections
import pathlib
import re
import tempfile

from support import ROOT, generated, noam

MODEL = ROOT / "tests" / "models" / "erasing.noam"
DESIGNS = ["indexed", "counted"]

# Each command with the instance and what it gives. Words, tags and categories are shared by some instances, and some
# go with the last of them.
STORY = [
    ("create", 1, {"name": "red green apple", "cat": "fruit", "tags": ["a", "b"]}),
    ("create", 2, {"name": "green pear", "cat": "fruit", "tags": ["b", "c"]}),
    ("create", 3, {"name": "red car", "cat": "toy", "tags": ["c"]}),
    ("create", 4, {"name": "blue car", "cat": "toy", "tags": ["a", "d"]}),
    ("recat", 1, {"cat": "food"}),
    ("recat", 2, {"cat": "food"}),
    ("rename", 1, {"name": "green apple pie"}),
    ("rename", 2, {"name": "pear"}),
    ("retag", 1, {"tags": ["b", "e"]}),
    ("retag", 3, {"tags": ["f"]}),
    ("untag", 2, {"tags": ["c"]}),
    ("discard", 4, None),
]
PARAMETERS = {"name": "n", "cat": "c", "tags": "t"}


def entries(design, instance):
    """What the families of the design hold of an instance: rows by their keys."""
    if instance is None:
        return collections.defaultdict(dict)
    number, name, cat = instance["id"], instance["name"], instance["cat"]
    found = collections.defaultdict(dict)
    for collection, part, values, more in [("cats", "cat", [cat], {"name": name}),
                                           ("words", "word", name.split(), {"cat": cat}),
                                           ("tags", "tag", instance["tags"], {"cat": cat})]:
        for value in values:
            row = {part: value, "id": number}
            if design == "indexed":
                found[collection][value, number] = row
            else:
                found[collection + " (copy 1)"][value] = {part: value}
                found[collection + " (copy 2)"][value, number] = row | more
    return found


class Statement:
    """The requests that write, by the family that they write to; `ps` is the base, which may ask for all at once."""

    def __init__(self):
        self.base = []
        self.together = []
        self.copies = []  # pairs of a family and its requests

    def add_step(self, text):
        """The list for the requests of a step; none where it reads."""
        if text.startswith("write "):
            return self.base
        if text.startswith("then write "):
            self.copies.append((text.removeprefix("then write "), []))
            return self.copies[-1][1]
        if text.startswith("Atomic: "):
            return self.together
        if re.match(r"(look up|collect|scan|load|see|keep|give|the rows|for each) ", text):
            return []
        return None


def statements(text, comment):
    """Those of a file in which steps are comments, by their names. Lines of a request but its first begin with a
    space, a bracket or the end of a batch."""
    found, requests = {}, []
    for line in text.splitlines():
        if heading := re.match(rf"{re.escape(comment)}(?:query|command) (\w+)\(", line):
            found[heading[1]] = statement = Statement()
            requests = []
        elif line.startswith(comment):
            step = statement.add_step(line[len(comment):].strip()) if found else None
            requests = requests if step is None else step
        elif line and (line[0] in " }]" or line.startswith("APPLY BATCH")) and requests:
            requests[-1] += "\n" + line
        elif line:
            requests.append(line)
    return found


class Application:
    """Sends requests; what is native is up to the database, in a class of its own."""

    totals = False  # a count is given as it comes to be, and not as what is added

    def __init__(self, design, listed):
        self.design = design
        self.statements = listed
        self.instances = {}
        self.versions = {}

    def names(self, request):
        """The placeholders of a request."""
        raise NotImplementedError

    def erases(self, request):
        raise NotImplementedError

    def send(self, request, values):
        """Fails where the request is refused."""
        raise NotImplementedError

    def counts(self):
        found = collections.Counter()
        for instance in self.instances.values():
            found.update((family, key) for family, rows in entries(self.design, instance).items() for key in rows)
        return found

    def run(self, command, number, change):
        old = self.instances.get(number)
        new = None if change is None else {**(old or {"id": number}), **change}
        before = self.counts()
        if new is None:
            del self.instances[number]
        else:
            self.instances[number] = new
        after = self.counts()
        statement = self.statements[command]
        version = self.versions.get(number, 0)
        for request in statement.together or statement.base:
            self.send(request, (new or old) | {"noam_version": version, "noam_next_version": version + 1})
        self.versions[number] = version + 1
        was, now = entries(self.design, old), entries(self.design, new)
        for family, requests in statement.copies:
            gone = [key for key in was[family] if key not in now[family]]
            come = [key for key in now[family] if key not in was[family]]
            for request in requests:
                if "(copy 1)" in family:
                    self.count(request, requests, was[family] | now[family], gone, come, [
                        {key: counts[family, key] for key in gone + come} for counts in (before, after)])
                elif self.erases(request):
                    for key in gone:
                        self.send(request, self.ended(request, was[family][key]))
                else:
                    for key, row in now[family].items():
                        if row != was[family].get(key):
                            self.send(request, row)

    def count(self, request, requests, rows, gone, come, totals):
        # pylint: disable=too-many-arguments,too-many-positional-arguments
        before, after = totals
        if self.erases(request):
            for key in gone:
                if after[key] == 0:
                    self.send(request, self.ended(request, rows[key] | {"n_before": 0, "noam_count": 0}))
            return
        # Where one request adds to the entries that come, another one takes from those that go.
        several = sum(not self.erases(other) for other in requests) > 1
        less = any("_gone" in name for name in self.names(request))
        for key in (gone if less else come) if several else gone + come:
            amount = after[key] if self.totals else -1 if key in gone else 1
            self.send(request, self.ended(request, rows[key] | {"n": amount, "n_before": before[key] or None}))

    def ended(self, request, row):
        """What goes has placeholders that end in `_gone`, where the request has such."""
        if not any("_gone" in name for name in self.names(request)):
            return row
        return {name.removesuffix("_before") + "_gone" + ("_before" if name.endswith("_before") else ""): value
                for name, value in row.items()}


class OwnStore:
    """noam's own store, in a folder that goes with the test."""

    def __init__(self, test, design):
        self.folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
        self.store = ["--store", f"rocksdb:{self.folder / 'store'}"]
        noam("deploy", MODEL, "--strategy", design, *self.store)

    def run(self, command, number, change):
        given = {"id": number} | {PARAMETERS[name]: value for name, value in (change or {}).items()}
        if command == "untag":
            given["t"] = "b"
        words = [f"{name}={value if isinstance(value, (str, int)) else str(value).replace(chr(39), chr(34))}"
                 for name, value in given.items()]
        assert noam("run", MODEL, command, *words, *self.store).strip() == "applied"

    def exported(self):
        """A folder with all instances. The copies are what follows from them."""
        noam("verify", MODEL, *self.store)
        noam("export", MODEL, "--to", self.folder / "instances", *self.store)
        return self.folder / "instances"


def compare(test, target, design, make, application, contents):
    """Runs the story in the database and in noam's own store, and compares all that lies there afterwards.

    `make(folder, with_data)` makes the schema anew, and loads the data; `application(folder)` gives an Application;
    `contents()` is everything that lies in the database, and the versions of instances apart from it."""
    # pylint: disable=too-many-arguments,too-many-positional-arguments
    folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
    generated.generate(target, MODEL, design, folder)
    make(folder, False)
    sender, store = application(folder), OwnStore(test, design)
    for command, number, change in STORY:
        sender.run(command, number, change)
        store.run(command, number, change)
    found, versions = contents()
    generated.generate(target, MODEL, design, folder, store.exported())
    make(folder, True)
    expected, _ = contents()
    test.maxDiff = None
    test.assertEqual(found, expected)
    test.assertTrue(found)
    test.assertEqual(versions, {number: sender.versions[number] for number in sender.instances})
