"""Change streams tell of every change once, in order, and go on where they were left."""

import pymongo
from bson import Timestamp
from served import ServedTest, main


class Streams(ServedTest):
    def events(self, stream, count):
        found = []
        while len(found) < count:
            event = stream.try_next()
            if event is not None:
                found.append(event)
        return found

    def test_each_kind_of_change_is_told(self):
        with self.items.watch() as stream:
            self.items.insert_one({"_id": 1, "a": 1, "b": [1, 2, 3], "c": {"d": 1}})
            self.items.update_one({"_id": 1}, {"$set": {"c.d": 2}, "$unset": {"a": ""}})
            self.items.update_one({"_id": 1}, {"$pop": {"b": 1}})
            self.items.replace_one({"_id": 1}, {"z": 1})
            self.items.delete_one({"_id": 1})
            made, changed, popped, replaced, gone = self.events(stream, 5)
        self.assertEqual(
            [e["operationType"] for e in (made, changed, popped, replaced, gone)],
            ["insert", "update", "update", "replace", "delete"])
        self.assertEqual(made["fullDocument"]["c"], {"d": 1})
        self.assertEqual(made["ns"], {"db": "served", "coll": "items"})
        self.assertEqual(
            changed["updateDescription"],
            {"updatedFields": {"c.d": 2}, "removedFields": ["a"], "truncatedArrays": []})
        self.assertEqual(
            popped["updateDescription"]["truncatedArrays"], [{"field": "b", "newSize": 2}])
        self.assertNotIn("fullDocument", changed)
        self.assertEqual(replaced["fullDocument"], {"_id": 1, "z": 1})
        self.assertEqual(gone["documentKey"], {"_id": 1})
        self.assertNotIn("fullDocument", gone)
        times = [e["clusterTime"] for e in (made, changed, popped, replaced, gone)]
        self.assertEqual(times, sorted(times))
        self.assertIsInstance(times[0], Timestamp)

    def test_a_stream_goes_on_behind_a_token(self):
        with self.items.watch() as stream:
            self.items.insert_many({"_id": i} for i in range(10))
            first = self.events(stream, 3)
        for option in ("resume_after", "start_after"):
            with self.items.watch(**{option: first[-1]["_id"]}) as stream:
                rest = self.events(stream, 7)
            self.assertEqual([e["documentKey"]["_id"] for e in rest], list(range(3, 10)))

    def test_the_token_of_a_batch_is_behind_what_was_left_out(self):
        with self.items.watch([{"$match": {"operationType": "delete"}}]) as stream:
            self.items.insert_many({"_id": i} for i in range(10))
            self.assertIsNone(stream.try_next())
            token = stream.resume_token
        with self.items.watch(resume_after=token) as stream:
            self.items.delete_one({"_id": 3})
            self.assertEqual(self.events(stream, 1)[0]["operationType"], "delete")

    def test_a_stream_begins_at_a_time(self):
        self.items.insert_one({"_id": 1})
        time = self.client.admin.command("ping")["operationTime"]
        self.items.insert_one({"_id": 2})
        later = Timestamp(time.time, time.inc + 1)
        with self.items.watch(start_at_operation_time=later) as stream:
            self.assertEqual(self.events(stream, 1)[0]["documentKey"], {"_id": 2})

    def test_documents_come_with_updates(self):
        self.db.create_collection("items", changeStreamPreAndPostImages={"enabled": True})
        self.items.insert_one({"_id": 1, "n": 0})
        with self.items.watch(
                full_document="required", full_document_before_change="required") as stream:
            self.items.update_one({"_id": 1}, {"$inc": {"n": 1}})
            self.items.update_one({"_id": 1}, {"$inc": {"n": 1}})
            one, two = self.events(stream, 2)
        self.assertEqual((one["fullDocument"]["n"], one["fullDocumentBeforeChange"]["n"]), (1, 0))
        self.assertEqual((two["fullDocument"]["n"], two["fullDocumentBeforeChange"]["n"]), (2, 1))
        with self.items.watch(full_document="updateLookup") as stream:
            self.items.update_one({"_id": 1}, {"$inc": {"n": 1}})
            self.items.delete_one({"_id": 1})
            self.assertIsNone(self.events(stream, 2)[0]["fullDocument"])

    def test_documents_that_were_not_kept(self):
        self.items.insert_one({"_id": 1, "n": 0})
        with self.items.watch(
                full_document="whenAvailable",
                full_document_before_change="whenAvailable") as stream:
            self.items.update_one({"_id": 1}, {"$inc": {"n": 1}})
            event = self.events(stream, 1)[0]
        self.assertEqual((event["fullDocument"], event["fullDocumentBeforeChange"]), (None, None))
        stream = self.items.watch(full_document_before_change="required")
        self.items.update_one({"_id": 1}, {"$inc": {"n": 1}})
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.events(stream, 1)
        self.assertEqual(caught.exception.code, 47)

    def test_a_stream_of_a_collection_ends_with_it(self):
        for end, kinds in (
                (lambda: self.items.drop(), ["insert", "drop", "invalidate"]),
                (lambda: self.items.rename("other"), ["insert", "rename", "invalidate"])):
            with self.items.watch() as stream:
                self.items.insert_one({"_id": 1})
                end()
                events = self.events(stream, 3)
                self.assertEqual([e["operationType"] for e in events], kinds)
                self.assertFalse(stream.alive)
            token = events[-1]["_id"]
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.items.watch(resume_after=token)
            self.assertEqual(caught.exception.code, 260)
            with self.items.watch(resume_after=events[1]["_id"]) as stream:
                self.assertEqual(self.events(stream, 1)[0]["operationType"], "invalidate")
            with self.items.watch(start_after=token) as stream:
                self.items.insert_one({"_id": 2})
                self.assertEqual(self.events(stream, 1)[0]["documentKey"], {"_id": 2})
            self.db.drop_collection("other")
            self.items.drop()

    def test_streams_of_databases_and_of_all(self):
        with self.db.watch() as of_database, self.client.watch() as of_all:
            self.items.insert_one({"_id": 1})
            self.client["elsewhere"]["things"].insert_one({"_id": 2})
            self.db["more"].insert_one({"_id": 3})
            told = self.events(of_database, 2)
            self.assertEqual([e["documentKey"]["_id"] for e in told], [1, 3])
            told = self.events(of_all, 3)
            self.assertEqual([e["documentKey"]["_id"] for e in told], [1, 2, 3])
            self.client.drop_database("elsewhere")
            self.client.drop_database("served")
            kinds = [e["operationType"] for e in self.events(of_database, 4)]
            self.assertEqual(kinds, ["drop", "drop", "dropDatabase", "invalidate"])
            self.assertEqual(
                [e["operationType"] for e in self.events(of_all, 5)],
                ["drop", "dropDatabase", "drop", "drop", "dropDatabase"])
            self.assertTrue(of_all.alive)

    def test_stages_choose_and_shape(self):
        with self.items.watch(
                [{"$match": {"fullDocument.n": {"$gte": 2}}},
                 {"$project": {"fullDocument.n": 1}}]) as stream:
            self.items.insert_many({"_id": i, "n": i} for i in range(4))
            events = self.events(stream, 2)
        self.assertEqual([e["fullDocument"] for e in events], [{"n": 2}, {"n": 3}])
        stream = self.items.watch([{"$project": {"_id": 0}}])
        self.items.insert_one({"_id": 9})
        with self.assertRaises(pymongo.errors.PyMongoError) as caught:
            self.events(stream, 1)
        self.assertEqual(getattr(caught.exception, "code", 280), 280)

    def test_what_no_stream_is_is_refused(self):
        def code(pipeline, database=self.db):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                database.command(
                    "aggregate", "items", pipeline=pipeline, cursor={})
            return caught.exception.code

        self.assertEqual(code([{"$changeStream": {"bogus": 1}}]), 40415)
        self.assertEqual(code([{"$changeStream": {"fullDocument": "x"}}]), 2)
        self.assertEqual(code([{"$changeStream": {"resumeAfter": {}}}]), 40647)
        self.assertEqual(code([{"$changeStream": {"resumeAfter": {"_data": "xyz"}}}]), 9)
        self.assertEqual(code([{"$changeStream": {}}, {"$group": {"_id": 1}}]), 20)
        self.assertEqual(code([{"$changeStream": {}}, {"$bogus": 1}]), 40324)
        self.assertEqual(code([{"$match": {}}, {"$changeStream": {}}]), 40602)
        self.assertEqual(code([{"$changeStream": {}}], self.client.admin), 73)


main()
