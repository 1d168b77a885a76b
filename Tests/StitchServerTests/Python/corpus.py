"""Every valid document of the BSON corpus is stored and read back, byte for byte."""

import json
import pathlib
import sys
import unittest

from bson import raw_bson
from bson.codec_options import CodecOptions

from served import ServedTest, main

FOLDER = pathlib.Path(sys.argv[2])
RAW = CodecOptions(document_class=raw_bson.RawBSONDocument)


class Corpus(ServedTest):
    def test_documents_come_back_as_they_went(self):
        items = self.db.get_collection("corpus", codec_options=RAW)
        kept = 0
        for file in sorted(FOLDER.glob("*.json")):
            cases = json.loads(file.read_text())
            for number, case in enumerate(cases.get("valid", [])):
                for kind in ("canonical_bson", "degenerate_bson"):
                    if kind not in case:
                        continue
                    label = f"{file.stem} {number} {kind}: {case['description']}"
                    with self.subTest(label):
                        self.keep(items, bytes.fromhex(case[kind]), label)
                        kept += 1
        self.assertGreater(kept, 300)

    def keep(self, items, given, label):
        inner = raw_bson.RawBSONDocument(given)
        items.insert_one({"_id": label, "value": inner})
        found = items.find_one({"_id": label})
        self.assertEqual(found["value"].raw.hex(), given.hex())
        # It is found by what it is, too, and survives a change beside it.
        items.update_one({"_id": label}, {"$set": {"seen": True}})
        again = items.find_one({"_id": label, "seen": True})
        self.assertEqual(again["value"].raw.hex(), given.hex())

    def test_documents_that_are_none_are_refused(self):
        refused = 0
        for file in sorted(FOLDER.glob("*.json")):
            cases = json.loads(file.read_text())
            for case in cases.get("decodeErrors", []):
                inner = bytes.fromhex(case["bson"])
                with self.subTest(f"{file.stem}: {case['description']}"):
                    reply = self.send(self.insertion(inner))
                    self.assertTrue(reply is None or reply["ok"] == 0, reply)
                    refused += 1
        self.assertGreater(refused, 30)
        self.assertEqual(self.client.admin.command("ping")["ok"], 1)

    def insertion(self, inner):
        """The bytes of an insert whose document is broken."""
        document = b"\x03value\x00" + inner
        document = (len(document) + 5).to_bytes(4, "little") + document + b"\x00"
        array = b"\x030\x00" + document
        array = (len(array) + 5).to_bytes(4, "little") + array + b"\x00"
        body = (b"\x02insert\x00" + (8).to_bytes(4, "little") + b"corpus2\x00"
                + b"\x04documents\x00" + array
                + b"\x02$db\x00" + (7).to_bytes(4, "little") + b"served\x00")
        return (len(body) + 5).to_bytes(4, "little") + body + b"\x00"

    def send(self, body):
        import socket

        import bson

        from served import PORT

        message = b"\x00\x00\x00\x00\x00" + body
        header = b"".join(
            n.to_bytes(4, "little") for n in (16 + len(message), 1, 0, 2013))
        with socket.create_connection(("127.0.0.1", PORT), 10) as connection:
            connection.sendall(header + message)
            got = b""
            while len(got) < 4 or len(got) < int.from_bytes(got[:4], "little"):
                more = connection.recv(65536)
                if not more:
                    return None
                got += more
        return bson.decode(got[21:])


main()
