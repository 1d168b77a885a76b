"""Change streams tell of every change once, in order, and go on where they were left."""

import pymongo
from bson import Timestamp
from served import ServedTest, main


class Streams(ServedTest):
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
            popped["updateDescription"],
            {"updatedFields": {"b": [1, 2]}, "removedFields": [], "truncatedArrays": []})
        self.assertNotIn("fullDocument", changed)
        self.assertEqual(replaced["fullDocument"], {"_id": 1, "z": 1})
        self.assertEqual(gone["documentKey"], {"_id": 1})
        self.assertNotIn("fullDocument", gone)
        times = [e["clusterTime"] for e in (made, changed, popped, replaced, gone)]
        self.assertEqual(times, sorted(times))
        self.assertIsInstance(times[0], Timestamp)

    def description(self, before, update, expanded=False, **options):
        """What the event of an update tells of it."""
        self.items.replace_one({"_id": 1}, {"_id": 1, **before}, upsert=True)
        with self.items.watch(show_expanded_events=expanded) as stream:
            self.items.update_one({"_id": 1}, update, **options)
            event = self.events(stream, 1)[0]
        self.assertEqual(event["operationType"], "update", event)
        found = event["updateDescription"]
        if not expanded:
            self.assertNotIn("disambiguatedPaths", found)
        return {key: value for key, value in found.items() if value}

    def test_an_update_is_told_as_it_was_written(self):
        before = {"a": {"x": 1, "y": 2}, "b": [1, 2, 3], "c": [{"n": 1}, {"n": 2}]}
        for update, told in (
                ({"$set": {"a": {"x": 1, "y": 3}}}, {"updatedFields": {"a": {"x": 1, "y": 3}}}),
                ({"$set": {"a.y": 3}}, {"updatedFields": {"a.y": 3}}),
                ({"$set": {"d.e.f": 1}}, {"updatedFields": {"d": {"e": {"f": 1}}}}),
                ({"$set": {"a": {"y": 2, "x": 1}}}, {"updatedFields": {"a": {"y": 2, "x": 1}}}),
                ({"$set": {"b.1": 7}}, {"updatedFields": {"b.1": 7}}),
                ({"$set": {"b": [1, 2, 4]}}, {"updatedFields": {"b": [1, 2, 4]}}),
                ({"$push": {"b": 4}}, {"updatedFields": {"b.3": 4}}),
                ({"$push": {"b": {"$each": [4, 5]}}}, {"updatedFields": {"b.3": 4, "b.4": 5}}),
                ({"$push": {"b": {"$each": [0], "$position": 0}}},
                 {"updatedFields": {"b": [0, 1, 2, 3]}}),
                ({"$push": {"b": {"$each": [4], "$slice": 9}}}, {"updatedFields": {"b.3": 4}}),
                ({"$push": {"b": {"$each": [4], "$slice": -2}}}, {"updatedFields": {"b": [3, 4]}}),
                ({"$addToSet": {"b": 9}}, {"updatedFields": {"b": [1, 2, 3, 9]}}),
                ({"$pull": {"b": 2}}, {"updatedFields": {"b": [1, 3]}}),
                ({"$pop": {"b": -1}}, {"updatedFields": {"b": [2, 3]}}),
                ({"$unset": {"a.x": 1, "b": 1}}, {"removedFields": ["b", "a.x"]}),
                ({"$rename": {"a": "z"}},
                 {"updatedFields": {"z": {"x": 1, "y": 2}}, "removedFields": ["a"]}),
                ({"$set": {"c.$[].n": 5}}, {"updatedFields": {"c.0.n": 5, "c.1.n": 5}}),
                ({"$set": {"c.$[].n": [5]}}, {"updatedFields": {"c.0.n": [5], "c.1.n": [5]}}),
                ({"$min": {"a": {"x": 0}}}, {"updatedFields": {"a": {"x": 0}}}),
        ):
            with self.subTest(update=update):
                self.assertEqual(self.description(before, update), told)
        with self.subTest("an element that a filter chose"):
            self.assertEqual(
                self.description(
                    before, {"$set": {"c.$[e]": {"n": 2, "m": 1}}},
                    array_filters=[{"e.n": 2}]),
                {"updatedFields": {"c.1": {"n": 2, "m": 1}}})

    def test_what_a_pipeline_changed_is_told_by_its_parts(self):
        before = {"a": 1, "array": ["foo", {"a": "bar"}, 1, 2, 3], "long": "-" * 100}
        self.assertEqual(
            self.description(before, [{"$set": {"array": ["foo", {"a": "bar"}]}}]),
            {"truncatedArrays": [{"field": "array", "newSize": 2}]})
        self.assertEqual(
            self.description(before, [{"$set": {"a": 2}}, {"$unset": "long"}]),
            {"updatedFields": {"a": 2}, "removedFields": ["long"]})
        # What is longer than the document is told as another document.
        self.items.replace_one({"_id": 1}, {"a": 1}, upsert=True)
        with self.items.watch() as stream:
            self.items.update_one({"_id": 1}, [{"$set": {"a": 2}}])
            event = self.events(stream, 1)[0]
        self.assertEqual(event["operationType"], "replace")
        self.assertEqual(event["fullDocument"], {"_id": 1, "a": 2})

    def test_paths_that_mean_two_things_are_explained(self):
        for before, update, paths in (
                ({"a": {"1": 1}}, {"$set": {"a.1": 2}}, {"a.1": ["a", "1"]}),
                ({"a": [{"1": 1}]}, {"$set": {"a.0.1": 2}}, {"a.0.1": ["a", 0, "1"]}),
                ({"a": [1, 2]}, {"$set": {"a.1": 3}}, None),
                ({"a": 1}, {"$set": {"a": 3}}, None)):
            told = self.description(before, update, expanded=True)
            self.assertEqual(told.get("disambiguatedPaths"), paths)
        dotted = {"a.b": 1, "long": "-" * 100}
        self.assertEqual(
            self.description(
                dotted, [{"$replaceWith": {"$setField": {
                    "field": "a.b", "input": "$$ROOT", "value": 2}}}],
                expanded=True)["disambiguatedPaths"], {"a.b": ["a.b"]})

    def test_a_stream_on_a_collection_tells_nothing_of_a_view_of_its_name(self):
        """jstests/change_streams/ddl_view_events.js."""
        with self.db["shown"].watch(show_expanded_events=True) as stream:
            self.db.create_collection("shown", viewOn="items", pipeline=[])
            self.db.command("collMod", "shown", viewOn="items", pipeline=[{"$match": {"n": 1}}])
            self.db["shown"].drop()
            self.db.create_collection("shown", capped=True, size=4096)
            told, = self.events(stream, 1)
        self.assertEqual((told["operationType"], told["nsType"]), ("create", "collection"))

    def test_changes_of_definitions_are_told_to_who_asks(self):
        with self.db.watch(show_expanded_events=True) as expanded, self.db.watch() as plain, \
                self.items.watch(show_expanded_events=True) as of_items, \
                self.client.watch(show_expanded_events=True) as of_all:
            self.items.insert_one({"_id": 1, "n": 1})
            self.items.create_index("n")
            self.db.command("collMod", "items", index={"name": "n_1", "hidden": True})
            self.items.drop_index("n_1")
            self.db.create_collection("shown", viewOn="items", pipeline=[])
            self.db.command("collMod", "shown", viewOn="items", pipeline=[{"$match": {"n": 1}}])
            self.db["shown"].drop()
            self.db.create_collection("small", capped=True, size=4096)
            uuids = {
                entry["name"]: entry["info"].get("uuid") for entry in self.db.list_collections()}
            self.items.rename("small", dropTarget=True)
            self.db["small"].drop()
            kinds = [
                "create", "insert", "createIndexes", "modify", "dropIndexes", "create", "modify",
                "drop", "create", "rename", "drop"]
            told = self.events(expanded, len(kinds))
            self.assertEqual([e["operationType"] for e in told], kinds)
            self.assertEqual([e["operationType"] for e in self.events(of_all, 11)], kinds)
            self.assertEqual(
                [e["operationType"] for e in self.events(of_items, 7)],
                kinds[:5] + ["rename", "invalidate"])
            self.assertEqual(
                [e["operationType"] for e in self.events(plain, 3)], ["insert", "rename", "drop"])
        made, added, indexed, changed, unindexed, view, _, _, small, renamed, dropped = told
        self.assertEqual(
            made["operationDescription"]["idIndex"], {"v": 2, "key": {"_id": 1}, "name": "_id_"})
        index = {"indexes": [{"v": 2, "key": {"n": 1}, "name": "n_1"}]}
        self.assertEqual(indexed["operationDescription"], index)
        hidden = {"indexes": [{"v": 2, "key": {"n": 1}, "name": "n_1", "hidden": True}]}
        self.assertEqual(unindexed["operationDescription"], hidden)
        self.assertEqual(
            changed["operationDescription"], {"index": {"name": "n_1", "hidden": True}})
        self.assertEqual(
            changed["stateBeforeChange"]["indexOptions"], {"hidden": False})
        self.assertEqual(view["operationDescription"], {"viewOn": "items", "pipeline": []})
        self.assertEqual(small["operationDescription"]["size"], 4096)
        self.assertEqual(
            renamed["operationDescription"],
            {"to": {"db": "served", "coll": "small"}, "dropTarget": uuids["small"]})
        for event in (made, added, indexed, changed, unindexed, renamed, dropped):
            self.assertEqual(event["collectionUUID"], uuids["items"], event)
        # Each event is a place from which the stream goes on.
        for place in range(len(kinds)):
            with self.db.watch(
                    show_expanded_events=True, resume_after=told[place]["_id"]) as stream:
                rest = self.events(stream, len(kinds) - place - 1)
                self.assertEqual([e["operationType"] for e in rest], kinds[place + 1:])
                self.assertEqual([e["_id"] for e in rest], [e["_id"] for e in told[place + 1:]])

    def test_an_event_that_is_too_large_is_cut(self):
        self.db.create_collection("items", changeStreamPreAndPostImages={"enabled": True})
        self.items.insert_one({"_id": 1, "text": "a" * 9_000_000})
        options = {"full_document_before_change": "required"}
        with self.items.watch([{"$changeStreamSplitLargeEvent": {}}], **options) as stream:
            self.items.update_one({"_id": 1}, {"$set": {"text": "b" * 9_000_000}})
            first, second = self.events(stream, 2)
        self.assertEqual(first["splitEvent"], {"fragment": 1, "of": 2})
        self.assertEqual(second["splitEvent"], {"fragment": 2, "of": 2})
        self.assertIn("operationType", first)
        with self.items.watch(
                [{"$changeStreamSplitLargeEvent": {}}], resume_after=first["_id"],
                **options) as stream:
            self.items.insert_one({"_id": 2})
            again, inserted = self.events(stream, 2)
        self.assertEqual(again, second)
        self.assertEqual(
            self.refused(
                "aggregate", "items", pipeline=[{"$changeStream": {"resumeAfter": first["_id"]}}],
                cursor={}),
            (280, "To resume from a split event, the $changeStream pipeline must include a "
                  "$changeStreamSplitLargeEvent stage"))
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            with self.items.watch(
                    [{"$changeStreamSplitLargeEvent": {}}],
                    resume_after=first["_id"]) as stream:
                self.events(stream, 1)
        self.assertEqual(caught.exception.code, 280)
        self.assertIn("was not large enough to be split", caught.exception.details["errmsg"])
        self.assertEqual(inserted["documentKey"], {"_id": 2})
        stream = self.items.watch(start_after=None, **options)
        self.items.update_one({"_id": 1}, {"$set": {"text": "c" * 9_000_000}})
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.events(stream, 1)
        self.assertEqual(caught.exception.code, 10334)

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
        self.assertIn(
            "but the pre-image was not found for event: {operationType: \"update\", "
            "ns: {db: \"served\", coll: \"items\"}, clusterTime: Timestamp(",
            caught.exception.details["errmsg"])

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
        token = self.items.watch().resume_token
        both = {"resumeAfter": token, "startAfter": token}
        self.assertEqual(code([{"$changeStream": both}]), 50865)
        self.assertEqual(code([{"$changeStream": {"resumeAfter": {"_data": ""}}}]), 40649)
        bits = {"resumeAfter": {**token, "_typeBits": 1}}
        self.assertEqual(code([{"$changeStream": bits}]), 40648)
        self.db.create_collection("v", viewOn="items", pipeline=[])
        self.assertEqual(
            self.refused("aggregate", "v", pipeline=[{"$changeStream": {}}], cursor={}),
            (166, "Namespace served.v is a view, not a collection"))
        self.assertEqual(
            self.refused("aggregate", "items", pipeline=[{"$changeStream": 1}], cursor={}),
            (6188500, "$changeStream must take a nested object but found: $changeStream: 1"))


main()
