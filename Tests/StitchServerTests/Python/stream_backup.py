"""Goes on with the change streams of stream_begin.py in an older copy of the server's file.

Other changes stand at their places there, once there are as many.
"""

import sys

import pymongo

items = pymongo.MongoClient("127.0.0.1", int(sys.argv[1])).served.items
with items.watch() as stream:
    items.insert_many({"_id": -i} for i in range(1, 21))
    event = stream.next()
for token in sys.argv[2].split():
    try:
        with items.watch(resume_after={"_data": token}) as stream:
            raise AssertionError(f"goes on with {stream.try_next()}")
    except pymongo.errors.OperationFailure as refusal:
        assert refusal.code == 286, refusal
        assert refusal.has_error_label("NonResumableChangeStreamError"), refusal
with items.watch(resume_after=event["_id"]) as stream:
    assert stream.next()["documentKey"] == {"_id": -2}
