"""What a change stream's cursor outlives, what its events look like, and which stages it has."""

import bson
import pymongo
from served import ServedTest, main


class Events(ServedTest):
    def opened(self, collection, **options):
        pipeline = [{"$changeStream": options}]
        cursor = self.db.command("aggregate", collection, pipeline=pipeline, cursor={})["cursor"]
        return cursor["id"], cursor["ns"].split(".", 1)[1]

    def test_the_cursor_itself_lives_on_behind_the_end_of_its_collection(self):
        # Drivers would open another one, and nobody would see that the first was gone.
        for collection, end, kinds in (
                ("items", lambda: self.items.drop(), ["drop", "invalidate"]),
                ("items", lambda: self.items.rename("other"), ["rename", "invalidate"]),
                (1, lambda: self.client.drop_database("served"),
                 ["drop", "dropDatabase", "invalidate"])):
            self.db.drop_collection("other")
            self.items.insert_one({})
            cursor, name = self.opened(collection)
            end()
            told = []
            while cursor:
                batch = self.db.command("getMore", cursor, collection=name)["cursor"]
                told += batch["nextBatch"]
                cursor = batch["id"]
            self.assertEqual([e["operationType"] for e in told], kinds)

    def test_a_rename_tells_the_new_name_first(self):
        self.items.insert_one({})
        with self.db.watch(show_expanded_events=True) as stream:
            self.items.rename("other")
            event = self.events(stream, 1)[0]
        self.assertEqual(
            list(event), ["to", "_id", "operationType", "clusterTime", "collectionUUID",
                          "wallTime", "ns", "operationDescription"])

    def test_a_rename_to_another_database_is_a_copy(self):
        # MongoDB manual, "renameCollection", "Behavior".
        self.client.drop_database("served2")
        self.items.insert_one({"_id": 1})
        other = self.client["served2"]
        streams = [self.items.watch(), self.db.watch(), other.watch(), other["moved"].watch(),
                   self.client.watch()]
        self.client.admin.command("renameCollection", "served.items", to="served2.moved")
        kinds = []
        for stream, count in zip(streams, (2, 1, 1, 2, 2)):
            with stream:
                events = self.events(stream, count)
                kinds.append([e["operationType"] for e in events])
                for event in events:
                    if event["operationType"] == "drop":
                        self.assertEqual(event["ns"], {"db": "served", "coll": "items"})
                        self.assertNotIn("to", event)
                    if event["operationType"] == "rename":
                        self.assertEqual(event["to"], {"db": "served2", "coll": "moved"})
                        self.assertEqual(event["ns"]["db"], "served2")
                        self.assertRegex(
                            event["ns"]["coll"], r"^tmp[a-zA-Z0-9]{5}\.renameCollection$")
        self.assertEqual(kinds, [
            ["drop", "invalidate"], ["drop"], ["rename"], ["rename", "invalidate"],
            ["rename", "drop"]])
        self.client.drop_database("served2")

    def test_a_document_is_looked_up_in_the_collection_that_changed(self):
        def again():
            self.items.insert_one({"_id": 1, "a": 9})

        for end in (self.items.drop, lambda: self.items.rename("gone"),
                    lambda: (self.db["late"].insert_one({"_id": 1}),
                             self.db["late"].rename("items", dropTarget=True))):
            self.db.drop_collection("items")
            self.db.drop_collection("gone")
            self.items.insert_one({"_id": 1, "a": 1})
            with self.db.watch(
                    [{"$match": {"operationType": "update"}}],
                    full_document="updateLookup") as stream:
                self.items.update_one({"_id": 1}, {"$set": {"a": 2}})
                end()
                if "items" not in self.db.list_collection_names():
                    again()
                self.items.update_one({"_id": 1}, {"$set": {"a": 3}})
                first, second = self.events(stream, 2)
            self.assertEqual(first["fullDocument"], None)
            self.assertEqual(second["fullDocument"]["a"], 3)

    def test_a_start_in_the_future_is_kept_in_the_token(self):
        now = self.db.command("ping")["operationTime"]
        later = bson.Timestamp(now.time + 3600, 1)
        with self.items.watch(start_at_operation_time=later) as stream:
            self.assertIsNone(stream.try_next())
            token = stream.resume_token
        self.items.insert_one({"_id": 1})
        with self.items.watch(resume_after=token) as stream:
            self.assertIsNone(stream.try_next())
            self.assertIsNone(stream.try_next())
        # Once the start is reached, all is told.
        with self.items.watch(start_at_operation_time=now) as stream:
            self.items.insert_one({"_id": 2})
            self.assertEqual([e["documentKey"]["_id"] for e in self.events(stream, 2)], [1, 2])

    def test_the_time_of_the_cluster_is_a_variable(self):
        # MongoDB manual, "Variables in Aggregation Expressions", "CLUSTER_TIME".
        self.items.insert_many([{"_id": 1}, {"_id": 2}])
        before = self.db.command("ping")["operationTime"]
        found = [d["t"] for d in self.items.aggregate([{"$project": {"t": "$$CLUSTER_TIME"}}])]
        self.assertEqual(len(set(found)), 1)
        self.assertGreaterEqual(found[0], before)
        past = {"$expr": {"$lt": [before, "$$CLUSTER_TIME"]}}
        not_future = {"$expr": {"$lte": [before, "$$CLUSTER_TIME"]}}
        self.assertEqual(self.items.count_documents(not_future), 2)
        self.items.update_many({}, [{"$set": {"t": "$$CLUSTER_TIME"}}])
        self.assertEqual(len({d["t"] for d in self.items.find()}), 1)
        self.assertEqual(self.items.count_documents(past), 2)
        shown = self.items.find({}, {"t": "$$CLUSTER_TIME"})[0]["t"]
        self.assertGreaterEqual(shown, before)

    def test_a_view_is_told_as_a_whole(self):
        collation = {"locale": "en", "strength": 2}
        with self.db.watch(show_expanded_events=True) as stream:
            self.db.create_collection(
                "v", viewOn="items", pipeline=[{"$match": {"a": 1}}], collation=collation)
            self.db.command("collMod", "v", viewOn="items", pipeline=[])
            made, changed = self.events(stream, 2)
        for event, pipeline in ((made, [{"$match": {"a": 1}}]), (changed, [])):
            description = event["operationDescription"]
            self.assertEqual(list(description), ["viewOn", "pipeline", "collation"])
            self.assertEqual(description["pipeline"], pipeline)
            self.assertNotIn("stateBeforeChange", event)
        self.assertEqual(made["nsType"], "view")
        self.assertNotIn("nsType", changed)

    def test_a_changed_index_is_told_by_its_name(self):
        """jstests/change_streams/ddl_create_event.js; op_observer_util.cpp, makeCollModCmdObj"""
        with self.db.watch(show_expanded_events=True) as stream:
            self.items.create_index("t", expireAfterSeconds=5)
            index = {"keyPattern": {"t": 1}, "expireAfterSeconds": 9}
            self.db.command("collMod", "items", index=index)
            made, _, changed = self.events(stream, 3)
        self.assertEqual(made["nsType"], "collection")
        self.assertEqual(
            changed["operationDescription"], {"index": {"name": "t_1", "expireAfterSeconds": 9}})

    def test_indexes_over_documents_are_told_together(self):
        indexes = [pymongo.IndexModel("a"), pymongo.IndexModel("b")]
        for documents, counts in ((0, [1, 1]), (1, [2])):
            self.items.drop()
            self.db.create_collection("items")
            if documents:
                self.items.insert_one({})
            with self.items.watch(show_expanded_events=True) as stream:
                self.items.create_indexes(indexes)
                events = self.events(stream, len(counts))
            self.assertEqual(
                [len(e["operationDescription"]["indexes"]) for e in events], counts)

    def test_stages_that_no_stream_has_are_named(self):
        def refused(*stages):
            return self.refused("aggregate", "items", pipeline=list(stages), cursor={})

        watch, split = {"$changeStream": {}}, {"$changeStreamSplitLargeEvent": {}}
        for stage, name in (
                ({"$count": "n"}, "$group"), ({"$sortByCount": "$a"}, "$group"),
                ({"$indexStats": {}}, "$indexStats"), ({"$sort": {"a": 1}}, "$sort")):
            expected = (20, f"{name} is not permitted in a $changeStream pipeline")
            self.assertEqual(refused(watch, stage), expected)
        alone = "$changeStreamSplitLargeEvent can only be used in a $changeStream pipeline"
        self.assertEqual(refused(split), (20, alone))
        self.assertEqual(refused({"$match": {}}, split), (20, alone))
        self.assertEqual(refused({"$facet": {"a": [split]}})[0], 40600)
        spec = "$changeStreamSplitLargeEvent spec should be an empty object"
        for argument in (1, {"a": 1}):
            self.assertEqual(
                refused(watch, {"$changeStreamSplitLargeEvent": argument}), (7182800, spec))
        self.assertEqual(refused(watch, split, {"$match": {}})[0], 7182802)


main()
