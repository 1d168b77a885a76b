"""Collections, indexes, cursors and explanations, with the fields that tools look at."""

import datetime

import bson
import pymongo
from bson import Decimal128, Int64
from pymongo import CursorType
from served import ServedTest, main


class Collections(ServedTest):
    def test_a_collection_is_made_listed_renamed_and_dropped(self):
        self.db.create_collection("logs", capped=True, size=4096, max=2)
        self.db.create_collection("v", viewOn="logs", pipeline=[{"$match": {"a": 1}}])
        listed = {c["name"]: c for c in self.db.list_collections()}
        self.assertEqual(listed["logs"]["options"]["max"], 2)
        self.assertEqual(listed["v"]["type"], "view")
        self.assertFalse(listed["logs"]["info"]["readOnly"])
        self.db["logs"].rename("old")
        self.assertIn("served", self.client.list_database_names())
        self.assertEqual(self.db.command("drop", "old")["nIndexesWas"], 1)
        self.assertEqual(self.db.command("drop", "old")["ok"], 1)
        self.assertEqual(self.db.command("create", "n")["ok"], 1)
        self.assertEqual(self.refused("create", "n", capped=True, size=4096)[0], 48)

    def test_statistics_count(self):
        self.items.insert_many({"_id": i} for i in range(3))
        self.assertEqual(self.db.command("collStats", "items")["count"], 3)
        self.assertEqual(self.db.command("dbStats")["objects"], 3)
        self.assertTrue(self.db.command("validate", "items")["valid"])
        stats = list(self.items.aggregate([{"$collStats": {"count": {}}}]))
        self.assertEqual(stats[0]["count"], 3)

    def test_stages_of_the_server_check_what_they_are_asked(self):
        self.items.insert_one({"_id": 1})
        facet = {"$facet": {"x": [{"$changeStream": {}}]}}
        for pipeline, code in (
                ([{"$collStats": 5}], 40166), ([{"$collStats": {"x": {}}}], 40415),
                ([{"$collStats": {"count": 5}}], 14), ([{"$indexStats": {"x": 1}}], 28803),
                ([{"$listLocalSessions": {}}], 73), ([{"$currentOp": {}}], 73), ([facet], 40600),
                ([{"$lookup": {"from": "items", "pipeline": [{"$changeStream": {}}], "as": "x"}}],
                 51047),
                ([{"$listSessions": {}}], 73),
                ([{"$match": {}}, {"$currentOp": {}}], 73),
                ([{"$unionWith": {"coll": "items", "pipeline": [{"$changeStream": {}}]}}], 31441),
                ([{"$match": {}}, {"$changeStream": {}}], 40602)):
            self.assertEqual(self.refused("aggregate", "items", pipeline=pipeline, cursor={})[0],
                             code, pipeline)
        # The server makes the stage, which checks the namespace, before it checks the place.
        for name in ("$currentOp", "$listSessions", "$listLocalSessions"):
            for stage in ({"$lookup": {"from": "items", "pipeline": [{name: {}}], "as": "x"}},
                          {"$unionWith": {"coll": "items", "pipeline": [{name: {}}]}},
                          {"$facet": {"x": [{name: {}}]}}):
                self.assertEqual(
                    self.refused("aggregate", "items", pipeline=[stage], cursor={})[0], 73, stage)
        sessions = [{"$facet": {"x": [{"$listLocalSessions": {}}]}}]
        self.assertEqual(self.refused("aggregate", 1, pipeline=sessions, cursor={})[0], 40600)
        for name in ("$collStats", "$indexStats", "$planCacheStats"):
            for stage in ({"$lookup": {"from": "items", "pipeline": [{name: {}}], "as": "x"}},
                          {"$unionWith": {"coll": "items", "pipeline": [{name: {}}]}}):
                code, text = self.refused(
                    "aggregate", "items", pipeline=[{"$facet": {"x": [stage]}}], cursor={})
                self.assertEqual(code, 40600, stage)
                self.assertEqual(
                    text, f"{name} inside of {next(iter(stage))} is not allowed to be used within "
                    "a $facet stage")
        count = [{"$collStats": {"count": {}}}]
        self.assertEqual(self.refused("aggregate", "none", pipeline=count, cursor={})[0], 26)
        sessions = [{"$listLocalSessions": {"x": 1}}]
        self.assertEqual(self.refused("aggregate", 1, pipeline=sessions, cursor={})[0], 40415)
        for options in (5, {"x": True}, {"allUsers": 1}):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.client.admin.aggregate([{"$currentOp": options}])
            self.assertEqual(caught.exception.code, 9, options)
        self.assertEqual(
            self.refused("aggregate", "items", pipeline=[], explain=True, writeConcern={"w": 1})[0], 9)

    def test_other_collections_are_described_inside_a_pipeline(self):
        # MongoDB's document_source_coll_stats.h and document_source_index_stats.h allow $lookup.
        self.items.insert_one({"_id": 1})
        self.db.other.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])
        self.db.other.create_index("a")
        count = [{"$collStats": {"count": {}}}, {"$project": {"_id": 0, "ns": 1, "count": 1}}]
        names = [{"$indexStats": {}}, {"$sort": {"name": 1}}, {"$project": {"name": 1}}]

        def looked(pipeline, **fields):
            stage = {"from": "other", "pipeline": pipeline, "as": "x", **fields}
            return self.items.aggregate([{"$lookup": stage}]).next()["x"]

        statistics = {"ns": f"{self.db.name}.other", "count": 2}
        self.assertEqual(looked(count), [statistics])
        self.assertEqual(looked(names), [{"name": "_id_"}, {"name": "a_1"}])
        self.assertEqual(looked([{"$planCacheStats": {}}]), [])
        union = {"$unionWith": {"coll": "other", "pipeline": count}}
        self.assertEqual(list(self.items.aggregate([union])), [{"_id": 1}, statistics])
        for stage, code in (
                ({"$lookup": {"from": "other", "pipeline": [{"$match": {}}, *count], "as": "x"}},
                 40602),
                ({"$lookup": {"from": "other", "localField": "a", "foreignField": "a",
                              "pipeline": count, "as": "x"}}, 40602),
                ({"$lookup": {"from": "other", "pipeline": [{"$collStats": 5}], "as": "x"}},
                 40166),
                ({"$unionWith": {"coll": "other", "pipeline": [{"$indexStats": 5}]}}, 28803),
                ({"$lookup": {"from": "none", "pipeline": count, "as": "x"}}, 26)):
            self.assertEqual(
                self.refused("aggregate", "items", pipeline=[stage], cursor={})[0], code, stage)
        for stage in ({"$lookup": {"from": "other", "pipeline": count, "as": "x"}},
                      {"$unionWith": {"coll": "other", "pipeline": count}}):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                with self.client.start_session() as session, session.start_transaction():
                    self.items.aggregate([stage], session=session)
            self.assertEqual(caught.exception.code, 263, stage)

    def test_a_parameter_that_is_a_number_takes_no_other_value(self):
        admin = self.client.admin
        for name, wrong in (
                ("logLevel", float("nan")), ("logLevel", Decimal128("NaN")), ("logLevel", -1),
                ("logLevel", "1"), ("ttlMonitorSleepSecs", float("nan")),
                ("ttlMonitorSleepSecs", None)):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                admin.command("setParameter", 1, **{name: wrong})
            self.assertEqual(caught.exception.code, 2, (name, wrong))
        self.assertEqual(admin.command("setParameter", 1, logLevel=1.0)["was"], 0)
        self.assertEqual(admin.command("setParameter", 1, logLevel=0)["was"], 1)

    def test_documents_whose_time_is_over_go(self):
        self.items.create_index("at", expireAfterSeconds=1)
        self.client.admin.command("setParameter", 1, ttlMonitorSleepSecs=1)
        self.items.insert_one({"at": datetime.datetime(2020, 1, 1)})
        with self.client.start_session() as session:
            deadline = datetime.datetime.now() + datetime.timedelta(seconds=300)
            while self.items.count_documents({}, session=session) > 0:
                self.assertLess(datetime.datetime.now(), deadline)


class Indexes(ServedTest):
    def test_indexes_are_made_listed_and_dropped(self):
        self.items.create_index([("a", 1), ("b", -1)], unique=True, name="ab")
        self.items.create_index("c", sparse=True)
        known = self.items.index_information()
        self.assertEqual(known["ab"]["key"], [("a", 1), ("b", -1)])
        self.assertTrue(known["ab"]["unique"])
        self.assertEqual(self.refused("dropIndexes", "items", index="zz")[0], 27)
        self.items.drop_index("ab")
        self.assertEqual(set(self.items.index_information()), {"_id_", "c_1"})
        self.assertEqual(self.refused("listIndexes", "none")[0], 26)

    def test_conflicts_have_their_codes(self):
        self.items.create_index("a")

        def code(**index):
            return self.refused("createIndexes", "items", indexes=[index])[0]

        self.assertEqual(code(key={"a": 1}, name="other"), 85)
        self.assertEqual(code(key={"a": -1}, name="a_1"), 86)
        self.assertEqual(code(key={"a": 1}, name="a_1", unique=True), 86)
        self.assertEqual(code(key={"a": 1}, name="a_1", expireAfterSeconds=3), 85)

    def test_a_plan_tells_the_index(self):
        self.items.create_index("a")
        self.items.insert_many({"a": i} for i in range(20))
        plan = self.items.find({"a": 3}).explain()
        self.assertEqual(plan["queryPlanner"]["winningPlan"]["inputStage"]["stage"], "IXSCAN")
        self.assertEqual(plan["executionStats"]["totalDocsExamined"], 1)
        self.assertEqual(self.items.find({"a": {"$lt": 3}}, hint="a_1").to_list()[0]["a"], 0)
        found = self.items.find(hint="a_1").min([("a", 4)]).max([("a", 6)])
        self.assertEqual([d["a"] for d in found], [4, 5])


class Cursors(ServedTest):
    def setUp(self):
        super().setUp()
        self.items.insert_many({"_id": i} for i in range(10))

    def open_cursors(self):
        return self.client.admin.command("serverStatus")["metrics"]["cursor"]["open"]["total"]

    def test_a_cursor_ends_when_it_is_read_or_killed(self):
        before = self.open_cursors()
        cursor = self.items.find(batch_size=3)
        next(cursor)
        self.assertEqual(self.open_cursors(), before + 1)
        cursor.close()
        self.assertEqual(self.open_cursors(), before)
        self.assertEqual(len(self.items.find(batch_size=3).to_list()), 10)
        self.assertEqual(self.open_cursors(), before)

    def test_a_cursor_of_a_dropped_collection_is_not_open(self):
        before = self.open_cursors()
        cursor = self.items.find(batch_size=3)
        next(cursor)
        self.items.drop()
        self.assertEqual(self.open_cursors(), before)
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            list(cursor)
        self.assertEqual(caught.exception.code, 175)

    def test_a_session_takes_its_cursors_along(self):
        before = self.open_cursors()
        with self.client.start_session() as session:
            next(self.items.find(batch_size=3, session=session))
            lsid = session.session_id
            self.client.admin.command("endSessions", [lsid])
        self.assertEqual(self.open_cursors(), before)

    def test_later_batches_may_repeat_the_read_concern(self):
        # A driver sends the read concern of a snapshot session with each getMore.
        all_of_them = self.items.find().to_list()
        with self.client.start_session(snapshot=True) as session:
            found = self.items.find(batch_size=3, session=session)
            raw = self.items.aggregate_raw_batches([], session=session)
            seen = [next(found)]
            self.items.delete_many({})
            self.assertEqual(seen + found.to_list(), all_of_them)
            batches = [document for batch in raw for document in bson.decode_all(batch)]
            self.assertEqual(batches, all_of_them)
        self.items.insert_many(all_of_them)
        for level in ("local", "majority", "available", "linearizable", "snapshot"):
            concern = {"level": level}
            cursor = self.db.command("find", "items", batchSize=3)["cursor"]["id"]
            more = self.db.command(
                "getMore", cursor, collection="items", batchSize=3, readConcern=concern)["cursor"]
            self.assertEqual(more["nextBatch"], all_of_them[3:6], level)
            killed = self.db.command(
                "killCursors", "items", cursors=[cursor], readConcern=concern, check=False)
            self.assertEqual(killed.get("code", 0), 0 if level == "local" else 72, level)

    def test_batches_fit_into_messages(self):
        self.items.drop()
        for i in range(5):
            self.items.insert_one({"_id": i, "text": "x" * 7_000_000})
        first = self.db.command("find", "items")["cursor"]
        self.assertEqual(len(first["firstBatch"]), 2)
        self.assertEqual([d["_id"] for d in self.items.find({}, {"_id": 1})], [0, 1, 2, 3, 4])
        self.assertEqual(sum(1 for _ in self.items.find()), 5)

    def test_a_tailable_cursor_needs_no_match_to_go_on(self):
        tail = self.db.create_collection("tail", capped=True, size=4096)
        tail.insert_many({"_id": i} for i in range(3))
        for wanted in ({"_id": {"$gt": 2}}, {"_id": 3}):
            for hint in ({}, {"hint": "_id_"}):
                found = self.db.command(
                    "find", "tail", filter=wanted, tailable=True, **hint)["cursor"]
                self.assertEqual(found["firstBatch"], [])
                self.assertNotEqual(found["id"], 0)
        tail.insert_one({"_id": 3})
        more = self.db.command("getMore", found["id"], collection="tail")["cursor"]
        self.assertEqual(more["nextBatch"], [{"_id": 3}])

    def test_a_tailable_cursor_goes_on(self):
        self.db.create_collection("tail", capped=True, size=100000)
        tail = self.db["tail"]
        tail.insert_one({"_id": 1})
        cursor = tail.find(cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(100)
        self.assertEqual(next(cursor)["_id"], 1)
        tail.insert_one({"_id": 2})
        self.assertEqual(next(cursor)["_id"], 2)
        self.assertTrue(cursor.alive)

    def test_an_exhaust_cursor_gets_all_batches_unasked(self):
        cursor = self.items.find(cursor_type=CursorType.EXHAUST, batch_size=2)
        self.assertEqual([d["_id"] for d in cursor], list(range(10)))

    def test_a_time_limit_ends_a_command(self):
        self.client.admin.command("configureFailPoint", "maxTimeAlwaysTimeOut", mode="alwaysOn")
        try:
            with self.assertRaises(pymongo.errors.ExecutionTimeout):
                self.items.find().max_time_ms(10).to_list()
        finally:
            self.client.admin.command("configureFailPoint", "maxTimeAlwaysTimeOut", mode="off")


class Faults(ServedTest):
    def test_commands_fail_as_tests_ask_for_it(self):
        self.client.admin.command(
            "configureFailPoint", "failCommand", mode={"times": 1},
            data={"failCommands": ["ping"], "errorCode": 11, "errorLabels": ["L"]})
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.db.command("ping")
        self.assertEqual(caught.exception.code, 11)
        self.assertTrue(caught.exception.has_error_label("L"))
        self.db.command("ping")

    def test_a_write_concern_that_cannot_be_met_is_told_after_the_write(self):
        strict = self.items.with_options(write_concern=pymongo.WriteConcern(w=3))
        with self.assertRaises(pymongo.errors.WriteConcernError):
            strict.insert_one({"_id": 1})
        self.assertEqual(self.items.count_documents({}), 1)

    def test_several_kinds_of_writes_go_in_one_command(self):
        reply = self.client.admin.command(
            "bulkWrite", 1, nsInfo=[{"ns": "served.items"}],
            ops=[
                {"insert": 0, "document": {"_id": 1}},
                {"update": 0, "filter": {"_id": 1}, "updateMods": {"$set": {"a": 1}}},
                {"insert": 0, "document": {"_id": 1}},
                {"delete": 0, "filter": {"_id": 1}}])
        self.assertEqual((reply["nErrors"], reply["nInserted"], reply["nModified"]), (1, 1, 1))
        self.assertEqual(reply["cursor"]["firstBatch"][2]["code"], 11000)
        self.assertEqual(reply["nDeleted"], 0)

    def test_a_bulk_write_to_a_collection_of_the_system_is_the_error_of_that_write(self):
        # The server's bulk_write_non_auth.js.
        update = {"update": 1, "filter": {}, "updateMods": {"$set": {"a": 1}}}
        ops = [{"insert": 0, "document": {"_id": 1}}, update, {"delete": 1, "filter": {}},
               {"delete": 0, "filter": {"_id": 1}}]
        space = [{"ns": "served.items"}, {"ns": "served.system.profile"}]
        for ordered, results in ((True, [1, 0]), (False, [1, 0, 0, 1])):
            reply = self.client.admin.command(
                "bulkWrite", 1, nsInfo=space, ops=ops, ordered=ordered)
            entries = reply["cursor"]["firstBatch"]
            self.assertEqual([entry["ok"] for entry in entries], results)
            self.assertEqual(entries[1]["code"], 73)
            self.assertEqual((entries[1]["n"], entries[1]["nModified"]), (0, 0))
            self.assertEqual(self.items.count_documents({}), 1 if ordered else 0)
            self.items.delete_many({})
        refused = self.client.admin.command(
            "bulkWrite", 1, nsInfo=space, ops=[{"insert": "0", "document": {}}], check=False)
        self.assertEqual(refused["code"], 14)

    def test_profiled_commands_are_noted(self):
        self.db.command("profile", 2)
        self.items.find_one({"_id": 77})
        self.db.command("profile", 0)
        noted = self.db["system.profile"].find_one({"op": "query"})
        self.assertEqual(noted["command"]["filter"], {"_id": 77})
        self.assertEqual(self.refused("getMore", Int64(5), collection="items")[0], 43)

    def test_no_index_has_a_name_that_is_no_field(self):
        """Indexes are listed by their names as fields, which end at a null byte."""
        code, _ = self.refused(
            "createIndexes", "items", indexes=[{"key": {"a": 1}, "name": "a\0b"}])
        self.assertEqual(code, 67)
        self.items.insert_one({})
        self.assertEqual(list(self.db.command("collStats", "items")["indexSizes"]), ["_id_"])
        self.assertTrue(self.db.command("validate", "items")["valid"])


class Arguments(ServedTest):
    def code(self, command, value=1, **fields):
        return self.db.command({command: value, **fields}, check=False).get("code", 0)

    def test_general_arguments_have_their_types(self):
        # MongoDB manual, "maxTimeMS" of "find"; "Read Concern"; "Write Concern".
        self.items.insert_one({"a": 1})
        reads = [("find", {}), ("count", {}), ("distinct", {"key": "a"}),
                 ("aggregate", {"pipeline": [], "cursor": {}})]
        for command, fields in reads:
            for value, code in [
                    (0, 0), (60000, 0), (60000.0, 0), (None, 0), (1.5, 9), (float("nan"), 9),
                    (float("inf"), 9), (bson.Decimal128("1.5"), 9), (bson.Decimal128("NaN"), 9),
                    (-1, 2), (2**31, 2), ("1", 14), (True, 14), ([1], 14), ({}, 14)]:
                with self.subTest(command=command, maxTimeMS=value):
                    self.assertEqual(self.code(command, "items", maxTimeMS=value, **fields), code)
        for command, fields in reads[:3]:
            for value, code in [({}, 72), ({"w": 1}, 72), (None, 0), (1, 14), ("majority", 14)]:
                self.assertEqual(self.code(command, "items", writeConcern=value, **fields), code)
        for command, value in [("startSession", 1), ("killSessions", []), ("killAllSessions", [])]:
            for level, code in [("local", 0), ("majority", 72), ("available", 72), ("near", 2)]:
                given = self.code(command, value, readConcern={"level": level})
                self.assertEqual(given, code)

    def test_sessions_are_named_by_uuids(self):
        known = bson.Binary(bytes(16), 4)
        for command in ("killSessions", "refreshSessions"):
            for value, code in [
                    ([], 0), ([{"id": known}], 0), (1, 14), (None, 40414), ([1], 14),
                    ([{}], 40414), ([{"id": None}], 40414), ([{"id": 1}], 14),
                    ([{"id": bson.Binary(bytes(16), 3)}], 14),
                    ([{"id": bson.Binary(bytes(8), 4)}], 207), ([{"id": known, "x": 1}], 40415),
                    ([{"id": known}, 1], 14)]:
                with self.subTest(command=command, value=value):
                    self.assertEqual(self.code(command, value), code)
        for value, code in [
                ([{"user": "u", "db": "d"}], 0), (1, 14), ([1], 14), ([{}], 40414),
                ([{"user": "u"}], 40414), ([{"user": "u", "db": None}], 40414),
                ([{"user": 1, "db": "d"}], 14), ([{"user": "u", "db": "d", "x": 1}], 40415)]:
            self.assertEqual(self.code("killAllSessions", value), code)

    def test_distinct_values_fit_into_a_document(self):
        self.items.insert_many({"a": f"{i}" + "x" * 1_000_000} for i in range(17))
        self.assertEqual(self.code("distinct", "items", key="a"), 17217)
        self.assertEqual(self.code("distinct", "items", key="a\0b"), 31032)


class Version(ServedTest):
    def test_the_server_is_of_version_eight(self):
        hello = self.client.admin.command("hello")
        self.assertEqual(hello["maxWireVersion"], 25)
        self.assertEqual(self.client.server_info()["versionArray"][:2], [8, 0])

    def test_a_client_writes_in_bulk(self):
        # MongoDB manual 8.0, "bulkWrite".
        space = "served.items"
        result = self.client.bulk_write([
            pymongo.InsertOne(namespace=space, document={"_id": 1, "n": 1}),
            pymongo.InsertOne(namespace=space, document={"_id": 2, "n": 2}),
            pymongo.UpdateOne(namespace=space, filter={}, update={"$inc": {"n": 9}},
                              sort={"n": -1}),
            pymongo.UpdateMany(namespace=space, filter={"_id": 7}, update={"$set": {"n": 7}},
                               upsert=True),
            pymongo.DeleteOne(namespace=space, filter={"_id": 1})], verbose_results=True)
        self.assertEqual(
            (result.inserted_count, result.modified_count, result.upserted_count,
             result.deleted_count), (2, 1, 1, 1))
        self.assertEqual(result.update_results[3].upserted_id, 7)
        found = sorted((d["_id"], d["n"]) for d in self.items.find())
        self.assertEqual(found, [(2, 11), (7, 7)])

    def test_an_update_takes_the_first_of_an_order(self):
        self.items.insert_many({"_id": i, "n": -i} for i in range(3))
        self.items.update_one({}, {"$set": {"x": 1}}, sort={"n": 1})
        self.assertEqual([d["_id"] for d in self.items.find({"x": 1})], [2])
        refused = self.db.command("update", "items", updates=[
            {"q": {}, "u": {"$set": {"x": 1}}, "sort": {"n": 1}, "multi": True}])
        self.assertEqual(refused["writeErrors"][0]["code"], 9)


if __name__ == "__main__":
    main()
