"""MongoDB's protocol: pymongo, and scripts as they are written for mongosh."""

import contextlib
import pathlib

import pymongo

from support import fetched, run, server, unique


def url():
    place = server("mongodb")
    return f"mongodb://{place['host']}:{place['port']}/?directConnection=true&retryWrites=false"


def client():
    return pymongo.MongoClient(url(), serverSelectionTimeoutMS=10000)


@contextlib.contextmanager
def database():
    """A database for one test, of pymongo; `.name` is its name."""
    with client() as connection:
        name = unique("noam")
        try:
            yield connection[name]
        finally:
            connection.drop_database(name)


def run_script(path, database_name):
    """Runs a mongosh script, with `db` the named database, and gives back what it prints. See mongo_script.js."""
    return run(["node", pathlib.Path(__file__).with_name("mongo_script.js"), fetched("clients") / "node_modules", url(),
                database_name, path])
