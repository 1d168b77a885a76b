"""Rules that change while the server runs."""

import copy
import json
import pathlib
import sys
import unittest

from pymongo.errors import OperationFailure
from ruled import DOCUMENTS, client, prepare

PORT = int(sys.argv[1])
FILE = pathlib.Path(sys.argv[2]) / "data_sources/mongodb-atlas/shop/items/rules.json"


class Reload(unittest.TestCase):
    def refused(self, body, code):
        with self.assertRaises(OperationFailure) as caught:
            body()
        self.assertEqual(caught.exception.code, code)
        return caught.exception.details["errmsg"]

    @classmethod
    def setUpClass(cls):
        cls.root = prepare(PORT)

    def setUp(self):
        self.root.shop.items.delete_many({})
        self.root.shop.items.insert_many(copy.deepcopy(DOCUMENTS))

    def test_change(self):
        root = client(PORT, "root")
        (ann, ron) = (client(PORT, "ann"), client(PORT, "ron"))
        watching = [c.shop.items.watch(max_await_time_ms=100) for c in (ann, ron)]
        cursor = ann.shop.items.find(batch_size=1)
        next(cursor)
        self.assertEqual(ann.shop.items.count_documents({}), 3)

        text = FILE.read_text()
        self.assertEqual(root.admin.command("reloadRules")["changed"], False)
        FILE.write_text(text.replace('"read": {', '"rede": {'))
        told = self.refused(lambda: root.admin.command("reloadRules"), 72)
        self.assertIn("roles[0].document_filters.rede: There is no such key", told)
        self.assertEqual(ann.shop.items.count_documents({}), 3)

        self.addCleanup(lambda: root.admin.command("reloadRules"))
        self.addCleanup(lambda: FILE.write_text(text))
        rules = json.loads(text)
        rules["roles"][2]["document_filters"]["read"] = {"owner": "%%user.id"}
        FILE.write_text(json.dumps(rules))
        # What was changed before and not told yet goes into what the rules take.
        root.shop.items.update_one({"_id": "fixed"}, {"$set": {"n": 9}})
        root.shop.items.delete_one({"_id": "other"})
        before = watching[0].resume_token
        self.assertEqual(root.admin.command("reloadRules")["changed"], True)
        self.assertEqual([d["_id"] for d in ann.shop.items.find()], ["own"])
        self.assertEqual(ron.shop.items.count_documents({}), 2)
        # A query that was open under the former rules ends; who is not concerned goes on.
        self.refused(lambda: list(cursor), 175)
        told = [watching[0].next() for _ in range(2)]
        self.assertEqual([(e["operationType"], e["documentKey"]["_id"], e.get("leftView"))
                          for e in told],
                         [("delete", "fixed", True), ("delete", "other", None)])
        self.assertEqual(len({e["_id"]["_data"] for e in told}), 2)
        for token in (before, told[0]["_id"]):
            self.refused(lambda: ann.shop.items.watch(resume_after=token), 286)
        root.shop.items.update_one({"_id": "own"}, {"$set": {"n": 5}})
        self.assertEqual(watching[0].next()["updateDescription"]["updatedFields"], {"n": 5})
        self.assertEqual(
            [watching[1].next()["operationType"] for _ in range(3)],
            ["update", "delete", "update"])

        # A token of now goes on, and nobody else's.
        after = watching[0].resume_token
        self.assertIsNone(
            ann.shop.items.watch(resume_after=after, max_await_time_ms=100).try_next())
        self.refused(lambda: ron.shop.items.watch(resume_after=after), 286)

        # What comes into view arrives, without the stream being opened anew.
        FILE.write_text(text)
        root.shop.items.insert_one({"_id": "late", "tenant": "a", "owner": "zoe"})
        self.assertEqual(root.admin.command("reloadRules")["changed"], True)
        arrived = [watching[0].next() for _ in range(2)]
        self.assertEqual([(e["operationType"], e["fullDocument"]["_id"], e.get("enteredView"))
                          for e in arrived],
                         [("insert", "fixed", True), ("insert", "late", True)])
        root.shop.items.update_one({"_id": "late"}, {"$set": {"n": 1}})
        self.assertEqual(watching[0].next()["documentKey"]["_id"], "late")
        self.assertIsNone(watching[0].try_next())

    def test_custom_data_of_a_stream(self):
        root = client(PORT, "root")
        eve = client(PORT, "eve")
        stream = eve.shop.watch(max_await_time_ms=100)
        self.assertIsNone(stream.try_next())
        seen = {d["_id"] for d in eve.shop.items.find()}
        root.shop.profiles.update_one({"user": "eve"}, {"$set": {"tenant": "a"}})
        now = {d["_id"] for d in eve.shop.items.find()}
        told = set()
        while (event := stream.try_next()) is not None:
            told.add((event["operationType"], event["documentKey"]["_id"]))
        self.assertEqual(
            told, {("delete", d) for d in seen - now} | {("insert", d) for d in now - seen})
        root.shop.profiles.update_one({"user": "eve"}, {"$set": {"tenant": "b"}})

    def test_custom_data(self):
        root = client(PORT, "root")
        ben = client(PORT, "ben")
        before = ben.shop.items.count_documents({})
        root.shop.profiles.update_one({"user": "ben"}, {"$set": {"tenant": "b"}})
        # What ben may write ben sees, in whatever tenant.
        self.assertEqual(
            [d["_id"] for d in ben.shop.items.find()], ["other", "far", "farther"])
        root.shop.profiles.update_one({"user": "ben"}, {"$unset": {"tenant": 1}})
        self.assertEqual([d["_id"] for d in ben.shop.items.find()], ["other"])
        root.shop.profiles.update_one({"user": "ben"}, {"$set": {"tenant": "a"}})
        self.assertEqual(ben.shop.items.count_documents({}), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
