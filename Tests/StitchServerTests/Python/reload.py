"""Rules that change while the server runs."""

import json
import pathlib
import sys
import unittest

from pymongo.errors import OperationFailure
from ruled import client, prepare

PORT = int(sys.argv[1])
FILE = pathlib.Path(sys.argv[2]) / "data_sources/mongodb-atlas/shop/items/rules.json"


class Reload(unittest.TestCase):
    def refused(self, body, code):
        with self.assertRaises(OperationFailure) as caught:
            body()
        self.assertEqual(caught.exception.code, code)
        return caught.exception.details["errmsg"]

    @classmethod
    def setUpClass(cls):
        prepare(PORT)

    def test_change(self):
        root = client(PORT, "root")
        (ann, ron) = (client(PORT, "ann"), client(PORT, "ron"))
        watching = [c.shop.items.watch(max_await_time_ms=100) for c in (ann, ron)]
        cursor = ann.shop.items.find(batch_size=1)
        next(cursor)
        self.assertEqual(ann.shop.items.count_documents({}), 3)

        text = FILE.read_text()
        self.assertEqual(root.admin.command("reloadRules")["changed"], False)
        FILE.write_text(text.replace('"read": {', '"rede": {'))
        told = self.refused(lambda: root.admin.command("reloadRules"), 72)
        self.assertIn("roles[0].document_filters.rede: There is no such key", told)
        self.assertEqual(ann.shop.items.count_documents({}), 3)

        self.addCleanup(lambda: root.admin.command("reloadRules"))
        self.addCleanup(lambda: FILE.write_text(text))
        rules = json.loads(text)
        rules["roles"][2]["document_filters"]["read"] = {"owner": "%%user.id"}
        FILE.write_text(json.dumps(rules))
        self.assertEqual(root.admin.command("reloadRules")["changed"], True)
        self.assertEqual([d["_id"] for d in ann.shop.items.find()], ["own"])
        self.assertEqual(ron.shop.items.count_documents({}), 3)
        # What was open under the former rules ends; who is not concerned goes on.
        self.refused(lambda: list(cursor), 175)
        self.refused(watching[0].try_next, 286)
        root.shop.items.update_one({"_id": "own"}, {"$set": {"n": 5}})
        self.assertEqual(watching[1].next()["operationType"], "update")

    def test_custom_data(self):
        root = client(PORT, "root")
        ben = client(PORT, "ben")
        before = ben.shop.items.count_documents({})
        root.shop.profiles.update_one({"user": "ben"}, {"$set": {"tenant": "b"}})
        # What ben may write ben sees, in whatever tenant.
        self.assertEqual(
            [d["_id"] for d in ben.shop.items.find()], ["other", "far", "farther"])
        root.shop.profiles.update_one({"user": "ben"}, {"$unset": {"tenant": 1}})
        self.assertEqual([d["_id"] for d in ben.shop.items.find()], ["other"])
        root.shop.profiles.update_one({"user": "ben"}, {"$set": {"tenant": "a"}})
        self.assertEqual(ben.shop.items.count_documents({}), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
