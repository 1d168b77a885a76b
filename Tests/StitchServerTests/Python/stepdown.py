"""The server steps down when it is told to: drivers wait until it is the primary again."""

import socket
import struct
import threading

import pymongo
from bson import Int64, encode
from bson.raw_bson import RawBSONDocument
from pymongo.errors import NotPrimaryError, OperationFailure
from served import PORT, ServedTest, answer, main


def message(body):
    """An OP_MSG with one section."""
    payload = struct.pack("<I", 0) + b"\x00" + body
    return struct.pack("<iiii", 16 + len(payload), 1, 0, 2013) + payload


class StepDown(ServedTest):
    def setUp(self):
        super().setUp()
        self.direct = pymongo.MongoClient(
            "127.0.0.1", PORT, directConnection=True, retryWrites=False)
        self.addCleanup(self.direct.close)
        self.addCleanup(self.elect)

    def elect(self):
        """Ends the time for which the server is no primary."""
        if not self.direct.admin.command("hello")["isWritablePrimary"]:
            self.direct.admin.command("replSetFreeze", 0)

    def fault(self, *arguments, **fields):
        """The code with which a command on `admin` is refused."""
        with self.assertRaises((NotPrimaryError, OperationFailure)) as caught:
            self.direct.admin.command(*arguments, **fields)
        return caught.exception.details["code"]

    def plain(self, **command):
        """The answer to a command as it is, without what a driver adds."""
        with socket.create_connection(("127.0.0.1", PORT)) as connection:
            connection.settimeout(120)
            connection.sendall(message(encode(command)))
            return RawBSONDocument(answer(connection)[21:])

    def test_what_is_asked_wrongly_is_refused(self):
        self.assertEqual(self.fault("replSetStepDown", -1), 2)
        self.assertEqual(self.fault("replSetStepDown", 5), 2)
        self.assertEqual(self.fault("replSetStepDown", 5, secondaryCatchUpPeriodSecs=-1), 2)
        self.assertEqual(self.fault("replSetStepDown", 20), 262)
        self.assertEqual(self.fault("replSetFreeze", 0), 95)
        known = self.direct.admin.command("hello")["topologyVersion"]
        known["counter"] = Int64(known["counter"] + 1)
        self.assertEqual(
            self.fault("hello", topologyVersion=known, maxAwaitTimeMS=60000), 31382)

    def test_a_secondary_reads_and_does_not_write(self):
        items = self.direct["served"]["items"]
        items.insert_many({"_id": i} for i in range(5))
        cursor = items.find(batch_size=2)
        next(cursor)
        before = self.direct.admin.command("hello")
        made = self.direct.admin.command("serverStatus")["connections"]["totalCreated"]
        self.assertNotIsInstance(made, Int64)
        self.direct.admin.command("replSetStepDown", 600, force=True)
        self.assertEqual(len(list(cursor)), 4)
        after = self.direct.admin.command("hello")
        self.assertFalse(after["isWritablePrimary"])
        self.assertTrue(after["secondary"])
        self.assertNotIn("primary", after)
        self.assertGreater(
            after["topologyVersion"]["counter"], before["topologyVersion"]["counter"])
        self.assertEqual(self.direct.admin.command("replSetGetStatus")["myState"], 2)
        for write in (
                lambda: items.insert_one({}), items.drop,
                lambda: items.create_index("a"),
                lambda: items.aggregate([{"$out": "others"}])):
            with self.assertRaises(NotPrimaryError) as caught:
                write()
            self.assertEqual(caught.exception.details["code"], 10107)
            self.assertIn("topologyVersion", caught.exception.details)
        self.assertEqual(self.fault("replSetStepDown", 5, force=True), 10107)
        self.assertEqual(items.count_documents({}), 5)
        for name in ("find", "count", "listIndexes"):
            self.assertEqual(self.plain(**{name: "items", "$db": "served"})["code"], 13435)
        self.assertEqual(
            self.plain(
                find="items", **{"$db": "served", "$readPreference": {"mode": "secondary"}})["ok"],
            1)
        self.assertEqual(self.plain(ping=1, **{"$db": "admin"})["ok"], 1)
        self.elect()
        again = self.direct.admin.command("hello")
        self.assertTrue(again["isWritablePrimary"])
        self.assertGreater(again["electionId"], before["electionId"])
        self.assertGreater(again["lastWrite"]["opTime"]["t"], before["lastWrite"]["opTime"]["t"])
        items.insert_one({})

    def test_who_waits_is_told_of_it(self):
        known = self.direct.admin.command("hello")["topologyVersion"]
        told = []
        waiter = threading.Thread(target=lambda: told.append(self.direct.admin.command(
            "hello", topologyVersion=known, maxAwaitTimeMS=500000)))
        waiter.start()
        self.direct.admin.command("replSetStepDown", 600, force=True)
        waiter.join()
        self.assertFalse(told[0]["isWritablePrimary"])
        # It is elected without being told to when the time is over.
        self.direct.admin.command("replSetFreeze", 0)
        self.direct.admin.command("replSetStepDown", 1, force=True)
        known = self.direct.admin.command("hello")["topologyVersion"]
        self.assertTrue(self.direct.admin.command(
            "hello", topologyVersion=known, maxAwaitTimeMS=500000)["isWritablePrimary"])

    def test_transactions_end(self):
        self.items.insert_one({"_id": 1})
        with self.direct.start_session() as session:
            session.start_transaction()
            self.direct["served"]["items"].insert_one({"_id": 2}, session=session)
            self.direct.admin.command("replSetStepDown", 600, force=True)
            with self.assertRaises(NotPrimaryError) as caught:
                self.direct["served"]["items"].insert_one({"_id": 3}, session=session)
            self.assertTrue(caught.exception.has_error_label("TransientTransactionError"))
            session.abort_transaction()
        self.elect()
        self.assertEqual(self.items.distinct("_id"), [1])

    def test_retried_writes_wait_for_the_election(self):
        self.items.insert_one({"_id": 1})
        self.direct.admin.command("replSetStepDown", 1, force=True)
        self.items.insert_one({"_id": 2})
        self.assertEqual(self.items.count_documents({}), 2)


if __name__ == "__main__":
    main()
