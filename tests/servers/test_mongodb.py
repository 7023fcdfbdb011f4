"""MongoDB's protocol, as mongo-java-server has it."""

import pathlib
import tempfile
import unittest

import bson
import pymongo.errors

from support import ScriptFailed, mongo

SCRIPT = """\
db.createCollection("players", {validator: {$jsonSchema: {bsonType: "object", required: ["username"]}}});
db.players.createIndex({username: 1}, {unique: true, name: "by_username"});
db.getCollection("players").insertMany([{username: "mary", games: NumberLong(17)}, {username: "ann", games: 3}]);
const found = db.players.findOne({username: "mary"}, {_id: 0});
if (db.players.countDocuments({}) === 2) print("found", found.username);
db.players.find({}, {_id: 0, username: 1}).sort({username: 1}).forEach(printjson);
"""


class Server(unittest.TestCase):
    def setUp(self):
        self.db = self.enterContext(mongo.database())
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "schema.js"

    def test_pushes_to_a_list(self):
        self.db.players.insert_one({"_id": "mary", "games": [1]})
        self.db.players.update_one({"_id": "mary"},
                                   {"$push": {"games": {"$each": [2, 3], "$position": 0, "$slice": 2}}})
        self.assertEqual(self.db.players.find_one({"_id": "mary"}), {"_id": "mary", "games": [2, 3]})

    def test_runs_a_script_of_mongosh(self):
        self.file.write_text(SCRIPT)
        self.assertEqual(mongo.run_script(self.file, self.db.name),
                         'found mary\n{"username":"ann"}\n{"username":"mary"}\n')
        self.assertEqual(self.db.players.index_information()["by_username"]["unique"], True)
        # A number has the type that the script gave it.
        self.assertIsInstance(self.db.players.find_one({"username": "mary"})["games"], bson.Int64)
        self.assertNotIsInstance(self.db.players.find_one({"username": "ann"})["games"], bson.Int64)
        with self.assertRaises(pymongo.errors.DuplicateKeyError):
            self.db.players.insert_one({"username": "mary"})

    def test_a_wrong_script_fails(self):
        for text, reason in [("db.players.createIndx({a: 1})", "createIndx is not a function"),
                             ("db.players.insertOne({_id: 1}); db.players.insertOne({_id: 1})", "E11000.*schema.js:1"),
                             ("db.players.updateOne({}, {$psh: {a: 1}})", "psh")]:
            with self.subTest(text), self.assertRaisesRegex(ScriptFailed, f"(?s){reason}"):
                self.file.write_text(text)
                mongo.run_script(self.file, self.db.name)
