"""Cassandra: statements by the driver, and whole files by the driver or by cqlsh."""

import contextlib
import functools
import re

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import RoundRobinPolicy

from support import ScriptFailed, fetched, run, server, unique


@functools.cache
def session():
    place = server("cassandra")
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=60)
    cluster = Cluster([place["host"]], port=place["port"], protocol_version=5,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile}, schema_metadata_enabled=False)
    return cluster.connect()


def execute(statement, parameters=None):
    """The rows of the answer, as a list of named tuples. Parameters are `%s`, or `%(name)s` with a dictionary."""
    return list(session().execute(statement, parameters))


@contextlib.contextmanager
def keyspace():
    """A keyspace for one test, used until the end of the `with`; gives its name."""
    name = unique("noam")
    execute(f"CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    session().set_keyspace(name)
    try:
        yield name
    finally:
        drop_keyspace(name)


def drop_keyspace(name):
    """For keyspaces that a generated file makes."""
    execute(f"DROP KEYSPACE IF EXISTS {name}")


def contents(name):
    """All that lies in a keyspace: its columns, and the rows of each table. Without what counts attempts to deploy."""
    columns = execute("SELECT table_name, column_name, type FROM system_schema.columns WHERE keyspace_name = %s", (name,))
    rows = {table: execute(f"SELECT * FROM {name}.{table}") for table in {column.table_name for column in columns}}
    return sorted(columns), {table: sorted(repr(row._replace(beat=0) if hasattr(row, "beat") else row) for row in found)
                             for table, found in rows.items()}


def unfinished(name):
    """The heads of a keyspace of noam that are held, or have marks of commands that are done."""
    tables = execute("SELECT table_name FROM system_schema.columns WHERE keyspace_name = %s AND column_name = 'noam_tx'"
                     " ALLOW FILTERING", (name,))
    return [(table, row) for (table,) in tables
            for row in execute(f"SELECT noam_tx, noam_hold, noam_done FROM {name}.{table}")
            if (row.noam_tx and row.noam_tx.int) or row.noam_hold or row.noam_done]


def statements(text):
    """The statements of a CQL file, without comments and the semicolons between them. Batches stay whole."""
    token = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$.*?\$\$"""
                       r"|(?P<comment>--[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<end>;)|.", re.DOTALL)
    found, current = [], ""
    for match in token.finditer(text):
        if match["comment"]:
            current += " "
        elif match["end"] and not is_open_batch(current):
            found.append(current.strip())
            current = ""
        else:
            current += match[0]
    return [statement for statement in [*found, current.strip()] if statement]


def is_open_batch(text):
    return bool(re.match(r"\s*BEGIN\s+(UNLOGGED\s+|COUNTER\s+)?BATCH\b", text, re.IGNORECASE)) and not re.search(
        r"\bAPPLY\s+BATCH\s*$", text, re.IGNORECASE)


def execute_file(path):
    """Each statement of the file, in order. The error names the one that failed."""
    with open(path, encoding="utf-8") as file:
        for statement in statements(file.read()):
            try:
                if used := re.fullmatch(r"USE\s+(\S+)", statement, re.IGNORECASE):
                    session().set_keyspace(used[1].strip('"'))
                else:
                    execute(statement)
            except Exception as error:
                raise ScriptFailed(f"{path}: {error}\n{statement}") from error


def cqlsh(path, keyspace_name=None):
    """Runs the file as a user would, and gives back what cqlsh prints."""
    place, python = server("cassandra"), fetched("clients") / "python" / "bin"
    chosen = ["-k", keyspace_name] if keyspace_name else []
    # Its own history and settings, if somebody has some, stay out of it.
    return run([python / "python", "-W", "ignore", python / "cqlsh", *chosen, "--request-timeout=60", "-f", path,
                place["host"], place["port"]], environment={"HOME": str(fetched("clients"))})
