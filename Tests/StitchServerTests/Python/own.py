"""What a user leaves at the server is the user's own: sessions, cursors, states, and who waits."""

import sys
import threading
import time
import unittest

from bson.int64 import Int64
from pymongo.errors import OperationFailure
from ruled import client

PORT = int(sys.argv[1])


class Own(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        client(PORT).admin.command("createUser", "root", pwd="pw", roles=["root"])
        cls.root = client(PORT, "root")
        for name, more in (("ann", []), ("ben", []), ("mon", ["clusterMonitor"])):
            cls.root.admin.command("createUser", name, pwd="pw", roles=[
                "read", {"role": "readWrite", "db": "shop"}, {"role": "readWrite", "db": "store"},
                *more])
        cls.root.shop.items.insert_many([{"_id": n} for n in range(10)])
        (cls.ann, cls.ben, cls.mon) = (client(PORT, name) for name in ("ann", "ben", "mon"))

    @classmethod
    def tearDownClass(cls):
        for one in (cls.root, cls.ann, cls.ben, cls.mon):
            one.close()

    def refused(self, body, code):
        with self.assertRaises(OperationFailure) as caught:
            body()
        self.assertEqual(caught.exception.code, code)

    def test_cursors_in_lists(self):
        opened = {}
        for name, who in (("ann", self.ann), ("ben", self.ben)):
            cursor = who.shop.items.find(batch_size=2)
            next(cursor)
            opened[name] = cursor

        def told(who):
            return {entry["cursor"]["cursorId"]
                    for entry in who.admin.aggregate([{"$currentOp": {}}]) if "cursor" in entry}

        (ann, ben) = (opened[name].cursor_id for name in ("ann", "ben"))
        self.assertIn(ann, told(self.ann))
        self.assertNotIn(ben, told(self.ann))
        self.assertIn(ben, told(self.ben))
        self.assertNotIn(ann, told(self.ben))
        # Who monitors sees those of all; who does not may not ask by the command either.
        for who in (self.mon, self.root):
            self.assertLessEqual({ann, ben}, told(who))
        self.refused(lambda: self.ann.admin.command("currentOp"), 13)
        for cursor in opened.values():
            cursor.close()

    def test_commands_in_lists(self):
        def told(who):
            return [entry for entry in who.admin.aggregate([{"$currentOp": {}}])
                    if entry.get("command", {}).get("aggregate") == "$cmd"]

        # Each sees its own command, which asks; who monitors sees all that run at the moment.
        for who in (self.ann, self.ben, self.mon, self.root):
            self.assertGreaterEqual(len(told(who)), 1)
        mine = self.ann.shop.items.watch(max_await_time_ms=60_000)
        with mine:
            waiting = threading.Thread(target=mine.try_next)
            waiting.start()

            def waits(who):
                return any("getMore" in entry.get("command", {})
                           for entry in who.admin.aggregate([{"$currentOp": {}}]))

            while not waits(self.mon):
                pass
            self.assertTrue(waits(self.ann))
            self.assertFalse(waits(self.ben))
            self.root.shop.items.insert_one({"_id": "ends the wait"})
            waiting.join()

    def test_sessions_in_lists(self):
        for who in (self.ann, self.ben):
            who.shop.items.find_one()
        for stage in ("$listLocalSessions", "$listSessions"):
            def told(who):
                place = (who.admin if stage == "$listLocalSessions"
                         else who.config["system.sessions"])
                return {bytes(entry["_id"]["uid"]) for entry in place.aggregate([{stage: {}}])}

            (ann, ben) = (told(self.ann), told(self.ben))
            self.assertEqual((len(ann), len(ben)), (1, 1), stage)
            self.assertNotEqual(ann, ben, stage)
            self.assertLessEqual(ann | ben, told(self.mon), stage)
        mine = [entry for entry in self.mon.admin.aggregate([{"$listLocalSessions": {}}])
                if bytes(entry["_id"]["uid"]) in ann]
        again = [entry for entry in self.mon.admin.aggregate([{"$listLocalSessions": {}}])
                 if bytes(entry["_id"]["uid"]) in ann]
        self.assertEqual({entry["user"] for entry in mine}, {"ann@admin"})
        self.assertEqual(mine, again)

    def test_states_of_one_user_do_not_end_those_of_others(self):
        def read(who, at=None):
            concern = {"level": "snapshot", **({"atClusterTime": at} if at else {})}
            answer = who.shop.command("find", "items", readConcern=concern)
            return answer["cursor"]["atClusterTime"]

        kept = read(self.ann)
        times = [read(self.ben) for _ in range(40)]
        self.assertEqual(read(self.ann, kept), kept)
        for at in (times[0], times[-17]):
            self.refused(lambda at=at: read(self.ben, at), 239)
        for at in (times[-16], times[-1]):
            self.assertEqual(read(self.ben, at), at)

    def test_last_errors_are_a_connections_own(self):
        with client(PORT, "ann", maxPoolSize=1) as one, client(PORT, "ann", maxPoolSize=1) as two:
            items = one.shop.last

            def last(who=one):
                return who.shop.command("getLastError")

            items.insert_many([{"_id": 1}, {"_id": 2}])
            self.assertEqual((last()["err"], last()["n"]), (None, 2))
            items.update_many({}, {"$set": {"x": 1}})
            self.assertEqual((last()["n"], last()["updatedExisting"]), (2, True))
            items.update_one({"_id": 9}, {"$set": {"x": 1}}, upsert=True)
            self.assertEqual((last()["updatedExisting"], last()["upserted"]), (False, 9))
            self.refused(lambda: items.insert_one({"_id": 1}), 11000)
            for _ in range(2):
                told = last()
                self.assertEqual((told["ok"], told["code"]), (1, 11000))
                self.assertEqual(told["codeName"], "DuplicateKey")
                self.assertIn("E11000", told["err"])
            self.assertEqual((last(two)["err"], last(two)["n"]), (None, 0))
            items.delete_one({"_id": 9})
            self.assertEqual((last()["err"], last()["n"]), (None, 1))

    def test_cursors_are_ended_by_their_own(self):
        cursor = self.ann.shop.items.find(batch_size=2)
        next(cursor)
        number = Int64(cursor.cursor_id)

        def kill(who, database, name):
            told = who[database].command("killCursors", name, cursors=[number])
            return told["cursorsKilled"], told["cursorsNotFound"]

        for who, database, name in (
                (self.ben, "shop", "items"), (self.mon, "shop", "items")):
            self.assertEqual(kill(who, database, name), ([], [number]), (database, name))
        self.assertEqual([next(cursor)["_id"] for _ in range(5)], [1, 2, 3, 4, 5])
        # As in MongoDB, the id alone names the cursor.
        self.assertEqual(kill(self.ann, "store", "others"), ([number], []))
        self.assertEqual(kill(self.ann, "shop", "items"), ([], [number]))
        self.refused(lambda: list(cursor), 43)

    def ended(self, end):
        """What a waiting getMore is told, once something ends it."""
        told = []
        with self.ann.start_session() as session:
            shop = self.ann.shop
            opened = shop.command(
                "aggregate", "items", pipeline=[{"$changeStream": {}}], cursor={},
                session=session)
            number = Int64(opened["cursor"]["id"])

            def wait():
                try:
                    told.append(shop.command(
                        "getMore", number, collection="items", maxTimeMS=600_000,
                        session=session))
                except OperationFailure as error:
                    told.append(error.code)

            thread = threading.Thread(target=wait, daemon=True)
            thread.start()
            limit = time.monotonic() + 60
            while not any("getMore" in op.get("command", {})
                          for op in self.root.admin.command("currentOp")["inprog"]):
                self.assertLess(time.monotonic(), limit, "it does not wait")
            end(number, session)
            thread.join(60)
            self.assertFalse(thread.is_alive(), "it still waits")
        self.assertEqual(len(told), 1)
        return told[0]

    def test_ending_a_cursor_wakes_who_waits(self):
        # 43 is told where it had not begun to read.
        self.assertIn(self.ended(lambda number, _: self.ann.shop.command(
            "killCursors", "items", cursors=[number])), (237, 43))

    def test_ending_a_session_wakes_who_waits(self):
        self.assertIn(self.ended(lambda _, session: self.ann.admin.command(
            "endSessions", [session.session_id])), (237, 43))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
