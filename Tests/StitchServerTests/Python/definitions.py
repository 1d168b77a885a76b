"""What collections, views, indexes and databases can be made, changed, renamed and dropped."""

import contextlib
import sqlite3
from uuid import UUID

import pymongo
from bson import Binary, Decimal128, Int64
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
            ({"expireAfterSeconds": 5, "timeseries": {"timeField": "t"}}, 115,
             "collections with 'timeseries' are not supported"),
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

    def test_an_index_prepares_to_be_unique_and_stops_to(self):
        """jstests/core/ddl/index_prepareUnique.js"""
        def prepare(value, name="a_1"):
            index = {"name": name, "prepareUnique": value}
            return self.db.command("collMod", "items", index=index)

        def prepared(name="a_1"):
            return self.items.index_information()[name].get("prepareUnique")

        self.items.insert_many([{"_id": 0, "a": 1}, {"_id": 1, "a": 1}])
        self.items.create_index("a", prepareUnique=True)
        wanted = {"key": {"a": 1}, "name": "a_1", "prepareUnique": False}
        self.assertEqual(self.refused("createIndexes", "items", indexes=[wanted])[0], 85)
        with self.assertRaises(pymongo.errors.DuplicateKeyError):
            self.items.insert_one({"a": 1})
        answer = prepare(False)
        self.assertEqual((answer["prepareUnique_old"], answer["prepareUnique_new"]), (True, False))
        self.assertIsNone(prepared())
        self.items.insert_one({"a": 1})
        self.items.create_index("b", unique=True, prepareUnique=False, sparse=True)
        prepare(True, "b_1")
        self.assertIsNone(prepared("b_1"))
        both = {"key": {"c": 1}, "name": "c", "unique": True, "prepareUnique": True}
        self.assertEqual(self.refused("createIndexes", "items", indexes=[both])[0], 67)

    def test_a_collection_is_named_by_its_uuid_too(self):
        """jstests/core/ddl/collection_uuid_coll_mod.js and those beside it"""
        self.items.insert_one({"_id": 1})
        self.db["other"].insert_one({"_id": 1})
        self.db.create_collection("v", viewOn="items", pipeline=[])
        listed = self.db.command("listCollections", filter={"name": "items"})
        uuid = listed["cursor"]["firstBatch"][0]["info"]["uuid"]
        none = Binary.from_uuid(UUID(int=7))
        index = {"key": {"a": 1}, "name": "a_1"}
        for command, fields in [
            ("find", {}), ("aggregate", {"pipeline": [], "cursor": {}}), ("collMod", {}),
            ("insert", {"documents": [{}]}), ("delete", {"deletes": [{"q": {}, "limit": 0}]}),
            ("update", {"updates": [{"q": {}, "u": {"$set": {"a": 1}}, "upsert": True}]}),
            ("createIndexes", {"indexes": [index]}), ("dropIndexes", {"index": "*"}), ("drop", {}),
        ]:
            for name, given, actual in [
                ("items", none, None), ("other", uuid, "items"), ("missing", uuid, "items"),
                ("v", uuid, "items"),
            ]:
                with self.subTest(command=command, name=name):
                    with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                        self.db.command(command, name, collectionUUID=given, **fields)
                    error = caught.exception.details
                    self.assertEqual(error["code"], 361, error)
                    self.assertEqual(
                        [error[field] for field in (
                            "db", "collectionUUID", "expectedCollection", "actualCollection")],
                        ["served", given, name, actual])
            self.assertEqual(self.refused(command, "items", collectionUUID=1, **fields)[0], 14)
            if command != "drop":
                self.db.command(command, "items", collectionUUID=uuid, **fields)
        self.assertEqual(self.db["other"].count_documents({}), 1)
        rename = {"renameCollection": "served.other", "to": "served.items"}
        for more, code in [
            ({"collectionUUID": uuid, "dropTarget": True}, 361), ({"dropTarget": none}, 361),
            ({"collectionUUID": uuid, "to": "elsewhere.items"}, 72), ({"dropTarget": uuid}, None),
        ]:
            if code is None:
                self.client["admin"].command({**rename, **more})
                continue
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.client["admin"].command({**rename, **more})
            self.assertEqual(caught.exception.code, code, more)

    def test_the_ids_have_the_collation_of_their_collection(self):
        """jstests/core/ddl/create_collection.js"""
        english = {"locale": "en_US"}
        index = {"key": {"_id": 1}, "name": "_id_", "collation": english}
        self.assertEqual(self.refused("create", "made", idIndex=index)[0], 2)
        french = {"locale": "fr_CA"}
        code, _ = self.refused("create", "made", idIndex=index, collation=french)
        self.assertEqual(code, 2)
        simple = {**index, "collation": {"locale": "simple"}}
        self.assertEqual(self.refused("create", "made", idIndex=simple, collation=english)[0], 2)
        self.db.command("create", "made", idIndex=index, collation={**english, "strength": 3})

    def test_a_time_of_expiry_is_read_as_a_whole_number(self):
        """functional-tests, collMod/test_collMod_index_expire.py"""
        for value, expected in [
            (50.7, 50), (Decimal128("50.5"), 50), (Decimal128("50.7"), 51), (-0.9, 0),
            (Decimal128("51.5"), 52), (float("nan"), 0), (Decimal128("NaN"), 0),
            (Int64(2**31), 2**31 - 1), (2.0**31, 2**31 - 1), (float("inf"), 2**31 - 1),
            (Decimal128("9223372036854775808"), 2**31 - 1), (Decimal128("Infinity"), 2**31 - 1),
        ]:
            self.items.drop()
            self.items.create_index("a", name="a_ttl", expireAfterSeconds=100)
            answer = self.db.command(
                "collMod", "items", index={"name": "a_ttl", "expireAfterSeconds": value})
            old, new = answer["expireAfterSeconds_old"], answer["expireAfterSeconds_new"]
            self.assertEqual((old, new), (100, expected), value)
            self.assertIsInstance(old, Int64)
            self.assertIsInstance(new, Int64)
        for change in [
            {"expireAfterSeconds": None}, {"expireAfterSeconds": float("-inf")}, {"hidden": None},
            {"expireAfterSeconds": Decimal128("-1")},
        ]:
            code, _ = self.refused("collMod", "items", index={"name": "a_ttl", **change})
            self.assertEqual(code, 72, change)

    def test_bounds_of_a_capped_collection_are_read_as_whole_numbers(self):
        """functional-tests, collMod/test_collMod_capped_size.py and test_collMod_capped_max.py"""
        self.db.create_collection("capped", capped=True, size=4096)
        for field, value, code in [
            ("cappedSize", Decimal128("100000"), 0), ("cappedSize", Decimal128("0.7"), 0),
            ("cappedSize", 2**50, 0), ("cappedSize", 1.5, 0), ("cappedSize", 0, 2),
            ("cappedSize", 0.7, 2), ("cappedSize", Decimal128("0.5"), 2), ("cappedSize", -0.5, 2),
            ("cappedSize", float("nan"), 2), ("cappedSize", float("-inf"), 2),
            ("cappedSize", 2**50 + 1, 2), ("cappedSize", float("inf"), 2),
            ("cappedSize", Decimal128(f"{2**50}.7"), 2), ("cappedMax", float("-inf"), 0),
            ("cappedMax", float("nan"), 0), ("cappedMax", 2147483647.5, 0),
            ("cappedMax", Decimal128("2147483647.4"), 0), ("cappedMax", 2**31, 2),
            ("cappedMax", Decimal128("2147483647.5"), 2), ("cappedMax", float("inf"), 2),
        ]:
            if code == 0:
                self.db.command("collMod", "capped", **{field: value})
            else:
                refused, _ = self.refused("collMod", "capped", **{field: value})
                self.assertEqual(refused, code, (field, value))

    def test_the_servers_own_databases_have_no_validators(self):
        """functional-tests, collMod/test_collMod_validator.py"""
        for name in ["admin", "config", "local"]:
            own = self.client[name]
            own.create_collection("plain")
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                own.command("collMod", "plain", validator={"a": 1})
            self.assertEqual(caught.exception.code, 72)
            own.drop_collection("plain")

    def test_the_order_of_a_clustered_collection_stays(self):
        """functional-tests, clustered_collections/test_clustered_collections_indexes.py"""
        self.db.create_collection("made", clusteredIndex={"key": {"_id": 1}, "unique": True})
        for index in ["_id_", {"_id": 1}]:
            self.assertEqual(self.refused("dropIndexes", "made", index=index)[0], 5979800)
        for hidden in [True, False]:
            index = {"name": "_id_", "hidden": hidden}
            self.assertEqual(self.refused("collMod", "made", index=index)[0], 6011800)

    def test_the_ids_of_a_clustered_collection_are_small(self):
        """functional-tests, clustered_collections/test_clustered_collections_id_constraints.py"""
        self.db.create_collection("made", clusteredIndex={"key": {"_id": 1}, "unique": True})
        most = 8 * 1024 * 1024

        def code(value):
            try:
                self.db["made"].insert_one({"_id": value})
            except pymongo.errors.WriteError as error:
                return error.code
            return 0

        self.assertEqual(code("x" * (most - 1)), 5894900)
        self.assertEqual(code("x" * (most - 2)), 0)
        self.assertEqual(code(Binary(b"x" * (most - 6))), 5894900)
        self.assertEqual(code(Binary(b"x" * (most - 7))), 0)
        for value, expected in [
            (float("nan"), 0), (Decimal128("NaN"), 50819), (float("inf"), 0),
            (Decimal128("Infinity"), 50826), (float("-inf"), 0), (float("-inf"), 50826), (1, 0),
            (1, 11000),
        ]:
            self.assertEqual(code(value), expected, value)

    def test_an_index_is_hidden_by_a_boolean(self):
        index = {"key": {"a": 1}, "name": "a_1", "hidden": 1}
        self.assertEqual(self.refused("createIndexes", "items", indexes=[index])[0], 14)

    def test_a_view_has_nothing_else_to_change(self):
        self.db.create_collection("v", viewOn="items", pipeline=[])
        self.assertEqual(
            self.refused("collMod", "v", index={"name": "x", "hidden": True}),
            (72, "option not supported on a view: index"))


class Copying(ServedTest):
    """functional-tests, cloneCollectionAsCapped"""

    def clone(self, target="copy", source="items", **fields):
        return self.refused("cloneCollectionAsCapped", source, toCollection=target, **fields)[0]

    def test_a_collection_is_copied_into_a_capped_one(self):
        self.items.insert_many({"_id": i} for i in range(3))
        self.db.command(
            "cloneCollectionAsCapped", "items", toCollection="copy", size=Decimal128("8192"))
        self.assertEqual([d["_id"] for d in self.db["copy"].find()], [0, 1, 2])
        self.assertTrue(self.db["copy"].options()["capped"])
        self.assertEqual(self.items.count_documents({}), 3)
        self.assertEqual(self.clone(size=8192), 48)
        self.db.command("cloneCollectionAsCapped", "items", toCollection="large", size=2**50)

    def test_sizes_and_names_are_checked(self):
        for size in [
            "100", True, None, [1], {}, 0, -1, 0.5, -1.5, float("nan"), float("-inf"),
            Decimal128("0.5"), Decimal128("-Infinity"),
        ]:
            self.assertEqual(self.clone(size=size), 72, size)
        self.assertEqual(self.clone(), 72)
        self.assertEqual(self.clone(size=4096), 26)
        self.items.insert_one({})
        for size in [2**50 + 1, float("inf"), Decimal128("Infinity"), Decimal128("1E+6144")]:
            self.assertEqual(self.clone(size=size), 2, size)
        for name in ["", ".a", "$a", "a$", "a\0b", "system.other", "x" * 255]:
            self.assertEqual(self.clone(name, size=4096), 73, name)
        for name in ["", ".a", "$a", "a$", "a\0b"]:
            self.assertEqual(self.clone(source=name, size=4096), 73, name)
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.client["admin"].command(
                "cloneCollectionAsCapped", "items", toCollection="system.users", size=4096)
        self.assertEqual(caught.exception.code, 73)


class Listing(ServedTest):
    def test_a_list_of_names_is_filtered_by_names(self):
        """functional-tests, listDatabases/test_listDatabases_nameonly.py and
        listCollections/test_listCollections_filter_expr.py"""
        self.items.insert_one({})

        def names(given):
            answer = self.client["admin"].command("listDatabases", nameOnly=True, filter=given)
            return [d["name"] for d in answer["databases"]]

        self.assertEqual(names({"sizeOnDisk": {"$gte": 0}}), [])
        self.assertIn("served", names({"sizeOnDisk": {"$exists": False}}))
        self.assertEqual(names({"name": "served"}), ["served"])

        def found(**fields):
            answer = self.db.command("listCollections", nameOnly=True, **fields)
            return answer["cursor"]["firstBatch"]

        entry = {"name": "items", "type": "collection"}
        self.assertEqual(found(filter={"options": {"$exists": True}}), [])
        self.assertEqual(found(filter={"type": "collection"}), [entry])
        size = {"$expr": {"$eq": [{"$size": "$options"}, 0]}}
        self.assertEqual(
            self.refused("listCollections", nameOnly=True, filter=size)[0], 17124)
        self.assertEqual(self.refused("listCollections", cursor={"batchSize": -1})[0], 2)


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
