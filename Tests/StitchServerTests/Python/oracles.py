"""A write that is refused because of a hidden field tells nothing of it, whichever write it is."""

import copy
import sys
import unittest

from ruled import DOCUMENTS, client, prepare

PORT = int(sys.argv[1])
OTHER, NEW = {"_id": "other"}, {"_id": "x"}


def one(**update):
    return {"update": "items", "updates": [update]}


def bulk(**operation):
    return {"bulkWrite": 1, "nsInfo": [{"ns": "shop.items"}], "ops": [operation]}


CHANGE = {"$set": {"title": "one"}}
WHOLE = {"owner": "ben", "tenant": "a", "title": "one", "n": 2, "address": {"city": "Bonn"}}
# Without the field that is hidden: the validator wants it, and the unique index has its absence.
BARE = {"tenant": "a", "title": "bare", "n": 1}
WRITES = {
    "update": one(q=OTHER, u=CHANGE),
    "update by a pipeline": one(q=OTHER, u=[CHANGE]),
    "update of many": one(q=OTHER, u=CHANGE, multi=True),
    "replacement": one(q=OTHER, u=WHOLE),
    "findAndModify": {"findAndModify": "items", "query": OTHER, "update": CHANGE},
    "findAndModify that replaces": {"findAndModify": "items", "query": OTHER, "update": WHOLE},
    "update in bulk": bulk(update=0, filter=OTHER, updateMods=CHANGE),
    "insert": {"insert": "items", "documents": [{**NEW, **BARE}]},
    "upsert": one(q=NEW, u={"$set": BARE}, upsert=True),
    "findAndModify that inserts": {
        "findAndModify": "items", "query": NEW, "update": {"$set": BARE}, "upsert": True},
    "insert in bulk": bulk(insert=0, document={**NEW, **BARE}),
    "upsert in bulk": bulk(update=0, filter=NEW, updateMods={"$set": BARE}, upsert=True),
}


class Oracles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = prepare(PORT)
        cls.fay = client(PORT, "fay")

    def fill(self, salary):
        items = self.root.shop.items
        items.delete_many({})
        items.insert_many(copy.deepcopy(DOCUMENTS))
        items.insert_one(
            {"_id": "bare", "owner": "ben", **BARE}, bypass_document_validation=True)
        items.update_one(OTHER, {"$set": {"salary": salary}}, bypass_document_validation=True)

    def error(self, who, command):
        """What is told of a write that is refused; None when it is done."""
        db = who.admin if "bulkWrite" in command else who.shop
        answer = db.command(copy.deepcopy(command), check=False)
        if "cursor" in answer:
            entry = answer["cursor"]["firstBatch"][0]
            return None if entry["ok"] else entry
        if "writeErrors" in answer:
            return answer["writeErrors"][0]
        if answer["ok"]:
            return None
        return {key: answer[key] for key in ("code", "errmsg", "errInfo") if key in answer}

    def test_every_write(self):
        items = self.root.shop.items
        for name, write in WRITES.items():
            with self.subTest(write=name):
                # Nothing but the hidden field stands in the way.
                self.fill(20)
                self.assertIsNone(self.error(self.fay, write))
                told = []
                self.root.shop.command("collMod", "items", validator={"salary": {"$lt": 100}})
                for salary in (100, 500, 10 ** 12):
                    self.fill(salary)
                    before = list(items.find())
                    told.append(self.error(self.fay, write))
                    self.assertEqual(list(items.find()), before)
                self.assertEqual(self.error(self.root, write)["code"], 121)
                self.root.shop.command("collMod", "items", validator={})
                self.fill(10)
                items.create_index([("title", 1), ("salary", 1)], unique=True, name="both")
                before = list(items.find())
                told.append(self.error(self.fay, write))
                self.assertEqual(list(items.find()), before)
                # Who sees the salary leaves it out with a replacement, and repeats nothing.
                if "repl" not in name:
                    self.assertEqual(self.error(self.root, write)["code"], 11000)
                items.drop_index("both")
                self.assertEqual(told[0]["code"], 13, told)
                self.assertIn("not allowed", told[0]["errmsg"])
                self.assertNotIn("salary", str(told))
                self.assertEqual([answer == told[0] for answer in told], [True] * 4, told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
