"""Roads beside the matrix, each found by taking one check away: hidden things must not show there."""

import copy
import sys
import unittest

import bson
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
        # The refusal is the same whatever the hidden value is, and tells nothing of it.
        told = set()
        for salary in (100, 500, 10 ** 12):
            items.update_one({"_id": "own"}, {"$set": {"salary": salary}},
                             bypass_document_validation=True)
            answer = self.fay.shop.command("update", "items", updates=[
                {"q": {"_id": "own"}, "u": {"$set": {"title": "new"}}}], check=False)
            error = answer["writeErrors"][0]
            self.assertEqual(error["code"], 13)
            self.assertNotIn("details", error.get("errInfo", {}))
            told.add(str(error))
        self.assertEqual(len(told), 1, told)
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
        def deep(stage):
            return [{"$lookup": {"from": "items", "pipeline": [
                {"$unionWith": {"coll": "items", "pipeline": [stage]}}], "as": "deep"}}]

        # No facet may stand in another, however deep.
        inner = deep({"$facet": {"all": [{"$match": {}}]}})
        for pipeline in (
                [{"$facet": {"a": [{"$limit": 1}, *deep({"$match": {}})]}}],
                [{"$limit": 1}, {"$unionWith": {"coll": "items", "pipeline": inner}}],
                [{"$limit": 1}, {"$graphLookup": {
                    "from": "items", "startWith": "$owner", "connectFromField": "owner",
                    "connectToField": "owner", "as": "g",
                    "restrictSearchWithMatch": {"tenant": "b"}}}, *inner]):
            found = str(list(self.fay.shop.items.aggregate(pipeline)))
            for secret in ("farther", "secret", "hush", "salary", "Via 1"):
                self.assertNotIn(secret, found)

    def test_sessions_of_others(self):
        items = self.root.shop.items
        stream = self.fay.shop.items.watch(max_await_time_ms=200)
        with self.root.start_session() as session:
            with session.start_transaction():
                items.update_one({"_id": "own"}, {"$set": {"n": 7}}, session=session)
            event = stream.next()
            taken = {"id": event["lsid"]["id"]}
            items.find_one_and_update({"_id": "own"}, {"$set": {"n": 8}}, session=session)
            with self.fay.start_session() as own:
                self.assertEqual(len(own.session_id), 1)
                own._server_session.session_id = taken
                # What another user was answered under a number is not told again.
                for number in range(event["txnNumber"], event["txnNumber"] + 3):
                    answer = self.fay.shop.command({
                        "findAndModify": "items", "query": {"_id": "own"},
                        "update": {"$set": {"title": "new"}}, "new": True,
                        "txnNumber": bson.int64.Int64(number)}, session=own)
                    self.assertEqual(answer["value"]["title"], "new")
                    self.assertNotIn("salary", answer["value"])
                # Nor can a transaction under way be looked into, gone on with or ended.
                session.start_transaction()
                items.update_one({"_id": "own"}, {"$set": {"n": 9}}, session=session)
                number = session._server_session.transaction_id
                self.refused(lambda: self.fay.shop.command({
                    "find": "items", "txnNumber": number, "autocommit": False}, session=own), 251)
                self.refused(lambda: self.fay.admin.command({
                    "abortTransaction": 1, "txnNumber": number, "autocommit": False},
                    session=own), 251)
                self.fay.admin.command("endSessions", [taken, dict(event["lsid"])])
                # Nor one who is not signed in, by an id that goes on as the user's does.
                whole = bytes(taken["id"]) + bytes(event["lsid"]["uid"])
                with client(PORT) as stranger:
                    stranger.admin.command("endSessions", [{"id": bson.binary.Binary(whole, 4)}])
            session.commit_transaction()
        self.assertEqual(self.stored("own")["n"], 9)

    def test_validators_in_lists_of_collections(self):
        self.root.shop.command("collMod", "items", validator={"salary": {"$lt": 100}})
        self.root.shop.create_collection("peek", viewOn="items", pipeline=[
            {"$match": {"salary": 10}}])
        for name in ("ann", "fay"):
            shop = {"ann": self.ann, "fay": self.fay}[name].shop
            told = list(shop.list_collections())
            self.assertEqual([c["name"] for c in told], ["items"])
            self.assertNotIn("salary", str(told))
            self.assertEqual(
                list(shop.list_collections(filter={"options.validator": {"$exists": True}})), [])
        self.assertIn("salary", str(list(self.root.shop.list_collections())))
        self.root.shop.drop_collection("peek")
        self.root.shop.command("collMod", "items", validator={})

    def test_collections_that_are_closed(self):
        """They are like collections that are not there."""
        secrets = self.root.shop.secrets
        secrets.insert_many([{"_id": n, "a": n, "text": "hush", "at": [n, n]} for n in range(3)])
        secrets.create_index("a", unique=True)
        secrets.create_index([("at", "2d")])
        self.root.shop.create_collection("peeked", viewOn="items", pipeline=[])
        one = {"$limit": 1}
        commands = [
            lambda c: {"find": c}, lambda c: {"find": c, "hint": "a_1"},
            lambda c: {"find": c, "hint": "none"}, lambda c: {"find": c, "filter": {"_id": 1}},
            lambda c: {"find": c, "filter": {"$text": {"$search": "hush"}}},
            lambda c: {"find": c, "filter": {"at": {"$near": [1, 1]}}},
            lambda c: {"count": c}, lambda c: {"count": c, "hint": "a_1", "query": {"a": 1}},
            lambda c: {"count": c, "hint": "none", "query": {"a": 1}},
            lambda c: {"distinct": c, "key": "a"},
            lambda c: {"distinct": c, "key": "a", "hint": {"none": 1}},
            lambda c: {"aggregate": c, "pipeline": [one], "cursor": {}},
            lambda c: {"aggregate": c, "cursor": {}, "pipeline": [{"$geoNear": {
                "near": [1, 1], "distanceField": "d"}}]},
            lambda c: {"aggregate": "items", "cursor": {}, "pipeline": [one, {"$lookup": {
                "from": c, "localField": "n", "foreignField": "a", "as": "x"}}]},
            lambda c: {"aggregate": "items", "cursor": {}, "pipeline": [one, {"$unionWith": c}]},
            lambda c: {"aggregate": "items", "cursor": {}, "pipeline": [one, {"$graphLookup": {
                "from": c, "startWith": "$n", "connectFromField": "a", "connectToField": "a",
                "as": "x"}}]},
            lambda c: {"aggregate": "items", "cursor": {}, "pipeline": [
                one, {"$merge": {"into": c, "on": "a", "whenMatched": "fail"}}]},
            lambda c: {"aggregate": "items", "cursor": {}, "pipeline": [one, {"$merge": c}]},
            lambda c: {"aggregate": c, "cursor": {}, "pipeline": [{"$changeStream": {}}]},
            lambda c: {"insert": c, "documents": [{"_id": 1, "a": 1}]},
            lambda c: {"insert": c, "documents": [{"_id": 99}]},
            lambda c: {"update": c, "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 5}}}]},
            lambda c: {"update": c, "updates": [
                {"q": {"_id": 1}, "u": {"$set": {"a": 5}}, "upsert": True}]},
            lambda c: {"update": c, "updates": [
                {"q": {"a": 1}, "u": {"$set": {"a": 5}}, "hint": "none"}]},
            lambda c: {"delete": c, "deletes": [{"q": {}, "limit": 0}]},
            lambda c: {"findAndModify": c, "query": {"a": 1}, "remove": True},
            lambda c: {"findAndModify": c, "query": {"_id": 1}, "update": {"b": 1},
                       "upsert": True},
            lambda c: {"listCollections": 1, "filter": {"name": c}},
            lambda c: {"create": c}, lambda c: {"drop": c}, lambda c: {"listIndexes": c},
            lambda c: {"collStats": c}, lambda c: {"dropIndexes": c, "index": "*"},
        ]
        explained = [
            lambda c, make=make, verbosity=verbosity: {"explain": make(c), "verbosity": verbosity}
            for make in commands[:14] for verbosity in ("queryPlanner", "executionStats")]
        for who in (self.ann, self.fay):
            for make in commands + explained:
                with self.subTest(command=make("secrets")):
                    told = {name: self.answer(who.shop, make(name), name)
                            for name in ("secrets", "nothing", "peeked")}
                    self.assertEqual(told["secrets"], told["nothing"])
                    self.assertEqual(told["peeked"], told["nothing"])
            for name in ("shop.secrets", "shop.nothing"):
                answer = who.admin.command({
                    "bulkWrite": 1, "nsInfo": [{"ns": name}], "ordered": False, "ops": [
                        {"insert": 0, "document": {"_id": 1}},
                        {"update": 0, "filter": {"a": 1}, "updateMods": {"$set": {"b": 1}}},
                        {"delete": 0, "filter": {"a": 1}}]})
                self.assertEqual([entry["code"] for entry in answer["cursor"]["firstBatch"]
                                  if not entry["ok"]], [13])
                self.assertEqual([answer[key] for key in ("nMatched", "nDeleted")], [0, 0])
        self.assertEqual(secrets.count_documents({}), 3)
        secrets.drop()
        self.root.shop.drop_collection("peeked")

    def answer(self, db, command, name):
        """The answer without the name of the collection, and what differs by nature."""
        try:
            answer = db.command(copy.deepcopy(command))
        except OperationFailure as error:
            answer = error.details
        told = {k: v for k, v in answer.items() if k not in ("$clusterTime", "operationTime")}
        if "cursor" in told:
            told["cursor"] = {k: v for k, v in told["cursor"].items()
                              if k not in ("id", "postBatchResumeToken")}
        # A command that is told back has its session.
        told["errmsg"] = told.get("errmsg", "").split(" to execute command ")[0]
        return str(told).replace(name, "NAME")

    def test_texts_of_hidden_fields(self):
        items = self.root.shop.items
        items.update_one({"_id": "own"}, {"$set": {"memo": "whisper"}})
        items.create_index([("title", "text"), ("memo", "text")])
        for who, count in ((self.root, 1), (self.ann, 1), (self.fay, 0)):
            search = {"$text": {"$search": "whisper"}}
            self.assertEqual(who.shop.items.count_documents(search), count)
            self.assertEqual(len(list(who.shop.items.find(search))), count)
        scores = [
            [d["s"] for d in who.shop.items.find(
                {"$text": {"$search": "one whisper"}}, {"s": {"$meta": "textScore"}})]
            for who in (self.ann, self.fay)]
        self.assertGreater(scores[0][0], scores[1][0])
        items.drop_index("title_text_memo_text")

    def test_writes_of_many_collections_at_once(self):
        ops = [
            {"update": 0, "filter": {"_id": "far"}, "updateMods": {"$set": {"n": 1}}},
            {"update": 0, "filter": {"salary": {"$gt": 0}}, "updateMods": {"$set": {"n": 1}},
             "multi": True},
            {"delete": 0, "filter": {"tenant": "b"}, "multi": True},
            {"update": 0, "filter": {"_id": "far", "none": 1}, "updateMods": {"$set": {"n": 1}},
             "upsert": True},
            {"insert": 0, "document": {"_id": "far", "owner": "ann", "tenant": "a"}},
            {"update": 0, "filter": {"_id": "own"}, "updateMods": {"$inc": {"salary": 1}}},
        ]
        answer = self.fay.admin.command({
            "bulkWrite": 1, "nsInfo": [{"ns": "shop.items"}], "ops": ops, "ordered": False})
        told = answer["cursor"]["firstBatch"]
        self.assertEqual([entry.get("n") for entry in told[:3]], [0, 0, 0])
        self.assertEqual([entry["code"] for entry in told[3:]], [13, 13, 13])
        for entry in told:
            self.assertNotIn("duplicate", entry.get("errmsg", ""))
        found = list(self.root.shop.items.find())
        self.assertEqual(found, DOCUMENTS)

    def test_plans_of_what_is_hidden(self):
        """What a plan counts is what the user sees."""
        makes = [
            lambda: {"aggregate": "items", "cursor": {}, "pipeline": [
                {"$match": {"n": {"$gt": 0}}}, {"$group": {"_id": "$tenant"}}]},
            lambda: {"count": "items", "query": {"salary": {"$gt": 0}}},
            lambda: {"distinct": "items", "key": "salary", "query": {}},
            lambda: {"update": "items", "updates": [
                {"q": {"tenant": "b"}, "u": {"$set": {"n": 1}}, "multi": True}]},
            lambda: {"delete": "items", "deletes": [{"q": {"tenant": "b"}, "limit": 0}]},
            lambda: {"findAndModify": "items", "query": {"salary": 40}, "remove": True},
        ]
        def told():
            return [[str(who.shop.command("explain", make(), verbosity="executionStats")[part])
                     for make in makes for part in ("queryPlanner", "executionStats")
                     if make().get("aggregate") is None] +
                    [str(who.shop.command("explain", makes[0](), verbosity="executionStats")
                         ["stages"])]
                    for who in (self.ann, self.fay)]
        before = told()
        self.root.shop.items.insert_many(
            {"_id": n, "owner": "eve", "tenant": "b", "salary": n, "n": n} for n in range(20))
        self.assertEqual(told(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
