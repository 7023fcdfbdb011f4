#!/usr/bin/env python3
"""Writes a large, well-formed and varied model to standard output.

    bench/generate_model.py --entities 10000 --statements 10000 --seed 1 > large.noam

The same arguments give the same text. It has values, references with their ways back, owners, enumerations,
collections, compound and hidden keys, transient entities; queries with joins, folds, groups, nested selects, order and
limit, refreshed ones and their series; commands of every kind; groups, a mix over all statements; and a few designs.
`noam check` has nothing to say about it.
"""

import argparse
import random
import sys

DOMAINS = """
Account Album Archive Asset Audit Auction Bank Billing Blog Book Booking Branch Brand Budget Campaign Car Cargo
Case Cash Catalog Chat City Claim Class Client Clinic Club Coach Content Course Court Credit Crew Customer Dealer
Delivery Depot Desk Device Dock Driver Energy Event Factory Farm Fleet Flight Forum Freight Fuel Game Garage Gate Gift
Grid Guest Harbour Health Hotel House Import Insurance Inventory Job Journal Kitchen Lab Land Launch Lease Legal
Library Loan Lodge Machine Mail Market Media Member Menu Metro Mill Mine Museum Music News Office Outlet Park Partner
Patient Payroll Phone Plant Port Post Press Prize Project Rail Repair Retail Road Sales School Sensor Ship Site Social
Sport Stage Station Stock Store Studio Supply Team Theatre Ticket Tour Trade Train Travel Vendor Venue Ward Water
Web Workshop""".split()

NOUNS = """
Address Agent Agreement Alert Answer Appeal Article Badge Batch Bill Bonus Box Bundle Card Chapter Charge Check
Comment Company Contact Contract Counter Coupon Day Deal Deposit Discount Document Draft Entry Exam Fee Feed File Fine
Folder Form Goal Group Guide Hold Image Invoice Item Label Lesson Letter Level Line Link List Locker Log Lot Manager
Meeting Message Meter Note Notice Offer Option Owner Package Page Panel Parcel Pass Payment Permit Person Photo Pickup
Plan Point Policy Poll Price Product Profile Question Queue Quote Rating Reading Receipt Record Refund Region Rental
Report Request Review Reward Role Room Route Rule Run Schedule Season Seat Section Service Session Shift Shop
Slot Source Stop Street Subscription Table Tag Task Tax Term Test Thread Token Tool Topic Transfer Trip Unit Upload
User Visit Visitor Vote Voucher Warning Worker Zone""".split()

ENUMERATIONS = [("open", "paid", "shipped"), ("new", "active", "suspended", "closed"), ("low", "normal", "high"),
                ("draft", "review", "published", "withdrawn"), ("queued", "running", "done", "failed"),
                ("red", "yellow", "green")]


def snake(name):
    out = []
    for i, character in enumerate(name):
        if character.isupper() and i and not name[i - 1].isupper():
            out.append("_")
        out.append(character.lower())
    return "".join(out)


def plural(word):
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


class Field:
    def __init__(self, name, kind, text, optional=False, initial="", **more):
        self.name, self.kind, self.text = name, kind, text
        self.optional, self.initial = optional, initial
        self.distinct, self.skew = more.get("distinct", 0), more.get("skew", "")
        self.target = more.get("target")      # the entity it refers to
        self.many = more.get("many", "")      # list, set, map; of references, values or scalars
        self.value = more.get("value")        # the value type of it or of its elements
        self.inverse = more.get("inverse")
        self.fan_out = more.get("fan_out", 0)
        self.length = more.get("length", 0)   # of a collection, on average
        self.owner = more.get("owner", False)
        self.key = self.auto = False
        self.texts = more.get("texts", ())

    def write(self, instances=0):
        words = [f"{self.name}: {self.text}{'?' if self.optional else ''}"]
        words += ["key"] * self.key + ["auto"] * self.auto + ["owner"] * self.owner
        words += [self.initial] * bool(self.initial) + [f"~{self.length}"] * bool(self.length)
        if self.distinct:
            words.append(f"distinct ~{min(self.distinct, instances or self.distinct):_}")
            words += [self.skew] * bool(self.skew)
        if self.inverse:
            words.append(f"inverse {self.inverse} ~{self.fan_out}")
        return " ".join(words)


class Entity:
    def __init__(self, name):
        self.name, self.snake = name, snake(name)
        self.fields, self.key = [], []        # key: its fields; empty: hidden
        self.inverses = []                    # (name, the entity that refers, its field)
        self.members = set()                  # names taken by fields and ways back
        self.transient = self.compound = False
        self.instances = 0
        self.clauses = []
        self.changed = set()                  # fields that some command changes
        self.ordinal = 0

    def add(self, field):
        if field.name in self.members:
            return False
        self.members.add(field.name)
        self.fields.append(field)
        return True

    def of_kind(self, *kinds, optional=None, key=False):
        return [f for f in self.fields if f.kind in kinds and not f.many
                and (optional is None or f.optional == optional) and (key or f not in self.key)]

    def write(self):
        head = f"entity {self.name}{' transient' if self.transient else ''} ~{self.instances:_} {{"
        lines = [f"  {field.write(self.instances)}" for field in self.fields]
        if self.compound:
            lines.append(f"  key ({', '.join(f.name for f in self.key)})")
        return "\n".join([head, *lines, *(f"  {clause}" for clause in self.clauses), "}"])


class Value:
    def __init__(self, name):
        self.name, self.fields = name, []

    def write(self):
        return f"value {self.name} {{\n" + "\n".join(f"  {f.write()}" for f in self.fields) + "\n}"

    def of_kind(self, *kinds):
        return [f for f in self.fields if f.kind in kinds and not f.many]


class Statement:
    """A query or command under construction: collects parameters and columns, each name once."""

    def __init__(self):
        self.parameters, self.columns, self.lines = [], [], []
        self.names = set()

    def parameter(self, name, type_text=None):
        base, n = name, 2
        while name in {p for p, _ in self.parameters}:
            name, n = f"{base}_{n}", n + 1
        self.parameters.append((name, type_text))
        return f"${name}"

    def column(self, expr, name=None):
        wanted = name or expr.rsplit(".", 1)[-1]
        if wanted in self.names:
            return
        self.names.add(wanted)
        self.columns.append(expr if not name or name == expr.rsplit(".", 1)[-1] else f"{expr} as {name}")

    def head(self, word, name):
        if not self.parameters:
            return f"{word} {name}"
        return f"{word} {name}(" + ", ".join(f"${p}" + (f": {t}" if t else "") for p, t in self.parameters) + ")"


class Generator:
    def __init__(self, entities, statements, seed):
        self.random = random.Random(seed)
        self.entity_count, self.statement_count = entities, statements
        self.entities, self.values = [], []
        self.type_names, self.statement_names = set(), set()
        self.queries, self.commands = [], []
        self.refreshed = []                   # (name, columns)

    # names

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, things):
        return self.random.choice(things) if things else None

    def some(self, things, low, high):
        return self.random.sample(things, min(len(things), self.random.randint(low, high)))

    def type_name(self, ending=""):
        for _ in range(20):
            name = self.pick(DOMAINS) + self.pick(NOUNS) + ending
            if name not in self.type_names:
                break
        base, n = name, 2
        while name in self.type_names:
            name, n = f"{base}{n}", n + 1
        self.type_names.add(name)
        return name

    def statement_name(self, stub):
        name, n = stub, 2
        while name in self.statement_names:
            name, n = f"{stub}_{n}", n + 1
        self.statement_names.add(name)
        return name

    # data

    def scalar(self):
        optional = self.chance(0.25)
        n = self.random.choice((10, 100, 1_000, 50_000))
        return self.pick([
            lambda: Field("title", "text", "text(~40)", False),
            lambda: Field("label", "text", "text(~20)", optional, distinct=n),
            lambda: Field("description", "text", "text(~200)", optional),
            lambda: Field("city", "text", "text(~12)", optional, distinct=n, skew="skew zipf(0.8)"),
            lambda: Field("email", "text", "text(~25)", optional),
            lambda: Field("code", "text", "text(12)", optional),
            lambda: Field("quantity", "int", "int", False, "= 0", distinct=n),
            lambda: Field("points", "int", "int", optional, distinct=n),
            lambda: Field("rank", "int", "int", optional, distinct=100),
            lambda: Field("price", "decimal", "decimal", False, distinct=n),
            lambda: Field("balance", "decimal", "decimal", False, "= 0"),
            lambda: Field("ratio", "float", "float", optional),
            lambda: Field("created", "timestamp", "timestamp", False),
            lambda: Field("changed", "timestamp", "timestamp", True),
            lambda: Field("due", "timestamp", "timestamp", optional),
            lambda: Field("opened", "date", "date", optional, distinct=3_650),
            lambda: Field("active", "bool", "bool", False, self.pick(("= true", "= false"))),
            lambda: Field("address", "inet", "inet", optional),
            lambda: Field("token", "uuid", "uuid", optional),
            lambda: Field("digest", "bytes", "bytes(32)", optional),
            lambda: Field("payload", "json", "json(~300)", optional),
            lambda: self.enumeration("status"),
            lambda: self.enumeration("phase"),
        ])()

    def enumeration(self, name):
        texts = self.pick(ENUMERATIONS)
        text = " | ".join(f'"{t}"' for t in texts)
        optional = self.chance(0.15)
        return Field(name, "enum", f"({text})" if optional else text, optional, texts=texts)

    def make_values(self):
        for _ in range(max(1, self.entity_count // 8)):
            value = Value(self.type_name(self.pick(("Detail", "Part", "Step"))))
            names = set()
            for _ in range(self.random.randint(2, 5)):
                field = self.scalar()
                field.initial = ""
                if field.name not in names and field.kind != "json":
                    names.add(field.name)
                    value.fields.append(field)
            if self.values and self.chance(0.2):
                inner = self.pick(self.values[-20:])
                value.fields.append(Field("detail", "value", inner.name, self.chance(0.5), value=inner))
            self.values.append(value)

    def make_entities(self):
        for _ in range(self.entity_count):
            self.entities.append(Entity(self.type_name()))
        for ordinal, entity in enumerate(self.entities):
            entity.ordinal = ordinal
            # the first ones are targets of every other, so they are plain
            entity.transient = ordinal > 3 and self.chance(0.06)
            entity.instances = self.random.choice((50, 1_000, 20_000, 400_000, 5_000_000, 100_000_000))
        unused = list(self.values)
        self.random.shuffle(unused)
        for entity in self.entities:
            self.make_key(entity)
            self.make_fields(entity, unused)
        while unused:                         # every value has a use
            self.add_collection_of(self.pick([e for e in self.entities[:500] if not e.transient]), unused.pop())
        for entity in self.entities:
            if not entity.transient:
                self.make_references(entity)
                self.make_clauses(entity)
        for value in self.values:             # last, when all entities are there
            if self.chance(0.4):
                target = self.pick(self.entities)
                if not target.transient:
                    value.fields.append(Field(target.snake, "reference", target.name, target=target))

    def near(self, entity, before=False):
        """Another entity of the neighbourhood, as the parts of an application know each other."""
        high = entity.ordinal if before else min(self.entity_count, entity.ordinal + 40)
        candidates = [e for e in self.entities[max(0, entity.ordinal - 40):high] if not e.transient and e is not entity]
        return self.pick(candidates)

    def connect(self, entity, field):
        """Gives a role its way back, if the name is free."""
        name = plural(entity.snake)
        if name in field.target.members:
            name = f"{name}_by_{field.name}"
        if name in field.target.members:
            return
        field.target.members.add(name)
        field.inverse = name
        average = entity.instances * (field.length or 1) / field.target.instances
        field.fan_out = f"{float(f'{average:.1g}'):_.0f}" if average >= 1 else f"{max(average, 0.01):.2f}"
        field.target.inverses.append((name, entity, field))

    def make_key(self, entity):
        target = self.near(entity, before=True)
        if entity.transient:
            field = Field(target.snake, "reference", target.name, target=target, owner=True)
            entity.add(field)
            self.connect(entity, field)
            entity.add(Field("at", "timestamp", "timestamp"))
            entity.add(self.enumeration("outcome"))
            entity.add(Field("country", "text", "text(2)", True, distinct=200))
            entity.add(Field("visitor", "inet", "inet"))
            entity.add(Field("amount", "int", "int"))
            return
        kind = self.random.random()
        if kind < 0.15 and target:            # a part under its owner
            field = Field(target.snake, "reference", target.name, target=target, owner=self.chance(0.7))
            entity.add(field)
            self.connect(entity, field)
            second = self.pick((Field("number", "int", "int"), Field("at", "timestamp", "timestamp"),
                                Field("name", "text", "text(30)")))
            entity.add(second)
            entity.key, entity.compound = [field, second], True
            return
        if kind < 0.22 and target:            # a relationship with attributes
            other = self.near(entity, before=True)
            first = Field(target.snake, "reference", target.name, target=target)
            second = Field("with_" + other.snake, "reference", other.name, target=other)
            for field in (first, second):
                entity.add(field)
                self.connect(entity, field)
            entity.key, entity.compound = [first, second], True
            return
        if kind < 0.25:                       # none: a hidden one
            return
        field = self.pick((Field("id", "uuid", "uuid"), Field("id", "uuid", "uuid"),
                           Field("id", "timeuuid", "timeuuid"), Field("id", "int", "int"),
                           Field("slug", "text", "text(~15)"), Field("sku", "text", "text(20)")))
        field.key = True
        field.auto = field.kind in ("uuid", "timeuuid") and self.chance(0.85)
        entity.add(field)
        entity.key = [field]

    def make_fields(self, entity, unused):
        if entity.transient:
            return
        for _ in range(self.random.randint(2, 7)):
            entity.add(self.scalar())
        if self.chance(0.3):
            entity.add(Field("tags", "text", "set<text(~10)>", many="set", length=4))
        if self.chance(0.15):
            entity.add(Field("settings", "text", "map<text(~10), text(~15)>", many="map", length=8))
        if self.chance(0.1):
            entity.add(Field("counts", "int", "list<int>", many="list", length=12))
        if self.chance(0.35):
            self.add_collection_of(entity, unused.pop() if unused else self.pick(self.values))
        if self.chance(0.08):
            value = unused.pop() if unused else self.pick(self.values)
            entity.add(Field("place", "value", value.name, self.chance(0.6), value=value))

    def add_collection_of(self, entity, value):
        many = self.pick(("list", "list", "list", "map"))
        name = plural(snake(value.name))
        text = f"list<{value.name}>" if many == "list" else f"map<text(~10), {value.name}>"
        entity.add(Field(name, "value", text, many=many, value=value, length=self.random.choice((2, 5, 12, 30))))

    def make_references(self, entity):
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            target = self.near(entity)
            if not target:
                continue
            kind = self.random.random()
            if kind < 0.65:
                field = Field(target.snake, "reference", target.name, target=target)
            elif kind < 0.8:
                field = Field(target.snake, "reference", target.name, True, target=target)
            elif kind < 0.93:
                field = Field(plural(target.snake), "reference", f"set<{target.name}>", target=target, many="set",
                              length=self.random.choice((3, 20, 80)))
            else:
                field = Field(plural(target.snake), "reference", f"list<{target.name}>", target=target, many="list",
                              length=self.random.choice((3, 20)))
            if entity.add(field) and self.chance(0.85):
                self.connect(entity, field)
        if entity.key and self.chance(0.04) and not {"parent", "children"} & entity.members:
            field = Field("parent", "reference", entity.name, True, target=entity)
            entity.add(field)
            entity.members.add("children")
            field.inverse, field.fan_out = "children", 5
            entity.inverses.append(("children", entity, field))
        if entity.key and self.chance(0.02) and "related" not in entity.members:
            field = Field("related", "reference", f"set<{entity.name}>", target=entity, many="set", length=10)
            entity.add(field)
            field.inverse, field.fan_out = "related", 10        # symmetric

    def make_clauses(self, entity):
        if any(f.name == "quantity" for f in entity.fields) and self.chance(0.5):
            entity.clauses.append("require quantity >= 0")
        stamps = [f for f in entity.of_kind("timestamp") if f.name == "created"]
        if stamps and self.chance(0.1):
            entity.clauses.append(f"ttl {self.random.choice((7, 30, 90))} days from created")

    # pieces of statements

    def key_predicate(self, statement, entity, variable):
        """The instance, by its whole key."""
        return " and ".join(f"{variable}.{f.name} = {statement.parameter(f.name)}" for f in entity.key)

    def instance(self, statement, entity, prefix=""):
        return f"{entity.name}[{', '.join(statement.parameter(prefix + f.name) for f in entity.key)}]"

    def with_key(self):
        return self.random_entity(lambda e: e.key)

    def random_entity(self, wanted):
        for _ in range(50):
            entity = self.pick(self.entities)
            if not entity.transient and wanted(entity):
                return entity
        return None

    def columns(self, statement, entity, variable, low, high):
        scalars = [f for f in entity.fields if not f.many and f.kind not in ("json", "value") and f not in entity.key]
        for field in entity.key + self.some(scalars, low, high):
            statement.column(f"{variable}.{field.name}")
        if not statement.columns:
            statement.column(f"count({variable}.{self.counted(entity)})" if self.counted(entity) else variable,
                             "amount" if self.counted(entity) else None)

    def counted(self, entity):
        many = [f.name for f in entity.fields if f.many] + [name for name, source, _ in entity.inverses
                                                           if not source.transient]
        return many[0] if many else None

    def order(self, entity, variable):
        fields = entity.of_kind("timestamp", "date", "int", "decimal", "text", key=True)
        if not fields:
            return None
        return f"order by {variable}.{self.pick(fields).name} {self.pick(('desc', 'asc'))}"

    def filters(self, statement, entity, variable):
        """A condition beside the main one."""
        choices = []
        for f in entity.of_kind("enum"):
            choices.append(lambda f=f: f'{variable}.{f.name} = "{self.pick(f.texts)}"')
            choices.append(lambda f=f: f'{variable}.{f.name} in ["{f.texts[0]}", "{f.texts[-1]}"]')
            choices.append(lambda f=f: f"{variable}.{f.name} != {statement.parameter(f.name)}")
        for f in entity.of_kind("int", "decimal", "float"):
            choices.append(lambda f=f: f"{variable}.{f.name} >= {statement.parameter('least_' + f.name)}")
        for f in entity.of_kind("timestamp"):
            choices.append(lambda f=f: f"{variable}.{f.name} > now() - {self.random.randint(2, 30)} days")
            choices.append(lambda f=f: f"{variable}.{f.name} between {statement.parameter('since')} "
                                       f"and {statement.parameter('until')}")
        for f in entity.of_kind("bool"):
            choices.append(lambda f=f: self.pick((f"{variable}.{f.name}", f"not {variable}.{f.name}")))
        for f in entity.of_kind("text", "timestamp", "reference", optional=True):
            choices.append(lambda f=f: f"{variable}.{f.name} is {self.pick(('', 'not '))}absent")
        for f in (f for f in entity.fields if f.name == "tags"):
            choices.append(lambda f=f: f"{variable}.tags contains {statement.parameter('tag')}")
        if not choices:
            return ""
        if len(choices) > 1 and self.chance(0.2):
            return f" and ({self.pick(choices)()} or {self.pick(choices)()})"
        return f" and {self.pick(choices)()}"

    def to_one(self, entity):
        return [f for f in entity.of_kind("reference", key=True) if not f.target.transient]

    def ways_back(self, entity):
        """Ways back to many through a reference to one."""
        return [way for way in entity.inverses if not way[1].transient and not way[2].many]

    # queries: each gives (stub, statement, text after the head) or nothing

    def query_aggregate(self):
        e = self.with_key()
        s = Statement()
        heavy = [f for f in e.fields if (f.many or f.kind == "json") and f not in e.key]
        what = f"e without {', '.join(f.name for f in heavy)} as {e.snake}" if heavy and self.chance(0.4) else "e"
        return f"get_{e.snake}", s, f"select {what} from {e.name} e where {self.key_predicate(s, e, 'e')}"

    def query_fields(self):
        e = self.with_key()
        s = Statement()
        self.columns(s, e, "e", 1, 4)
        for f in self.some(e.of_kind("int", "decimal", optional=True), 0, 1):
            s.column(f"e.{f.name} ?? 0", f"{f.name}_or_zero")
        for f in self.some(self.to_one(e), 0, 1):
            for g in self.some(f.target.of_kind("text", "int", "decimal", "timestamp"), 0, 1):
                s.column(f"e.{f.name}.{g.name}", f"{f.name}_{g.name}")
        where = self.key_predicate(s, e, "e")
        return f"show_{e.snake}", s, f"select {', '.join(s.columns)}\n  from {e.name} e where {where}"

    def query_by_reference(self):
        e = self.random_entity(self.to_one)
        order = e and self.order(e, "e")
        if not order:
            return None
        s = Statement()
        f = self.pick(self.to_one(e))
        self.columns(s, e, "e", 1, 4)
        where = f"e.{f.name} = {s.parameter(f.name)}" + (self.filters(s, e, "e") if self.chance(0.5) else "")
        limit = s.parameter("n", "int") if self.chance(0.1) else self.pick((10, 20, 25, 100))
        return (f"{plural(e.snake)}_of_{f.name}", s,
                f"select {', '.join(s.columns)}\n  from {e.name} e where {where} {order} limit {limit}")

    def query_join(self):
        p = self.random_entity(lambda e: e.key and self.ways_back(e))
        if not p:
            return None
        s = Statement()
        name, e, _ = self.pick(self.ways_back(p))
        path, last, variable = f"{p.name} p, p.{name} e", e, "e"
        if self.ways_back(e) and self.chance(0.4):
            further, last, _ = self.pick(self.ways_back(e))
            path, variable = f"{path}, e.{further} f", "f"
        elif self.to_one(e) and self.chance(0.3):
            f = self.pick(self.to_one(e))
            path, last, variable = f"{path}, e.{f.name} f", f.target, "f"
        for f in p.key:
            s.column(f"p.{f.name}", f"{p.snake}_{f.name}")
        self.columns(s, last, variable, 1, 4)
        where = self.key_predicate(s, p, "p") + (self.filters(s, last, variable) if self.chance(0.4) else "")
        order = self.order(last, variable)
        limit = f" limit {self.pick((10, 20, 25, 100))}" if order and self.chance(0.7) else ""
        return (f"{p.snake}_{name}", s,
                f"select {', '.join(s.columns)}\n  from {path} where {where}{' ' + order if order else ''}{limit}")

    def query_group(self):
        e = self.random_entity(lambda e: e.of_kind("enum", "text", "bool", "date") and e.of_kind("reference", key=True))
        if not e:
            return None
        s = Statement()
        group = self.pick(e.of_kind("enum", "text", "bool", "date"))
        f = self.pick(e.of_kind("reference", key=True))
        s.column(f"e.{group.name}")
        s.column("count(*)", "amount")
        for g in self.some(e.of_kind("int", "decimal"), 0, 2):
            fold = self.pick(("sum", "min", "max", "avg"))
            s.column(f"{fold}(e.{g.name})", f"{fold}_{g.name}")
        for g in self.some(e.of_kind("timestamp"), 0, 1):
            s.column(f"max(e.{g.name})", f"last_{g.name}")
        where = f"e.{f.name} = {s.parameter(f.name)}"
        return (f"{plural(e.snake)}_by_{group.name}", s,
                f"select {', '.join(s.columns)}\n"
                f"  from {e.name} e where {where} group by e.{group.name} order by amount desc")

    def query_group_time(self):
        e = self.random_entity(lambda e: e.of_kind("timestamp", key=True))
        if not e:
            return None
        s = Statement()
        f = self.pick(e.of_kind("timestamp", key=True))
        period = self.pick(("hour", "day", "week", "month"))
        where = f"e.{f.name} between {s.parameter('since')} and {s.parameter('until')}"
        return (f"{plural(e.snake)}_by_{period}", s,
                f"select {period}(e.{f.name}) as {period}, count(*) as amount\n"
                f"  from {e.name} e where {where} group by {period}(e.{f.name}) order by {period} desc")

    def query_transient(self):
        candidates = [(p, name, e) for p in self.some(self.entities, 200, 200) if p.key
                      for name, e, _ in p.inverses if e.transient]
        if not candidates:
            return None
        p, name, e = self.pick(candidates)
        s = Statement()
        where = self.key_predicate(s, p, "p")
        kind = self.random.random()
        if kind < 0.5:
            period = self.pick(("hour", "day", "week"))
            select = f"{period}(e.at) as {period}, count(*) as amount"
            group = f" group by {period}(e.at) order by {period} desc"
            if self.chance(0.4):
                where += f" and {period}(e.at) >= {s.parameter('since')}"
        elif kind < 0.75:
            g = self.pick(("outcome", "country"))
            select = f"e.{g}, count(*) as amount, sum(e.amount) as total"
            group = f" group by e.{g} order by amount desc"
        else:
            select, group = "count(*) as amount, count(distinct e.visitor) as visitors", ""
        return f"{name}_seen", s, f"select {select}\n  from {p.name} p, p.{name} e where {where}{group}"

    def query_nested(self):
        p = self.random_entity(lambda e: e.key and any(self.order(source, "e") for _, source, _ in self.ways_back(e)))
        if not p:
            return None
        s = Statement()
        for f in p.key:
            s.column(f"p.{f.name}")
        for f in self.some(p.of_kind("text", "int", "decimal"), 0, 2):
            s.column(f"p.{f.name}")
        name, e, _ = self.pick([w for w in self.ways_back(p) if self.order(w[1], "e")])
        inner = Statement()
        self.columns(inner, e, "e", 1, 3)
        limit = self.pick((1, 3, 10))
        s.column(f"(select {', '.join(inner.columns)} from p.{name} e {self.order(e, 'e')} limit {limit})",
                 "last_one" if limit == 1 else "last_ones")
        s.column(f"(select count(*) from p.{name} e)", "amount")
        for f in self.some(e.of_kind("enum"), 0, 1):
            text = self.pick(f.texts)
            s.column(f'(select count(*) from p.{name} e where e.{f.name} = "{text}")', f"{text}_ones")
        columns = ",\n         ".join(s.columns)
        return f"{p.snake}_with_{name}", s, f"select {columns}\n  from {p.name} p where {self.key_predicate(s, p, 'p')}"

    def query_counts(self):
        p = self.random_entity(lambda e: e.key and self.counted(e) and self.to_one(e))
        if not p:
            return None
        s = Statement()
        f = self.pick(self.to_one(p))
        for k in p.key:
            s.column(f"p.{k.name}")
        s.column(f"count(p.{self.counted(p)})", "amount")
        where = f"p.{f.name} = {s.parameter(f.name)}"
        return (f"busiest_{plural(p.snake)}", s,
                f"select {', '.join(s.columns)}\n  from {p.name} p where {where} order by amount desc limit 10")

    def query_words(self):
        e = self.random_entity(lambda e: e.of_kind("text"))
        if not e:
            return None
        s = Statement()
        f = self.pick(e.of_kind("text"))
        self.columns(s, e, "e", 1, 3)
        how = self.pick(("contains all", "contains any", "starts with"))
        given = s.parameter("words" if how != "starts with" else "beginning")
        return (f"find_{plural(e.snake)}", s,
                f"select {', '.join(s.columns)}\n"
                f"  from {e.name} e where e.{f.name} {how} {given} order by e.{f.name} limit 25")

    def query_range(self):
        e = self.random_entity(lambda e: e.of_kind("decimal", "int"))
        if not e:
            return None
        s = Statement()
        f = self.pick(e.of_kind("decimal", "int"))
        self.columns(s, e, "e", 1, 3)
        where = f"e.{f.name} between {s.parameter('low')} and {s.parameter('high')}" + self.filters(s, e, "e")
        return (f"{plural(e.snake)}_by_{f.name}", s,
                f"select {', '.join(s.columns)}\n  from {e.name} e where {where} order by e.{f.name} desc limit 20")

    def query_distinct(self):
        e = self.random_entity(lambda e: e.of_kind("text", "enum", "int") and e.of_kind("reference", key=True))
        if not e:
            return None
        s = Statement()
        f, r = self.pick(e.of_kind("text", "enum", "int")), self.pick(e.of_kind("reference", key=True))
        return (f"kinds_of_{plural(e.snake)}", s, f"select distinct e.{f.name} from {e.name} e "
                f"where e.{r.name} = {s.parameter(r.name)} order by {f.name}")

    def query_elements(self):
        e = self.random_entity(lambda e: e.key and any(f.value and f.many for f in e.fields))
        if not e:
            return None
        s = Statement()
        f = self.pick([f for f in e.fields if f.value and f.many])
        place = "position(l)" if f.many == "list" else "key(l)"
        s.column(place, "place")
        for g in self.some([g for g in f.value.fields if g.kind != "value"], 1, 4):
            s.column(f"l.{g.name}")
        where = self.key_predicate(s, e, "e")
        numbers = f.value.of_kind("int", "decimal")
        if numbers and self.chance(0.4):
            product = " * ".join(f"l.{g.name}" for g in numbers[:2])
            return (f"total_of_{e.snake}", s,
                    f"select sum({product}) as total from {e.name} e, e.{f.name} l where {where}")
        return (f"{e.snake}_{f.name}", s,
                f"select {', '.join(s.columns)}\n  from {e.name} e, e.{f.name} l where {where} order by {place}")

    def query_collection(self):
        e = self.random_entity(lambda e: e.key and any(f.name in ("settings", "tags", "counts") for f in e.fields))
        if not e:
            return None
        s = Statement()
        f = self.pick([f for f in e.fields if f.name in ("settings", "tags", "counts")])
        if f.name == "tags":
            for k in e.key:
                s.column(f"e.{k.name}")
            order = f"order by e.{e.key[0].name}"
            return (f"tagged_{plural(e.snake)}", s, f"select {', '.join(s.columns)} from {e.name} e "
                    f"where e.tags contains {s.parameter('tag')} {order} limit 50")
        index = s.parameter("name") if f.name == "settings" else "-1"
        where = self.key_predicate(s, e, "e")
        return f"one_of_{e.snake}_{f.name}", s, f"select e.{f.name}[{index}] as one from {e.name} e where {where}"

    def query_refreshed(self):
        e = self.random_entity(lambda e: e.key and self.counted(e))
        if not e:
            return None
        s = Statement()
        for k in e.key:
            s.column(f"e.{k.name}")
        s.column(f"count(e.{self.counted(e)})", "amount")
        stub = self.statement_name(f"top_{plural(e.snake)}")
        self.refreshed.append((stub, [k.name for k in e.key]))
        s.refresh = f" refresh every {self.pick((1, 6, 12))} hours keep {self.pick((24, 100, 1_000))}"
        s.name = stub
        return stub, s, f"select {', '.join(s.columns)} from {e.name} e order by amount desc limit 100"

    def query_series(self):
        if not self.refreshed:
            return None
        name, keys = self.pick(self.refreshed)
        s = Statement()
        columns = ", ".join(f"a.{k}" for k in keys)
        where = f"a.refreshed between {s.parameter('since')} and {s.parameter('until')}"
        return (f"{name}_series", s, f"select a.refreshed, {columns}, a.amount\n"
                f"  from {name} history a where {where} order by a.refreshed desc, a.amount desc")

    # commands: each gives (stub, statement, changes) or nothing

    def literal_or_parameter(self, statement, field, prefix=""):
        if field.kind == "timestamp" and self.chance(0.5):
            return "now()"
        if field.kind == "enum" and self.chance(0.5):
            return f'"{field.texts[0]}"'
        if field.kind == "uuid" and self.chance(0.3):
            return "uuid()"
        return statement.parameter(prefix + field.name)

    def assignments(self, statement, entity, given=None, prefix="", with_auto=False):
        parts = []
        for f in entity.fields:
            if given and f.name in given:
                parts.append(f"{f.name}: {given[f.name]}")
            elif f.auto:
                if with_auto:
                    parts.append(f"{f.name}: {statement.parameter(prefix + f.name)}")
            elif f.many or f.optional or f.initial:
                if self.chance(0.4):
                    parts.append(f"{f.name}: {statement.parameter(prefix + f.name)}")
            elif f in entity.key:
                parts.append(f"{f.name}: {statement.parameter(prefix + f.name)}")
            else:
                parts.append(f"{f.name}: {self.literal_or_parameter(statement, f, prefix)}")
        lines, line = [], ""
        for part in parts:
            if line and len(line) + len(part) > 90:
                lines.append(line)
                line = ""
            line += (", " if line else "") + part
        return "{ " + ",\n    ".join(lines + [line]) + " }"

    def command_insert(self):
        e = self.pick(self.entities)
        s = Statement()
        return f"add_{e.snake}", s, [f"insert {e.name} {self.assignments(s, e)}"]

    def command_insert_two(self):
        p = self.random_entity(lambda e: e.key and self.ways_back(e))
        if not p:
            return None
        _, e, field = self.pick(self.ways_back(p))
        if e is p:
            return None
        s = Statement()
        first = f"insert {p.name} {self.assignments(s, p)} as made"
        second = f"insert {e.name} {self.assignments(s, e, {field.name: 'made'}, e.snake + '_')}"
        return f"start_{p.snake}", s, [first, second]

    def command_put(self):
        e = self.with_key()
        s = Statement()
        e.changed.update(f.name for f in e.fields)
        return f"replace_{e.snake}", s, [f"put {e.name} {self.assignments(s, e, with_auto=True)}"]

    def changeable(self, entity, *kinds):
        return [f for f in entity.of_kind(*kinds) if not f.owner]

    def command_update(self):
        kinds = ("text", "int", "decimal", "enum", "timestamp", "bool", "reference", "date")
        e = self.random_entity(lambda e: e.key and self.changeable(e, *kinds))
        if not e:
            return None
        s = Statement()
        target = self.instance(s, e)
        parts = []
        for f in self.some(self.changeable(e, *kinds), 1, 3):
            e.changed.add(f.name)
            if f.kind in ("int", "decimal") and self.chance(0.5):
                base = f"({f.name} ?? 0)" if f.optional else f.name
                new = self.pick((lambda: f"{base} + 1", lambda: f"{base} + {s.parameter('more_' + f.name)}",
                                 lambda: f"greatest({base}, {s.parameter('new_' + f.name)})"))
                parts.append(f"{f.name}: {new()}")
            elif f.optional and self.chance(0.3):
                parts.append(f"{f.name}: absent")
            else:
                parts.append(f"{f.name}: {self.literal_or_parameter(s, f, 'new_')}")
        return f"change_{e.snake}", s, [f"update {target} {{ {', '.join(parts)} }}"]

    def command_take(self):
        e = self.random_entity(lambda e: e.key and self.changeable(e, "int", "decimal"))
        if not e:
            return None
        s = Statement()
        target = self.instance(s, e)
        f = self.pick(self.changeable(e, "int", "decimal"))
        e.changed.add(f.name)
        n = s.parameter("taken")
        base = f"({f.name} ?? 0)" if f.optional else f.name
        return f"take_from_{e.snake}", s, [f"require {target}.{f.name} >= {n}",
                                           f"update {target} {{ {f.name}: {base} - {n} }}"]

    def command_delete(self):
        e = self.with_key()
        s = Statement()
        return f"delete_{e.snake}", s, [f"delete {self.instance(s, e)}"]

    def command_delete_and_tell(self):
        e, p = self.with_key(), self.random_entity(lambda e: e.key and self.changeable(e, "int", "timestamp"))
        if not p or p is e:
            return None
        s = Statement()
        gone, told = self.instance(s, e), self.instance(s, p, p.snake + "_")
        f = self.pick(self.changeable(p, "int", "timestamp"))
        p.changed.add(f.name)
        new = "now()" if f.kind == "timestamp" else f"({f.name} ?? 0) - 1" if f.optional else f"{f.name} - 1"
        return f"close_{e.snake}", s, [f"delete {gone}", f"then update {told} {{ {f.name}: {new} }}"]

    def command_collection(self):
        e = self.random_entity(lambda e: e.key and any(f.many for f in e.fields))
        if not e:
            return None
        s = Statement()
        target = self.instance(s, e)
        f = self.pick([f for f in e.fields if f.many])
        path = f"{target}.{f.name}"
        if f.many == "set":
            one = s.parameter("one") if self.chance(0.6) else None
            what = one or f"all {s.parameter('several')}"
            word, to = self.pick((("add", "to"), ("remove", "from")))
            return f"{word}_{to}_{e.snake}", s, [f"{word} {what} {to} {path}"]
        if f.many == "map":
            kind = self.random.random()
            if kind < 0.4:
                return f"set_in_{e.snake}", s, [f"put {s.parameter('name')}: {s.parameter('content')} into {path}"]
            if kind < 0.7:
                return f"forget_in_{e.snake}", s, [f"remove key {s.parameter('name')} from {path}"]
            place = f"{f.name}[{s.parameter('name')}]"
            return f"assign_in_{e.snake}", s, [f"update {target} {{ {place}: {s.parameter('content')} }}"]
        kind = self.random.random()
        if kind < 0.3:
            return f"append_to_{e.snake}", s, [f"append {s.parameter('one')} to {path}"]
        if kind < 0.5:
            return f"append_all_to_{e.snake}", s, [f"append all {s.parameter('several')} to {path}"]
        if kind < 0.65:
            return f"drop_in_{e.snake}", s, [f"remove {path}[{s.parameter('position')}]"]
        fields = f.value and f.value.of_kind("int", "decimal", "text", "timestamp", "enum")
        if not fields:
            return f"empty_{e.snake}", s, [f"update {target} {{ {f.name}: {{}} }}"]
        g = self.pick(fields)
        if kind < 0.85:
            given = s.parameter(g.name)
            return f"sift_{e.snake}", s, [f"remove l from {path} l where l.{g.name} = {given}"]
        return f"correct_{e.snake}", s, [f"update {target} {{ {f.name}[{s.parameter('position')}].{g.name}: "
                                         f"{s.parameter('new_' + g.name)} }}"]

    def command_for(self):
        e = self.random_entity(lambda e: len(e.key) == 1 and self.changeable(e, "int"))
        if not e:
            return None
        s = Statement()
        f = self.pick(self.changeable(e, "int"))
        e.changed.add(f.name)
        several = s.parameter("several", f"list<{e.name}>")
        new = f"({f.name} ?? 0) + 1" if f.optional else f"{f.name} + 1"
        change = f"update {e.name}[$one] {{ {f.name}: {new} }}"
        return f"touch_{plural(e.snake)}", s, [f"for $one in {several} {{ {change} }}"]

    def command_bulk(self):
        e = self.random_entity(lambda e: e.of_kind("timestamp") or e.of_kind("enum"))
        if not e:
            return None
        s = Statement()
        f = self.pick(e.of_kind("timestamp", "enum"))
        where = f'e.{f.name} < {s.parameter("before")}' if f.kind == "timestamp" else f'e.{f.name} = "{f.texts[0]}"'
        if f.kind == "enum" and self.chance(0.5):
            e.changed.add(f.name)
            return f"advance_{plural(e.snake)}", s, [f'update {e.name} e where {where} {{ {f.name}: "{f.texts[1]}" }}']
        limit = self.pick(("", " limit 100"))
        return f"purge_{plural(e.snake)}", s, [f"delete {e.name} e where {where}{limit}"]

    def command_guarded(self):
        p = self.random_entity(lambda e: e.key and self.ways_back(e))
        if not p:
            return None
        name, e, field = self.pick(self.ways_back(p))
        if len(p.key) != 1:
            return None
        s = Statement()
        owner = s.parameter(field.name)
        insert = f"insert {e.name} {self.assignments(s, e, {field.name: owner})}"
        return f"add_{e.snake}_to_{p.snake}", s, [
            f"require (select count(*) from {p.name}[{owner}].{name} e) < {self.pick((10, 100, 1_000))}", insert]

    # all of it

    def make_statements(self):
        queries = {self.query_aggregate: 10, self.query_fields: 10, self.query_by_reference: 14, self.query_join: 14,
                   self.query_group: 6, self.query_group_time: 4, self.query_transient: 6, self.query_nested: 8,
                   self.query_counts: 4, self.query_words: 4, self.query_range: 6, self.query_distinct: 3,
                   self.query_elements: 5, self.query_collection: 4, self.query_refreshed: 1, self.query_series: 1}
        commands = {self.command_insert: 20, self.command_insert_two: 5, self.command_put: 3, self.command_update: 16,
                    self.command_take: 6, self.command_delete: 8, self.command_delete_and_tell: 3,
                    self.command_collection: 16, self.command_for: 2, self.command_bulk: 3, self.command_guarded: 3}
        while len(self.queries) + len(self.commands) < self.statement_count:
            is_query = self.chance(0.6)
            table = queries if is_query else commands
            made = self.random.choices(list(table), list(table.values()))[0]()
            if not made:
                continue
            stub, statement, body = made
            name = getattr(statement, "name", None) or self.statement_name(stub)
            if is_query:
                head = statement.head("query", name) + getattr(statement, "refresh", "")
                self.queries.append((name, f"{head} {{\n  {body}\n}}"))
            else:
                lines = "\n".join(f"  {line}" for line in body)
                self.commands.append((name, f"{statement.head('command', name)} {{\n{lines}\n}}"))

    def make_mixes(self):
        names = [n for n, _ in self.queries + self.commands]
        self.random.shuffle(names)
        grouped, out, groups = names[:len(names) // 5], [], []
        for start in range(0, len(grouped), 8):
            group = self.statement_name(f"Page{start // 8 + 1}")
            groups.append(group)
            out.append(f"group {group} {{\n  " + "\n  ".join(grouped[start:start + 8]) + "\n}")
        entries = groups + names[len(names) // 5:]
        weights = [f"  {n} {self.pick((0.1, 0.5, 1, 2.5, 10, 40, 100))}" for n in entries]
        out.append("mix everything {\n" + "\n".join(weights) + "\n}")
        busy = [f"  {n} {self.pick((200, 1_000))}" for n in self.some(entries, 5, 50)]
        out.append("mix busy like everything at 5_000/s {\n" + "\n".join(busy) + "\n}")
        return out

    # designs

    def key_parts(self, entity, variable=None, direction=""):
        dot = f"{variable}." if variable else ""
        return ", ".join(f"{dot}{f.name}{direction}" for f in entity.key)

    def base_collection(self, e):
        head = f"  collection {plural(e.snake)} of {e.name} e by {self.key_parts(e)} {{"
        kind = self.random.random()
        if kind < 0.35:
            return f"{head} entry ε: * }}"
        collections = [f for f in e.fields if f.many]
        plain = [f.name for f in e.fields if not f.many]
        if kind < 0.7:
            lines = [f"    entry ε: {', '.join(plain)}"] + [f"    entry {f.name}[*]" for f in collections]
        else:
            lines = [f"    entry {f.name}" for f in e.fields]
        return "\n".join([head, *lines, "  }"])

    def bucket_collection(self, e):
        """Base under a reference and a day, where no command changes either."""
        stamps = [f for f in e.of_kind("timestamp", optional=False, key=True) if f.name not in e.changed]
        roles = [f for f in e.of_kind("reference", optional=False, key=True) if f.name not in e.changed]
        if not stamps or not roles or any(f.many for f in e.fields):
            return None
        at, role = stamps[0], roles[0]
        key = [f for f in e.key if f not in (at, role)]
        entry = ", ".join([f"{at.name} desc"] + [f"{f.name} desc" for f in key])
        rest = ", ".join(f.name for f in e.fields if f not in (at, role) and f not in key)
        return (f"  collection {plural(e.snake)}_by_day of {e.name} e by {role.name}, day({at.name}) as day {{\n"
                f"    entry [{entry}]{': ' + rest if rest else ''}\n  }}")

    def copy_collection(self, e):
        roles = e.of_kind("reference", key=True)
        if not roles:
            return None
        role = self.pick(roles)
        first = self.some([f for f in e.of_kind("timestamp", "int", "date", "enum") if f is not role], 0, 1)
        key = first + [f for f in e.key if f is not role and f not in first]
        if not key:
            return None
        parts = ", ".join(f"e.{f.name}{self.pick((' desc', ''))}" for f in key)
        others = [f for f in e.fields if f not in key and f is not role and not f.many and f.kind != "value"]
        others = self.some(others, 0, 3)
        cells = ": " + ", ".join(f"e.{f.name}" for f in others) if others else ""
        return (f"  collection {plural(e.snake)}_by_{role.name} of {e.name} e by e.{role.name} as {role.name} {{\n"
                f"    copy [{parts}]{cells}\n  }}")

    def count_collection(self, p):
        ways = self.ways_back(p)
        if not ways:
            return None
        name, e, _ = self.pick(ways)
        families = [f"    copy ε: count(*) as amount from p.{name} e"]
        for f in self.some(e.of_kind("enum"), 0, 1):
            families.append(f"    copy kinds[e.{f.name} as {f.name}]: count(*) as amount from p.{name} e")
        for f in self.some(e.of_kind("timestamp"), 0, 1):
            families.append(f"    copy days[day(e.{f.name}) desc as day]: count(*) as amount from p.{name} e")
        head = f"  collection {name}_of_{p.snake} of {p.name} p by {self.key_parts(p, 'p')} {{"
        return "\n".join([head, *families, "  }"])

    def document_collection(self, p):
        ways = [w for w in self.ways_back(p) if w[1].of_kind("timestamp") and w[1].key]
        if not ways:
            return None
        name, e, _ = self.pick(ways)
        at = self.pick(e.of_kind("timestamp"))
        cells = ", ".join(f"e.{f.name}" for f in e.key + [at] + self.some(
            [f for f in e.of_kind("text", "int", "decimal") if f not in e.key], 0, 2))
        return (f"  collection {plural(p.snake)} of {p.name} p by {self.key_parts(p)} {{\n    entry ε: *\n"
                f"    copy ε: recent [ {cells} from p.{name} e order by e.{at.name} desc limit 10 ]\n  }}")

    def word_collection(self, e):
        texts = e.of_kind("text")
        if not texts or not e.key:
            return None
        f = self.pick(texts)
        return (f"  collection {plural(e.snake)}_by_word of {e.name} e, words(e.{f.name}) w by w as word {{\n"
                f"    copy [{self.key_parts(e, 'e')}]: e.{f.name} as found\n  }}")

    def make_designs(self):
        def design(head, makers, wanted, rest):
            collections, used = [], set()
            for _ in range(wanted * 3):
                e = self.with_key()
                made = e and self.pick(makers)(e)
                if not made or e.name in used or len(collections) == wanted:
                    continue
                used.add(e.name)
                collections.append(made)
            return f"design {head} {{\n" + "\n".join(collections) + f"\n  rest {rest}\n}}"

        wanted = max(3, min(60, self.entity_count // 20))
        return [design("partitioned", [self.base_collection], wanted, "eao"),
                design("bucketed", [self.bucket_collection, self.base_collection], wanted, "etf"),
                design("copies", [self.copy_collection, self.count_collection, self.word_collection], wanted,
                       "normalized"),
                design("documents for mongodb", [self.document_collection], wanted, "eao"),
                "design plain { rest normalized }"]

    def write(self):
        self.make_values()
        self.make_entities()
        self.make_statements()
        parts = [f"// Written by bench/generate_model.py: {self.entity_count} entities, "
                 f"{self.statement_count} statements.", "model large"]
        parts += [v.write() for v in self.values] + [e.write() for e in self.entities]
        parts += [text for _, text in self.queries] + [text for _, text in self.commands]
        parts += self.make_mixes() + self.make_designs()
        return "\n\n".join(parts) + "\n"


def generate(entities, statements, seed):
    return Generator(entities, statements, seed).write()


def main():
    parser = argparse.ArgumentParser(description="Writes a large, well-formed and varied model to standard output.")
    parser.add_argument("--entities", type=int, default=1_000, metavar="N", help="at least 10 (default: 1000)")
    parser.add_argument("--statements", type=int, default=1_000, metavar="M",
                        help="queries and commands (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the random choices (default: 1)")
    arguments = parser.parse_args()
    if arguments.entities < 10 or arguments.statements < 1:
        parser.error("a model has at least 10 entities and 1 statement")
    sys.stdout.write(generate(arguments.entities, arguments.statements, arguments.seed))


if __name__ == "__main__":
    main()
