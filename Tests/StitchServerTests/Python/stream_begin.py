"""Leaves a change stream in the middle; prints its token and one of a stream that saw nothing.

First half of tests over a restart.
"""

import sys

import pymongo

items = pymongo.MongoClient("127.0.0.1", int(sys.argv[1])).served.items
with items.watch() as stream:
    items.insert_many({"_id": i} for i in range(10))
    for _ in range(4):
        event = stream.next()
with items.database.others.watch() as stream:
    assert stream.try_next() is None
    print(event["_id"]["_data"], stream.resume_token["_data"])
