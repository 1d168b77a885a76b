"""Leaves a change stream in the middle; prints its token. First half of a test over a restart."""

import sys

import pymongo

items = pymongo.MongoClient("127.0.0.1", int(sys.argv[1])).served.items
with items.watch() as stream:
    items.insert_many({"_id": i} for i in range(10))
    for _ in range(4):
        event = stream.next()
print(event["_id"]["_data"])
