"""Two servers that differ only in what is hidden answer byte for byte alike.

Each session is a random one of a user who is bound by rules, sent to both servers; the secrets of
the two differ: documents that are there or not, and fields of documents. What differs by nature is
made alike before the answers are compared: times, tokens of streams, numbers of cursors.
"""

import copy
import random
import sys

import bson
import pymongo
from pymongo.errors import PyMongoError
from ruled import DOCUMENTS, USERS, client, prepare

PORTS = [int(sys.argv[1]), int(sys.argv[2])]
SESSIONS = int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
ALIKE = {"$clusterTime", "operationTime", "_data", "clusterTime", "wallTime", "atClusterTime",
         "uuid", "resumeToken", "postBatchResumeToken", "electionId", "executionTimeMillis",
         "serverInfo", "opTime", "lsid"}
PATHS = ["_id", "owner", "tenant", "title", "n", "salary", "tags", "address", "address.city",
         "address.street", "locked", "at", "none"]


def alike(value, key=None):
    """The value without what differs by nature."""
    if key in ALIKE:
        return "*"
    if isinstance(value, dict):
        return {k: alike(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [alike(v) for v in value]
    if isinstance(value, bson.ObjectId):
        return "objectId"
    if key == "errmsg":
        # The command is told back, with its session.
        return value.split(" to execute command ")[0]
    if key == "id" and isinstance(value, int):
        return min(value, 1)
    return value


class Chance:
    """Makes commands by chance."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.made = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def value(self):
        return self.pick(0, 1, 2, 3, 15, 40, 41, "one", "two", "secret", "a", "b", "ann", "z",
                         "Via 1", None, True, "own", "far", ["x"], "Lima")

    def test(self):
        pick = self.random.randrange(9)
        if pick < 3:
            return self.value()
        if pick == 3:
            return {"$in": [self.value(), self.value()]}
        if pick == 4:
            return {"$exists": self.pick(True, False)}
        if pick == 5:
            return {"$regex": self.pick(".", "^s", "e")}
        if pick == 6:
            return {"$not": {"$gt": self.value()}}
        return {self.pick("$gt", "$lt", "$gte", "$lte", "$ne"): self.value()}

    def filter(self):
        pick = self.random.randrange(8)
        if pick == 0:
            return {}
        if pick == 1:
            return {"$or": [{self.pick(*PATHS): self.test()}, {self.pick(*PATHS): self.test()}]}
        if pick == 2:
            return {"$expr": {self.pick("$gt", "$eq", "$lt"): [
                self.expression(), self.expression()]}}
        if pick == 3:
            return {"_id": self.pick("own", "other", "fixed", "far", "farther", "none")}
        return {path: self.test() for path in self.random.sample(PATHS, self.pick(1, 1, 2))}

    def expression(self):
        path = "$" + self.pick(*PATHS)
        return self.pick(path, self.value() if self.random.random() < 0.7 else 1,
                         {"$add": [path, 1]}, {"$divide": [1, path]}, {"$size": path},
                         {"$ifNull": [path, "missing"]}, {"$type": path}, {"$strLenCP": path},
                         {"$toString": path})

    def stage(self, depth=0):
        path = self.pick(*PATHS)
        stages = [
            {"$match": self.filter()}, {"$sort": {path: self.pick(1, -1)}}, {"$limit": 2},
            {"$skip": 1}, {"$project": {path: 1, "x": self.expression()}},
            {"$set": {"x": self.expression()}}, {"$unset": path}, {"$count": "c"},
            {"$group": {"_id": "$" + path, "s": {"$sum": 1}, "m": {"$max": self.expression()}}},
            {"$unwind": "$" + path}, {"$sortByCount": "$" + path},
            {"$replaceWith": {"$mergeObjects": ["$$ROOT", {"y": 1}]}},
            {"$redact": {"$cond": [{"$gt": ["$" + path, 1]}, "$$KEEP", "$$DESCEND"]}},
            {"$bucketAuto": {"groupBy": "$" + path, "buckets": 2}},
        ]
        if depth < 2:
            inner = [self.stage(depth + 1) for _ in range(self.pick(0, 1, 2))]
            stages += [
                {"$lookup": {"from": "items", "localField": path,
                             "foreignField": self.pick(*PATHS), "as": "j"}},
                {"$lookup": {"from": self.pick("items", "profiles"), "pipeline": inner,
                             "as": "j"}},
                {"$unionWith": {"coll": self.pick("items", "profiles"), "pipeline": inner}},
                {"$graphLookup": {"from": "items", "startWith": "$" + path,
                                  "connectFromField": path,
                                  "connectToField": self.pick(*PATHS), "as": "g"}},
            ]
            if depth == 0:
                stages.append({"$facet": {"f": [
                    s for s in inner if next(iter(s)) != "$facet"] or [{"$limit": 1}]}})
        return self.pick(*stages)

    def update(self):
        path = self.pick(*PATHS[1:])
        return self.pick(
            {"$set": {path: self.value()}}, {"$unset": {path: 1}}, {"$inc": {path: 1}},
            {"$rename": {path: self.pick("title", "n")}}, {"$push": {"tags": self.value()}},
            {"$max": {path: 20}}, {"$mul": {path: 2}}, [{"$set": {"n": self.expression()}}],
            {"$set": {"title": "x", "n": 1}},
            {"owner": self.pick("ann", "ben"), "tenant": self.pick("a", "b"), "n": self.value()})

    def document(self):
        # Ids are never those of secrets: that they are taken cannot be kept from who asks.
        self.made += 1
        return {"_id": f"new{self.made}", "owner": self.pick("ann", "ben", "zoe"),
                "tenant": self.pick("a", "b"), "title": self.value(),
                **({"salary": 1} if self.random.random() < 0.3 else {})}

    def write(self, name):
        many = self.random.random() < 0.3
        if name == "insert":
            return {"insert": "items", "documents": [self.document()]}
        if name == "delete":
            return {"delete": "items", "deletes": [
                {"q": self.filter(), "limit": 0 if many else 1}]}
        update = self.update()
        many = many and (isinstance(update, list) or next(iter(update)).startswith("$"))
        if name == "update":
            return {"update": "items", "ordered": self.pick(True, False), "updates": [
                {"q": self.filter(), "u": update, "multi": many} for _ in range(self.pick(1, 2))]}
        sort = {self.pick(*PATHS): 1} if self.random.random() < 0.5 else {"_id": 1}
        return {"findAndModify": "items", "query": self.filter(), "sort": sort,
                "new": self.pick(True, False), "update": update,
                "fields": {self.pick(*PATHS): 1} if self.random.random() < 0.3 else {}}

    def command(self):
        name = self.pick("find", "find", "find", "count", "distinct", "aggregate", "aggregate",
                         "explain", "lists", "insert", "update", "update", "delete",
                         "findAndModify", "stream")
        if name == "find":
            command = {"find": "items", "filter": self.filter(),
                       "batchSize": self.pick(1, 2, 100)}
            if self.random.random() < 0.5:
                command["sort"] = {p: self.pick(1, -1) for p in self.random.sample(PATHS, 2)}
            if self.random.random() < 0.4:
                command["projection"] = {self.pick(*PATHS[1:]): self.pick(0, 1)}
            if self.random.random() < 0.3:
                command["limit"] = self.pick(1, 2)
            if self.random.random() < 0.2:
                command["hint"] = self.pick("salary_1", {"_id": 1}, {"$natural": -1}, "none")
            return command
        if name == "count":
            return {"count": "items", "query": self.filter()}
        if name == "distinct":
            return {"distinct": "items", "key": self.pick(*PATHS), "query": self.filter()}
        if name == "aggregate":
            return {"aggregate": "items", "cursor": {},
                    "pipeline": [self.stage() for _ in range(self.pick(1, 2, 3))]}
        if name == "explain":
            return {"explain": {"find": "items", "filter": self.filter(),
                                "sort": {self.pick(*PATHS): 1}},
                    "verbosity": self.pick("queryPlanner", "executionStats")}
        if name == "lists":
            return self.pick({"listCollections": 1}, {"collStats": "items"}, {"dbStats": 1},
                             {"listIndexes": "items"}, {"find": "profiles"})
        if name == "stream":
            return {"aggregate": "items", "cursor": {}, "pipeline": [
                {"$changeStream": {"fullDocument": "updateLookup"}}]}
        return self.write(name)


def answer(db, command):
    try:
        return db.command(copy.deepcopy(command))
    except PyMongoError as error:
        return getattr(error, "details", None) or {"failed": str(error)}


def session(clients, user, seed):
    """Sends the same session to both; the first command whose answers differ, or None."""
    chance = Chance(seed)
    open_cursors = []
    for step in range(12):
        if open_cursors and chance.random.random() < 0.5:
            *ids, is_stream = open_cursors.pop(0)
            # A stream that has nothing to tell would wait for a second.
            commands = [{"getMore": bson.int64.Int64(i), "collection": "items", "batchSize": 10,
                         **({"maxTimeMS": 1} if is_stream else {})} for i in ids]
        else:
            command = chance.command()
            is_stream = "$changeStream" in str(command)
            commands = [command, command]
        answers = [answer(c[user].shop, command) for c, command in zip(clients, commands)]
        texts = [bson.encode(alike(a)) for a in answers]
        # The command is told back in errors: there a cursor has its number.
        if texts[0] != texts[1] and "getMore" not in commands[0]:
            return step, commands[0], [alike(a) for a in answers]
        if texts[0] != texts[1] and answers[0].get("ok") == 1.0:
            return step, commands[0], [alike(a) for a in answers]
        if all(a.get("cursor", {}).get("id") for a in answers):
            open_cursors.append([a["cursor"]["id"] for a in answers] + [is_stream])
    return None


def secrets(chance, documents):
    """Other secrets: each user bound by rules sees the same of both."""
    changed = []
    for document in copy.deepcopy(documents):
        if document["tenant"] == "b":
            if chance.random() < 0.3:
                continue
            document["title"] = chance.choice(["secret", "one", "z", 7])
            document["n"] = chance.randrange(50)
            document["tags"] = chance.sample(["x", "y", "z"], 2)
            document["salary"] = chance.randrange(100)
        changed.append(document)
    if chance.random() < 0.3:
        changed.append({"_id": "more", "owner": "max", "tenant": "b", "salary": 15, "n": 1})
    return changed


def hide_fields(chance, documents):
    """Other values of the fields that the clerk does not see."""
    changed = copy.deepcopy(documents)
    for document in changed:
        document["salary"] = chance.choice([0, 1, 15, 40, "text", None, [1, 2]])
        document.setdefault("address", {})["street"] = chance.choice(["", "Via 1", 5])
        document["at"] = [chance.randrange(50), 1]
        if chance.random() < 0.3:
            del document["salary"]
    return changed


def main():
    roots = [prepare(port) for port in PORTS]
    clients = [{user: client(port, user) for user in USERS} for port in PORTS]
    for number in range(SESSIONS):
        seed = SEED * 1_000_000 + number
        chance = random.Random(seed)
        user = chance.choice(["ann", "ben", "ron", "fay", "fay"])
        other = secrets(chance, DOCUMENTS)
        if user == "fay":
            other = hide_fields(chance, other)
        for root, documents in zip(roots, (DOCUMENTS, other)):
            root.shop.items.delete_many({})
            root.shop.items.insert_many(copy.deepcopy(documents))
        difference = session(clients, user, seed)
        if difference:
            step, command, answers = difference
            print(f"seed {seed}, user {user}, step {step}: {command}\n  {answers[0]}\n"
                  f"  {answers[1]}")
            sys.exit(1)
    print(f"{SESSIONS} sessions alike")


if __name__ == "__main__":
    main()
