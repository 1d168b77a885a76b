"""Identities x roads x {document hidden, field hidden, write hidden}: every cell is asserted.

A reading road must lead a user to just what it would lead an administrator to in a collection that
holds nothing but what the user sees.
"""

import copy
import sys
import time
import unittest

import pymongo
from ruled import DOCUMENTS, USERS, client, outcome, prepare, seen, view

PORT = int(sys.argv[1])
# Where users other than the administrator are: at the same server, or at another gateway.
USERS_PORT = int(sys.argv[2])
KINDS = ("document", "field", "write")
CELLS = {"count": 0}


def probes(user):
    """The documents and fields at which each kind looks: one that is hidden where there is one."""
    hidden = "own" if user == "eve" else "far"
    return {"document": hidden, "field": "salary", "write": "fixed"}


def condition(kind, probe):
    return {"salary": {"$gt": 15}} if kind == "field" else {"_id": probe}


def listed(cursor):
    return list(cursor)


def by_id(cursor):
    """Where an index gives an order to those who are not bound by rules."""
    return sorted(cursor, key=lambda document: document["_id"])


# Each road: (database, name of the collection, kind, probe) -> what it leads to.
READS = {
    "find by id": lambda db, c, k, p: db[c].find_one({"_id": p}),
    "find all": lambda db, c, k, p: listed(db[c].find()),
    "find by filter": lambda db, c, k, p: listed(db[c].find(condition(k, p))),
    "find by range": lambda db, c, k, p: listed(db[c].find({"salary": {"$gte": 20, "$lt": 50}})),
    "find missing": lambda db, c, k, p: listed(db[c].find({"salary": {"$exists": False}})),
    "find nested": lambda db, c, k, p: listed(db[c].find({"address.street": {"$regex": "."}})),
    "find by $in": lambda db, c, k, p: by_id(db[c].find({"_id": {"$in": [p, "own"]}})),
    "find by $or": lambda db, c, k, p: listed(db[c].find({"$or": [condition(k, p), {"n": 1}]})),
    "find sorted": lambda db, c, k, p: listed(db[c].find().sort("salary", -1)),
    "find sorted nested": lambda db, c, k, p: listed(db[c].find().sort("address.street", 1)),
    "find backwards": lambda db, c, k, p: listed(db[c].find().sort("$natural", -1)),
    "find projected": lambda db, c, k, p: listed(db[c].find({}, {"salary": 1, "title": 1})),
    "find computed": lambda db, c, k, p: listed(db[c].find({}, {"x": {"$add": ["$salary", 1]}})),
    "find by $expr": lambda db, c, k, p: listed(
        db[c].find({"$expr": {"$gt": ["$salary", 15]}})),
    "find dividing": lambda db, c, k, p: listed(
        db[c].find({"$expr": {"$gt": [{"$divide": [1, {"$subtract": ["$salary", 40]}]}, 0]}})),
    "find by hint": lambda db, c, k, p: by_id(db[c].find(condition(k, p)).hint("_id_")),
    "find skipping": lambda db, c, k, p: listed(db[c].find().skip(1).limit(2)),
    "find in batches": lambda db, c, k, p: listed(db[c].find(batch_size=1)),
    "find near": lambda db, c, k, p: listed(db[c].find({"at": {"$near": [3, 3]}})),
    "count": lambda db, c, k, p: db[c].count_documents(condition(k, p)),
    "count command": lambda db, c, k, p: db.command("count", c, query=condition(k, p))["n"],
    "estimated count": lambda db, c, k, p: db[c].estimated_document_count(),
    "distinct": lambda db, c, k, p: db[c].distinct("salary" if k == "field" else "title"),
    "distinct filtered": lambda db, c, k, p: db[c].distinct("tags", condition(k, p)),
    "$match": lambda db, c, k, p: listed(db[c].aggregate([{"$match": condition(k, p)}])),
    "$group": lambda db, c, k, p: listed(
        db[c].aggregate([{"$group": {"_id": None, "s": {"$sum": "$salary"}, "n": {"$sum": 1}}}])),
    "$count": lambda db, c, k, p: listed(db[c].aggregate([{"$count": "n"}])),
    "$project": lambda db, c, k, p: listed(
        db[c].aggregate([{"$project": {"all": "$$ROOT", "s": "$address.street"}}])),
    "$sort": lambda db, c, k, p: listed(db[c].aggregate([{"$sort": {"salary": 1}}, {"$limit": 2}])),
    "$unwind": lambda db, c, k, p: listed(db[c].aggregate([{"$unwind": "$tags"}])),
    "$lookup": lambda db, c, k, p: listed(db[c].aggregate([
        {"$limit": 1}, {"$lookup": {"from": c, "localField": "none", "foreignField": "none",
                                    "as": "all"}}])),
    "$lookup pipeline": lambda db, c, k, p: listed(db[c].aggregate([
        {"$limit": 1}, {"$lookup": {"from": c, "pipeline": [{"$match": condition(k, p)}],
                                    "as": "all"}}])),
    "$graphLookup": lambda db, c, k, p: listed(db[c].aggregate([
        {"$limit": 1}, {"$graphLookup": {"from": c, "startWith": "b", "connectFromField": "tenant",
                                         "connectToField": "tenant", "as": "all"}}])),
    "$unionWith": lambda db, c, k, p: listed(db[c].aggregate([
        {"$limit": 1}, {"$unionWith": {"coll": c, "pipeline": [{"$match": condition(k, p)}]}}])),
    "$facet": lambda db, c, k, p: listed(db[c].aggregate([
        {"$facet": {"a": [{"$match": condition(k, p)}], "b": [{"$count": "n"}]}}])),
    "$sample": lambda db, c, k, p: sorted(
        d["_id"] for d in db[c].aggregate([{"$sample": {"size": 100}}])),
    "$sortByCount": lambda db, c, k, p: listed(
        db[c].aggregate([{"$sortByCount": "$salary"}, {"$sort": {"_id": 1}}])),
    "$bucketAuto": lambda db, c, k, p: listed(
        db[c].aggregate([{"$bucketAuto": {"groupBy": "$salary", "buckets": 2}}])),
    "$setWindowFields": lambda db, c, k, p: listed(db[c].aggregate([
        {"$setWindowFields": {"sortBy": {"salary": 1}, "output": {"r": {"$rank": {}}}}}])),
    "$redact": lambda db, c, k, p: listed(db[c].aggregate([
        {"$redact": {"$cond": [{"$gt": ["$salary", 15]}, "$$KEEP", "$$PRUNE"]}}])),
    "$geoNear": lambda db, c, k, p: listed(db[c].aggregate([
        {"$geoNear": {"near": [3, 3], "distanceField": "d", "key": "at"}}])),
    "explain": lambda db, c, k, p: {
        key: db.command("explain", {"find": c, "filter": condition(k, p)},
                        verbosity="executionStats")["executionStats"][key]
        for key in ("nReturned",)},
}

# Roads that lead past the documents, or tell of what is beside them.
REFUSED = {
    "$collStats": lambda db, c: listed(db[c].aggregate([{"$collStats": {"count": {}}}])),
    "$indexStats": lambda db, c: listed(db[c].aggregate([{"$indexStats": {}}])),
    "$out": lambda db, c: listed(db[c].aggregate([{"$out": "copy"}])),
    "$lookup on statistics": lambda db, c: listed(db[c].aggregate([
        {"$lookup": {"from": c, "pipeline": [{"$collStats": {"count": {}}}], "as": "x"}}])),
    "collStats": lambda db, c: db.command("collStats", c),
    "dbStats": lambda db, c: db.command("dbStats"),
    "dataSize": lambda db, c: db.command("dataSize", f"shop.{c}"),
    "dbHash": lambda db, c: db.command("dbHash"),
    "filemd5": lambda db, c: db.command("filemd5", 1, root=c),
    "validate": lambda db, c: db.command("validate", c),
    "listIndexes": lambda db, c: listed(db[c].list_indexes()),
    "createIndexes": lambda db, c: db[c].create_index("secret"),
    "drop": lambda db, c: db.command("drop", c),
    "dropDatabase": lambda db, c: db.command("dropDatabase"),
    "create": lambda db, c: db.command("create", "fresh"),
    "renameCollection": lambda db, c: db.client.admin.command(
        "renameCollection", "shop." + c, to="shop.x"),
    "collMod": lambda db, c: db.command("collMod", c, validator={}),
    "createUser": lambda db, c: db.command("createUser", "x", pwd="x", roles=[]),
    "reloadRules": lambda db, c: db.client.admin.command("reloadRules"),
    "currentOp": lambda db, c: db.client.admin.command("currentOp"),
    "show record ids": lambda db, c: listed(db[c].find(show_record_id=True)),
    "return keys": lambda db, c: listed(db[c].find(return_key=True)),
    "bounds of an index": lambda db, c: listed(
        db[c].find().hint("salary_1").min([("salary", 35)])),
    "explain with bounds": lambda db, c: db.command(
        "explain", {"find": c, "returnKey": True, "filter": {"salary": 40}}),
    "system.users": lambda db, c: db.client.admin["system.users"].find_one(),
}


def target(kind, user):
    return {"document": probes(user)["document"], "field": "own", "write": "fixed"}[kind]


def change(kind):
    return {"salary": 99} if kind == "field" else {"title": "changed"}


# Roads that write: (collection, kind, the document at which it aims) -> how many it changed.
WRITES = {
    "updateOne": lambda c, k, t: c.update_one({"_id": t}, {"$set": change(k)}).matched_count,
    "updateMany": lambda c, k, t: c.update_many(
        {"_id": {"$in": [t]}}, {"$set": change(k)}).matched_count,
    "update by pipeline": lambda c, k, t: c.update_one(
        {"_id": t}, [{"$set": change(k)}]).matched_count,
    "bulkWrite": lambda c, k, t: c.bulk_write(
        [pymongo.UpdateOne({"_id": t}, {"$set": change(k)})]).matched_count,
    "findAndModify": lambda c, k, t: int(
        c.find_one_and_update({"_id": t}, {"$set": change(k)}) is not None),
    "findAndModify new": lambda c, k, t: int(
        c.find_one_and_update({"_id": t}, {"$set": change(k)}, return_document=True) is not None),
    "$merge": lambda c, k, t: len(list(c.aggregate([
        {"$match": {"_id": t}}, {"$set": change(k)}, {"$merge": {"into": c.name}}]))) + int(
            c.find_one({"_id": t}) is not None),
    "delete": lambda c, k, t: c.delete_one({"_id": t}).deleted_count,
    "deleteMany": lambda c, k, t: c.delete_many({"_id": {"$in": [t]}}).deleted_count,
    "findAndDelete": lambda c, k, t: int(c.find_one_and_delete({"_id": t}) is not None),
    "insert with its id": lambda c, k, t: c.insert_one(
        {"_id": t, "owner": "ann", "tenant": "a", **change(k)}).acknowledged,
    "upsert": lambda c, k, t: c.update_one(
        {"_id": t, "none": 1}, {"$set": change(k)}, upsert=True).matched_count,
    "insert for another": lambda c, k, t: c.insert_one(
        {"_id": "new", "owner": "zoe", "tenant": "b", **change(k)}).acknowledged,
}
DELETES = {"delete", "deleteMany", "findAndDelete"}
INSERTS = {"insert with its id", "upsert", "insert for another"}


def expected_write(user, road, kind):
    """What a write leads to, and whether it changes something."""
    if road == "insert with its id" or road == "upsert":
        # Somebody who sees the document is told that the key is taken, once the rule allows it.
        return "refused", False
    if road == "insert for another":
        return "refused", False
    document = next(d for d in DOCUMENTS if d["_id"] == target(kind, user))
    if seen(user, document) is None:
        return 0, False
    if USERS[user].get("role") == "auditor":
        return ("denied", 13), False
    if USERS[user].get("role") == "clerk":
        allowed = not document.get("locked") and (road in DELETES or kind != "field")
    else:
        allowed = document["owner"] == user
    return (1, True) if allowed else (("denied", 13), False)


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = prepare(PORT)
        cls.clients = {user: client(USERS_PORT, user) for user in [*USERS, "root"]}
        for user in USERS:
            shadow = cls.root.shop[f"shadow_{user}"]
            shadow.create_index([("at", "2d")])
            if view(user, DOCUMENTS):
                shadow.insert_many(copy.deepcopy(view(user, DOCUMENTS)))

    def setUp(self):
        self.root.shop.items.delete_many({})
        self.root.shop.items.insert_many(copy.deepcopy(DOCUMENTS))

    def test_reading(self):
        for user in USERS:
            for road, walk in READS.items():
                for kind in KINDS:
                    with self.subTest(user=user, road=road, kind=kind):
                        probe = probes(user)[kind]
                        found = outcome(
                            lambda: walk(self.clients[user].shop, "items", kind, probe))
                        wanted = outcome(
                            lambda: walk(self.root.shop, f"shadow_{user}", kind, probe))
                        self.assertEqual(found, wanted)
                        CELLS["count"] += 1

    def test_administrator(self):
        for road, walk in READS.items():
            for kind in KINDS:
                with self.subTest(road=road, kind=kind):
                    found = outcome(
                        lambda: walk(self.root.shop, "items", kind, probes("ann")[kind]))
                    self.assertNotIn(("error", 13), [found])
                    CELLS["count"] += 1
        self.assertEqual(listed(self.root.shop.items.find()), DOCUMENTS)

    def test_strangers_and_those_whose_sign_in_is_over(self):
        gone = client(USERS_PORT, "gone")
        gone.shop.items.find_one()
        self.root.admin.command("dropUser", "gone")
        # Another gateway learns of it a moment later.
        end = time.monotonic() + 30
        while outcome(gone.shop.items.find_one) != ("error", 13) and time.monotonic() < end:
            pass
        for name, someone in (("none", client(USERS_PORT)), ("expired", gone)):
            for road, walk in READS.items():
                for kind in KINDS:
                    with self.subTest(identity=name, road=road, kind=kind):
                        found = outcome(lambda: walk(someone.shop, "items", kind, "own"))
                        self.assertEqual(found, ("error", 13))
                        CELLS["count"] += 1
            for road, walk in WRITES.items():
                for kind in KINDS:
                    with self.subTest(identity=name, road=road, kind=kind):
                        found = outcome(lambda: walk(someone.shop.items, kind, "own"))
                        self.assertEqual(found, ("error", 13))
                        CELLS["count"] += 1

    def test_roads_past_the_documents(self):
        for user in USERS:
            for road, walk in REFUSED.items():
                with self.subTest(user=user, road=road):
                    found = outcome(lambda: walk(self.clients[user].shop, "items"))
                    self.assertEqual(found, ("error", 13))
                    CELLS["count"] += 1

    def test_tombstones(self):
        self.root.shop.items.delete_many({})
        ids = [*(d["_id"] for d in DOCUMENTS), 9]
        told = lambda user: self.clients[user].shop.command(
            "stitchsyncTombstones", "items", ids=ids)["tombstones"]
        for user in USERS:
            self.assertEqual(told(user), [None] * len(ids), user)
        self.assertEqual([t and t["_id"] for t in told("root")], ids[:-1] + [None])

    def test_writing(self):
        for user in USERS:
            for road, walk in WRITES.items():
                for kind in KINDS:
                    with self.subTest(user=user, road=road, kind=kind):
                        self.setUp()
                        aim = target(kind, user)
                        found = outcome(lambda: walk(self.clients[user].shop.items, kind, aim))
                        wanted, changes = expected_write(user, road, kind)
                        if wanted == "refused":
                            self.assertIn(found[1] if isinstance(found, tuple) else found,
                                          (13, 11000))
                        elif isinstance(wanted, tuple):
                            self.assertEqual(found[1] if isinstance(found, tuple) else found, 13)
                        else:
                            self.assertEqual(found, wanted)
                        self.check_state(user, aim, road, changes)
                        CELLS["count"] += 1

    def check_state(self, user, aim, road, changes):
        """Only what the write may change has changed; what is hidden stays as it was."""
        now = {d["_id"]: d for d in self.root.shop.items.find()}
        before = {d["_id"]: d for d in DOCUMENTS}
        if not changes:
            self.assertEqual(now, before)
            return
        for name, document in before.items():
            if name != aim:
                self.assertEqual(now.get(name), document)
        if road in DELETES:
            self.assertNotIn(aim, now)
        elif USERS[user].get("role") == "clerk":
            for field in ("salary", "at", "address"):
                self.assertEqual(now[aim].get(field), before[aim].get(field))

    def test_error_texts_tell_nothing(self):
        ann = self.clients["ann"].shop.items
        with self.assertRaises(pymongo.errors.WriteError) as hidden:
            ann.insert_one({"_id": "far", "owner": "ann", "tenant": "a"})
        self.assertEqual(hidden.exception.details["errmsg"],
                         'write to "far" in table "items" not allowed')
        with self.assertRaises(pymongo.errors.WriteError) as denied:
            ann.update_one({"_id": "fixed"}, {"$set": {"n": 1}})
        self.assertEqual(
            denied.exception.details["errmsg"],
            'write to "fixed" in table "items" was denied by write filter in role "member"')
        self.assertEqual(denied.exception.details["errInfo"]["cause"], "writeFilter")
        with self.assertRaises(pymongo.errors.WriteError) as field:
            self.clients["fay"].shop.items.update_one({"_id": "own"}, {"$set": {"salary": 1}})
        self.assertEqual(field.exception.details["errInfo"]["fields"], ["salary"])

    def test_masked_writes_keep_what_is_hidden(self):
        fay = self.clients["fay"].shop.items
        fay.replace_one({"_id": "own"}, {"owner": "ann", "tenant": "a", "title": "new",
                                         "address": {"city": "Pisa"}})
        now = self.root.shop.items.find_one({"_id": "own"})
        self.assertEqual(
            now, {"_id": "own", "owner": "ann", "tenant": "a", "title": "new", "salary": 10,
                  "address": {"city": "Pisa", "street": "Via 1"}, "at": [0, 0]})
        for update in ({"$rename": {"salary": "title"}}, [{"$set": {"title": "$salary"}}]):
            fay.update_one({"_id": "other"}, update)
        self.assertEqual(
            fay.find_one_and_update({"_id": "other"}, {"$inc": {"n": 1}}, return_document=True),
            {"_id": "other", "owner": "ben", "tenant": "a", "n": 3, "tags": ["y"],
             "address": {"city": "Bonn"}})

    def test_lists(self):
        ann = self.clients["ann"]
        self.assertEqual(ann.shop.list_collection_names(), ["items"])
        self.assertEqual(ann.list_database_names(), ["shop"])
        self.assertEqual(ann.shop.profiles.find_one(), None)
        sizes = [d["sizeOnDisk"] for d in ann.list_databases()]
        self.assertEqual(sizes, [0])

    def test_transactions(self):
        ann = self.clients["ann"]

        def change(session):
            items = ann.shop.items
            self.assertEqual(len(list(items.find(session=session))), 3)
            items.update_one({"_id": "own"}, {"$set": {"n": 9}}, session=session)
            self.assertEqual(items.find_one({"_id": "far"}, session=session), None)

        # A gateway writes how far it knows the deletes: over `serve` a conflict, tried again.
        with ann.start_session() as session:
            session.with_transaction(change)
        self.assertEqual(self.root.shop.items.find_one({"_id": "own"})["n"], 9)

    def test_cursors_belong_to_their_users(self):
        opened = self.clients["ann"].shop.command("find", "items", batchSize=1)["cursor"]["id"]
        found = outcome(lambda: self.clients["eve"].shop.command(
            "getMore", opened, collection="items"))
        self.assertEqual(found[0], "error")

    def test_streams(self):
        streams = {
            user: self.clients[user].shop.items.watch(
                full_document="updateLookup", max_await_time_ms=200)
            for user in ("ben", "eve", "fay")}
        # A gateway looks up what its feed knows: it knows all once another stream has shown it.
        others = {user: self.clients[user].shop.items.watch() for user in streams}
        items = self.root.shop.items
        items.update_one({"_id": "own"}, {"$set": {"salary": 11}})
        items.update_one({"_id": "own"}, {"$set": {"n": 7, "salary": 12}})
        items.update_one({"_id": "own"}, {"$set": {"tenant": "b"}})
        items.update_one({"_id": "own"}, {"$set": {"n": 8}})
        items.update_one({"_id": "own"}, {"$set": {"tenant": "a"}})
        items.delete_one({"_id": "far"})
        items.delete_one({"_id": "own"})

        def events(user):
            last = ("delete", "far" if user == "eve" else "own")
            for event in others[user]:
                if (event["operationType"], event["documentKey"]["_id"]) == last and \
                        not event.get("leftView"):
                    break
            found = []
            while (event := streams[user].try_next()) is not None or len(found) < 3:
                if event is None:
                    break
                mark = [m for m in ("leftView", "enteredView") if event.get(m)]
                fields = sorted(event.get("updateDescription", {}).get("updatedFields", {}))
                full = sorted(event.get("fullDocument") or {})
                found.append((event["operationType"], event["documentKey"]["_id"], *mark,
                              *fields, "salary" in full))
            return found

        self.assertEqual(events("ben"), [
            ("update", "own", "salary", False), ("update", "own", "n", "salary", False),
            ("delete", "own", "leftView", False), ("insert", "own", "enteredView", True),
            ("delete", "own", False)])
        self.assertEqual(events("fay"), [
            ("update", "own", "n", False), ("delete", "own", "leftView", False),
            ("insert", "own", "enteredView", False), ("delete", "own", False)])
        self.assertEqual(events("eve"), [
            ("insert", "own", "enteredView", True), ("update", "own", "n", False),
            ("delete", "own", "leftView", False), ("delete", "far", False)])

    @classmethod
    def tearDownClass(cls):
        print(f"{CELLS['count']} cells", file=sys.stderr)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
