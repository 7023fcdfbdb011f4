"""Redis: redis-cli as a user has it, and the Python client."""

import contextlib

import redis

from support import ScriptFailed, run, server


def client():
    """Answers are text; what is none comes as Python has undecodable bytes, and can be sent again."""
    place = server("redis")
    return redis.Redis(place["host"], place["port"], decode_responses=True, encoding_errors="surrogateescape")


def cli(*arguments, text_in=None):
    """What redis-cli prints, without the last line end. `text_in` is its standard input, for `-x` or for commands."""
    place = server("redis")
    printed = run(["redis-cli", "-h", place["host"], "-p", place["port"], "-e", *arguments], text_in=text_in)
    return printed.removesuffix("\n")


def load_functions(path):
    """FUNCTION LOAD of a file with a library; gives the library's name."""
    with open(path, encoding="utf-8") as file:
        try:
            return client().function_load(file.read(), replace=True)
        except redis.RedisError as error:
            raise ScriptFailed(f"{path}: {error}") from error


@contextlib.contextmanager
def empty():
    """A Redis without data and functions, as it is left too: both are one for all, and tests run one after another."""
    connection = client()
    clear(connection)
    try:
        yield connection
    finally:
        clear(connection)
        connection.close()


def clear(connection):
    connection.flushall()
    connection.function_flush()
