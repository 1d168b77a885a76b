"""What the scripts have in common: a client of the server whose port is the first argument."""

import struct
import sys
import unittest

import pymongo

PORT = int(sys.argv[1])


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


class ServedTest(unittest.TestCase):
    """Tests with a client, on a database that is empty at the beginning."""

    @classmethod
    def setUpClass(cls):
        cls.client = pymongo.MongoClient("127.0.0.1", PORT, serverSelectionTimeoutMS=60000)
        cls.db = cls.client["served"]

    @classmethod
    def tearDownClass(cls):
        cls.client.close()

    def setUp(self):
        self.client.drop_database("served")
        self.items = self.db["items"]

    def refused(self, command, *arguments, **fields):
        """The code and text with which a command is refused."""
        with self.assertRaises(pymongo.errors.OperationFailure) as caught:
            self.db.command(command, *arguments, **fields)
        return caught.exception.code, caught.exception.details["errmsg"]

    def events(self, stream, count):
        """The next events of a change stream."""
        found = []
        while len(found) < count:
            event = stream.try_next()
            if event is not None:
                found.append(event)
        return found


def main():
    unittest.main(argv=sys.argv[:1])
