"""Roads beside the matrix, each found by taking one check away: hidden things must not show there."""

import copy
import sys
import unittest

from pymongo.errors import OperationFailure
from ruled import DOCUMENTS, client, prepare

PORT = int(sys.argv[1])


class Sideways(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = prepare(PORT)
        cls.ann = client(PORT, "ann")
        cls.fay = client(PORT, "fay")

    def setUp(self):
        self.root.shop.items.delete_many({})
        self.root.shop.items.insert_many(copy.deepcopy(DOCUMENTS))

    def refused(self, body, code=13):
        with self.assertRaises(OperationFailure) as caught:
            body()
        self.assertEqual(caught.exception.code, code)
        return caught.exception.details.get("errmsg", "")

    def stored(self, name):
        return self.root.shop.items.find_one({"_id": name})

    def test_documents_that_streams_look_up(self):
        streams = {name: who.shop.items.watch(
            full_document="updateLookup", max_await_time_ms=200)
            for name, who in (("ann", self.ann), ("fay", self.fay))}
        items = self.root.shop.items
        items.update_one({"_id": "other"}, {"$set": {"n": 8}})
        items.update_one({"_id": "fixed"}, {"$set": {"n": 9, "salary": 1}})
        items.update_one({"_id": "other"}, {"$set": {"tenant": "b"}})
        for name, stream in streams.items():
            (first, second, third) = (stream.next(), stream.next(), stream.next())
            # It is looked up when it is no longer seen.
            self.assertIsNone(first["fullDocument"])
            self.assertEqual("salary" in second["fullDocument"], name == "ann")
            self.assertEqual(second["updateDescription"]["removedFields"], [])
            self.assertEqual("salary" in second["updateDescription"]["updatedFields"],
                             name == "ann")
            self.assertTrue(third["leftView"])

    def test_what_streams_tell_of_other_collections(self):
        stream = self.ann.shop.watch(show_expanded_events=True, max_await_time_ms=200)
        self.root.shop.secrets.insert_one({})
        self.root.shop.items.create_index("title")
        self.root.shop.secrets.drop()
        self.root.shop.items.update_one({"_id": "own"}, {"$set": {"n": 5}})
        self.assertEqual(stream.next()["operationType"], "update")
        self.assertIsNone(stream.try_next())
        self.root.shop.items.drop_index("title_1")

    def test_lists_of_databases(self):
        self.root.other.things.insert_one({})
        self.assertEqual(self.ann.list_database_names(), ["shop"])
        self.root.drop_database("other")

    def test_plans(self):
        for who in (self.ann, self.fay):
            for query in ({"salary": 40}, {"salary": {"$gt": 1}}, {"tenant": "b"}):
                told = who.shop.command("explain", {"find": "items", "filter": query})
                self.assertNotIn("IXSCAN", str(told))
                self.assertNotIn("salary_1", str(told))

    def test_keys_of_hidden_fields(self):
        items = self.root.shop.items
        items.update_one({"_id": "other"}, {"$set": {"salary": 10}})
        items.create_index([("title", 1), ("salary", 1)], unique=True, name="both")
        told = self.refused(lambda: self.fay.shop.items.update_one(
            {"_id": "other"}, {"$set": {"title": "one"}}))
        self.assertEqual(told, 'write to "other" in table "items" not allowed')
        # Who sees the fields is told which key it is.
        self.refused(lambda: self.root.shop.items.update_one(
            {"_id": "other"}, {"$set": {"title": "one"}}), 11000)
        items.drop_index("both")

    def test_validators_of_hidden_fields(self):
        items = self.root.shop.items
        items.update_one({"_id": "own"}, {"$set": {"salary": 500}})
        self.root.shop.command("collMod", "items", validator={
            "salary": {"$lt": 100}, "n": {"$lt": 100}})
        self.refused(lambda: self.fay.shop.items.update_one(
            {"_id": "own"}, {"$set": {"title": "new"}}))
        self.refused(lambda: self.ann.shop.items.update_one(
            {"_id": "own"}, {"$set": {"title": "new"}}), 121)
        # Nor can the validator be gone round.
        loose = self.ann.shop.command(
            "update", "items", bypassDocumentValidation=True, updates=[
                {"q": {"_id": "own"}, "u": {"$set": {"salary": 1, "n": 200}}}], check=False)
        self.assertEqual(loose["writeErrors"][0]["code"], 121)
        self.root.shop.command("collMod", "items", validator={})

    def test_sizes_of_hidden_fields(self):
        self.root.shop.items.update_one(
            {"_id": "own"}, {"$set": {"salary": b"x" * (15 << 20)}})
        told = self.refused(lambda: self.fay.shop.items.update_one(
            {"_id": "own"}, {"$set": {"title": b"y" * (2 << 20)}}))
        self.assertEqual(told, 'write to "own" in table "items" not allowed')

    def test_merging_over_what_is_hidden(self):
        stages = [{"$limit": 1}, {"$set": {"_id": "far", "owner": "ann", "tenant": "a"}}]
        for mode in ("replace", "merge", "keepExisting", "fail"):
            merge = {"$merge": {"into": "items", "whenMatched": mode}}
            self.refused(lambda: list(self.ann.shop.items.aggregate([*stages, merge])))
            self.assertEqual(self.stored("far"), DOCUMENTS[3])

    def test_changes_of_the_first_in_an_order(self):
        found = self.fay.shop.items.find_one_and_update(
            {}, {"$set": {"title": "first"}}, sort=[("n", 1)], return_document=True)
        self.assertEqual(found["title"], "first")
        self.assertNotIn("salary", found)
        self.assertEqual(self.stored("own"), {**DOCUMENTS[0], "title": "first"})
        replaced = {"owner": "ann", "tenant": "a", "n": 0, "address": {"city": "Rome"}}
        self.fay.shop.items.find_one_and_replace({}, replaced, sort=[("n", 1)])
        self.assertEqual(self.stored("own")["salary"], 10)

    def test_writes_in_transactions(self):
        items = self.ann.shop.items
        with self.ann.start_session() as session:
            with session.start_transaction():
                change = {"$set": {"n": 9}}
                self.assertEqual(
                    items.update_one({"_id": "far"}, change, session=session).matched_count, 0)
                items.update_one({"_id": "own"}, change, session=session)
            session.start_transaction()
            self.refused(lambda: items.insert_one(
                {"_id": "x", "owner": "zoe", "tenant": "b"}, session=session))
            session.abort_transaction()
        self.assertEqual(self.stored("far"), DOCUMENTS[3])
        self.assertIsNone(self.stored("x"))

    def test_sub_pipelines_of_sub_pipelines(self):
        inner = [{"$lookup": {"from": "items", "pipeline": [
            {"$unionWith": {"coll": "items", "pipeline": [
                {"$facet": {"all": [{"$match": {}}]}}]}}], "as": "deep"}}]
        for pipeline in (
                [{"$facet": {"a": [{"$limit": 1}, *inner]}}],
                [{"$limit": 1}, {"$unionWith": {"coll": "items", "pipeline": inner}}],
                [{"$limit": 1}, {"$graphLookup": {
                    "from": "items", "startWith": "$owner", "connectFromField": "owner",
                    "connectToField": "owner", "as": "g",
                    "restrictSearchWithMatch": {"tenant": "b"}}}, *inner]):
            found = str(list(self.fay.shop.items.aggregate(pipeline)))
            for secret in ("farther", "secret", "hush", "salary", "Via 1"):
                self.assertNotIn(secret, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
