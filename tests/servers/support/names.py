"""Models whose names are hard on a database: its reserved words, and what noam's backquotes allow."""

import functools
import json
import pathlib
import re

from support import noam

LONG = "a name of one hundred characters, which no database that has limits takes as it is, is here all the same"
ODD = [
    "Name", "name", "NAME", "a name", "a_name", "a-name", "a.name", "A Name", "größe", "Größe", "Москва", "城市", "1st", "n1st",
    "1", "_", "__", "_name", "name_", "it's", 'say "so"', "back\\slash", "a:b", "a/b", "a%b", "{x}", "#{x}", "${x}", "$x",
    "*/", "--", "#", "key", "value", "key_", "value_", "e", "id", "constructor", LONG, LONG + "!", LONG.upper(), "ä" * 100,
]
assert len(LONG) > 100
# They can't be the names of entities; what a database tells from them by capitals only is.
TYPES = ["bool", "int", "float", "decimal", "text", "bytes", "timestamp", "date", "duration", "uuid", "timeuuid", "inet",
         "json", "list", "set", "map"]


@functools.cache
def reserved(target):
    """The words that noam takes for reserved."""
    words = json.loads(noam("targets", target, "--json"))["reserved"]
    assert words
    return words


def spread(words, count):
    """So many of them, from the beginning to the end."""
    return [words[index * len(words) // count] for index in range(count)] if len(words) > count else list(words)


class Entity:
    def __init__(self, name, key, texts, places):
        self.name, self.key, self.texts, self.places = name, key, texts, places

    @property
    def fields(self):
        return [self.key, *self.texts]

    def value_name(self):
        return f"{self.name} place"

    def text(self):
        """The entity, a query for one, a command that makes one, and one that changes one."""
        fields = "".join(f"  `{name}`: text{' key' if name == self.key else ''}\n" for name in self.fields)
        parts = "".join(f"  `{name}`: text\n" for name in self.texts[:4])
        parameters = ", ".join(f"$`{name}`: text" for name in self.fields)
        given = ", ".join(f"`{name}`: $`{name}`" for name in self.fields)
        last = self.texts[-1]
        return f"""value `{self.value_name()}` {{
{parts}}}
entity `{self.name}` {{
{fields}  `{self.places}`: list<`{self.value_name()}`>
}}
query `{self.name}`($`{self.key}`) {{ select e from `{self.name}` e where e.`{self.key}` = $`{self.key}` }}
command `new {self.name}`({parameters}) {{ insert `{self.name}` {{ {given} }} }}
command `change {self.name}`($`{self.key}`, $`{last}`) {{
  update `{self.name}`[$`{self.key}`] {{ `{last}`: $`{last}` }}
  append {{ {', '.join(f'`{name}`: $`{last}`' for name in self.texts[:4])} }} to `{self.name}`[$`{self.key}`].`{self.places}`
}}
"""

    def instance(self):
        """No two values are alike, here or in another entity."""
        part = {name: f"{self.name}, part: {name}" for name in self.texts[:4]}
        return {**{name: f"{self.name}: {name}" for name in self.fields}, self.places: [part]}


def texts(found):
    """Every text in it, however deep; what is JSON is looked into."""
    if isinstance(found, bytes):
        found = found.decode("utf-8", "replace")
    if isinstance(found, str) and found[:1] in ("[", "{"):
        try:
            found = json.loads(found)
        except ValueError:
            pass
    if isinstance(found, str):
        return {found}
    if isinstance(found, dict):
        found = found.values()
    return set().union(*map(texts, found)) if hasattr(found, "__iter__") else set()


class Names:
    """A model of entities with such names, and an instance of each."""

    def __init__(self, target, entities=60, model=None):
        words = [*reserved(target), *ODD]
        self.model = model or words[0]
        self.entities = []
        chosen = spread(words, entities)
        size = -(-len(words) // len(chosen)) + 5
        for index, name in enumerate(name.capitalize() if name in TYPES else name for name in chosen):
            # Every word is a field of some entity; a list has the name of its entity.
            at = index * len(words) // len(chosen) + 1
            key, *texts = dict.fromkeys(words[(at + step) % len(words)] for step in range(size))
            self.entities.append(Entity(name, key, [text for text in texts if text != name], name))

    def texts(self):
        return texts([entity.instance() for entity in self.entities])

    def write(self, folder):
        """names.noam, and the folder `data`."""
        folder = pathlib.Path(folder)
        path = folder / "names.noam"
        path.write_text(f"model `{self.model}`\n" + "".join(entity.text() for entity in self.entities))
        data = folder / "data"
        data.mkdir()
        for entity in self.entities:
            # As `noam export` calls it.
            stem = re.sub(r"[\x00-\x20\x7f/\\%]|^\.", lambda found: f"%{ord(found[0]):02X}", entity.name)
            file = data / f"{stem}.jsonl"
            file.write_text(json.dumps(entity.instance()) + "\n")
        return path, data
