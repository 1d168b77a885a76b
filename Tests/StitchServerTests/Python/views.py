"""What views compare by, how deep they go and what they refuse; how much memory sorts need."""

from served import ServedTest, main

# MongoDB manual, "Views", "Collation" and "View Depth"; "cursor.sort()", "Limits".
EN2 = {"locale": "en", "strength": 2}
READS = [
    ("find", {}), ("count", {}), ("distinct", {"key": "a"}),
    ("aggregate", {"pipeline": [], "cursor": {}}),
]


def lookup(name):
    return {"$lookup": {"from": name, "localField": "a", "foreignField": "a", "as": "x"}}


def graph(name):
    return {"$graphLookup": {
        "from": name, "startWith": "$a", "connectFromField": "a", "connectToField": "b",
        "as": "x"}}


class Views(ServedTest):
    def setUp(self):
        super().setUp()
        self.items.insert_many([{"_id": 1, "a": "x"}, {"_id": 2, "a": "X"}])
        self.items.create_index("a")
        self.view("bytes")
        self.view("en", collation=EN2)

    def view(self, name, on="items", pipeline=(), **options):
        return self.db.command("create", name, viewOn=on, pipeline=list(pipeline), **options)

    def code(self, command, *arguments, **fields):
        """The code with which a command is refused, 0 if it is not."""
        answer = self.db.command(command, *arguments, check=False, **fields)
        errors = answer.get("writeErrors") or [answer]
        return errors[0].get("code", 0)

    def test_a_command_compares_as_the_view_does(self):
        for command, fields in READS:
            for view, collation, code in [
                    ("en", EN2, 0), ("en", {}, 0), ("en", None, 0),
                    ("en", {"locale": "en"}, 167), ("en", {"locale": "fr"}, 167),
                    ("en", {"locale": "simple"}, 167), ("bytes", {"locale": "simple"}, 0),
                    ("bytes", EN2, 167), ("items", EN2, 0)]:
                with self.subTest(command=command, view=view, collation=collation):
                    given = self.code(command, view, collation=collation, **fields)
                    self.assertEqual(given, code)
                    if command == "aggregate":
                        explained = self.code(
                            command, view, pipeline=[], explain=True, collation=collation)
                    else:
                        explained = self.code(
                            "explain", {command: view, "collation": collation, **fields})
                    self.assertEqual(explained, code)

    def test_a_pipeline_compares_as_all_its_views_do(self):
        for stage in (lookup, graph):
            for source, other, options, code in [
                    ("items", "bytes", {}, 0), ("items", "en", {}, 167),
                    ("items", "en", {"collation": EN2}, 0),
                    ("items", "bytes", {"collation": EN2}, 167),
                    ("en", "bytes", {}, 167), ("bytes", "en", {}, 167), ("en", "en", {}, 0),
                    ("bytes", "bytes", {}, 0), ("nothing", "en", {}, 167)]:
                with self.subTest(source=source, other=other, options=options):
                    given = self.code(
                        "aggregate", source, pipeline=[stage(other)], cursor={}, **options)
                    self.assertEqual(given, code)
        for pipeline in ([{"$unionWith": "en"}], [{"$facet": {"f": [lookup("en")]}}],
                         [{"$unionWith": {"coll": "items", "pipeline": [lookup("en")]}}]):
            self.assertEqual(
                self.code("aggregate", "items", pipeline=pipeline, cursor={}), 167)

    def test_views_of_different_collations_do_not_meet(self):
        for pipeline, on in (([], "en"), ([lookup("en")], "items"), ([graph("en")], "items")):
            self.assertEqual(self.code("create", "w", viewOn=on, pipeline=pipeline), 167)
        self.assertEqual(self.code("collMod", "bytes", viewOn="en", pipeline=[]), 167)
        self.assertEqual(self.code("create", "w", viewOn="en", pipeline=[], collation=EN2), 0)
        # A view that was made before what it reads.
        self.view("early", on="late")
        late = {"viewOn": "items", "pipeline": []}
        self.assertEqual(self.code("create", "late", collation=EN2, **late), 167)
        self.assertEqual(self.code("create", "late", **late), 0)

    def test_the_collation_of_the_collection_is_not_that_of_the_view(self):
        self.db.create_collection("folded", collation=EN2)
        self.db["folded"].insert_many([{"_id": 1, "a": "x"}, {"_id": 2, "a": "X"}])
        match = [{"$match": {"a": "x"}}]
        self.view("exact", on="folded", pipeline=match)
        self.view("loose", on="items", pipeline=match, collation=EN2)
        self.assertEqual([d["_id"] for d in self.db["exact"].find()], [1])
        self.assertEqual([d["_id"] for d in self.db["loose"].find()], [1, 2])
        self.assertEqual(self.db["exact"].count_documents({"a": "X"}), 0)
        self.assertEqual(self.db["loose"].count_documents({"a": "X"}), 2)

    def test_twenty_views_can_be_made_and_nineteen_be_read(self):
        name = "items"
        for depth in range(1, 21):
            self.view(f"d{depth}", on=name)
            name = f"d{depth}"
        for command, fields in READS:
            self.assertEqual(self.code(command, "d19", **fields), 0)
            self.assertEqual(self.code(command, "d20", **fields), 165)
        self.assertEqual(self.code("create", "d21", viewOn="d20", pipeline=[]), 165)

    def test_views_that_read_a_view_count(self):
        for depth in range(1, 21):
            self.view(f"u{depth}", on=f"u{depth + 1}", pipeline=[lookup(f"u{depth + 1}")])
        self.assertEqual(self.code("create", "u21", viewOn="u22", pipeline=[]), 165)
        self.assertEqual(self.code("create", "u0", viewOn="u1", pipeline=[]), 165)
        self.assertEqual(self.code("create", "mid", viewOn="u10", pipeline=[]), 0)

    def test_the_catalog_of_views_is_not_written(self):
        for command, fields in [
                ("insert", {"documents": [{}]}),
                ("update", {"updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}),
                ("delete", {"deletes": [{"q": {}, "limit": 0}]}),
                ("findAndModify", {"query": {}, "remove": True})]:
            self.assertEqual(self.code(command, "system.views", **fields), 73)

    def test_a_hint_names_an_index_of_the_collection(self):
        self.view("over", on="bytes")
        for command, fields in READS:
            for hint in ("a_1", {"a": 1}, {"$natural": -1}):
                self.assertEqual(self.code(command, "over", hint=hint, **fields), 0)
        self.assertEqual(self.code("count", "over", hint="none_1"), 2)

    def test_a_count_of_a_view_has_a_limit_above_zero(self):
        for limit, code in ((0, 15958), (-0.0, 15958), (1, 0), (-3, 0), (None, 0)):
            self.assertEqual(self.code("count", "bytes", limit=limit), code)
        self.assertEqual(self.code("count", "items", limit=0), 0)

    def test_what_a_definition_says(self):
        for pipeline, code in [
                ([None], 0), ([{"$match": {"a": 1}}, None], 0), (["x"], 14), ([None, "x"], 14),
                ([{"$currentOp": {}}], 73), ([{"$listSessions": {}}], 73),
                ([{"$documents": []}], 73), ([{"$out": "o"}], 167), ([{"$nope": {}}], 40324),
                ([{"$collStats": {"count": {}}}], 0)]:
            with self.subTest(pipeline=pipeline):
                self.assertEqual(self.code("collMod", "bytes", pipeline=pipeline), code)
                self.assertEqual(self.code("create", "w", viewOn="items", pipeline=pipeline), code)
                self.db.drop_collection("w")
        self.assertEqual(self.code("collMod", "bytes", viewOn=None, pipeline=None), 0)
        self.assertEqual(self.code("collMod", "bytes", viewOn="other"), 0)
        nulls = dict.fromkeys(
            ["validator", "validationLevel", "validationAction", "index",
             "changeStreamPreAndPostImages"])
        self.assertEqual(self.code("collMod", "items", **nulls), 0)
        self.assertEqual(self.code("create", "system.js", validator={"a": 1}), 72)


class Sorts(ServedTest):
    def setUp(self):
        super().setUp()
        for start in range(0, 110, 22):
            self.items.insert_many(
                {"_id": i, "a": i % 7, "b": -i, "text": "x" * 1_000_000}
                for i in range(start, start + 22))

    def first(self, command="find", **fields):
        return self.db.command(command, "items", **fields)["cursor"]["firstBatch"][0]["_id"]

    def test_a_large_sort_uses_the_disk_unless_that_is_forbidden(self):
        self.assertEqual(self.first(sort={"b": 1}, batchSize=1), 109)
        stage = [{"$sort": {"b": 1}}, {"$project": {"a": 1}}]
        self.assertEqual(self.first("aggregate", pipeline=stage, cursor={"batchSize": 1}), 109)
        added = [{"$addFields": {"c": 1}}] + stage
        self.assertEqual(self.first("aggregate", pipeline=added, cursor={"batchSize": 1}), 109)
        refused = self.refused("find", "items", sort={"b": 1}, allowDiskUse=False)
        self.assertEqual(refused[0], 292)
        for pipeline in (stage, added):
            self.assertEqual(self.refused(
                "aggregate", "items", pipeline=pipeline, cursor={}, allowDiskUse=False)[0], 292)

    def test_a_few_of_many_need_little_memory(self):
        found = self.first(sort={"b": 1}, limit=5, batchSize=1, allowDiskUse=False)
        self.assertEqual(found, 109)

    def test_an_index_with_the_order_needs_no_memory(self):
        self.items.create_index([("a", 1)])
        self.items.create_index([("b", 1)])
        found = self.first(
            filter={"a": {"$gte": 0}}, sort={"b": 1}, batchSize=1, allowDiskUse=False)
        self.assertEqual(found, 109)


main()
