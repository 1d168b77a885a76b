"""Whatever a client sends, it gets an error or is cut off, and the others are served."""

import os
import random
import socket
import struct
import time
import warnings
import zlib

import pymongo
from bson import encode
from served import PORT, ServedTest, main


def message(body, flags=0, opcode=2013, length=None):
    """An OP_MSG with one section."""
    payload = struct.pack("<I", flags) + b"\x00" + body
    size = 16 + len(payload) if length is None else length
    return struct.pack("<iiii", size, 1, 0, opcode) + payload


def ping():
    return message(encode({"ping": 1, "$db": "admin"}))


def answer(connection):
    """The next answer, None when the server has closed the connection."""
    data = b""
    try:
        while len(data) < 4 or len(data) < struct.unpack("<i", data[:4])[0]:
            more = connection.recv(65536)
            if not more:
                return None
            data += more
    except ConnectionResetError:
        return None
    return data


class Hostile(ServedTest):
    def connect(self):
        connection = socket.create_connection(("127.0.0.1", PORT))
        connection.settimeout(120)
        self.addCleanup(connection.close)
        return connection

    def memory(self):
        """The resident memory of the server in MiB."""
        pid = self.client.admin.command("serverStatus")["pid"]
        with open(f"/proc/{pid}/status") as status:
            line = next(line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024

    def finds(self):
        """How many queries the server has answered."""
        commands = self.client.admin.command("serverStatus")["metrics"]["commands"]
        return commands["find"]["total"] if "find" in commands else 0

    def tearDown(self):
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)

    def test_compressed_messages(self):
        plain = encode({"insert": "items", "$db": "served", "documents": [
            {"_id": "packed", "text": "-" * 5000}]})
        body = struct.pack("<I", 0) + b"\x00" + plain
        packed = struct.pack("<iiB", 2013, len(body), 2) + zlib.compress(body)
        whole = struct.pack("<iiii", 16 + len(packed), 9, 0, 2012) + packed
        connection = self.connect()
        connection.sendall(whole)
        self.assertEqual(struct.unpack("<i", answer(connection)[8:12])[0], 9)
        self.assertEqual(self.items.find_one({"_id": "packed"})["text"], "-" * 5000)
        find = encode({"find": "items", "$db": "served", "filter": {"_id": "packed"}})
        body = struct.pack("<I", 0) + b"\x00" + find
        packed = struct.pack("<iiB", 2013, len(body), 2) + zlib.compress(body)
        connection.sendall(struct.pack("<iiii", 16 + len(packed), 10, 0, 2012) + packed)
        reply = answer(connection)
        self.assertEqual(struct.unpack("<i", reply[12:16])[0], 2012)
        opcode, size, compressor = struct.unpack("<iiB", reply[16:25])
        self.assertEqual((opcode, compressor), (2013, 2))
        self.assertEqual(len(zlib.decompress(reply[25:])), size)
        self.assertLess(len(reply), 1000)

    def test_what_only_looks_compressed_is_cut_off(self):
        before = self.memory()
        bomb = zlib.compress(bytes(47_000_000))
        for size, compressor, data in (
                (100, 2, b"x" * 50), (100, 1, b"x" * 50), (100, 7, b""), (-1, 2, b""),
                (2**31 - 1, 2, bomb), (47_000_000, 2, bomb), (47_000_001, 2, bomb)):
            connection = self.connect()
            packed = struct.pack("<iiB", 2013, size, compressor) + data
            connection.sendall(struct.pack("<iiii", 16 + len(packed), 1, 0, 2012) + packed)
            self.assertIsNone(answer(connection))
        self.assertLess(self.memory() - before, 400)

    def test_drivers_may_compress(self):
        for compressor in ("zlib", "zlib,snappy"):
            with warnings.catch_warnings():
                # Without its module a driver leaves Snappy out.
                warnings.simplefilter("ignore")
                client = pymongo.MongoClient("127.0.0.1", PORT, compressors=compressor)
            offered = client.admin.command("hello", compression=["x", "snappy", "zlib"])
            self.assertEqual(offered["compression"], ["snappy", "zlib"])
            items = client["served"]["packed"]
            items.drop()
            documents = [{"_id": i, "text": f"{i} " * 200} for i in range(500)]
            items.insert_many(documents)
            self.assertEqual(list(items.find(batch_size=100)), documents)
            client.close()

    def test_bytes_may_come_one_by_one(self):
        connection = self.connect()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in ping():
            connection.send(bytes([byte]))
        self.assertIsNotNone(answer(connection))

    def test_absurd_lengths_and_kinds_end_the_connection(self):
        body = encode({"ping": 1, "$db": "admin"})
        for sent in [
            message(body, length=length) for length in (0, 1, 15, 16, -1, -2**31, 48000001, 2**31 - 1)
        ] + [message(body, opcode=opcode) for opcode in (0, 1, 2001, 2005, 2012, 2014, -1)]:
            connection = self.connect()
            connection.sendall(sent)
            self.assertIsNone(answer(connection), sent[:20])

    def test_flags_that_are_not_known_end_the_connection(self):
        connection = self.connect()
        connection.sendall(message(encode({"ping": 1, "$db": "admin"}), flags=0x8000))
        self.assertIsNone(answer(connection))

    def test_a_document_that_is_none_is_refused(self):
        broken = encode({"ping": 1, "$db": "admin"}).replace(b"admin", b"\xff\xfe\xfd\xfc\xfb")
        connection = self.connect()
        connection.sendall(message(broken))
        self.assertIn(b"InvalidBSON", answer(connection))
        connection.sendall(ping())
        self.assertIsNotNone(answer(connection))

    def test_random_bytes_do_no_harm(self):
        source = random.Random(7)
        whole = message(encode({"find": "items", "filter": {"a": [1, {"$gt": 3}]}, "$db": "x"}))
        for _ in range(300):
            sent = bytearray(whole)
            for _ in range(source.randrange(1, 6)):
                sent[source.randrange(4, len(sent))] = source.randrange(256)
            connection = self.connect()
            connection.sendall(bytes(sent))
            connection.shutdown(socket.SHUT_WR)
            answer(connection)
            connection.close()

    def test_deep_nesting_is_refused(self):
        for depth, is_fine in ((99, True), (150, False), (250, False)):
            deep = {}
            for _ in range(depth - 1):
                deep = {"a": deep}
            body = encode({"insert": "items", "documents": [deep], "$db": "served"})
            connection = self.connect()
            connection.sendall(message(body))
            said = answer(connection)
            self.assertEqual(said is not None and b"errmsg" not in said, is_fine, depth)
        self.assertEqual(self.items.count_documents({}), 1)

    def test_a_document_of_20_mb_is_refused(self):
        text = "x" * (20 * 1024 * 1024)
        with self.assertRaises(pymongo.errors.DocumentTooLarge):
            self.items.insert_one({"text": text})
        connection = self.connect()
        body = encode({"insert": "items", "documents": [{"text": text}], "$db": "served"})
        try:
            connection.sendall(message(body))
            said = answer(connection)
        except (BrokenPipeError, ConnectionResetError):
            # On a busy machine 20 MB take longer than the two seconds that the server allows.
            said = None
        self.assertTrue(said is None or b"errmsg" in said)
        self.assertEqual(self.items.count_documents({}), 0)

    def test_an_expensive_regular_expression_is_not(self):
        self.items.insert_one({"text": "a" * 30000 + "b"})
        began = time.monotonic()
        self.assertIsNone(self.items.find_one({"text": {"$regex": "^(a+)+$"}}))
        self.assertLess(time.monotonic() - began, 60)

    def test_idle_and_half_open_connections_are_cut_off_and_cost_little(self):
        before = self.memory()
        idle = [self.connect() for _ in range(500)]
        half = [self.connect() for _ in range(500)]
        for connection in half:
            connection.sendall(message(encode({"ping": 1}), length=40000000))
        self.items.insert_one({"_id": 1})
        self.assertIsNotNone(self.items.find_one({"_id": 1}))
        self.assertLess(self.memory() - before, 200)
        # The server was started with two seconds; two looks later all of them are gone.
        for connection in idle + half:
            self.assertIsNone(answer(connection))

    def test_a_client_that_does_not_read_is_held_up(self):
        self.items.insert_many({"text": "x" * 100000} for _ in range(150))
        before = self.memory()
        finds = self.finds()
        connection = self.connect()
        find = message(
            encode({"find": "items", "batchSize": 150, "singleBatch": True, "$db": "served"}))
        connection.setblocking(False)
        try:
            for _ in range(2000):
                connection.send(find)
        except BlockingIOError:
            pass
        self.assertLess(self.memory() - before, 300)
        # The other one has as much time as this takes.
        for _ in range(40):
            self.assertEqual(len(list(self.items.find(batch_size=150))), 150)
        # No more answers are made than the network takes in.
        self.assertLess(self.finds() - finds - 40, 10)

    def test_cursors_of_others_cannot_be_read(self):
        self.items.insert_many({"_id": i} for i in range(10))
        with self.client.start_session() as mine, self.client.start_session() as other:
            found = self.db.command("find", "items", batchSize=2, session=mine)
            first = found["cursor"]["id"]
            refused = self.refused("getMore", first, collection="items", session=other)
            self.assertEqual(refused[0], 50738)
        self.assertEqual(self.refused("getMore", 12345678901, collection="items")[0], 43)


if __name__ == "__main__":
    main()
