"""DynamoDB's API, as two emulators have it."""

import os
import unittest

from support import dynamodb

BY_ID = {
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class OnEmulator:
    """The tests of both; `db` is the emulator."""

    def test_keeps_an_item(self):
        with self.db.table(BY_ID) as table:
            item = {"id": {"S": "g1"}, "score": {"N": "17"}, "players": {"SS": ["ann", "ben"]}}
            self.db.call("PutItem", {"TableName": table, "Item": item})
            found = self.db.call("GetItem", {"TableName": table, "Key": {"id": {"S": "g1"}}, "ConsistentRead": True})
            self.assertEqual(found["Item"], item)
            self.assertNotIn("Item", self.db.call("GetItem", {"TableName": table, "Key": {"id": {"S": "g2"}}}))

    def test_updates_under_a_condition(self):
        with self.db.table(BY_ID) as table:
            self.db.call("PutItem", {"TableName": table, "Item": {"id": {"S": "g1"}, "score": {"N": "17"}}})
            update = {"TableName": table, "Key": {"id": {"S": "g1"}}, "UpdateExpression": "ADD score :more",
                      "ConditionExpression": "score = :seen", "ReturnValues": "ALL_NEW",
                      "ExpressionAttributeValues": {":more": {"N": "3"}, ":seen": {"N": "17"}}}
            self.assertEqual(self.db.call("UpdateItem", update)["Attributes"]["score"], {"N": "20"})
            with self.assertRaises(dynamodb.DynamoDBError) as refused:
                self.db.call("UpdateItem", update)
            self.assertEqual(refused.exception.kind, "ConditionalCheckFailedException")


@unittest.skipIf("NOAM_WITHOUT_DYNOXIDE" in os.environ, "dynoxide is not available on this machine")
class Dynoxide(OnEmulator, unittest.TestCase):
    db = dynamodb.dynoxide

    def test_writes_several_items_or_none(self):
        with self.db.table(BY_ID) as table:
            def put(key):
                return {"Put": {"TableName": table, "Item": {"id": {"S": key}},
                                "ConditionExpression": "attribute_not_exists(id)"}}
            self.db.call("TransactWriteItems", {"TransactItems": [put("a"), put("b")]})
            with self.assertRaises(dynamodb.DynamoDBError) as refused:
                self.db.call("TransactWriteItems", {"TransactItems": [put("c"), put("a")]})
            self.assertEqual([reason["Code"] for reason in refused.exception.body["CancellationReasons"]],
                             ["None", "ConditionalCheckFailed"])
            items = self.db.call("Scan", {"TableName": table})["Items"]
            self.assertEqual(sorted(item["id"]["S"] for item in items), ["a", "b"])


class Dynalite(OnEmulator, unittest.TestCase):
    db = dynamodb.dynalite
