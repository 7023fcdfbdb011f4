"""HBase, through its Thrift2 gateway."""

import pathlib
import tempfile
import unittest

from support import ScriptFailed, hbase, unique


class Server(unittest.TestCase):
    def setUp(self):
        self.namespace = unique("noam")
        self.addCleanup(hbase.drop_namespace, self.namespace)
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "schema.rb"

    def run_script(self, text):
        self.file.write_text(text.replace("NAMESPACE", self.namespace))
        hbase.run_script(self.file)

    def test_keeps_a_row_of_two_families(self):
        self.run_script("create_namespace 'NAMESPACE'\ncreate 'NAMESPACE:players', 'profile', 'games'\n")
        table = f"{self.namespace}:players"
        with hbase.client() as gateway:
            hbase.put(gateway, table, "mary", {("profile", "city"): "Rome", ("games", b"\x00\x01"): "17"})
            self.assertEqual(hbase.get(gateway, table, "mary"),
                             {(b"profile", b"city"): b"Rome", (b"games", b"\x00\x01"): b"17"})
            self.assertEqual(hbase.get(gateway, table, "nobody"), {})

    def test_makes_families_as_a_script_says(self):
        self.run_script("""\
            create_namespace 'NAMESPACE'
            create 'NAMESPACE:games', {NAME => 'd', VERSIONS => 3, TTL => 86400, BLOOMFILTER => 'ROWCOL',
                                       NEW_VERSION_BEHAVIOR => true}, {SPLITS => ["\\x40", "\\x80"]}
            alter 'NAMESPACE:games', {NAME => 'e', IN_MEMORY => true}
            put 'NAMESPACE:games', 'g1', 'd:score', '17'
            """)
        with hbase.client() as gateway:
            table = hbase.table_name(f"{self.namespace}:games")
            first, second = gateway.getTableDescriptor(table).columns
            self.assertEqual((first.name, first.maxVersions, first.timeToLive), (b"d", 3, 86400))
            self.assertEqual(first.bloomnFilterType, hbase.types.TBloomFilterType.ROWCOL)
            self.assertEqual(first.attributes[b"NEW_VERSION_BEHAVIOR"], b"true")
            self.assertEqual((second.name, second.inMemory), (b"e", True))
            self.assertEqual(len(gateway.getAllRegionLocations(f"{self.namespace}:games".encode())), 3)
            self.assertEqual(hbase.get(gateway, f"{self.namespace}:games", "g1"), {(b"d", b"score"): b"17"})

    def test_a_wrong_script_fails(self):
        for text, reason in [("create 'NAMESPACE:t', {NAME => 'f', VERSION => 3}", "uninitialized constant VERSION"),
                             ("create 'NAMESPACE:t', {NAME => 'f', SPLIT_ENABLED => false}", "unknown: SPLIT_ENABLED"),
                             ("creat 'NAMESPACE:t', 'f'", "undefined method"),
                             ("create 'NAMESPACE:t', 'f'", "NamespaceNotFoundException")]:
            with self.subTest(text), self.assertRaisesRegex(ScriptFailed, reason):
                self.run_script(text)
