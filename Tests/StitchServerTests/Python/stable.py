"""Clients that ask for the stable API get what it promises, and nothing else."""

import pymongo
from served import ServedTest, main

STRICT = {"apiVersion": "1", "apiStrict": True}


class StableAPI(ServedTest):
    """Without these an application would come to rely on what version 1 does not promise."""

    def strictly(self, command, *arguments, **fields):
        """The text with which a command is refused because it is no part of the API."""
        code, text = self.refused(command, *arguments, **fields, **STRICT)
        self.assertEqual(code, 323, text)
        # Without the wish it is no matter of the API.
        try:
            self.db.command(command, *arguments, **fields)
        except pymongo.errors.OperationFailure as error:
            self.assertNotEqual(error.code, 323)
        return text

    def test_what_asks_for_it_has_types_and_one_version(self):
        for fields, code in (
                ({"apiStrict": True}, 4886600), ({"apiDeprecationErrors": False}, 4886600),
                ({"apiVersion": 1}, 14), ({"apiVersion": "2"}, 322),
                ({"apiVersion": "1", "apiStrict": "true"}, 14),
                ({"apiVersion": "1", "apiStrict": 1}, 14),
                ({"apiVersion": "1", "apiDeprecationErrors": "false"}, 14)):
            self.assertEqual(self.refused("ping", **fields)[0], code, fields)
        self.assertEqual(
            self.refused("ping", apiVersion=1)[1],
            "BSON field 'APIParametersFromClient.apiVersion' is the wrong type 'int', expected "
            "type 'string'")
        self.assertEqual(self.db.command("ping", apiDeprecationErrors=True, **STRICT)["ok"], 1)

    def test_commands_outside_of_it_are_refused(self):
        self.assertIn("buildInfo is not in API Version 1", self.strictly("buildInfo"))
        self.strictly("listCommands")
        self.strictly("isMaster")

    def test_arguments_outside_of_it_are_refused(self):
        find = {"min": {"a": 1}, "max": {"a": 1}, "returnKey": False, "noCursorTimeout": False,
                "showRecordId": False, "tailable": False, "oplogReplay": False, "awaitData": False,
                "readOnce": False, "$_requestResumeToken": False, "$_resumeAfter": {}}
        for field, value in find.items():
            self.assertEqual(
                self.strictly("find", "items", **{field: value}),
                f"BSON field 'find.{field}' is not allowed with apiStrict:true.")
        for field, value in {"explain": True, "isMapReduceCommand": False}.items():
            text = self.strictly("aggregate", "items", pipeline=[], cursor={}, **{field: value})
            self.assertIn(f"'aggregate.{field}'", text)
        self.strictly("explain", {"find": "items", "returnKey": True})
        self.strictly("create", "capped", capped=True, size=4096)
        self.items.create_index("a")
        self.strictly("collMod", "items", index={"name": "a_1", "prepareUnique": True})

    def test_indexes_outside_of_it_are_refused(self):
        for field in ("sparse", "background", "prepareUnique"):
            self.strictly("createIndexes", "items",
                          indexes=[{"key": {"b": 1}, "name": "b", field: True}])
        text = self.strictly("createIndexes", "items",
                             indexes=[{"key": {"t": "text"}, "name": "t"}])
        self.assertEqual(text, "text indexes cannot be created with apiStrict: true")
        haystack = [{"key": {"t": "geoHaystack"}, "name": "h"}]
        self.assertEqual(
            self.refused("createIndexes", "items", indexes=haystack, **STRICT)[0], 67)
        unique = [{"key": {"u": 1}, "name": "u", "unique": True}]
        self.assertEqual(
            self.db.command("createIndexes", "items", indexes=unique, **STRICT)["ok"], 1)

    def test_queries_use_none_of_them(self):
        self.items.insert_many([{"_id": 1, "t": "coffee", "n": 1, "m": 1}])
        text = {"$text": {"$search": "coffee"}}
        self.assertEqual(self.refused("find", "items", filter=text, **STRICT)[0], 27)
        self.items.create_index([("t", "text")])
        self.items.create_index("n", sparse=True)
        self.items.create_index("m")
        for query in (
                {"find": "items", "filter": text}, {"find": "items", "filter": {"$and": [text]}},
                {"aggregate": "items", "pipeline": [{"$match": text}], "cursor": {}},
                {"count": "items", "query": text}):
            self.assertEqual(self.db.command(query)["ok"], 1)
            self.assertEqual(self.refused({**query, **STRICT})[0], 291, query)
        self.assertEqual(
            self.refused("explain", {"find": "items", "filter": text}, **STRICT)[0], 291)
        for hint in ("n_1", {"n": 1}):
            find = {"find": "items", "filter": {"n": 1}, "hint": hint}
            self.assertEqual(self.db.command(find)["ok"], 1)
            self.assertEqual(self.refused({**find, **STRICT}), (
                2, "error processing query: planner returned error :: caused by :: hint provided "
                   "does not correspond to an existing index"))
        find = {"find": "items", "filter": {"m": 1}, "hint": "m_1"}
        self.assertEqual(self.db.command({**find, **STRICT})["ok"], 1)

    def test_stages_outside_of_it_are_refused_wherever_they_stand(self):
        self.items.insert_one({"_id": 1})
        index = [{"$indexStats": {}}]
        for pipeline in (
                index, [{"$currentOp": {}}], [{"$collStats": {"count": {}, "latencyStats": {}}}],
                [{"$collStats": {"storageStats": {}}}], [{"$collStats": {"queryExecStats": {}}}],
                [{"$unionWith": {"coll": "other", "pipeline": index}}],
                [{"$lookup": {"from": "other", "pipeline": index}}],
                [{"$facet": {"a": [], "b": index}}]):
            self.strictly("aggregate", "items", pipeline=pipeline, cursor={})
            self.assertEqual(
                self.refused("create", "v", viewOn="items", pipeline=pipeline, **STRICT)[0], 323)
        for options in ({}, {"count": {}}):
            reply = self.db.command(
                "aggregate", "items", pipeline=[{"$collStats": options}], cursor={}, **STRICT)
            self.assertEqual(len(reply["cursor"]["firstBatch"]), 1)

    def test_code_of_the_server_is_not_written(self):
        for command, fields in (
                ("insert", {"documents": [{"_id": "f"}]}),
                ("update", {"updates": [{"q": {"_id": "f"}, "u": {"a": 1}}]}),
                ("delete", {"deletes": [{"q": {"_id": "f"}, "limit": 1}]}),
                ("findAndModify", {"query": {"_id": "f"}, "remove": True})):
            self.assertEqual(
                self.strictly(command, "system.js", **fields),
                f"Provided apiStrict:true, but the command {command} attempts to write to "
                "system.js")
        self.assertEqual(self.db.command("find", "system.js", **STRICT)["ok"], 1)


if __name__ == "__main__":
    main()
