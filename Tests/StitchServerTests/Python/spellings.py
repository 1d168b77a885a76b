"""Two spellings of one text are two names, in every place where a client gives one."""

from pymongo.errors import DuplicateKeyError, OperationFailure
from served import ServedTest, main

ONE = "caf\u00e9"
OTHER = "cafe\u0301"


class Spellings(ServedTest):
    def ids(self, found):
        return sorted(document["_id"] for document in found)

    def test_collections(self):
        self.db[ONE].insert_one({"_id": 1})
        self.db[OTHER].insert_one({"_id": 2})
        self.db[ONE].insert_one({"_id": 3})
        self.assertEqual(self.ids(self.db[ONE].find()), [1, 3])
        self.assertEqual(self.ids(self.db[OTHER].find()), [2])
        self.assertEqual(set(self.db.list_collection_names()), {ONE, OTHER})
        filtered = self.db.list_collection_names(filter={"name": OTHER})
        self.assertEqual(filtered, [OTHER])
        hashes = self.db.command("dbHash", collections=[OTHER])["collections"]
        self.assertEqual(list(hashes), [OTHER])
        with self.assertRaises(OperationFailure) as caught:
            self.db[ONE].rename(OTHER)
        self.assertEqual(caught.exception.code, 48)
        self.db[ONE].drop()
        self.assertEqual(self.ids(self.db[OTHER].find()), [2])
        self.db[OTHER].rename(ONE)
        self.assertEqual(self.db.list_collection_names(), [ONE])
        self.assertEqual(self.ids(self.db[ONE].find()), [2])

    def test_a_database_with_both_is_dropped(self):
        self.db[ONE].insert_one({"_id": 1})
        self.db[OTHER].insert_one({"_id": 2})
        self.client.drop_database("served")
        self.assertEqual(self.db.list_collection_names(), [])

    def test_databases(self):
        try:
            self.client[ONE]["c"].insert_one({"_id": 1})
            self.client[OTHER]["c"].insert_one({"_id": 2})
            names = self.client.list_database_names()
            self.assertTrue({ONE, OTHER} <= set(names), names)
            self.client.drop_database(ONE)
            self.assertEqual(self.ids(self.client[OTHER]["c"].find()), [2])
        finally:
            self.client.drop_database(ONE)
            self.client.drop_database(OTHER)

    def test_fields(self):
        self.items.insert_many([
            {"_id": 1, ONE: 2, OTHER: 1}, {"_id": 2, ONE: 1, OTHER: 2}, {"_id": 3, ONE: 3},
        ])
        self.assertEqual(self.ids(self.items.find({ONE: 1})), [2])
        self.assertEqual(self.ids(self.items.find({OTHER: {"$exists": False}})), [3])
        order = [d["_id"] for d in self.items.find({OTHER: {"$exists": True}}).sort(OTHER)]
        self.assertEqual(order, [1, 2])
        order = [d["_id"] for d in self.items.find().sort(ONE)]
        self.assertEqual(order, [2, 1, 3])
        self.assertEqual(self.items.find_one({"_id": 1}, {ONE: 1}), {"_id": 1, ONE: 2})
        self.assertEqual(self.items.find_one({"_id": 1}, {ONE: 0}), {"_id": 1, OTHER: 1})
        self.assertEqual(sorted(self.items.distinct(OTHER)), [1, 2])
        self.items.update_one({"_id": 1}, {"$unset": {ONE: 1}, "$inc": {OTHER: 5}})
        self.assertEqual(self.items.find_one({"_id": 1}), {"_id": 1, OTHER: 6})
        self.items.update_one({"_id": 1}, {"$rename": {OTHER: ONE}})
        self.assertEqual(self.items.find_one({"_id": 1}), {"_id": 1, ONE: 6})

    def test_a_dot_with_an_accent_behind_it_is_a_dot(self):
        self.items.insert_one({"_id": 1, "a": {"\u0301b": 1}})
        self.assertEqual(self.ids(self.items.find({"a.\u0301b": 1})), [1])
        found = self.items.find_one({}, {"_id": 0, "a.\u0301b": 1})
        self.assertEqual(found, {"a": {"\u0301b": 1}})

    def test_indexes(self):
        self.items.create_index(ONE, unique=True, name=ONE)
        self.items.create_index(OTHER, name=OTHER)
        self.assertEqual(set(self.items.index_information()), {"_id_", ONE, OTHER})
        self.items.insert_one({"_id": 1, ONE: 1, OTHER: 1})
        self.items.insert_one({"_id": 2, ONE: 2, OTHER: 1})
        with self.assertRaises(DuplicateKeyError):
            self.items.insert_one({"_id": 3, ONE: 1, OTHER: 2})
        self.assertEqual(self.ids(self.items.find({OTHER: 1}).hint(OTHER)), [1, 2])
        self.items.drop_index(OTHER)
        self.assertEqual(set(self.items.index_information()), {"_id_", ONE})

    def test_aggregation(self):
        self.items.insert_one({"_id": 1, ONE: 2, OTHER: 3})
        self.db[ONE].insert_one({"_id": 2, "at": "one"})
        self.db[OTHER].insert_one({"_id": 2, "at": "other"})

        def answer(*stages):
            return list(self.items.aggregate(list(stages)))

        self.assertEqual(
            answer({"$project": {"_id": 0, "a": "$" + ONE, "b": "$" + OTHER}}),
            [{"a": 2, "b": 3}])
        variables = {"vars": {ONE: 5, OTHER: 6}, "in": ["$$" + ONE, "$$" + OTHER]}
        self.assertEqual(
            answer({"$project": {"_id": 0, "v": {"$let": variables}}}), [{"v": [5, 6]}])
        self.assertEqual(
            answer({"$group": {"_id": None, ONE: {"$sum": 1}, OTHER: {"$sum": 2}}}),
            [{"_id": None, ONE: 1, OTHER: 2}])
        for name, at in [(ONE, "one"), (OTHER, "other")]:
            joined = answer(
                {"$lookup": {
                    "from": name, "localField": ONE, "foreignField": "_id", "as": OTHER}},
                {"$project": {"at": "$" + OTHER + ".at", ONE: 1}})
            self.assertEqual(joined, [{"_id": 1, ONE: 2, "at": [at]}])
        self.assertEqual(
            answer({"$set": {"o": {"$setField": {
                "field": ONE, "input": {OTHER: 1}, "value": 2}}}},
                {"$replaceRoot": {"newRoot": "$o"}}),
            [{OTHER: 1, ONE: 2}])
        self.assertEqual(answer({"$unset": ONE}), [{"_id": 1, OTHER: 3}])

    def test_users(self):
        for user, role in [(ONE, "read"), (OTHER, "readWrite")]:
            self.db.command("createUser", user, pwd="p" + role, roles=[role])
        try:
            users = self.db.command("usersInfo", 1)["users"]
            self.assertEqual({u["user"] for u in users}, {ONE, OTHER})
            told = self.db.command("usersInfo", OTHER)["users"]
            self.assertEqual([r["role"] for r in told[0]["roles"]], ["readWrite"])
            self.db.command("dropUser", ONE)
            users = self.db.command("usersInfo", 1)["users"]
            self.assertEqual([u["user"] for u in users], [OTHER])
        finally:
            self.db.command("dropAllUsersFromDatabase", 1)

    def test_a_stream_tells_both_fields(self):
        self.items.insert_one({"_id": 1, ONE: 1})
        with self.items.watch(max_await_time_ms=500) as stream:
            self.items.update_one({"_id": 1}, {"$unset": {ONE: 1}, "$set": {OTHER: 2}})
            told = self.events(stream, 1)[0]["updateDescription"]
        self.assertEqual(told["updatedFields"], {OTHER: 2})
        self.assertEqual(told["removedFields"], [ONE])

    def test_an_argument_of_another_spelling_is_unknown(self):
        # The sign of the kelvin, which is a K by canonical equivalence.
        with self.assertRaises(OperationFailure) as caught:
            self.db.command("find", "items", **{"return\u212aey": True})
        self.assertEqual(caught.exception.code, 40415)


main()
