"""DynamoDB's API: one POST a call, with JSON in and out. Emulators do not look into signatures."""

import contextlib
import json
import time
import urllib.error
import urllib.request

from support import server, unique

AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=noam/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
# Loopback is reached directly, whatever the environment says of proxies.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class DynamoDBError(Exception):
    """The service refused. `kind` is for example ConditionalCheckFailedException, `body` all of what it said."""

    def __init__(self, body):
        self.kind = body.get("__type", "").rpartition("#")[2]
        self.body = body
        super().__init__(f"{self.kind}: {body.get('message') or body.get('Message')}")


class Emulator:
    def __init__(self, name):
        self.name = name

    def call(self, action, request=None):
        """`call("PutItem", {"TableName": …})`: the answer, or DynamoDBError."""
        place = server(self.name)
        post = urllib.request.Request(
            f"http://{place['host']}:{place['port']}/", json.dumps(request or {}).encode(),
            {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{action}",
             "X-Amz-Date": "20260101T000000Z", "Authorization": AUTHORIZATION})
        try:
            with OPENER.open(post, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise DynamoDBError(json.load(error)) from None

    def create(self, description):
        """CreateTable, and waits until the table may be used."""
        self.call("CreateTable", description)
        while self.call("DescribeTable", {"TableName": description["TableName"]})["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(0.005)

    @contextlib.contextmanager
    def table(self, description):
        """A table for one test: as `description` says, under a name of its own, which it gives."""
        name = unique("noam")
        self.create({**description, "TableName": name})
        try:
            yield name
        finally:
            self.drop(name)

    def drop(self, *tables):
        """For tables that were made from a generated file; one that is not there is fine."""
        for table in tables:
            try:
                self.call("DeleteTable", {"TableName": table})
            except DynamoDBError as error:
                if error.kind != "ResourceNotFoundException":
                    raise


dynoxide = Emulator("dynoxide")
dynalite = Emulator("dynalite")
