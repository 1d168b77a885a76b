"""A driver reads the files that devices sent, and stores files that devices read."""

import hashlib
import sys
import unittest

import gridfs
import pymongo
from bson.binary import Binary
from bson.int64 import Int64

PORT = int(sys.argv[1])
SIZES = [0, 1, 261_119, 261_120, 261_121, 5_000_000]


def content(length):
    return b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(length // 32 + 1))[:length]


class GridFS(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = pymongo.MongoClient("localhost", PORT, serverSelectionTimeoutMS=60000)
        cls.db = cls.client.app
        cls.bucket = gridfs.GridFSBucket(cls.db, "attachments")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()

    def test_reads_what_devices_sent(self):
        todos = list(self.db.todos.find({"photo": {"$exists": True}, "sent": True}))
        self.assertEqual(len(todos), len(SIZES))
        for todo in todos:
            photo = todo["photo"]
            with self.subTest(photo["length"]), \
                    self.bucket.open_download_stream(photo["attachment"]) as stream:
                self.assertEqual(stream.length, photo["length"])
                self.assertEqual(stream.filename, photo["name"])
                self.assertEqual(
                    stream.metadata["document"], todo["_id"])
                self.assertEqual(stream.metadata["collection"], "todos")
                whole = stream.read()
                self.assertEqual(hashlib.sha256(whole).digest(), photo["sha256"])
                # In pieces, by a place, chunk by chunk and by the name.
                stream.seek(0)
                pieces = []
                while piece := stream.read(100_003):
                    pieces.append(piece)
                self.assertEqual(b"".join(pieces), whole)
                stream.seek(len(whole) // 2)
                self.assertEqual(stream.read(9), whole[len(whole) // 2:][:9])
                stream.seek(0)
                self.assertEqual(b"".join(stream.readchunk() for _ in range(20)), whole)
                named = self.bucket.open_download_stream_by_name(photo["name"])
                self.assertEqual(named.read(), whole)
                older = gridfs.GridFS(self.db, "attachments")
                self.assertEqual(older.get(photo["attachment"]).read(), whole)

    def test_stores_what_devices_read(self):
        todos = self.db.todos
        for number, length in enumerate(SIZES):
            data = content(length)
            todo_id = f"python {number}"
            todos.insert_one({"_id": todo_id})
            file = self.bucket.upload_from_stream(
                "milk.jpg", data, metadata={"collection": "todos", "document": todo_id})
            todos.update_one({"_id": todo_id}, {"$set": {"photo": {
                "attachment": file, "sha256": hashlib.sha256(data).digest(),
                "length": Int64(len(data)), "name": "milk.jpg"}}})
        # Chunks of another size, written bit by bit, and a hash with a type of its own.
        data = content(300_000)
        todos.insert_one({"_id": "python small"})
        with self.bucket.open_upload_stream(
                "small", chunk_size_bytes=1_000,
                metadata={"collection": "todos", "document": "python small"}) as stream:
            for start in range(0, len(data), 777):
                stream.write(data[start:start + 777])
        todos.update_one({"_id": "python small"}, {"$set": {"photo": {
            "attachment": stream._id, "sha256": Binary(hashlib.sha256(data).digest()),
            "length": Int64(len(data)), "contentType": "text/plain"}}})


unittest.main(argv=sys.argv[:1])
