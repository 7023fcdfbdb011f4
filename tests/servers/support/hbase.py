"""HBase: its Thrift2 gateway, and scripts as they are written for `hbase shell`.

The interface is hbase.thrift in the folder that `tools/servers path hbase` prints. Names, rows, columns and values are
bytes.
"""

import contextlib
import json
import pathlib
import sys

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from support import ScriptFailed, fetched, run, server

# `types` has TGet, TPut and the others.
sys.path.insert(0, str(fetched("hbase") / "python"))
from hbase import THBaseService as service  # pylint: disable=wrong-import-position
from hbase import ttypes as types  # pylint: disable=wrong-import-position

FOREVER = 2147483647
# What a script may say of a family and of a table; HBase keeps them under these very names.
OF_FAMILIES = {
    "BLOCKCACHE", "BLOCKSIZE", "BLOOMFILTER", "CACHE_BLOOMS_ON_WRITE", "CACHE_DATA_ON_WRITE", "CACHE_INDEX_ON_WRITE",
    "COMPRESSION", "DATA_BLOCK_ENCODING", "EVICT_BLOCKS_ON_CLOSE", "IN_MEMORY", "KEEP_DELETED_CELLS", "MIN_VERSIONS",
    "NEW_VERSION_BEHAVIOR", "PREFETCH_BLOCKS_ON_OPEN", "REPLICATION_SCOPE", "TTL", "VERSIONS"}
OF_TABLES = {
    "COMPACTION_ENABLED", "DURABILITY", "MAX_FILESIZE", "MEMSTORE_FLUSHSIZE", "READONLY", "REGION_REPLICATION",
    "SPLIT_ENABLED"}


@contextlib.contextmanager
def client():
    """The gateway: `with hbase.client() as gateway: gateway.get(b"table", hbase.types.TGet(b"row"))`."""
    place = server("hbase")
    # The gateway reconnects by itself, and calls block meanwhile.
    socket = TSocket(place["host"], place["port"])
    socket.setTimeout(120_000)
    transport = TBufferedTransport(socket)
    transport.open()
    try:
        yield service.Client(TBinaryProtocolAccelerated(transport))
    finally:
        transport.close()


def table_name(text):
    """`namespace:table`, or a table of the default namespace."""
    namespace, _, qualifier = text.rpartition(":")
    return types.TTableName((namespace or "default").encode(), qualifier.encode())


def put(gateway, table, row, cells):
    """`cells`: a value for each (family, qualifier), all of one row, at once. Text is UTF-8."""
    values = [types.TColumnValue(as_bytes(family), as_bytes(qualifier), as_bytes(value))
              for (family, qualifier), value in cells.items()]
    gateway.put(as_bytes(table), types.TPut(as_bytes(row), values))


def get(gateway, table, row):
    """The newest value of each (family, qualifier) of the row, as bytes; empty where there is no row."""
    result = gateway.get(as_bytes(table), types.TGet(as_bytes(row)))
    return {(cell.family, cell.qualifier): cell.value for cell in result.columnValues}


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


def drop(*tables):
    """Disables and deletes each; one that is not there is fine."""
    with client() as gateway:
        for table in map(table_name, tables):
            if gateway.tableExists(table):
                if gateway.isTableEnabled(table):
                    gateway.disableTable(table)
                gateway.deleteTable(table)


def drop_namespace(name):
    """With its tables."""
    with client() as gateway:
        if name not in gateway.listNamespaces():
            return
        drop(*(f"{name}:{table.qualifier.decode()}" for table in gateway.getTableNamesByNamespace(name)))
        gateway.deleteNamespace(name)


# The shell's own Ruby code is in no package registry, so a script is read by Ruby and carried out here. That shows that
# it is Ruby, that its commands and words are those of the shell, and that HBase takes what it asks for.


def run_script(path):
    """Carries out a script of `hbase shell`. Fails at the first line that fails; else gives what each command gave."""
    given = []
    commands = run(["ruby", pathlib.Path(__file__).with_name("hbase_script.rb"), path])
    with client() as gateway:
        for line in commands.splitlines():
            command, *arguments = json.loads(line)
            try:
                given.append(COMMANDS[command](gateway, *arguments))
            except Exception as error:
                raise ScriptFailed(f"{path}: {line}: {getattr(error, 'message', None) or error}") from error
    return given


def create(gateway, table, *described):
    descriptor = types.TTableDescriptor(table_name(table), [], {})
    splits = None
    for part in described:
        if isinstance(part, str) or "NAME" in part:
            descriptor.columns.append(family_descriptor(part))
            continue
        part = dict(part)
        splits = [latin(key) for key in part.pop("SPLITS", [])] or splits
        metadata = part.pop("METADATA", {})
        refuse_unknown(part, OF_TABLES)
        descriptor.attributes |= as_attributes(part | metadata)
    gateway.createTable(descriptor, splits)


def alter(gateway, table, *described):
    name = table_name(table)
    present = {column.name for column in gateway.getTableDescriptor(name).columns}
    for part in described:
        if not isinstance(part, str) and part.get("METHOD") == "delete":
            gateway.deleteColumnFamily(name, latin(part["NAME"]))
            continue
        family = family_descriptor(part)
        (gateway.modifyColumnFamily if family.name in present else gateway.addColumnFamily)(name, family)


def family_descriptor(part):
    part = {"NAME": part} if isinstance(part, str) else dict(part)
    name = latin(part.pop("NAME"))
    configuration = {key: str(value) for key, value in part.pop("CONFIGURATION", {}).items()}
    metadata = part.pop("METADATA", {})
    if part.get("TTL") == "FOREVER":
        part["TTL"] = FOREVER
    refuse_unknown(part, OF_FAMILIES)
    return types.TColumnFamilyDescriptor(name, as_attributes(part | metadata), configuration)


def refuse_unknown(part, known):
    if unknown := part.keys() - known:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")


def as_attributes(part):
    return {latin(key): latin(str(value).lower() if isinstance(value, bool) else str(value))
            for key, value in part.items()}


def latin(text):
    return text.encode("latin-1")


def put_text(gateway, table, row, column, value, timestamp=None):
    family, _, qualifier = column.partition(":")
    cell = types.TColumnValue(latin(family), latin(qualifier), latin(str(value)), timestamp)
    gateway.put(latin(table), types.TPut(latin(row), [cell]))


def parse_column(text):
    """Family and qualifier."""
    family, _, qualifier = text.partition(":")
    return latin(family), latin(qualifier)


def asked_columns(options):
    """Of a get or a scan: whole families, or columns."""
    asked = options["COLUMN"] if isinstance(options["COLUMN"], list) else [options["COLUMN"]]
    return [types.TColumn(*(part or None for part in parse_column(text))) for text in asked]


def asked_filter(options):
    return latin(options["FILTER"]) if "FILTER" in options else None


def get_text(gateway, table, row, options):
    asked = types.TGet(latin(row), columns=asked_columns(options), filterString=asked_filter(options))
    return [(cell.family, cell.qualifier, cell.value) for cell in gateway.get(latin(table), asked).columnValues]


def scan_text(gateway, table, options):
    asked = types.TScan(columns=asked_columns(options), filterString=asked_filter(options))
    return [(result.row, cell.family, cell.qualifier, cell.value)
            for result in gateway.getScannerResults(latin(table), asked, 1000) for cell in result.columnValues]


def increase(gateway, table, row, column, amount):
    gateway.increment(latin(table), types.TIncrement(latin(row), [types.TColumnIncrement(*parse_column(column), amount)]))


def deletion(row, columns):
    return types.TDelete(latin(row), [types.TColumn(*parse_column(column)) for column in columns],
                         deleteType=types.TDeleteType.DELETE_COLUMNS)


def mutations(row, cells, deleted):
    """As noam.rb has it: what is nothing is deleted."""
    written = [types.TColumnValue(*parse_column(column), latin(value))
               for column, value in cells.items() if value is not None]
    gone = deleted + [column for column, value in cells.items() if value is None]
    out = []
    if written:
        out.append(types.TMutation(put=types.TPut(latin(row), written)))
    if gone:
        out.append(types.TMutation(deleteSingle=deletion(row, gone)))
    return types.TRowMutations(latin(row), out)


def mutate_row(gateway, table, row, cells, deleted=()):
    gateway.mutateRow(latin(table), mutations(row, cells, list(deleted)))


def check_and_mutate(gateway, table, row, column, expected, cells, deleted=()):
    # pylint: disable=too-many-arguments,too-many-positional-arguments
    family, qualifier = parse_column(column)
    return gateway.checkAndMutate(latin(table), latin(row), family, qualifier, types.TCompareOp.EQUAL,
                                  latin(expected or ""), mutations(row, cells, list(deleted)))


COMMANDS = {
    "create_namespace": lambda gateway, name, options=None: gateway.createNamespace(
        types.TNamespaceDescriptor(name, {key: str(value) for key, value in (options or {}).items()})),
    "drop_namespace": lambda gateway, name: gateway.deleteNamespace(name),
    "create": create,
    "alter": alter,
    "put": put_text,
    "get": get_text,
    "scan": scan_text,
    "incr": increase,
    "delete": lambda gateway, table, row, column: gateway.deleteSingle(latin(table), deletion(row, [column])),
    "mutate_row": mutate_row,
    "check_and_mutate": check_and_mutate,
    "disable": lambda gateway, table: gateway.disableTable(table_name(table)),
    "enable": lambda gateway, table: gateway.enableTable(table_name(table)),
    "drop": lambda gateway, table: gateway.deleteTable(table_name(table)),
    "truncate": lambda gateway, table: (gateway.disableTable(table_name(table)),
                                        gateway.truncateTable(table_name(table), False)),
}
