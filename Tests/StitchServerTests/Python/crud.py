"""Documents go in and out through pymongo: one, many, in several batches, and refused ones."""

import hashlib

import gridfs
import pymongo
from bson import Code, Decimal128, ObjectId, Timestamp
from pymongo.errors import ExecutionTimeout
from pymongo import InsertOne, UpdateOne, DeleteMany, ReplaceOne
from served import ServedTest, main


class Documents(ServedTest):
    def test_a_document_comes_back(self):
        made = {"_id": ObjectId(), "name": "Milk", "tags": ["a", "b"], "n": 5}
        self.items.insert_one(made)
        self.assertEqual(self.items.find_one(made["_id"]), made)

    def test_a_cursor_reads_on_in_batches(self):
        self.items.insert_many({"_id": i} for i in range(2500))
        found = self.items.find(batch_size=100).sort("_id", 1)
        self.assertEqual([item["_id"] for item in found], list(range(2500)))

    def test_counts_and_pipelines(self):
        self.items.insert_many({"_id": i, "k": i % 3} for i in range(9))
        self.assertEqual(self.items.count_documents({"k": 1}), 3)
        self.assertEqual(self.items.estimated_document_count(), 9)
        groups = self.items.aggregate(
            [{"$group": {"_id": "$k", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}])
        self.assertEqual([g["n"] for g in groups], [3, 3, 3])
        self.assertEqual(sorted(self.items.distinct("k")), [0, 1, 2])

    def test_updates_count_what_they_did(self):
        self.items.insert_many({"_id": i, "k": 0} for i in range(3))
        result = self.items.update_many({}, {"$max": {"k": 0}})
        self.assertEqual((result.matched_count, result.modified_count), (3, 0))
        result = self.items.update_one({"_id": 9}, {"$set": {"k": 1}}, upsert=True)
        self.assertEqual((result.matched_count, result.upserted_id), (0, 9))
        self.assertEqual(self.items.delete_many({"k": 0}).deleted_count, 3)

    def test_an_update_of_one_follows_a_sort(self):
        self.items.insert_many({"_id": i, "k": k} for i, k in enumerate([2, 3, 1]))
        self.items.update_one({}, {"$set": {"a": 1}}, sort={"k": -1})
        self.items.update_one({}, [{"$set": {"a": 2}}], sort={"k": 1})
        self.items.update_one({"k": 2}, {"$set": {"a": 3}}, sort={})
        self.assertEqual([d["a"] for d in self.items.find().sort("_id", 1)], [3, 1, 2])
        self.items.replace_one({}, {"k": 9}, sort={"k": -1})
        self.assertEqual(self.items.find_one(1), {"_id": 1, "k": 9})
        name = self.items.name
        for sort, code in [({"k": 50}, 15975), (True, 14), ({"$a": 1}, 16410)]:
            with self.assertRaises(pymongo.errors.PyMongoError) as caught:
                self.db.command("update", name, updates=[{"q": {}, "u": {"$set": {"a": 9}}, "sort": sort}])
                self.items.update_one({}, {"$set": {"a": 9}}, sort=sort)
            self.assertEqual(caught.exception.code, code)
        reply = self.db.command("update", name, updates=[
            {"q": {}, "u": {"$set": {"a": 9}}, "sort": {"k": 1}, "multi": True}])
        self.assertEqual([e["code"] for e in reply["writeErrors"]], [9])
        self.assertEqual(self.items.count_documents({"a": 9}), 0)

    def test_writes_that_fail_between_others_are_undone_alone(self):
        """Writes share savepoints: what runs beside a failed one is there, once."""
        count, name = 450, self.items.name
        self.items.create_index("u", unique=True)
        taken = [0, 1, 99, 100, 101, 250, 251, 449]
        self.items.insert_many({"_id": f"old{n}", "u": n} for n in taken)
        fields = [{"_id": n, "u": n, "k": 0} for n in range(count)]
        reply = self.db.command("insert", name, documents=fields, ordered=False)
        self.assertEqual(reply["n"], count - len(taken))
        self.assertEqual([e["index"] for e in reply["writeErrors"]], taken)
        there = [n for n in range(count) if n not in taken]
        numbers = {"_id": {"$type": "number"}}
        self.assertEqual([d["_id"] for d in self.items.find(numbers).sort("_id", 1)], there)
        updates = [{"q": {"_id": n}, "u": {"$inc": {"k": 1}}} for n in there]
        wrong = [0, 3, 120, len(there) - 1]
        for n in wrong:
            updates[n]["u"] = {"$set": {"u": 0}}
        reply = self.db.command("update", name, updates=updates, ordered=False)
        self.assertEqual((reply["n"], reply["nModified"]), (len(there) - len(wrong),) * 2)
        self.assertEqual([e["index"] for e in reply["writeErrors"]], wrong)
        self.assertEqual(self.items.count_documents({"k": 1}), len(there) - len(wrong))
        self.assertEqual(self.items.count_documents({"k": {"$gt": 1}}), 0)
        # An ordered command ends with the first one that fails.
        self.items.delete_many(numbers)
        reply = self.db.command("insert", name, documents=fields[2:])
        self.assertEqual((reply["n"], len(reply["writeErrors"])), (97, 1))
        self.assertEqual(reply["writeErrors"][0]["index"], 97)
        self.assertEqual(self.items.count_documents(numbers), 97)
        deletes = [{"q": {"_id": n}, "limit": 1} for n in range(2, 99)]
        deletes[50]["q"] = {"$nope": 1}
        reply = self.db.command("delete", name, deletes=deletes, ordered=False)
        self.assertEqual((reply["n"], [e["index"] for e in reply["writeErrors"]]), (96, [50]))
        self.assertEqual([d["_id"] for d in self.items.find(numbers)], [52])

    def test_an_equal_replacement_without_an_id_is_a_change(self):
        self.items.insert_one({"_id": 1, "k": 1})
        for update, modified in [
            ({"k": 1}, 1), ({"_id": 1, "k": 1}, 0), ([{"$replaceWith": {"k": 1}}], 1),
            ([{"$set": {"k": 1}}], 0), ({"$set": {"k": 1}}, 0)]:
            reply = self.db.command("update", self.items.name, updates=[{"q": {"_id": 1}, "u": update}])
            self.assertEqual((reply["n"], reply["nModified"]), (1, modified), update)
        self.assertEqual(self.items.find_one(), {"_id": 1, "k": 1})
        self.db.command("collMod", self.items.name, validator={"k": 2})
        with self.assertRaises(pymongo.errors.WriteError) as caught:
            self.items.replace_one({"_id": 1}, {"k": 1})
        self.assertEqual(caught.exception.code, 121)
        self.items.replace_one({"_id": 1}, {"_id": 1, "k": 1})

    def test_all_statements_of_a_command_have_one_time(self):
        name = self.items.name
        self.items.insert_many({"_id": i} for i in range(3))
        self.db.command("update", name, updates=[
            {"q": {"_id": i}, "u": [{"$set": {"now": "$$NOW", "time": "$$CLUSTER_TIME"}}]} for i in range(2)])
        self.items.find_one_and_update({"_id": 2}, [{"$set": {"time": "$$CLUSTER_TIME"}}])
        self.assertEqual(len(self.items.distinct("now")), 1)
        self.assertEqual(self.items.count_documents({"time": {"$type": "timestamp"}}), 3)
        types = self.db.command("aggregate", name, cursor={}, pipeline=[{"$project": {"t": {"$type": "$$CLUSTER_TIME"}}}])
        self.assertEqual({d["t"] for d in types["cursor"]["firstBatch"]}, {"timestamp"})
        self.assertEqual(len(list(self.items.find({"$expr": {"$lte": ["$time", "$$CLUSTER_TIME"]}}))), 3)

    def test_indexes_take_patterns_and_filters_of_mongodb(self):
        self.items.create_index([("$**", -1)])
        self.items.create_index("k", partialFilterExpression={"k": {"$all": [1, 2]}}, name="all")
        self.items.create_index("a.0")
        self.items.insert_many([{"_id": 1, "k": [1, 2, 3]}, {"_id": 2, "k": [1]}, {"_id": 3, "a": [{"b": 1}]}])
        self.assertEqual([d["_id"] for d in self.items.find({"k": {"$all": [1, 2]}}).hint("all")], [1])
        self.assertEqual([d["_id"] for d in self.items.find({"k": {"$gte": 2}}).hint("$**_-1")], [1])
        with self.assertRaises(pymongo.errors.WriteError) as caught:
            self.items.insert_one({"a": [{"0": 1}]})
        self.assertEqual(caught.exception.code, 16746)

    def test_commands_without_a_time_refuse_it(self):
        self.items.insert_one({"_id": 1})
        query = {"$expr": {"$lt": ["$d", "$$NOW"]}}
        self.assertEqual(len(list(self.items.find(query))), 1)
        for command in [
            {"count": self.items.name, "query": query},
            {"distinct": self.items.name, "key": "_id", "query": query}]:
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.db.command(command)
            self.assertEqual(caught.exception.code, 51144)

    def test_a_merge_matches_by_the_collation_of_a_unique_index(self):
        insensitive = {"locale": "en", "strength": 1}
        target = self.db["merged"]
        target.drop()
        target.create_index("k", unique=True, collation=insensitive)
        target.insert_one({"_id": 1, "k": "abc"})
        merge = {"$merge": {"into": "merged", "on": "k"}}
        self.db.aggregate([{"$documents": [{"k": "ABC", "n": 1}, {"k": "d"}]}, merge], collation=insensitive)
        found = list(target.find({}, {"_id": 0}).sort("_id", 1))
        self.assertIn({"k": "ABC", "n": 1}, found)
        self.assertEqual(len(found), 2)
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.db.aggregate([{"$documents": [{"k": "x"}]}, merge])
        self.assertEqual(caught.exception.code, 51183)

    def test_a_merge_matches_nulls_where_the_unique_index_has_them(self):
        target = self.db["merged"]
        for sparse in [False, True]:
            target.drop()
            target.create_index("m.on", unique=True, sparse=sparse)
            pipeline = [
                {"$documents": [{"m": {"on": None}, "a": 1}, {"m": {}, "b": 2}, {"c": 3}, {"m": "x", "d": 4}]},
                {"$merge": {"into": "merged", "on": "m.on"}}]
            if sparse:
                with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                    self.db.aggregate(pipeline)
                self.assertEqual(caught.exception.code, 51132)
            else:
                self.db.aggregate(pipeline)
                found = list(target.find({}, {"_id": 0, "m": 0}))
                self.assertEqual(found, [{"a": 1, "b": 2, "c": 3, "d": 4}])

    def test_one_is_found_and_changed(self):
        self.items.insert_one({"_id": 1, "k": 1})
        before = self.items.find_one_and_update({"_id": 1}, {"$inc": {"k": 1}})
        after = self.items.find_one_and_update(
            {"_id": 1}, {"$inc": {"k": 1}}, return_document=pymongo.ReturnDocument.AFTER)
        self.assertEqual((before["k"], after["k"]), (1, 3))
        self.assertIsNone(self.items.find_one_and_delete({"_id": 2}))

    def test_a_bulk_write_stops_at_the_first_refused_write_when_ordered(self):
        writes = [
            InsertOne({"_id": 1}), UpdateOne({"_id": 1}, {"$set": {"a": 1}}),
            InsertOne({"_id": 1}), ReplaceOne({"_id": 2}, {"b": 1}, upsert=True), DeleteMany({})]
        with self.assertRaises(pymongo.errors.BulkWriteError) as caught:
            self.items.bulk_write(writes)
        details = caught.exception.details
        self.assertEqual(details["writeErrors"][0]["code"], 11000)
        self.assertEqual(details["writeErrors"][0]["keyPattern"], {"_id": 1})
        self.assertEqual((details["nInserted"], details["nModified"]), (1, 1))
        with self.assertRaises(pymongo.errors.BulkWriteError) as caught:
            self.items.bulk_write([InsertOne({"_id": 1}), InsertOne({"_id": 5})], ordered=False)
        self.assertEqual(caught.exception.details["nInserted"], 1)
        self.assertEqual(self.items.count_documents({}), 2)


    def test_empty_timestamps_become_the_time_unless_that_is_bypassed(self):
        empty = Timestamp(0, 0)
        kept = {"_id": empty, "d": {"t": empty}, "l": [empty]}
        self.items.insert_one(kept)
        self.assertEqual(self.items.find_one(), kept)
        self.items.insert_one({"_id": 1, "t": empty})
        self.items.replace_one({"_id": 2}, {"t": empty}, upsert=True)
        self.items.find_one_and_replace({"_id": 3}, {"t": empty}, upsert=True)
        self.assertEqual(self.items.count_documents({"t": empty}), 0)
        self.assertEqual(self.items.count_documents({"t": {"$type": "timestamp"}}), 3)
        self.items.update_one({"_id": 1}, {"$set": {"t": empty}})
        bypassed = {"bypassEmptyTsReplacement": True}
        self.db.command("insert", "items", documents=[{"_id": 4, "t": empty}], **bypassed)
        self.db.command("update", "items", updates=[{"q": {"_id": 2}, "u": {"t": empty}}], **bypassed)
        self.db.command(
            "findAndModify", "items", query={"_id": 3}, update={"t": empty}, **bypassed)
        self.client.admin.command(
            "bulkWrite", 1, nsInfo=[{"ns": "served.items"}], **bypassed, ops=[
                {"insert": 0, "document": {"_id": 5, "t": empty}},
                {"update": 0, "filter": {"_id": 6}, "updateMods": {"t": empty}, "upsert": True}])
        self.assertEqual(self.items.count_documents({"t": empty}), 6)

    def test_a_file_of_gridfs_is_summed_up(self):
        data = bytes(range(256)) * 3000
        id = gridfs.GridFSBucket(self.db).upload_from_stream("file", data, 200_000)
        summed = self.db.command("filemd5", id, root="fs")
        self.assertEqual((summed["numChunks"], summed["md5"]), (4, hashlib.md5(data).hexdigest()))
        self.db["fs.chunks"].delete_one({"n": 1})
        self.assertEqual(self.refused("filemd5", id, root="fs"), (10040, "chunks out of order"))
        self.assertEqual(self.refused("filemd5", id, partialOk=True)[0], 115)
        self.assertEqual(self.db.command("filemd5", "none")["numChunks"], 0)

    def test_a_text_index_is_made_from_its_own_description(self):
        weights = {"summary": 20, "title": 100}
        self.items.create_index([("title", "text"), ("summary", "text")], weights=weights)
        made = self.items.index_information()["title_text_summary_text"]
        self.items.drop_indexes()
        key = {"_fts": "text", "_ftsx": 1}
        self.db.command("createIndexes", "items", indexes=[
            {"key": key, "name": "title_text_summary_text", "weights": weights}])
        again = self.items.index_information()["title_text_summary_text"]
        self.assertEqual(dict(again["weights"]), weights)
        self.assertEqual(again, made)
        self.items.insert_many([{"_id": 1, "title": "milk"}, {"_id": 2, "note": "milk"}])
        found = self.items.find({"$text": {"$search": "milk"}})
        self.assertEqual([item["_id"] for item in found], [1])


class Limits(ServedTest):
    def test_who_wants_one_document_does_not_wait_for_a_comparison_with_the_others(self):
        # The comparison with the last document fails.
        self.items.insert_many([{"_id": 1, "x": 1}, {"_id": 2, "x": 1}, {"_id": 3, "x": 0}])
        self.db.command("create", "seen", viewOn="items", pipeline=[])
        ask = {"$expr": {"$eq": [{"$divide": [1, "$x"]}, 1]}}
        for name in ("items", "seen"):
            self.assertEqual(self.db[name].find_one(ask)["_id"], 1)
            self.assertEqual(len(list(self.db[name].find(ask, skip=1, limit=1))), 1)
            self.assertEqual(self.db.command("count", name, query=ask, limit=2)["n"], 2)
            self.assertEqual(self.db.command("count", name, query=ask, limit=1, skip=1)["n"], 1)
            for command, fields in (("count", {"query": ask}), ("find", {"filter": ask})):
                refused = self.db.command(command, name, check=False, **fields)
                self.assertEqual(refused.get("code"), 2, refused)
        first = self.db.command("find", "items", filter=ask, batchSize=2)["cursor"]
        self.assertEqual([item["_id"] for item in first["firstBatch"]], [1, 2])
        rest = self.db.command("getMore", first["id"], collection="items", check=False)
        self.assertEqual(rest.get("code"), 2, rest)


class Scripts(ServedTest):
    def test_a_script_chooses_documents(self):
        self.items.insert_many({"_id": i, "x": i} for i in range(10))
        found = self.items.find(batch_size=2).where("this.x < 3").sort("_id", 1)
        self.assertEqual([item["x"] for item in found], [0, 1, 2])
        self.assertEqual(len(list(self.items.find({"x": 5}).where(Code("this.x > 3")))), 1)
        plain = {"$where": "function() { return obj.x % 2 }"}
        self.assertEqual(self.db.command("count", "items", query=plain)["n"], 5)
        self.assertEqual(sorted(self.items.distinct("x", {"$where": "this.x > 7"})), [8, 9])
        changed = self.items.update_many({"$where": "this.x > 6"}, {"$set": {"y": 1}})
        self.assertEqual(changed.modified_count, 3)
        taken = self.items.find_one_and_update({"$where": "this.y"}, {"$unset": {"y": 1}})
        self.assertEqual(taken["y"], 1)
        self.assertEqual(self.items.delete_many({"$where": "this.y"}).deleted_count, 2)

    def test_a_script_is_refused_where_it_may_not_be(self):
        self.items.insert_one({"x": 1})
        self.assertEqual(
            self.refused("find", "items", filter={"$where": Code("this.x < i", {"i": 3})}),
            (2, "$where got bad type"))
        self.assertEqual(
            self.refused(
                "aggregate", "items", pipeline=[{"$match": {"$where": "true"}}], cursor={}),
            (2, "$where is not allowed in this context"))
        self.assertEqual(self.refused("find", "items", filter={"$where": "this.x <"})[0], 139)
        code, message = self.refused("find", "items", filter={"$where": "this.x.y.z"})
        self.assertEqual(code, 139)
        self.assertIn("TypeError: can't access property", message)

    def test_a_script_ends_with_the_commands_time(self):
        self.items.insert_many({"_id": i} for i in range(3))
        endless = {"$where": "while (true) { }"}
        with self.assertRaises(ExecutionTimeout):
            list(self.items.find(endless, max_time_ms=20))
        with self.assertRaises(ExecutionTimeout):
            list(self.items.find({"$where": "sleep(1000000)"}, max_time_ms=20))
        code, _ = self.refused(
            "update", "items", updates=[{"q": endless, "u": {"$set": {"x": 1}}}], maxTimeMS=20)
        self.assertEqual(code, 50)
        # Others were served meanwhile, and are.
        self.assertEqual(self.items.count_documents({}), 3)


class Refusals(ServedTest):
    def test_errors_have_the_servers_codes_and_texts(self):
        self.assertEqual(self.refused("frob"), (59, "no such command: 'frob'"))
        self.assertEqual(
            self.refused("find", "items", frob=1),
            (40415, "BSON field 'find.frob' is an unknown field."))
        self.assertEqual(
            self.refused("find", "items", limit="3"),
            (14, "BSON field 'find.limit' is the wrong type 'string', expected types "
                 "'[long, int, decimal, double]'"))
        self.assertEqual(
            self.refused("getMore", 77, collection="items")[0], 14)
        self.assertEqual(self.refused("renameCollection", "a.b", to="a.c")[0], 13)

    def test_a_hint_chooses_the_index(self):
        """A sparse index does not have all documents: who asks for it finds only those."""
        self.items.create_index("x", sparse=True)

        def fill():
            self.items.delete_many({})
            self.items.insert_many([{"_id": 1}, {"_id": 2, "x": 1}, {"_id": 3, "x": 2}])

        fill()
        update = {"$inc": {"n": 1}}
        self.assertEqual(self.items.update_many({}, update).matched_count, 3)
        self.assertEqual(self.items.update_many({}, update, hint="x_1").matched_count, 2)
        self.assertEqual(self.items.update_many({}, update, hint={"$natural": 1}).matched_count, 3)
        self.items.update_one({}, {"$set": {"first": True}}, hint=[("x", 1)])
        self.assertEqual(self.items.find_one({"first": True})["_id"], 2)
        self.assertEqual(
            self.items.find_one_and_update({"_id": 1}, update, hint="x_1"), None)
        self.assertEqual(self.items.find_one_and_delete({}, hint="x_1")["_id"], 2)
        self.assertEqual(self.items.delete_many({}, hint="x_1").deleted_count, 1)
        self.assertEqual(self.items.delete_one({}, hint="x_1").deleted_count, 0)
        self.assertEqual([d["_id"] for d in self.items.find()], [1])
        fill()
        for stage, found in (
                ({"$match": {}}, 3), ({"$project": {"x": 1}}, 3), ({"$skip": 1}, 2)):
            self.assertEqual(len(list(self.items.aggregate([stage]))), found)
            self.assertEqual(len(list(self.items.aggregate([stage], hint="x_1"))), found - 1)
        counted = self.items.aggregate([{"$count": "n"}], hint={"x": 1})
        self.assertEqual(list(counted), [{"n": 2}])
        for change in (
                lambda: self.items.aggregate([], hint="y_1"),
                lambda: self.items.update_one({}, update, hint="y_1"),
                lambda: self.items.delete_one({}, hint="y_1"),
                lambda: self.items.find_one_and_delete({}, hint="y_1")):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                change()
            self.assertEqual(caught.exception.code, 2)

    def test_a_hint_on_an_index_without_all_documents(self):
        self.items.insert_many([{"_id": 1}, {"_id": 2, "x": 1}, {"_id": 3, "x": 5}])
        self.items.create_index("x", sparse=True, name="sparse")
        self.items.create_index(
            [("x", 1), ("y", 1)], partialFilterExpression={"x": {"$gt": 2}}, name="partial")
        for hint, found in (("sparse", [2, 3]), ("partial", [3]), ({"$natural": 1}, [1, 2, 3])):
            for query, there in (({}, found), ({"_id": 1}, [n for n in found if n == 1]),
                                 ({"_id": {"$lt": 3}}, [n for n in found if n < 3])):
                with self.subTest(hint=hint, query=query):
                    self.assertEqual(
                        sorted(d["_id"] for d in self.items.find(query, hint=hint)), there)
                    answer = self.db.command("count", "items", query=query, hint=hint)
                    self.assertEqual(answer["n"], len(there))
                    self.assertEqual(self.items.count_documents(query, hint=hint), len(there))
                    answer = self.db.command(
                        "distinct", "items", key="_id", query=query, hint=hint)
                    self.assertEqual(sorted(answer["values"]), there)
        for name in ("count", "distinct", "find"):
            more = {"key": "_id"} if name == "distinct" else {}
            self.assertEqual(self.refused(name, "items", hint="none", **more)[0], 2)

    def test_a_hint_is_a_name_or_a_pattern(self):
        """The server's hint_parser.cpp; jstests/core/write/delete/delete_hint.js"""
        update = {"q": {}, "u": {"$set": {"a": 1}}}
        for hint in (1, True, None):
            for command, fields in [
                ("find", {"hint": hint}), ("count", {"hint": hint}),
                ("distinct", {"key": "a", "hint": hint}),
                ("aggregate", {"pipeline": [], "cursor": {}, "hint": hint}),
                ("update", {"updates": [{**update, "hint": hint}]}),
                ("delete", {"deletes": [{"q": {}, "limit": 0, "hint": hint}]}),
            ]:
                self.assertEqual(
                    self.refused(command, "items", **fields),
                    (9, "Hint must be a string or an object"), (command, hint))

    def test_fractions_of_counts(self):
        # A double loses its fraction; a decimal is rounded, halves to even.
        self.items.insert_many([{"_id": n} for n in range(6)])
        for skip, left in [(1.9, 5), (Decimal128("1.5"), 4), (Decimal128("2.5"), 4)]:
            answer = self.db.command("find", "items", skip=skip)
            self.assertEqual(len(answer["cursor"]["firstBatch"]), left, skip)
        answer = self.db.command("find", "items", limit=2.9, batchSize=1.9)
        self.assertEqual(len(answer["cursor"]["firstBatch"]), 1)


if __name__ == "__main__":
    main()
