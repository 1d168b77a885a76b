"""Which index a pattern names, and which documents a hint, a place or a score selects."""

import pymongo
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from served import ServedTest, main


class Patterns(ServedTest):
    """Patterns are compared in order, and numbers by value."""

    SAME = [{"a": 1.0, "b": 1}, {"a": Int64(1), "b": Decimal128("1")}]
    OTHERS = [{"b": 1, "a": 1}, {"a": 1}, {"a": 2, "b": 1}, {"a": True, "b": 1}, {"a": 1, "b": -1}]

    def setUp(self):
        super().setUp()
        self.items.insert_many([{"_id": 1, "a": 1, "b": 2}, {"_id": 2, "a": 2, "b": 1}])
        self.items.create_index([("a", 1), ("b", 1)], name="ab")

    def commands(self, hint):
        statement = {"q": {}, "hint": hint}
        return [
            {"find": "items", "hint": hint},
            {"find": "items", "hint": hint, "min": {"a": 0, "b": 0}},
            {"count": "items", "hint": hint},
            {"distinct": "items", "key": "a", "hint": hint},
            {"aggregate": "items", "pipeline": [], "cursor": {}, "hint": hint},
            {"findAndModify": "items", "query": {}, "update": {"$inc": {"n": 1}}, "hint": hint},
            {"update": "items", "updates": [{**statement, "u": {"$inc": {"n": 1}}}]},
            {"delete": "items", "deletes": [{**statement, "q": {"n": -1}, "limit": 0}]},
        ]

    def code(self, command):
        try:
            answer = self.db.command(command)
        except pymongo.errors.OperationFailure as failure:
            return failure.code
        return answer["writeErrors"][0]["code"] if "writeErrors" in answer else None

    def test_a_hint_names_an_index_by_order_and_value(self):
        for hint in self.SAME:
            for command in self.commands(hint):
                self.assertIsNone(self.code(command), command)
        for hint in self.OTHERS:
            for command in self.commands(hint):
                self.assertEqual(self.code(command), 2, command)
        for hint in [{"_id": 1.0}, {"_id": Int64(1)}]:
            self.assertIsNone(self.code({"find": "items", "hint": hint}))
        self.assertEqual(self.code({"find": "items", "hint": {"_id": -1}}), 2)

    def test_an_index_is_dropped_and_changed_by_order_and_value(self):
        for pattern in self.OTHERS:
            change = {"keyPattern": pattern, "hidden": True}
            self.assertEqual(self.code({"collMod": "items", "index": change}), 27)
            self.assertEqual(self.code({"dropIndexes": "items", "index": pattern}), 27)
        for pattern in self.SAME:
            change = {"keyPattern": pattern, "hidden": True}
            self.assertIsNone(self.code({"collMod": "items", "index": change}))
            self.assertIsNone(self.code({"dropIndexes": "items", "index": pattern}))
            self.items.create_index([("a", 1), ("b", 1)], name="ab")
        for pattern in [{"_id": 1.0}, {"_id": Int64(1)}]:
            self.assertEqual(self.code({"dropIndexes": "items", "index": pattern}), 72)

    def test_a_pattern_of_two_indexes_names_none(self):
        """jstests/core/ddl/coll_mod.js"""
        self.items.create_index("t", name="plain")
        self.items.create_index("t", name="french", collation={"locale": "fr"})
        for index, code in [
            ({"keyPattern": {"t": 1}}, 181), ({"keyPattern": "t"}, 14), ({"name": 2}, 14),
            ({"name": "plain"}, None),
        ]:
            change = {"collMod": "items", "index": {**index, "expireAfterSeconds": 5}}
            self.assertEqual(self.code(change), code, index)

    def test_an_index_is_made_once(self):
        def make(key, name="ab"):
            return {"createIndexes": "items", "indexes": [{"key": key, "name": name}]}

        for key in [{"_id": 1.0}, {"_id": Int64(1)}]:
            for name in ["own", "_id_"]:
                answer = self.db.command(make(key, name))
                self.assertEqual(answer["numIndexesAfter"], 2)
        for key in self.SAME:
            self.assertEqual(self.db.command(make(key))["numIndexesAfter"], 2)
            self.assertEqual(self.code(make(key, "other")), 85)
        self.assertEqual(self.code(make({"b": 1, "a": 1})), 86)
        self.assertEqual(self.db.command(make({"b": 1, "a": 1}, "ba"))["numIndexesAfter"], 3)


class Places(ServedTest):
    PLANE = [("loc", pymongo.GEO2D)]

    def ids(self, found):
        return [document["_id"] for document in found]

    def test_a_hint_of_places_shows_what_has_one(self):
        for keys, options, expected in [
            ([("loc", "2dsphere")], {}, [1, 6]), ([("loc", "2dsphere")], {"sparse": True}, [1, 6]),
            ([("a", 1), ("loc", "2dsphere")], {}, [1, 6]), (self.PLANE, {}, [1, 6]),
            (self.PLANE + [("a", 1)], {}, [1, 6]),
            (self.PLANE, {"partialFilterExpression": {"a": 1}}, [6]),
            ([("loc", "2dsphere")], {"2dsphereIndexVersion": 1}, [1, 2, 3, 4, 5, 6]),
        ]:
            self.items.drop()
            self.items.insert_many([
                {"_id": 1, "loc": [1, 1]}, {"_id": 2}, {"_id": 3, "a": 1},
                {"_id": 4, "loc": None}, {"_id": 5, "loc": []}, {"_id": 6, "loc": [2, 2], "a": 1},
            ])
            self.items.create_index(keys, name="g", **options)
            for query in [{}, {"_id": {"$gt": 0}}]:
                self.assertEqual(self.ids(self.items.find(query, hint="g")), expected)
                count = self.db.command("count", "items", query=query, hint=dict(keys))
                self.assertEqual(count["n"], len(expected))
            changed = self.items.update_many({}, {"$set": {"n": 1}}, hint="g").modified_count
            self.assertEqual(changed, len(expected))

    def test_the_nearest_needs_an_index(self):
        globe = {"$geometry": {"type": "Point", "coordinates": [0, 0]}}
        self.assertEqual(self.ids(self.items.find({"loc": {"$near": [0, 0]}})), [])
        for keys, options, measured in [
            (None, {}, []),
            ([("loc", 1)], {}, []),
            (self.PLANE, {}, ["plane", "pairs"]),
            ([("loc", "2dsphere")], {}, ["globe", "pairs"]),
            ([("loc", "2dsphere"), ("a", 1)], {}, ["globe", "pairs"]),
            (self.PLANE, {"hidden": True}, []),
            (self.PLANE, {"partialFilterExpression": {"a": 1}}, []),
            ([("other", "2d")], {}, []),
        ]:
            self.items.drop()
            self.items.insert_one({"_id": 1, "loc": [1, 1]})
            if keys:
                self.items.create_index(keys, name="g", **options)
            for name, near in [
                ("globe", {"$near": globe}), ("plane", {"$near": [0, 0]}),
                ("pairs", {"$nearSphere": [0, 0]}),
            ]:
                query = {"loc": near}
                statement = {"q": query, "u": {"$set": {"n": 1}}}
                if name in measured:
                    self.assertEqual(self.ids(self.items.find(query)), [1], (keys, name))
                    continue
                refused = (291, "error processing query: planner returned error :: caused by :: "
                           "unable to find index for $geoNear query")
                self.assertEqual(self.refused("find", "items", filter=query), refused)
                self.assertEqual(self.refused("count", "items", query=query), refused)
                self.assertEqual(self.refused("distinct", "items", key="a", query=query), refused)
                explained = {"find": "items", "filter": query}
                self.assertEqual(self.refused("explain", explained), refused)
                answer = self.db.command("update", "items", updates=[statement])
                self.assertEqual(answer["writeErrors"][0]["code"], 291)

    def test_the_nearest_needs_an_index_of_places_as_its_hint(self):
        self.items.insert_one({"_id": 1, "loc": [1, 1], "a": 1})
        self.items.create_index(self.PLANE, name="g")
        self.items.create_index([("a", 1)], name="a")
        near = {"loc": {"$near": [0, 0]}}
        self.assertEqual(self.ids(self.items.find(near, hint="g")), [1])
        for hint in ["a", "_id_"]:
            self.assertEqual(self.refused("find", "items", filter=near, hint=hint)[0], 291)

    def test_the_nearest_is_changed(self):
        near = {"loc": {"$near": [0, 0]}}
        for change in [
            {"update": "items", "updates": [{"q": near, "u": {"$set": {"loc": [99, 0]}}}]},
            {"findAndModify": "items", "query": near, "update": {"$set": {"loc": [99, 0]}}},
            {"findAndModify": "items", "query": near, "remove": True},
            {"delete": "items", "deletes": [{"q": near, "limit": 1}]},
        ]:
            self.items.drop()
            self.items.insert_many([{"_id": 1, "loc": [9, 9]}, {"_id": 2, "loc": [1, 1]}])
            self.items.create_index(self.PLANE)
            self.db.command(change)
            self.assertEqual(self.ids(self.items.find({"loc.0": {"$lt": 50}})), [1])

    def test_a_filter_asks_once_for_the_nearest(self):
        self.items.insert_one({"_id": 1, "loc": [1, 1]})
        self.items.create_index(self.PLANE)
        near = {"loc": {"$near": [0, 0]}}
        for query in [near, {"$and": [near]}, {"$or": [near]}, {"$and": [{"$and": [near]}]}]:
            self.assertEqual(self.ids(self.items.find(query)), [1])
        once, above = "Too many geoNear expressions", "geo $near must be top-level expr"
        for query, text in [
            ({"$or": [near, {"a": 1}]}, above), ({"$nor": [near]}, above),
            ({"loc": {"$not": {"$near": [0, 0]}}}, above), ({"$and": [near, near]}, once),
        ]:
            self.assertEqual(self.refused("find", "items", filter=query), (2, text))


class Definitions(ServedTest):
    """Which definitions of indexes are refused; MongoDB manual, "createIndexes"."""

    def code(self, key, **options):
        self.items.drop()
        index = {"key": key, "name": "g", **options}
        try:
            self.db.command("createIndexes", "items", indexes=[index])
        except pymongo.errors.OperationFailure as failure:
            return failure.code
        return None

    def check(self, cases):
        for key, options, expected in cases:
            self.assertEqual(self.code(key, **options), expected, (key, options))

    def test_places(self):
        plane, globe = {"loc": "2d"}, {"loc": "2dsphere"}
        self.check([
            ({"a": 1, "loc": "2d"}, {}, 16801), ({"loc": "2d", "b": "2d"}, {}, 16800),
            ({"loc": "2d", "a": 1}, {}, None), (plane, {"min": float("nan")}, 72),
            (plane, {"max": float("nan")}, 72), (plane, {"max": float("inf")}, 72),
            (plane, {"min": 5, "max": 5}, 72), (plane, {"min": -500, "max": 500}, None),
            (globe, {"finestIndexedLevel": 17}, None), (globe, {"finestIndexedLevel": 31}, 16748),
            (globe, {"coarsestIndexedLevel": -1}, 16747),
            (globe, {"coarsestIndexedLevel": 9, "finestIndexedLevel": 5}, 16749),
            ({"a": 1, "loc": "2dsphere", "b": "2dsphere"}, {}, None),
        ])

    def test_texts(self):
        text = {"t": "text"}
        self.check([
            ({"a": 1, "t": "text", "b": 1, "s": "text"}, {}, 67), ({"_fts": "text"}, {}, 67),
            ({"a": 1, "t": "text", "s": "text", "b": -1}, {}, None),
            ({"t": "text", "_fts": 1}, {}, 67), ({"_ftsx": 1, "_fts": "text"}, {}, 67),
            ({"_fts": "text", "_ftsx": 1}, {"weights": {"a": 2}}, None),
            ({"_fts": "text", "_ftsx": 1}, {}, 67), (text, {"textIndexVersion": 4}, 67),
            ({"t": "text", "b": 2}, {}, 67), ({"b": -1.5, "t": "text"}, {}, None),
            (text, {"textIndexVersion": "3"}, 67), (text, {"textIndexVersion": 2}, None),
            (text, {"language_override": ""}, 67), (text, {"language_override": "$a"}, 67),
            (text, {"language_override": "a.b"}, 67), (text, {"language_override": 5}, 67),
            (text, {"weights": {"": 1}}, 67), (text, {"weights": {"a.": 1}}, 67),
            (text, {"weights": {"a.$b": 1}}, 67), (text, {"weights": {"a.b": 1}}, None),
            (text, {"weights": "$**"}, None),
        ])

    def test_languages(self):
        self.items.create_index([("t", "text"), ("a.t", "text")])
        for document, code in [
            ({"language": "spanglish", "t": "x"}, 17262), ({"language": 5}, 17261),
            ({"a": [{"t": "x"}, {"language": "spanglish", "t": "x"}]}, 17262),
            ({"language": "none"}, None), ({"a": {"language": "ES", "t": "x"}}, None),
            ({"b": {"language": "spanglish"}}, None),
        ]:
            answer = self.db.command("insert", "items", documents=[document])
            found = answer["writeErrors"][0]["code"] if "writeErrors" in answer else None
            self.assertEqual(found, code, document)
        other = self.db["other"]
        other.insert_one({"language": "spanglish"})
        index = {"key": {"t": "text"}, "name": "t"}
        self.assertEqual(self.refused("createIndexes", "other", indexes=[index])[0], 17262)

    def test_wildcards(self):
        every = {"$**": 1}
        one = {"wildcardProjection": {"a": 0}}
        self.check([
            ({"$**": -1}, {}, None), ({"a.$**": -1}, {}, None), (every, {"v": 1}, 67),
            ({"$**": 1, "a": 1}, one, None), ({"$**": 1, "b": 1}, one, 7246210),
            ({"$**": 1, "b.$**": 1}, one, 7246201), ({"a": "wildcard"}, {}, 7246202),
            ({"a.$**": 1}, one, 9), ({"a": 1}, one, 2), (every, {"wildcardProjection": {}}, 9),
            (every, {"wildcardProjection": {"a": {"b": 1}}}, None),
        ])
        for value in ["x", None, [1], {"$slice": 1}, {"b": {"$meta": "textScore"}}]:
            self.check([(every, {"wildcardProjection": {"a": value}}, 51271)])

    def test_the_regular_fields_of_a_wildcard_are_outside_of_it(self):
        """jstests/core/index/wildcard/compound_wildcard_index_validation.js"""
        for fields, projection, code in [
            (["a", "b.$**"], None, None), (["a", "a.$**"], None, 7246204),
            (["a.b.c", "a.b.$**"], None, 7246204), (["a.$**", "b.$**"], None, 7246201),
            (["a", "$**"], {"a": 1}, 7246208), (["a", "$**", "b"], {"a": 1, "b": 1}, 7246208),
            (["_id", "$**"], {"_id": 1, "a": 1}, 7246208), (["$**", "b"], {"_id": 1}, None),
            (["b", "$**"], {"_id": 0, "a": 1}, None), (["a", "$**"], {"_id": 0}, 7246210),
            (["_id", "$**"], {"_id": 0}, None), (["_id", "$**", "a"], {"_id": 0}, 7246210),
            (["a", "_id", "$**"], {"a": 0}, 7246209), (["a", "b", "$**"], {"b": 0}, 7246209),
            (["b", "$**"], {"_id": 0, "a": 0}, 7246210),
            (["$**", "d"], {"_id": 1, "e": 0}, 7246209),
            (["a.b", "$**"], {"_id": 0, "a": 0}, None), (["a", "$**"], {"a.b": 0}, 7246209),
            (["$**", "e.c"], {"_id": 1, "e.b": 0}, 7246210),
            (["$**", "c"], {"_id": 1, "a": 0, "b": 1}, 7246211),
        ]:
            options = {} if projection is None else {"wildcardProjection": projection}
            with self.subTest(fields=fields, projection=projection):
                self.check([(dict.fromkeys(fields, 1), options, code)])
        self.check([({"_fts": 1}, {}, 67)])
        for kind in ("hashed", "2dsphere"):
            self.check([({"b": kind, "a.$**": 1}, {}, 67), ({"a.$**": 1, "b": kind}, {}, 67)])

    def test_a_descending_wildcard_answers_as_an_ascending_one(self):
        for direction in [1, -1]:
            self.items.drop()
            self.items.insert_many([{"_id": n, "a": {"b": n % 3}} for n in range(9)])
            self.items.create_index([("$**", direction)])
            hint = {"$**": direction}
            found = self.items.find({"a.b": {"$gte": 1}}, hint=hint).sort("a.b", -1)
            self.assertEqual([d["a"]["b"] for d in found], [2, 2, 2, 1, 1, 1])
            self.assertEqual(len(list(self.items.find({"a.b": 0}, hint=hint))), 3)

    def test_a_wildcard_has_empty_arrays_and_documents(self):
        values = [[], {}, [[]], [{}], [1], {"b": 1}, None, [[1]]]
        self.items.insert_many([{"_id": n, "a": value} for n, value in enumerate(values)])
        self.items.create_index([("$**", 1)])
        for value, ids in [([], [0, 2]), ({}, [1, 3])]:
            for query in [{"a": value}, {"a": {"$in": [value, 5]}}]:
                found = [d["_id"] for d in self.items.find(query, hint={"$**": 1}).sort("_id", 1)]
                self.assertEqual(found, ids, query)
        for query in [{"a": {"b": 1}}, {"a": None}, {"a": {"$gte": {}}}]:
            self.assertEqual(self.refused("find", "items", filter=query, hint={"$**": 1})[0], 291)

    def test_a_compound_wildcard_has_no_arrays_beside_it(self):
        index = {"key": {"a": 1, "$**": 1}, "name": "g", "wildcardProjection": {"a": 0}}
        self.db.command("createIndexes", "items", indexes=[index])
        self.items.insert_one({"_id": 1, "a": 1, "b": [1]})
        for command in [
            {"insert": "items", "documents": [{"a": [1]}]},
            {"update": "items", "updates": [{"q": {}, "u": {"$set": {"a": [1]}}}]},
        ]:
            self.assertEqual(self.db.command(command)["writeErrors"][0]["code"], 7246301)
        self.db["other"].insert_one({"a": []})
        self.assertEqual(self.refused("createIndexes", "other", indexes=[index])[0], 7246301)

    def test_seconds(self):
        self.check([
            ({"a": 1}, {"expireAfterSeconds": seconds}, code) for seconds, code in [
                (Decimal128("5"), None), (Decimal128("NaN"), None), (float("nan"), None),
                (-0.5, None), (2147483647.5, None), (2147483648, 67), (Decimal128("1E+30"), 67),
                (float("inf"), 67), (-1, 67), ("5", 67), (None, 67),
            ]
        ])
        self.assertIsNone(self.code({"a": 1}, expireAfterSeconds=5))
        index = {"name": "g", "expireAfterSeconds": -1}
        self.assertEqual(self.refused("collMod", "items", index=index)[0], 72)

    def test_conjunctions_of_partial_indexes(self):
        self.check([
            ({"z": 1}, {"partialFilterExpression": {"a": {"$all": operand}}}, code)
            for operand, code in [
                ([1], None), ([1, 2], None), ([], 67), ([{"$elemMatch": {"b": 1}}], 67),
            ]
        ])
        self.code({"z": 1}, partialFilterExpression={"a": {"$all": [1, 2]}})
        self.items.insert_many([{"_id": 1, "a": [1, 2]}, {"_id": 2, "a": [1]}])
        self.assertEqual([d["_id"] for d in self.items.find({}, hint="g")], [1])

    def test_the_order_of_a_clustered_collection_is_no_index(self):
        self.db.create_collection("made", clusteredIndex={"key": {"_id": 1}, "unique": True})
        answer = self.db.command(
            "createIndexes", "made", indexes=[{"key": {"a": 1}, "name": "a"}])
        self.assertEqual((answer["numIndexesBefore"], answer["numIndexesAfter"]), (0, 1))


class Scores(ServedTest):
    def test_the_best_score_is_changed_and_shown(self):
        query, score = {"$text": {"$search": "apple"}}, {"s": {"$meta": "textScore"}}
        changes = [
            {"remove": True}, {"update": {"$set": {"t": "pear"}}},
            {"update": {"$set": {"t": "pear"}}, "new": True},
        ]
        for change in changes:
            self.items.drop()
            self.items.insert_many([{"_id": 1, "t": "apple x y"}, {"_id": 2, "t": "apple apple"}])
            self.items.create_index([("t", "text")])
            answer = self.db.command(
                "findAndModify", "items", query=query, sort=score, fields=score, **change)
            self.assertEqual((answer["value"]["_id"], answer["value"]["s"]), (2, 1.5))


if __name__ == "__main__":
    main()
