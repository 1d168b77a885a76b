"""Several commands happen together or not at all; a write sent twice happens once."""

import concurrent.futures
import threading

import pymongo
from bson import Int64, Timestamp
from pymongo.errors import ConnectionFailure, OperationFailure
from served import PORT, ServedTest, main


class Arrivals(pymongo.monitoring.CommandListener):
    """Tells when so many inserts are on their way."""

    def __init__(self, count):
        self.all = threading.Event()
        self.left = count
        self.lock = threading.Lock()

    def started(self, event):
        if event.command_name == "insert":
            with self.lock:
                self.left -= 1
                if not self.left:
                    self.all.set()

    def succeeded(self, event):
        pass

    failed = succeeded


class Transactions(ServedTest):
    def setUp(self):
        super().setUp()
        self.items.insert_one({"_id": 0, "n": 0})

    def ids(self):
        return sorted(d["_id"] for d in self.items.find())

    def test_all_is_there_after_the_commit_and_nothing_before(self):
        with self.client.start_session() as session:
            with session.start_transaction():
                self.items.insert_one({"_id": 1}, session=session)
                self.db["more"].insert_one({"_id": 2}, session=session)
                self.items.update_one({"_id": 0}, {"$inc": {"n": 5}}, session=session)
                self.assertEqual(self.items.find_one({"_id": 0}, session=session)["n"], 5)
                self.assertEqual(self.items.find_one({"_id": 0})["n"], 0)
                self.assertEqual(self.ids(), [0])
        self.assertEqual(self.ids(), [0, 1])
        self.assertEqual(self.db["more"].count_documents({}), 1)

    def test_nothing_is_there_after_an_abort(self):
        with self.client.start_session() as session:
            session.start_transaction()
            self.items.insert_one({"_id": 1}, session=session)
            self.items.delete_one({"_id": 0}, session=session)
            session.abort_transaction()
            self.assertEqual(self.ids(), [0])
            session.start_transaction()
            self.items.insert_one({"_id": 2}, session=session)
            session.commit_transaction()
            session.commit_transaction()
        self.assertEqual(self.ids(), [0, 2])

    def test_reads_see_one_state(self):
        with self.client.start_session() as session, session.start_transaction():
            self.assertEqual(self.items.count_documents({}, session=session), 1)
            self.items.insert_one({"_id": 1})
            self.assertEqual(self.items.count_documents({}, session=session), 1)
            self.assertEqual(self.items.count_documents({}), 2)

    def test_a_write_after_others_wrote_is_a_conflict_that_may_be_tried_again(self):
        with self.client.start_session() as session:
            session.start_transaction()
            self.items.find_one({"_id": 0}, session=session)
            self.items.update_one({"_id": 0}, {"$inc": {"n": 1}})
            with self.assertRaises(OperationFailure) as caught:
                self.items.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)
            self.assertEqual(caught.exception.code, 112)
            self.assertTrue(caught.exception.has_error_label("TransientTransactionError"))
            with self.assertRaises(OperationFailure) as caught:
                session.commit_transaction()
            self.assertEqual(caught.exception.code, 251)

    def test_two_transactions_that_write_do_not_mix(self):
        with self.client.start_session() as one, self.client.start_session() as two:
            one.start_transaction()
            two.start_transaction()
            self.items.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=one)
            with self.assertRaises(OperationFailure) as caught:
                self.items.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=two)
            self.assertEqual(caught.exception.code, 112)
            one.commit_transaction()

        def add(session):
            n = self.items.find_one({"_id": 0}, session=session)["n"]
            self.items.update_one({"_id": 0}, {"$set": {"n": n + 1}}, session=session)

        with self.client.start_session() as session:
            session.with_transaction(add)
        self.assertEqual(self.items.find_one({"_id": 0})["n"], 2)

    def test_a_transaction_that_is_left_alone_gives_way(self):
        with self.client.start_session() as session:
            session.start_transaction()
            self.items.insert_one({"_id": 1}, session=session)
            self.items.insert_one({"_id": 2})
            with self.assertRaises(OperationFailure) as caught:
                session.commit_transaction()
            self.assertEqual(caught.exception.code, 251)
            self.assertTrue(caught.exception.has_error_label("TransientTransactionError"))
        self.assertEqual(self.ids(), [0, 2])

    def test_writers_that_wait_leave_room_for_the_end_of_the_transaction(self):
        for tries_left in reversed(range(5)):
            try:
                return self.let_writers_wait()
            except OperationFailure as error:
                # On a busy machine this process may rest for so long that the transaction gives way.
                if error.code != 251 or not tries_left:
                    raise
                self.items.delete_many({"_id": {"$ne": 0}})

    def let_writers_wait(self):
        # More than the server has threads for commands.
        count = 70
        sent = Arrivals(count)
        with pymongo.MongoClient(
                "localhost", PORT, maxPoolSize=count, event_listeners=[sent]) as many, \
                concurrent.futures.ThreadPoolExecutor(count) as threads, \
                self.client.start_session() as session:
            session.start_transaction()
            self.items.insert_one({"_id": "t"}, session=session)
            other = many[self.db.name][self.items.name]
            writes = [threads.submit(other.insert_one, {"_id": n + 1}) for n in range(count)]
            # Meanwhile the transaction is never idle for so long that it has to give way.
            while not sent.all.wait(0.02):
                self.assertIsNotNone(self.items.find_one({"_id": "t"}, session=session))
            for _ in range(20):
                self.assertIsNotNone(self.items.find_one({"_id": "t"}, session=session))
            self.assertFalse(any(write.done() for write in writes))
            session.commit_transaction()
            for write in writes:
                write.result(60)
        self.assertEqual(self.items.count_documents({}), count + 2)

    def test_an_error_ends_the_transaction(self):
        with self.client.start_session() as session:
            session.start_transaction()
            self.items.insert_one({"_id": 1}, session=session)
            with self.assertRaises(pymongo.errors.DuplicateKeyError):
                self.items.insert_one({"_id": 0}, session=session)
            with self.assertRaises(OperationFailure) as caught:
                self.items.insert_one({"_id": 3}, session=session)
            self.assertEqual(caught.exception.code, 251)
        self.assertEqual(self.ids(), [0])

    def test_cursors_in_a_transaction_read_on(self):
        self.items.insert_many({"_id": i} for i in range(1, 50))
        with self.client.start_session() as session, session.start_transaction():
            self.items.delete_one({"_id": 49}, session=session)
            found = list(self.items.find({}, batch_size=5, session=session))
            self.assertEqual(len(found), 49)

    def test_the_cursor_of_a_bulk_write_in_a_transaction_reads_on(self):
        with self.client.start_session() as session:
            with session.start_transaction():
                answer = self.client.admin.command(
                    "bulkWrite", 1, ops=[{"insert": 0, "document": {"_id": n}} for n in (1, 2, 3)],
                    nsInfo=[{"ns": "served.items"}], cursor={"batchSize": 1}, session=session)
                self.assertEqual(len(answer["cursor"]["firstBatch"]), 1)
                more = self.client.admin.command(
                    "getMore", answer["cursor"]["id"], collection="$cmd.bulkWrite",
                    session=session)
                self.assertEqual([d["idx"] for d in more["cursor"]["nextBatch"]], [1, 2])
        self.assertEqual(self.ids(), [0, 1, 2, 3])

    def test_what_no_transaction_has_is_refused(self):
        def code(body):
            # A client of its own has sessions that no other test used.
            with pymongo.MongoClient("127.0.0.1", PORT) as client:
                with self.assertRaises(OperationFailure) as caught:
                    client["served"].command(body)
            return caught.exception.code

        find = {"find": "items"}
        self.assertEqual(code({**find, "autocommit": False}), 72)
        self.assertEqual(code({**find, "startTransaction": True}), 72)
        self.assertEqual(code({**find, "txnNumber": Int64(1)}), 50768)
        self.assertEqual(code({**find, "txnNumber": Int64(1), "autocommit": False}), 251)
        self.assertEqual(code({**find, "txnNumber": Int64(1), "autocommit": True}), 72)
        self.assertEqual(
            code({"count": "items", "txnNumber": Int64(1), "autocommit": False,
                  "startTransaction": True}), 263)

    def test_what_is_refused_before_a_transaction_does_not_end_it(self):
        # MongoDB manual, "Transactions", "Operations" and "Restricted Operations".
        for database, command, code in [
                ("served", {"count": "items"}, 263), ("served", {"drop": "items"}, 263),
                ("served", {"explain": {"find": "items"}}, 263), ("served", {"ping": 1}, 263),
                ("served", {"hello": 1}, 263), ("served", {"buildInfo": 1}, 263),
                ("admin", {"find": "items"}, 263), ("config", {"find": "items"}, 263),
                ("local", {"insert": "items", "documents": [{}]}, 263),
                ("served", {"find": "system.profile"}, 263),
                ("served", {"find": "system.views"}, 51071),
                ("served", {"find": "items", "readConcern": {"level": "local"}}, 72),
                ("admin", {"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}],
                           "nsInfo": [{"ns": "config.items"}]}, 263)]:
            with self.subTest(command=command), self.client.start_session() as session:
                session.start_transaction()
                self.items.insert_one({"_id": 1}, session=session)
                with self.assertRaises(OperationFailure) as caught:
                    self.client[database].command(command, session=session)
                self.assertEqual(caught.exception.code, code, caught.exception)
                session.commit_transaction()
                self.assertEqual(self.ids(), [0, 1])
                self.items.delete_one({"_id": 1})

    def test_a_command_outside_of_a_transaction_does_not_end_it(self):
        """jstests/core/txns/multi_statement_transaction_command_args.js"""
        def numbered(body, session, number):
            numbered = {**body, "txnNumber": Int64(number)}
            return session.client["served"].command(numbered, session=session)

        insert = {"insert": "items", "documents": [{"_id": 9}]}
        named = {"autocommit": False}
        for more, number, code in [
                ({**named, "startTransaction": True}, 5, 117), ({}, 5, 72),
                (named, 4, 225), (named, 6, 251), ({**named, "startTransaction": True}, 4, 225)]:
            with self.subTest(more=more), pymongo.MongoClient("127.0.0.1", PORT) as client:
                with client.start_session(causal_consistency=False) as session:
                    begin = {"insert": "items", "documents": [{"_id": 1}], "startTransaction": True,
                             **named}
                    numbered(begin, session, 5)
                    with self.assertRaises(OperationFailure) as caught:
                        numbered({**insert, **more}, session, number)
                    self.assertEqual(caught.exception.code, code, caught.exception)
                    commit = {"commitTransaction": 1, "txnNumber": Int64(5), **named}
                    client["admin"].command(commit, session=session)
                    if code == 72:
                        with self.assertRaises(OperationFailure) as caught:
                            numbered(insert, session, 5)
                        self.assertEqual(caught.exception.code, 72)
            self.assertEqual(self.ids(), [0, 1])
            self.items.delete_one({"_id": 1})

    def test_what_a_command_refuses_ends_the_transaction(self):
        self.db.create_collection("capped", capped=True, size=4096)
        self.db["capped"].insert_one({"_id": 0})
        update = {"q": {}, "u": {"$set": {"a": 1}}}
        for command, code in [
                ({"insert": "capped", "documents": [{}]}, 263),
                ({"update": "capped", "updates": [update]}, 263),
                ({"update": "capped", "updates": [{**update, "q": {"_id": 7}, "upsert": True}]},
                 263),
                ({"findAndModify": "capped", "query": {}, "update": {"$set": {"a": 1}}}, 263),
                ({"delete": "capped", "deletes": [{"q": {}, "limit": 1}]}, 20),
                ({"find": "capped", "tailable": True}, 72),
                ({"find": "items", "readOnce": True}, 263),
                ({"insert": "system.js", "documents": [{}]}, 50791),
                ({"update": "system.js", "updates": [update]}, 50791),
                ({"delete": "system.js", "deletes": [{"q": {}, "limit": 1}]}, 50791),
                ({"findAndModify": "system.js", "query": {}, "remove": True}, 50791),
                ({"create": "system.js"}, 263),
                ({"createIndexes": "system.js", "indexes": [{"key": {"a": 1}, "name": "a"}]}, 263),
                ({"find": "items", "filter": {"$nope": 1}}, 2),
                ({"aggregate": "items", "pipeline": [{"$changeStream": {}}], "cursor": {}}, 263)]:
            with self.subTest(command=command), self.client.start_session() as session:
                session.start_transaction()
                self.items.insert_one({"_id": 1}, session=session)
                answer = self.db.command(command, session=session, check=False)
                error = (answer.get("writeErrors") or [answer])[0]
                self.assertEqual(error.get("code"), code, answer)
                self.assertNotIn("errorLabels", answer)
                with self.assertRaises(OperationFailure) as caught:
                    session.commit_transaction()
                self.assertEqual(caught.exception.code, 251)
        self.assertEqual(self.ids(), [0])
        self.assertEqual(self.db["capped"].count_documents({}), 1)
        self.db["capped"].delete_one({})

    def test_statements_may_be_numbered(self):
        def run(database, command, number, statement, **fields):
            return client[database].command({
                **command, "txnNumber": Int64(number), "autocommit": False, "stmtId": statement,
                **fields}, session=session)

        # A client of its own has a session that has no number yet.
        client = pymongo.MongoClient("127.0.0.1", PORT)
        session = client.start_session()
        for number, (command, end) in enumerate([
                ({"find": "items"}, "commitTransaction"),
                ({"distinct": "items", "key": "n"}, "abortTransaction"),
                ({"aggregate": "items", "pipeline": [], "cursor": {}}, "commitTransaction"),
                ({"insert": "items", "documents": [{}]}, "abortTransaction")]):
            run("served", command, number, 0, startTransaction=True)
            self.assertEqual(run("admin", {end: 1}, number, 1)["ok"], 1)
        session.end_session()
        client.close()

    def test_an_abort_that_finds_nothing_says_to_try_again(self):
        with pymongo.MongoClient("127.0.0.1", PORT) as client:
            with self.assertRaises(OperationFailure) as caught:
                client.admin.command(
                    {"abortTransaction": 1, "txnNumber": Int64(7), "autocommit": False})
        self.assertEqual(caught.exception.code, 251)
        self.assertTrue(caught.exception.has_error_label("TransientTransactionError"))

    def test_events_name_the_transaction(self):
        with self.items.watch() as stream, self.client.start_session() as session:
            with session.start_transaction():
                self.items.insert_one({"_id": 1}, session=session)
                self.items.insert_one({"_id": 2}, session=session)
            one, two = stream.next(), stream.next()
        self.assertEqual(one["clusterTime"], two["clusterTime"])
        self.assertEqual(one["txnNumber"], two["txnNumber"])


class RetryableWrites(ServedTest):
    def numbered(self, body, session, number=1):
        return session.client["served"].command(
            {**body, "txnNumber": Int64(number)}, session=session)

    def test_a_write_that_is_sent_again_is_answered_and_not_done(self):
        client = pymongo.MongoClient("127.0.0.1", PORT)
        self.addCleanup(client.close)
        session = client.start_session()
        commands = [
            {"insert": "items", "documents": [{"_id": 1, "n": 0}]},
            {"update": "items", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]},
            {"findAndModify": "items", "query": {"_id": 1}, "update": {"$inc": {"n": 1}},
             "new": True},
            {"delete": "items", "deletes": [{"q": {}, "limit": 1}]},
        ]
        self.items.insert_one({"_id": 2})
        for number, command in enumerate(commands, 1):
            first = self.numbered(dict(command), session, number)
            again = self.numbered(dict(command), session, number)
            for field in ("n", "nModified", "value"):
                self.assertEqual(first.get(field), again.get(field))
            if number == 3:
                self.assertEqual(first["value"]["n"], 2)
        self.assertEqual(self.items.count_documents({}), 1)
        with self.assertRaises(OperationFailure) as caught:
            self.numbered({"insert": "items", "documents": [{"_id": 9}]}, session, 2)
        self.assertEqual(caught.exception.code, 225)
        with self.assertRaises(OperationFailure) as caught:
            self.numbered(
                {"update": "items", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "multi": True}]},
                session, 9)
        self.assertEqual(caught.exception.code, 72)

    def test_the_driver_tries_again_when_the_connection_is_cut(self):
        for mode in ("closeConnection", "errorCode"):
            data = {"failCommands": ["insert"], "closeConnection": True}
            if mode == "errorCode":
                data = {"failCommands": ["insert"], "errorCode": 10107,
                        "errorLabels": ["RetryableWriteError"]}
            self.client.admin.command(
                "configureFailPoint", "failCommand", mode={"times": 1}, data=data)
            self.items.insert_one({"_id": mode})
        self.assertEqual(self.items.count_documents({}), 2)
        single = pymongo.MongoClient("127.0.0.1", PORT, retryWrites=False)
        self.client.admin.command(
            "configureFailPoint", "failCommand", mode={"times": 1},
            data={"failCommands": ["insert"], "closeConnection": True})
        with self.assertRaises(ConnectionFailure):
            single["served"]["items"].insert_one({"_id": 3})
        single.close()

    def test_a_transaction_that_was_left_alone_keeps_no_other_one_out(self):
        self.items.insert_one({"_id": "there"})
        with self.client.start_session() as idle, self.client.start_session() as other:
            idle.start_transaction()
            self.items.insert_one({"_id": "idle"}, session=idle)
            # The driver begins anew until it is let in.
            other.with_transaction(
                lambda session: self.items.insert_one({"_id": "other"}, session=session))
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.items.insert_one({"_id": "late"}, session=idle)
            self.assertEqual(caught.exception.code, 251)
        self.assertEqual(sorted(d["_id"] for d in self.items.find()), ["other", "there"])

    def test_nothing_ends_outside_of_a_transaction(self):
        """functional-tests, commitTransaction/test_commitTransaction_core_error.py"""
        for command in ("commitTransaction", "abortTransaction"):
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.client["admin"].command(command)
            self.assertEqual(caught.exception.code, 251)

    def test_what_no_transaction_begins_with_is_refused(self):
        self.items.insert_one({"_id": 1})
        for command, text in (
                ("commitTransaction", "Cannot start a transaction with a commit"),
                ("abortTransaction", "Cannot start a transaction with an abort")):
            self.assertEqual(self.begun("admin", {command: 1}), (263, text))
        kill = {"killCursors": "items", "cursors": []}
        self.assertEqual(self.begun("served", kill)[0], 263)
        view = {"create": "v", "viewOn": "items", "pipeline": []}
        self.assertEqual(
            self.begun("served", view),
            (263, "Cannot create a view in a multi-document transaction."))
        find = {"find": "items"}
        self.assertEqual(
            self.begun("served", {"explain": find}),
            (263, "Cannot run 'explain' in a multi-document transaction."))
        self.assertEqual(
            self.begun("served", {**find, "readConcern": {"level": "linearizable"}}),
            (72, "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' "
                 "in order to run in a transaction"))
        self.assertEqual(
            self.begun("served", {**find, "readConcern": {"afterClusterTime": Timestamp(0, 0)}}),
            (72, "afterClusterTime cannot be a null timestamp"))
        write = {"insert": "items", "documents": [{}], "writeConcern": {"w": 1}}
        self.assertEqual(
            self.begun("served", write),
            (72, "writeConcern is not allowed within a multi-statement transaction"))

    def begun(self, database, command):
        """How a command is refused that begins a transaction."""
        fields = {
            **command, "txnNumber": Int64(1), "startTransaction": True, "autocommit": False}
        # A client of its own has a session that has no number yet.
        with pymongo.MongoClient("127.0.0.1", PORT) as client:
            with client.start_session() as session, self.assertRaises(OperationFailure) as caught:
                client[database].command(fields, session=session)
        return caught.exception.code, caught.exception.details["errmsg"]

    def test_what_a_transaction_cannot_do(self):
        self.items.insert_one({"_id": 1})
        made = self.db["made"]
        for act, code in (
                (lambda s: self.items.aggregate([{"$out": "out"}], session=s), 263),
                (lambda s: self.items.aggregate(
                    [{"$merge": {"into": "out"}}], session=s), 263),
                (lambda s: self.db.command("create", "items", session=s), 48),
                (lambda s: self.items.create_index("n", session=s), 263),
                (lambda s: self.items.drop(session=s), 263)):
            with self.client.start_session() as session:
                session.start_transaction()
                with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                    act(session)
                self.assertEqual(caught.exception.code, code, caught.exception)
        self.items.delete_many({})
        with self.client.start_session() as session:
            session.start_transaction()
            with self.assertRaises(pymongo.errors.OperationFailure) as caught:
                self.items.create_index("n", session=session)
            self.assertEqual(caught.exception.code, 263)
        with self.client.start_session() as session, session.start_transaction():
            self.db.create_collection("made", session=session)
            made.create_index("n", session=session)
            made.insert_one({"n": 1}, session=session)
        self.assertIn("n_1", made.index_information())


main()
