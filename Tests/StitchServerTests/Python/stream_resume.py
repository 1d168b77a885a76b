"""Goes on with the change stream of stream_begin.py at a server that was started again."""

import sys

import pymongo

items = pymongo.MongoClient("127.0.0.1", int(sys.argv[1])).served.items
with items.watch(resume_after={"_data": sys.argv[2]}) as stream:
    items.insert_one({"_id": "new"})
    events = [stream.next() for _ in range(7)]
found = [event["documentKey"]["_id"] for event in events]
assert found == [4, 5, 6, 7, 8, 9, "new"], found
times = [event["clusterTime"] for event in events]
assert times == sorted(times) and len(set(times)) > 1, times
