"""What collections, views, indexes and databases can be made, changed, renamed and dropped."""

import contextlib
import sqlite3
from uuid import UUID

import pymongo
from bson.binary import UuidRepresentation
from served import ServedTest, main


class Making(ServedTest):
    def created(self, **options):
        return self.refused("create", "made", **options)

    def test_options_that_mean_nothing_here_are_checked_all_the_same(self):
        index = {"key": {"_id": 1}, "unique": True}
        note = "is only supported on time-series collections or when the 'clusteredIndex' option"
        for options, code, text in [
            ({"storageEngine": 1}, 14, "BSON field 'create.storageEngine' is the wrong type 'int'"),
            ({"storageEngine": {"wiredTiger": 1}}, 2, "'storageEngine.wiredTiger' must be an"),
            ({"storageEngine": {"x": {}}}, 72, "x is not a registered storage engine"),
            ({"indexOptionDefaults": {"x": 1}}, 40415, "BSON field 'create.indexOptionDefaults.x'"),
            ({"temp": True}, 72, "the 'temp' field is an invalid option"),
            ({"autoIndexId": False}, 50001, "autoIndexId:false is not allowed for collection"),
            ({"expireAfterSeconds": 5}, 72, "'expireAfterSeconds' " + note),
            ({"expireAfterSeconds": "x"}, 14, "BSON field 'create.expireAfterSeconds' is the"),
            ({"clusteredIndex": index, "expireAfterSeconds": 5}, 115, "collections with 'expire"),
            ({"idIndex": {}}, 9, "The 'key' field is a required property"),
            ({"idIndex": {"key": {"a": 1}, "name": "_id_"}}, 2, "The field 'key' for an _id index"),
            ({"idIndex": {**index, "name": "_id_"}}, 197, "The field 'unique' is not valid for"),
            ({"idIndex": index, "viewOn": "a"}, 72, "'idIndex' is not allowed with 'viewOn': {"),
        ]:
            refused, message = self.created(**options)
            self.assertEqual((refused, message[: len(text)]), (code, text))
        answer = self.db.command("create", "made", autoIndexId=True)
        self.assertIn("deprecated", answer["note"])

    def test_a_collection_is_clustered_by_its_ids_only(self):
        for index, code in [
            (True, 5979703), ("x", 14), ({"key": {"_id": 1}}, 40414),
            ({"key": {"_id": 1}, "unique": False}, 5979700),
            ({"key": {"a": 1}, "unique": True}, 197),
            ({"key": {"_id": 1}, "unique": True, "v": 1}, 5979704),
            ({"key": {"_id": 1}, "unique": True, "x": 1}, 40415),
        ]:
            self.assertEqual(self.created(clusteredIndex=index)[0], code, index)
        index = {"key": {"_id": 1}, "unique": True}
        self.assertEqual(self.created(clusteredIndex=index, capped=True)[0], 6127800)
        self.assertEqual(self.created(clusteredIndex=index, max=1)[0], 6049204)
        self.assertEqual(self.created(clusteredIndex=index, viewOn="a")[0], 6026500)
        self.db.create_collection("made", clusteredIndex=index)
        listed = next(iter(self.db.list_collections()))
        self.assertNotIn("idIndex", listed)
        self.assertTrue(listed["options"]["clusteredIndex"]["unique"])

    def test_a_view_that_cannot_be_made_is_named(self):
        frame = "Invalid pipeline for view served.made :: caused by :: "
        for pipeline, code, text in [
            ([{"$match": {"$bogus": 1}}], 2, frame + "unknown top level operator: $bogus"),
            ([{"$out": "x"}], 167, frame + "The aggregation stage $out in location 0"),
            ([{"$changeStream": {}}], 167, frame + "$changeStream cannot be used in a view"),
            ([{"$documents": []}], 73, frame + "'$documents' cannot be used in a view"),
            ([{"$bogus": 1}], 40324, "Unrecognized pipeline stage name: '$bogus'"),
        ]:
            refused, message = self.created(viewOn="items", pipeline=pipeline)
            self.assertEqual((refused, message[: len(text)]), (code, text))

    def test_names_are_not_too_long(self):
        name = "x" * 250
        expected = (73, f"Fully qualified namespace is too long. Namespace: served.{name} Max: 255")
        self.assertEqual(self.refused("create", name), expected)
        self.assertEqual(self.refused("insert", name, documents=[{}]), expected)
        self.assertEqual(list(self.db[name].find()), [])

    def test_a_place_has_a_version_of_its_index(self):
        index = {"key": {"a": "2dsphere"}, "name": "a", "2dsphereIndexVersion": 9}
        code, message = self.refused("createIndexes", "items", indexes=[index])
        self.assertEqual(code, 67)
        self.assertIn("unsupported geo index version { 2dsphereIndexVersion : 9 }", message)


class Changing(ServedTest):
    def test_an_index_is_changed_as_far_as_it_can_be(self):
        self.items.create_index([("a", 1), ("b", 1)], name="two")
        self.items.create_index("a", name="one")
        self.db.create_collection("capped", capped=True, size=4096)
        self.db["capped"].create_index("a", name="one")

        def refused(collection="items", **index):
            return self.refused("collMod", collection, index=index)

        needs = "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first."
        self.assertEqual(refused(name="_id_", unique=True), (72, needs))
        self.assertEqual(refused(name="_id_", hidden=True), (2, "can't hide _id index"))
        self.assertEqual(refused(name="two", expireAfterSeconds=5)[0], 72)
        self.assertEqual(refused("capped", name="one", expireAfterSeconds=5)[0], 72)
        self.assertEqual(refused(name="one", prepareUnique=True, hidden=True)[0], 72)
        code, _ = self.refused("collMod", "items", expireAfterSeconds=5)
        self.assertEqual(code, 72)

    def test_a_view_has_nothing_else_to_change(self):
        self.db.create_collection("v", viewOn="items", pipeline=[])
        self.assertEqual(
            self.refused("collMod", "v", index={"name": "x", "hidden": True}),
            (72, "option not supported on a view: index"))


class Ending(ServedTest):
    def test_the_servers_own_databases_stay(self):
        code, message = self.refused_on("admin", "dropDatabase", 1)
        self.assertEqual((code, message), (20, "Dropping the 'admin' database is prohibited."))
        self.assertEqual(self.refused_on("local", "dropDatabase", 1)[0], 20)

    def refused_on(self, database, *arguments, **fields):
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.client[database].command(*arguments, **fields)
        return caught.exception.code, caught.exception.details["errmsg"]

    def test_names_of_the_server_are_not_given(self):
        self.items.insert_one({})
        long = "served." + "x" * 250
        for target, text in [
            ("served.system.x", "error with target namespace: cannot write to 'served.system.x'"),
            ("served.system.views", "renaming system.views collection or renaming to"),
            ("local.x", "Cannot rename collections between a replicated and an unreplicated"),
            (long, "error with target namespace: Fully qualified namespace is too long."),
        ]:
            code, message = self.refused_on(
                "admin", "renameCollection", "served.items", to=target)
            self.assertEqual((code, message[: len(text)]), (20, text))
        self.assertEqual(self.items.count_documents({}), 1)

    def opened(self, name="items"):
        """A cursor with documents left, and the collection's UUID."""
        self.db[name].insert_many({} for _ in range(5))
        listed = next(iter(self.db.list_collections(filter={"name": name})))
        uuid = listed["info"]["uuid"].as_uuid(UuidRepresentation.STANDARD)
        return self.db.command("find", name, batchSize=2)["cursor"]["id"], uuid

    def test_a_cursor_says_what_became_of_its_collection(self):
        def end(cursor, name="items"):
            return self.refused("getMore", cursor, collection=name)

        cursor, uuid = self.opened()
        self.assertIsInstance(uuid, UUID)
        self.items.drop()
        self.assertEqual(end(cursor), (175, f"collection dropped. UUID {uuid}"))
        self.assertEqual(end(cursor), (43, f"cursor id {cursor} not found"))
        cursor, uuid = self.opened()
        other, target = self.opened("other")
        self.items.rename("other", dropTarget=True)
        renamed = f"collection renamed from 'served.items' to 'served.other'. UUID {uuid}"
        self.assertEqual(end(cursor), (175, renamed))
        self.assertEqual(end(other, "other"), (175, f"collection dropped. UUID {target}"))
        cursor, uuid = self.opened()
        self.client.drop_database("served")
        self.assertEqual(end(cursor), (175, f"collection dropped. UUID {uuid}"))
        cursor, uuid = self.opened()
        self.items.drop()
        answer = self.db.command("killCursors", "items", cursors=[cursor])
        self.assertEqual(answer["cursorsKilled"], [cursor])


class Writing(ServedTest):
    def test_what_is_deleted_has_no_places_in_arrays(self):
        self.assertEqual(
            self.refused("findAndModify", "items", remove=True, arrayFilters=[{"i": 1}]),
            (9, "Cannot specify arrayFilters and remove=true"))


class Pipelines(ServedTest):
    def run_into(self, stage):
        return self.refused("aggregate", "items", pipeline=[stage], cursor={})

    def test_a_pipeline_does_not_write_what_is_the_servers_own(self):
        self.items.insert_one({"_id": 1})
        for stage, expected in (
                ({"$out": "system.x"}, (17385, "Can't $out to special collection: system.x")),
                ({"$out": {"db": "admin", "coll": "system.users"}},
                 (17385, "Can't $out to special collection: system.users")),
                ({"$out": {"db": "admin", "coll": "x"}},
                 (31321, "Can't $out to internal database: admin")),
                ({"$merge": {"into": {"db": "admin", "coll": "system.users"}}},
                 (31319, "Cannot $merge to special collection: system.users")),
                ({"$merge": {"into": {"db": "config", "coll": "x"}}},
                 (31320, "Cannot $merge to internal database: config"))):
            self.assertEqual(self.run_into(stage), expected)

    def test_a_pipeline_writes_no_view_and_replaces_nothing_that_is_capped(self):
        self.items.insert_one({"_id": 1})
        self.db.create_collection("v", viewOn="items", pipeline=[])
        self.db.create_collection("capped", capped=True, size=4096)
        frame = "PlanExecutor error during aggregation :: caused by :: "
        view = (166, frame + "Namespace served.v is a view, not a collection")
        self.assertEqual(self.run_into({"$out": "v"}), view)
        self.assertEqual(self.run_into({"$merge": "v"}), view)
        capped = frame + "namespace 'served.capped' is capped so it can't be used for $out"
        self.assertEqual(self.run_into({"$out": "capped"}), (17152, capped))
        self.items.aggregate([{"$merge": "capped"}])
        self.assertEqual(self.db["capped"].count_documents({}), 1)

    def test_what_the_server_asks_of_its_stages_comes_before_documents(self):
        self.items.insert_one({"_id": 1})
        self.db.create_collection("v", viewOn="items", pipeline=[])
        code, message = self.refused(
            "aggregate", 1, pipeline=[{"$currentOp": {}}], cursor={})
        text = "$currentOp must be run against the 'admin' database with {aggregate: 1}"
        self.assertEqual((code, message), (73, text))
        count = [{"$collStats": {"count": {}}}]
        self.assertEqual(self.refused("aggregate", "v", pipeline=count, cursor={})[0], 166)

    def test_a_view_is_shown_as_pipelines_show(self):
        self.items.insert_one({"_id": 1, "a": [1]})
        self.db.create_collection("v", viewOn="items", pipeline=[])
        self.assertEqual(self.refused("find", "v", projection={"a.$": 1})[0], 31324)
        self.assertEqual(self.refused("find", "v", projection={"a": {"$elemMatch": {}}})[0], 168)
        self.assertEqual(list(self.db["v"].find({}, {"a": 1, "_id": 0})), [{"a": [1]}])

    def test_checks_name_the_collection(self):
        self.items.insert_one({"_id": 1})
        self.db.create_collection("v", viewOn="items", pipeline=[])
        listed = next(iter(self.db.list_collections(filter={"name": "items"})))
        self.assertEqual(self.db.command("validate", "items")["uuid"], listed["info"]["uuid"])
        self.assertEqual(list(self.db.command("dbHash")["collections"]), ["items"])

    def test_checks_tell_what_is_there_and_what_is_wrong(self):
        self.items.insert_many([{"_id": 1, "a": [1, 2, 2]}, {"_id": 2, "a": 3, "b": 1}])
        self.items.create_index("a")
        self.items.create_index("b", sparse=True)
        self.db.command("collMod", "items", validator={"b": {"$exists": True}})
        found = self.db.command("validate", "items")
        self.assertEqual(found["keysPerIndex"], {"_id_": 2, "a_1": 3, "b_1": 1})
        self.assertEqual((found["valid"], found["nNonCompliantDocuments"]), (True, 1))
        self.assertEqual(len(found["warnings"]), 1)
        argv = self.client.admin.command("getCmdLineOpts")["argv"]
        with contextlib.closing(sqlite3.connect(argv[argv.index("--db") + 1])) as file, file:
            (number,), = file.execute("SELECT max(id) FROM store_indexes WHERE name = 'b_1'")
            file.execute(f"DELETE FROM index_{number}")
        found = self.db.command("validate", "items")
        self.assertFalse(found["valid"])
        self.assertEqual(found["errors"], ["A document's key is missing in index b_1"])
        self.assertEqual(
            found["indexDetails"],
            {"_id_": {"valid": True}, "a_1": {"valid": True}, "b_1": {"valid": False}})
        with self.assertRaises(pymongo.errors.CollectionInvalid):
            self.db.validate_collection("items")


class Plans(ServedTest):
    def test_no_plans_are_kept(self):
        self.items.insert_one({})
        self.assertEqual(list(self.items.aggregate([{"$planCacheStats": {}}])), [])
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.items.aggregate([{"$planCacheStats": {"x": 1}}])
        self.assertEqual(caught.exception.code, 9)
        self.assertEqual(self.db.command("planCacheClear", "items", query={"a": 1})["ok"], 1)
        self.assertEqual(
            self.refused("planCacheClear", "items", sort={"a": 1}),
            (2, "sort, projection, or collation provided without query"))
        self.assertEqual(self.refused("planCacheClear", "items", query={"$bogus": 1})[0], 2)
        self.assertEqual(self.db.command("planCacheClear", "none", sort={"a": 1})["ok"], 1)
        self.assertEqual(self.client.admin.command("connPoolStats")["hosts"], {})


main()
