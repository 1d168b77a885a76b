"""What MongoDB refuses, with its codes and texts: drivers and people decide by them."""

import pymongo
from bson import Decimal128
from served import ServedTest, main

FOUND = "Executor error during find command :: caused by :: "
MODIFIED = "Plan executor error during findAndModify :: caused by :: "
VIEW = "Namespace served.v is a view, not a collection"


class Finds(ServedTest):
    def setUp(self):
        super().setUp()
        self.items.insert_many({"_id": i, "a": [i]} for i in range(4))

    def find(self, **fields):
        return self.db.command("find", "items", **fields)["cursor"]["firstBatch"]

    def test_a_hint_turns_the_order_of_insertion_round(self):
        ids = [d["_id"] for d in self.find(hint={"$natural": -1})]
        self.assertEqual(ids, [3, 2, 1, 0])
        ids = [d["_id"] for d in self.find(hint={"$natural": -1}, filter={"a": {"$gt": 0}}, limit=2)]
        self.assertEqual(ids, [3, 2])
        self.assertEqual(self.find(sort={"$natural": 1}, limit=1)[0]["_id"], 0)

    def test_the_order_of_insertion_stands_alone(self):
        cases = [
            ({"sort": {"$natural": 1, "a": 1}}, "Cannot include '$natural' in compound sort: "),
            ({"hint": {"a": 1, "$natural": 1}}, "Cannot include '$natural' in compound hint: "),
            ({"sort": {"$natural": 2}}, "$natural sort cannot be set to a value other than -1"),
            ({"hint": {"$natural": 0}}, "$natural hint cannot be set to a value other than -1"),
            ({"sort": {"$natural": 1}, "hint": {"a": 1}}, "index hint not allowed with $natural"),
            (
                {"sort": {"$natural": 1}, "hint": {"$natural": -1}},
                "$natural hint must be in the same direction",
            ),
        ]
        for fields, text in cases:
            code, message = self.refused("find", "items", **fields)
            self.assertEqual((code, message[: len(text)]), (2, text))

    def test_bounds_have_the_same_fields(self):
        refused = self.refused("find", "items", min={"a": 1}, max={"b": 1}, hint={"a": 1})
        self.assertEqual(refused, (51176, "min and max must have the same field names"))

    def test_a_hint_of_a_change_is_a_name_or_a_pattern(self):
        """functional-tests, findAndModify"""
        for hint in [1, True, ["a"], None]:
            refused = self.refused("findAndModify", "items", query={}, remove=True, hint=hint)
            self.assertEqual(refused[0], 9, hint)

    def test_concerns_are_checked(self):
        """functional-tests, write_concern and read_concern"""
        for members in [float("nan"), Decimal128("NaN")]:
            refused = self.refused("insert", "items", documents=[{}], writeConcern={"w": members})
            self.assertEqual(refused[0], 9)
        refused = self.refused("find", "items", readConcern={"afterClusterTime": None})
        self.assertEqual(refused[0], 14)

    def test_what_is_nested_too_deep_overflows(self):
        """functional-tests: 15, as of 8.2, of the depth that this server can store."""
        def nested(depth):
            document = {}
            for _ in range(depth):
                document = {"a": document}
            return document

        self.items.insert_one({"_id": 9, **nested(90)})
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.items.insert_one({"_id": 8, **nested(150)})
        self.assertEqual(caught.exception.code, 15)
        validator = {"a": 1}
        for _ in range(100):
            validator = {"$and": [validator]}
        self.assertEqual(self.refused("create", "made", validator=validator)[0], 15)

    def test_a_position_needs_the_document_that_was_found(self):
        refused = self.refused(
            "findAndModify", "items", query={"a": 1}, update={"$set": {"b": 1}},
            fields={"a.$": 1}, new=True)
        expected = (2, "cannot use a positional projection and return the new document")
        self.assertEqual(refused, expected)

    def test_a_list_is_filtered_without_scripts_searches_and_distances(self):
        """jstests/core/catalog/list_collections_filter.js."""
        near = {"$nearSphere": {"$geometry": {"type": "Point", "coordinates": [0, 0]}}}
        for query in ({"$text": {"$search": "a"}}, {"$where": "true"}, {"at": near}):
            for command in ("listCollections", "listDatabases"):
                database = self.db if command == "listCollections" else self.client.admin
                with self.assertRaises(pymongo.errors.OperationFailure, msg=(command, query)):
                    database.command(command, filter=query)

    def test_a_null_byte_is_no_option_of_a_pattern(self):
        """jstests/core/query/regex/regex_error.js."""
        for pattern, options, code in (("ab", "\0i", 51108), ("a\0b", "i", 2)):
            query = {"a": {"$regex": pattern, "$options": options}}
            self.assertEqual(self.refused("find", "items", filter=query)[0], code, query)

    def test_a_score_needs_a_search(self):
        score = {"s": {"$meta": "textScore"}}
        expected = (40218, "query requires text score metadata, but it is not available")
        self.assertEqual(self.refused("find", "items", projection=score), expected)
        self.assertEqual(self.refused("find", "items", sort=score), expected)
        refused = self.refused("findAndModify", "items", remove=True, fields=score)
        self.assertEqual(refused, expected)
        self.assertEqual(self.items.count_documents({}), 4)
        self.items.create_index([("t", "text")])
        self.items.insert_one({"_id": 9, "t": "word"})
        found = self.find(filter={"$text": {"$search": "word"}}, projection=score, sort=score)
        self.assertGreater(found[0]["s"], 0)

    def test_a_distance_needs_a_place(self):
        def found(*stages):
            return list(self.items.aggregate(list(stages)))

        def refused(*stages):
            return self.refused("aggregate", "items", pipeline=list(stages), cursor={})

        shows = {"$project": {"m": {"$meta": "geoNearDistance"}, "p": {"$meta": "geoNearPoint"}}}
        near = {"$geoNear": {"near": [0, 0], "distanceField": "d"}}
        expected = (40218, "query requires $geoNear distance metadata, but it is not available")
        self.assertEqual(refused(shows), expected)
        self.assertEqual(refused({"$sort": {"m": {"$meta": "geoNearDistance"}}}), expected)
        self.assertEqual(refused({"$set": {"p": {"$meta": "geoNearPoint"}}})[0], 40218)
        none = (27, "$geoNear requires a 2d or 2dsphere index, but none were found")
        self.assertEqual(refused(near), none)
        self.items.delete_many({})
        self.items.create_index([("at", "2d")])
        self.items.insert_many([{"_id": 1, "at": [3, 4]}, {"_id": 2, "at": [0, 1]}])
        self.assertEqual(
            found(near, shows),
            [{"_id": 2, "m": 1.0, "p": [0, 1]}, {"_id": 1, "m": 5.0, "p": [3, 4]}])
        farthest = {"$sort": {"d": -1}}
        self.assertEqual([d["m"] for d in found(near, farthest, shows)], [5.0, 1.0])
        # As in jstests/aggregation/sources/facet/facet_validate_metadata_dependency.js, the
        # greatest distance comes first.
        by_distance = {"$sort": {"m": {"$meta": "geoNearDistance"}}}
        self.assertEqual([d["_id"] for d in found(near, by_distance)], [1, 2])

    def test_what_fails_while_documents_are_read_says_so(self):
        adds = {"$expr": {"$add": ["$a", "x"]}}
        text = "$add only supports numeric or date types, not array"
        self.assertEqual(self.refused("find", "items", filter=adds), (14, FOUND + text))
        refused = self.refused("find", "items", filter=adds, sort={"a": 1})
        self.assertEqual(refused, (14, FOUND + text))
        refused = self.refused("distinct", "items", key="a", query=adds)
        self.assertEqual(
            refused, (14, "Executor error during distinct command :: caused by :: " + text)
        )
        self.assertEqual(
            self.refused("find", "items", filter={"$expr": {"$divide": [1, 0]}}),
            (2, "Failed to optimize expression :: caused by :: can't $divide by zero"))
        refused = self.refused("find", "items", filter={"a": {"$exists": 1}}, projection={"a.$": 1})
        self.assertEqual(refused[1][:35], FOUND[:35])
        self.assertEqual(self.refused("find", "items", hint="none")[1][:22], "error processing query")


class Aggregations(ServedTest):
    """Where in its life a pipeline failed, as the server's `run_aggregate.cpp` and `pipeline.cpp` tell it."""

    def refused_by(self, *stages):
        return self.refused("aggregate", "items", pipeline=list(stages), cursor={})

    def test_what_fails_while_documents_pass_says_so(self):
        self.items.insert_many([{"_id": 1, "a": "x"}, {"_id": 2, "a": "y"}])
        text = "PlanExecutor error during aggregation :: caused by :: "
        sized = "The argument to $size must be an array, but was of type: string"
        self.assertEqual(self.refused_by({"$set": {"n": {"$size": "$a"}}}), (17124, text + sized))
        # Also behind a stage that waits for all documents.
        self.assertEqual(
            self.refused_by({"$group": {"_id": 1, "a": {"$first": "$a"}}}, {"$set": {"n": {"$size": "$a"}}}),
            (17124, text + sized))
        self.assertEqual(
            self.refused_by({"$count": "n"}, {"$set": {"m": {"$size": "$n"}}}),
            (17124, text + "The argument to $size must be an array, but was of type: int"))
        clash = self.refused_by({"$set": {"_id": 1}}, {"$merge": {"into": "items", "whenMatched": "fail"}})
        self.assertEqual((clash[0], clash[1][: len(text)]), (11000, text))
        # One that is not reached is none.
        self.assertEqual(
            list(self.items.aggregate([{"$match": {"_id": 9}}, {"$set": {"n": {"$size": "$a"}}}])), [])

    def test_a_result_is_a_document_of_16_MiB_at_most(self):
        """functional-tests, group and mergeObjects: 16 MiB and 16 KiB."""
        self.items.insert_many({"_id": i, "a": "x" * 100_000} for i in range(200))
        group = {"$group": {"_id": None, "all": {"$push": "$$ROOT"}}}
        self.assertEqual(self.refused_by(group)[0], 10334)
        self.assertEqual(self.refused_by({"$facet": {"f": [group]}})[0], 10334)
        # What a later stage makes smaller is no result.
        count = self.items.aggregate([group, {"$project": {"n": {"$size": "$all"}}}]).next()
        self.assertEqual(count["n"], 200)

    def test_an_insert_by_merge_goes_on_after_a_duplicate(self):
        """functional-tests, merge/test_stages_merge_when_matched.py"""
        self.items.insert_many([{"_id": 1, "a": 10}, {"_id": 2, "a": 20}])
        self.db["target"].insert_one({"_id": 1, "x": 99})
        merge = {"$merge": {"into": "target", "whenMatched": "fail"}}
        self.assertEqual(self.refused_by(merge)[0], 11000)
        self.assertEqual(
            list(self.db["target"].find()), [{"_id": 1, "x": 99}, {"_id": 2, "a": 20}])

    def test_a_stage_has_its_place(self):
        """functional-tests, stages/facet and stages/geoNear"""
        for name in ["$querySettings", "$listClusterCatalog", "$queryStats", "$listCatalog",
                     "$listSampledQueries"]:
            self.assertEqual(self.refused_by({"$facet": {"f": [{name: {}}]}})[0], 40600, name)
            self.assertEqual(self.refused_by({name: {}})[0], 40324, name)
        near = {"$geoNear": {"near": [0, 0], "distanceField": "d"}}
        self.assertEqual(self.refused_by({"$match": {}}, near)[0], 40603)

    def test_the_first_year_is_one(self):
        for part, code in (("year", 40523), ("isoWeekYear", 31095)):
            stage = {"$set": {"d": {"$dateFromParts": {part: 0}}}}
            refused, message = self.refused("aggregate", "items", pipeline=[stage], cursor={})
            self.assertEqual(refused, code)
            self.assertIn(f"'{part}' must evaluate to an integer in the range 1 to 9999", message)

    def test_what_fails_without_documents_says_so(self):
        self.assertEqual(
            self.refused_by({"$set": {"n": {"$divide": [1, 0]}}}),
            (2, "Failed to optimize pipeline :: caused by :: can't $divide by zero"))

    def test_what_is_no_pipeline_says_what_is_wrong(self):
        self.assertEqual(
            self.refused_by({"$nothing": 1}), (40324, "Unrecognized pipeline stage name: '$nothing'"))
        self.assertEqual(
            self.refused_by({"$set": {"n": {"$size": []}}})[1],
            "Invalid $set :: caused by :: Expression $size takes exactly 1 arguments. 0 were passed in.")


class Writes(ServedTest):
    def write_error(self, command, **fields):
        errors = self.db.command(command, "items", **fields)["writeErrors"]
        return errors[0]["code"], errors[0]["errmsg"]

    def test_a_refused_find_and_modify_says_that_it_was_under_way(self):
        self.items.insert_many([{"_id": 1, "u": 1}, {"_id": 2, "u": 2}])
        self.items.create_index("u", unique=True)
        refused = self.refused(
            "findAndModify", "items", query={"_id": 2}, update={"$set": {"u": 1}}
        )
        self.assertEqual(refused[0], 11000)
        self.assertTrue(refused[1].startswith(MODIFIED + "E11000 duplicate key error"))
        refused = self.refused("findAndModify", "items", update={"$set": {"_id": 7}})
        self.assertTrue(refused[1].startswith(MODIFIED + "Performing an update on the path"))
        refused = self.refused("findAndModify", "items", update={"$foo": 1})
        self.assertTrue(refused[1].startswith("Unknown modifier: $foo"))

    def test_batches_have_bounds(self):
        text = "Write batch sizes must be between 1 and 100000. Got 0 operations."
        for command, field in [("insert", "documents"), ("update", "updates"), ("delete", "deletes")]:
            self.assertEqual(self.refused(command, "items", **{field: []}), (16, text))

    def test_what_is_no_update_ends_the_command(self):
        self.items.insert_one({"_id": 1})
        fine = {"q": {}, "u": {"$set": {"a": 1}}}
        for update, fields, code in [
            ("x", {}, 9), ([5], {}, 14), ([{}], {}, 40323), ({}, {"arrayFilters": [5]}, 14)
        ]:
            wrong = {"q": {}, "u": update, **fields}
            self.assertEqual(self.refused("update", "items", updates=[fine, wrong])[0], code)
        self.assertEqual(self.items.find_one(), {"_id": 1})

    def test_a_limit_of_deletes_is_none_or_one(self):
        for limit in [2, -1, 0.5, 1.5]:
            self.assertEqual(
                self.refused("delete", "items", deletes=[{"q": {}, "limit": limit}])[0], 9
            )
        for limit in [1.0, Decimal128("0")]:
            self.db.command("delete", "items", deletes=[{"q": {}, "limit": limit}])

    def test_documents_that_are_too_large_are_refused_by_kind_of_write(self):
        half = "x" * (9 << 20)
        self.items.insert_one({"_id": 1, "a": half})
        update = {"$set": {"b": half}}
        text = "Resulting document after update is larger than 16777216"
        self.assertEqual(
            self.write_error("update", updates=[{"q": {"_id": 1}, "u": update}]), (17419, text)
        )
        refused = self.refused("findAndModify", "items", query={"_id": 1}, update=update)
        self.assertEqual(refused, (17419, MODIFIED + text))


class Views(ServedTest):
    def setUp(self):
        super().setUp()
        self.items.insert_one({"_id": 1})
        self.db.create_collection("v", viewOn="items", pipeline=[])

    def test_nothing_is_written_through_a_view(self):
        for command, fields in [
            ("update", {"updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}),
            ("delete", {"deletes": [{"q": {}, "limit": 0}]}),
        ]:
            errors = self.db.command(command, "v", **fields)["writeErrors"]
            self.assertEqual((errors[0]["code"], errors[0]["errmsg"]), (166, VIEW))
        self.assertEqual(self.refused("findAndModify", "v", remove=True), (166, VIEW))
        index = {"key": {"a": 1}, "name": "a"}
        self.assertEqual(self.refused("createIndexes", "v", indexes=[index])[0], 166)
        self.assertEqual(self.refused("listIndexes", "v"), (166, VIEW))

    def test_a_view_cannot_be_asked_everything(self):
        for field, value, name in [
            ("returnKey", True, "Option returnKey"),
            ("showRecordId", True, "Option showRecordId"),
            ("noCursorTimeout", True, "Option noCursorTimeout"),
            ("singleBatch", True, "Option singleBatch"),
            ("min", {"a": 1}, "Option min"),
            ("sort", {"$natural": 1}, "Sort option $natural"),
        ]:
            refused = self.refused("find", "v", **{field: value})
            self.assertEqual(refused, (168, f"{name} not supported in aggregation."))
        self.assertEqual(self.refused("find", "v", tailable=True)[0], 168)
        found = self.db.command("find", "v", singleBatch=True, limit=1)
        self.assertEqual(found["cursor"]["firstBatch"], [{"_id": 1}])

    def test_a_view_of_itself_is_refused(self):
        self.assertEqual(self.refused("collMod", "v", viewOn="v", pipeline=[])[0], 5)
        refused = self.refused("create", "w", viewOn="items", pipeline=[{"$unionWith": "w"}])
        self.assertEqual(refused[0], 5)
        self.assertEqual(self.db["v"].count_documents({}), 1)


class Explanations(ServedTest):
    def explained(self, command, **fields):
        given = {command: "items", **fields}
        answer = self.db.command("explain", given, verbosity="executionStats")
        stats = answer["executionStats"]
        return answer["queryPlanner"]["winningPlan"], stats["executionStages"], stats

    def test_a_write_tells_what_it_would_do_and_does_nothing(self):
        self.items.insert_many({"_id": i, "a": i % 2} for i in range(6))
        update = {"q": {"a": 1}, "u": {"$set": {"a": 1, "b": 1}}, "multi": True}
        plan, stages, stats = self.explained("update", updates=[update])
        self.assertEqual((plan["stage"], stats["nReturned"]), ("UPDATE", 0))
        self.assertEqual((stages["nMatched"], stages["nWouldModify"]), (3, 3))
        same = {"q": {"a": 1}, "u": {"$set": {"a": 1}}, "multi": True}
        stages = self.explained("update", updates=[same])[1]
        self.assertEqual((stages["nMatched"], stages["nWouldModify"]), (3, 0))
        new = {"q": {"_id": 9}, "u": {"$set": {"a": 1}}, "upsert": True}
        stages = self.explained("update", updates=[new])[1]
        self.assertEqual((stages["nMatched"], stages["nWouldUpsert"]), (0, 1))
        one = {"q": {"a": 1}, "limit": 1}
        plan, stages, stats = self.explained("delete", deletes=[one])
        self.assertEqual((plan["stage"], plan["inputStage"]["stage"]), ("DELETE", "COLLSCAN"))
        self.assertEqual((stages["nWouldDelete"], stats["totalDocsExamined"]), (1, 2))
        stages = self.explained("delete", deletes=[{"q": {"a": 1}, "limit": 0}])[1]
        self.assertEqual(stages["nWouldDelete"], 3)
        _, stages, stats = self.explained(
            "findAndModify", query={"a": 1}, sort={"_id": -1}, update={"$inc": {"a": 1}}
        )
        self.assertEqual((stages["nWouldModify"], stats["nReturned"]), (1, 1))
        self.assertEqual(self.items.count_documents({"a": 1}), 3)

    def test_what_cannot_be_explained_is_refused(self):
        def refused(command):
            return self.refused("explain", command)

        self.assertEqual(refused({"ping": 1}), (20, "Cannot explain cmd: ping"))
        itself = {"explain": {"find": "items"}}
        self.assertEqual(refused(itself), (20, "Explain cannot explain itself."))
        self.assertEqual(refused({}), (59, "Explain failed due to unknown command: "))

    def test_an_id_is_one_key(self):
        self.items.insert_one({"_id": 1})
        self.assertEqual(self.explained("find", filter={"_id": 1})[2]["totalKeysExamined"], 1)
        self.assertEqual(self.explained("find", filter={"_id": 2})[2]["totalKeysExamined"], 0)


class Definitions(ServedTest):
    def test_an_index_needs_a_name(self):
        refused = self.refused("createIndexes", "items", indexes=[{"key": {"a": 1}}])
        self.assertEqual(refused[0], 9)

    def test_unknown_options_can_be_ignored(self):
        index = {"key": {"a": 1}, "name": "a", "other": 1}
        self.assertEqual(self.refused("createIndexes", "items", indexes=[index])[0], 197)
        self.db.command("createIndexes", "items", indexes=[index], ignoreUnknownIndexOptions=True)
        self.assertEqual(set(self.items.index_information()), {"_id_", "a"})

    def test_names_of_the_system_are_kept(self):
        text = "Invalid system namespace: served.system.x"
        self.assertEqual(self.refused("create", "system.x"), (73, text))

    def test_changes_of_indexes_are_checked(self):
        self.items.create_index("a", expireAfterSeconds=9)

        def code(**index):
            return self.refused("collMod", "items", index=index)[0]

        self.assertEqual(code(name="_id_", hidden=True), 2)
        self.assertEqual(code(name="_id_", expireAfterSeconds=1), 72)
        self.assertEqual(code(name="a_1", expireAfterSeconds=-1), 72)
        self.assertEqual(code(name="a_1", expireAfterSeconds="x"), 14)
        self.assertEqual(code(name="a_1", hidden="x"), 14)

    def test_a_validator_asks_for_no_distance(self):
        near = {"a": {"$near": [1, 1]}}
        self.assertEqual(self.refused("create", "n", validator=near)[0], 5626500)
        self.db.create_collection("n")
        self.assertEqual(self.refused("collMod", "n", validator=near)[0], 5626500)

    def test_a_view_is_not_in_the_order_of_distances(self):
        # The query of a view is a $match; the server's text.
        self.items.create_index([("a", "2dsphere")])
        self.db.create_collection("v", viewOn="items", pipeline=[])
        text = (
            "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators "
            "require sorting geospatial data. If you do not need sort, consider using $geoWithin "
            "instead. Check out https://dochub.mongodb.org/core/near-sort-operation and "
            "https://dochub.mongodb.org/core/nearSphere-sort-operationfor more details.")
        for near in ({"$near": [1, 1]}, {"$nearSphere": [1, 1]},
                     {"$near": {"$geometry": {"type": "Point", "coordinates": [1, 1]}}}):
            query = {"a": near}
            for command, fields in (
                    ("find", {"filter": query}), ("count", {"query": query}),
                    ("distinct", {"key": "a", "query": query}),
                    ("aggregate", {"pipeline": [{"$match": query}], "cursor": {}})):
                self.assertEqual(
                    self.refused(command, "v", **fields), (5626500, text), (command, near))


if __name__ == "__main__":
    main()
