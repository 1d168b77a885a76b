"""What a change stream's cursor outlives, what its events look like, and which stages it has."""

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
