"""Compressed messages, by another implementation of zlib than the server's."""

import socket
import struct
import warnings
import zlib

import pymongo
from bson import encode
from served import PORT, ServedTest, answer, main


class Compression(ServedTest):
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


if __name__ == "__main__":
    main()
