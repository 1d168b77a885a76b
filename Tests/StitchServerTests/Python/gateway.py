"""Two gateways before one upstream: what MongoDB's driver sees through them."""

import copy
import os
import signal
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

import pymongo
from pymongo.errors import AutoReconnect, BulkWriteError, OperationFailure, PyMongoError
from ruled import DOCUMENTS, client, prepare

UPSTREAM, FIRST, SECOND, METRICS, SECOND_PROCESS = (int(text) for text in sys.argv[1:6])


def upstream(**options):
    return pymongo.MongoClient("127.0.0.1", UPSTREAM, directConnection=True, **options)


def fetched(path):
    """The status and the text of a page for load balancers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{METRICS}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Gateway(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = prepare(FIRST)
        cls.up = upstream()

    def setUp(self):
        self.up.shop.items.delete_many({})
        self.up.shop.items.insert_many(copy.deepcopy(DOCUMENTS))

    def test_increments_of_both_gateways_add_up(self):
        def add(port):
            items = client(port, "ann").shop.items
            for _ in range(25):
                while True:
                    try:
                        self.assertEqual(
                            items.update_one({"_id": "own"}, {"$inc": {"n": 1}}).matched_count, 1)
                        break
                    except OperationFailure as error:
                        # Others were faster twenty times.
                        self.assertEqual(error.code, 112)

        threads = [threading.Thread(target=add, args=(port,))
                   for port in (FIRST, SECOND, FIRST, SECOND)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.up.shop.items.find_one({"_id": "own"})["n"], 101)

    def test_a_batch_is_judged_document_by_document(self):
        ann = client(SECOND, "ann").shop.items
        mine = [{"_id": n, "owner": "ann", "tenant": "a", "n": n} for n in range(300)]
        ann.insert_many(mine)
        done = ann.bulk_write(
            [pymongo.UpdateOne({"_id": n}, {"$inc": {"n": 1000}}) for n in range(300)])
        self.assertEqual((done.matched_count, done.modified_count), (300, 300))
        self.assertEqual(
            self.up.shop.items.count_documents({"owner": "ann", "n": {"$gte": 1000}}), 300)
        with self.assertRaises(BulkWriteError) as refused:
            ann.insert_many(
                [{"_id": n, "owner": "ann", "tenant": "a"} for n in range(200, 400)],
                ordered=False)
        self.assertEqual(refused.exception.details["nInserted"], 100)
        self.assertEqual(
            sorted(e["index"] for e in refused.exception.details["writeErrors"]),
            list(range(100)))
        with self.assertRaises(BulkWriteError) as denied:
            ann.insert_many([
                {"_id": "a", "owner": "ann", "tenant": "a"},
                {"_id": "b", "owner": "zoe", "tenant": "b"},
                {"_id": "c", "owner": "ann", "tenant": "a"}])
        self.assertEqual(denied.exception.details["nInserted"], 1)
        self.assertEqual(denied.exception.details["writeErrors"][0]["code"], 13)
        self.assertEqual(ann.delete_many({"n": {"$gte": 1000}}).deleted_count, 300)

    def test_transactions(self):
        ann = client(SECOND, "ann")
        items = ann.shop.items
        with ann.start_session() as session:
            with session.start_transaction():
                items.update_one({"_id": "own"}, {"$set": {"n": 50}}, session=session)
                items.insert_one({"_id": "in", "owner": "ann", "tenant": "a"}, session=session)
                self.assertEqual(items.find_one({"_id": "own"}, session=session)["n"], 50)
                self.assertEqual(self.up.shop.items.find_one({"_id": "own"})["n"], 1)
            self.assertEqual(self.up.shop.items.find_one({"_id": "own"})["n"], 50)
            session.start_transaction()
            items.delete_one({"_id": "in"}, session=session)
            session.abort_transaction()
            with self.assertRaises(OperationFailure):
                with session.start_transaction():
                    items.update_one({"_id": "fixed"}, {"$set": {"n": 1}}, session=session)
        self.assertIsNotNone(self.up.shop.items.find_one({"_id": "in"}))
        self.assertEqual(self.up.shop.items.find_one({"_id": "fixed"})["n"], 3)

    def test_a_stream_goes_on_at_another_gateway(self):
        stream = client(FIRST, "ann").shop.items.watch(max_await_time_ms=500)
        self.up.shop.items.update_one({"_id": "own"}, {"$set": {"n": 5}})
        self.assertEqual(stream.next()["operationType"], "update")
        self.up.shop.items.update_one({"_id": "far"}, {"$set": {"n": 5}})
        self.up.shop.items.delete_one({"_id": "own"})
        again = client(SECOND, "ann").shop.items.watch(
            resume_after=stream.resume_token, max_await_time_ms=500)
        event = again.next()
        self.assertEqual((event["operationType"], event["documentKey"]["_id"]), ("delete", "own"))
        self.assertIsNone(again.try_next())
        # The token of one user tells another nothing.
        with self.assertRaises(OperationFailure) as other:
            client(SECOND, "eve").shop.items.watch(resume_after=stream.resume_token)
        self.assertEqual(other.exception.code, 286)

    def test_what_gateways_keep_is_for_administrators(self):
        self.root.admin.command(
            "createUser", "reader", pwd="pw", roles=["readAnyDatabase"])
        try:
            for user in ("ann", "reader"):
                one = client(SECOND, user)
                for attempt in (
                        lambda: one.stitchsync_gateway.users.find_one(),
                        lambda: one.admin["system.users"].find_one(),
                        lambda: list(one.shop.items.aggregate([{"$lookup": {
                            "from": {"db": "stitchsync_gateway", "coll": "users"},
                            "pipeline": [], "as": "x"}}]))):
                    try:
                        found = attempt()
                        self.assertFalse([d for d in found or [] if d.get("x")], found)
                    except OperationFailure as error:
                        self.assertNotEqual(error.code, 1)
        finally:
            self.root.admin.command("dropUser", "reader")
        self.assertIsNotNone(self.root.stitchsync_gateway.users.find_one({"user": "ann"}))

    def test_denied_writes_are_in_the_log_that_gateways_share(self):
        with self.assertRaises(OperationFailure):
            client(SECOND, "ann").shop.items.update_one({"_id": "fixed"}, {"$set": {"n": 1}})
        end = time.monotonic() + 30
        found = []
        while not found and time.monotonic() < end:
            found = list(self.root.stitchsync.denied.find({"user": "ann", "documentID": "fixed"}))
        self.assertEqual(found[0]["cause"], "writeFilter", found)

    def test_health(self):
        self.assertEqual(fetched("/healthz")[0], 200)
        self.assertEqual(fetched("/readyz")[0], 200)
        status, text = fetched("/metrics")
        self.assertEqual(status, 200)
        for family in ("stitchsync_upstream_up 1", "stitchsync_upstream_seconds_total",
                       "stitchsync_streams_open", "stitchsync_denied_writes_total"):
            self.assertIn(family, text)

    def test_z_a_gateway_that_is_killed_loses_nothing(self):
        """The last test: it ends the second gateway."""
        ann = client(SECOND, "ann")
        acknowledged = []

        def write():
            n = 0
            try:
                while True:
                    ann.shop.items.insert_one({"_id": f"k{n}", "owner": "ann", "tenant": "a"})
                    acknowledged.append(f"k{n}")
                    n += 1
            except (AutoReconnect, PyMongoError):
                return

        thread = threading.Thread(target=write)
        thread.start()
        while len(acknowledged) < 20:
            self.assertTrue(thread.is_alive())
        os.kill(SECOND_PROCESS, signal.SIGKILL)
        thread.join()
        other = client(FIRST, "ann").shop.items
        stored = {d["_id"] for d in other.find({"_id": {"$regex": "^k"}})}
        self.assertEqual(set(acknowledged) - stored, set())
        self.assertLessEqual(len(stored) - len(acknowledged), 1)
        other.update_one({"_id": "k0"}, {"$set": {"n": 1}})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
