"""MongoDB's $jsonSchema, as far as noam writes it: mongo-java-server takes no notice of validators."""

import datetime
import re
import uuid

import bson

# Of the values that pymongo gives. An Int64 is an int and a bool too, so the order counts.
TYPES = [("null", type(None)), ("bool", bool), ("long", bson.Int64), ("int", int), ("double", float), ("string", str),
         ("decimal", bson.Decimal128), ("date", datetime.datetime), ("binData", (bytes, uuid.UUID)), ("object", dict),
         ("array", list)]


def bson_type(value):
    return next(name for name, known in TYPES if isinstance(value, known))


def errors(schema, value, path=""):
    """What is wrong with the value, a line each. A keyword that is not known here is an error of the test."""
    found = []
    for keyword, wanted in schema.items():
        found += KEYWORDS[keyword](schema, wanted, value, path)
    return found


def of_type(_, wanted, value, path):
    wanted = wanted if isinstance(wanted, list) else [wanted]
    return [] if bson_type(value) in wanted else [f"{path}: {bson_type(value)} is not {' or '.join(wanted)}"]


def one_of(_, wanted, value, path):
    return [] if value in wanted else [f"{path}: {value!r} is none of {wanted}"]


def no_longer(_, wanted, value, path):
    return [f"{path}: longer than {wanted}"] if isinstance(value, str) and len(value) > wanted else []


def required(_, wanted, value, path):
    return [f"{path}.{name}: missing" for name in wanted if isinstance(value, dict) and name not in value]


def properties(_, wanted, value, path):
    value = value if isinstance(value, dict) else {}
    return [error for name in wanted.keys() & value.keys() for error in errors(wanted[name], value[name], f"{path}.{name}")]


def pattern_properties(_, wanted, value, path):
    pairs = [(schema, name) for pattern, schema in wanted.items() for name in value if re.search(pattern, name)]
    return [error for schema, name in pairs for error in errors(schema, value[name], f"{path}.{name}")]


def additional_properties(schema, wanted, value, path):
    if not isinstance(value, dict):
        return []
    others = [name for name in value if name not in schema.get("properties", {})
              and not any(re.search(pattern, name) for pattern in schema.get("patternProperties", {}))]
    if isinstance(wanted, bool):
        return [] if wanted else [f"{path}.{name}: not known" for name in others]
    return [error for name in others for error in errors(wanted, value[name], f"{path}.{name}")]


def items(_, wanted, value, path):
    value = value if isinstance(value, list) else []
    return [error for index, item in enumerate(value) for error in errors(wanted, item, f"{path}[{index}]")]


def unique_items(_, wanted, value, path):
    if not wanted or not isinstance(value, list):
        return []
    return [f"{path}[{index}]: twice" for index, item in enumerate(value) if item in value[:index]]


def any_of(_, wanted, value, path):
    return [] if any(not errors(schema, value, path) for schema in wanted) else [f"{path}: fits none of {wanted}"]


KEYWORDS = {
    "bsonType": of_type, "enum": one_of, "maxLength": no_longer, "required": required, "properties": properties,
    "patternProperties": pattern_properties, "additionalProperties": additional_properties, "items": items,
    "uniqueItems": unique_items, "anyOf": any_of,
}
