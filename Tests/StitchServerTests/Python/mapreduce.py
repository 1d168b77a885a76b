"""Scripts that compute: mapReduce, $function and $accumulator."""

from bson import Code, Int64
from served import ServedTest, main

COUNT = Code("function() { for (const tag of this.tags) emit(tag, 1) }")
SUM = Code("function(key, values) { return Array.sum(values) }")


class MapReduce(ServedTest):
    """Without these, reports that were written for MongoDB's shell would not run."""

    def setUp(self):
        super().setUp()
        self.items.insert_many(
            {"_id": i, "tags": ["a", "b"][:1 + i % 2], "n": i} for i in range(6))

    def reduced(self, **fields):
        command = {"map": COUNT, "reduce": SUM, "out": {"inline": 1}} | fields
        return self.db.command("mapReduce", "items", **command)

    def test_results_come_in_the_reply(self):
        self.assertEqual(
            self.reduced()["results"], [{"_id": "a", "value": 6}, {"_id": "b", "value": 3}])
        self.assertEqual(
            self.reduced(query={"n": {"$gt": 1}}, sort={"n": -1}, limit=3)["results"],
            [{"_id": "a", "value": 3}, {"_id": "b", "value": 2}])
        self.assertEqual(
            self.reduced(
                finalize=Code("function(key, value) { return key + value * factor }"),
                scope={"factor": 10})["results"],
            [{"_id": "a", "value": "a60"}, {"_id": "b", "value": "b30"}])
        self.assertEqual(
            self.db.command("mapreduce", "none", map=COUNT, reduce=SUM, out={"inline": 1})["results"],
            [])

    def test_keys_are_any_values(self):
        by = Code("function() { emit({half: this.n % 2 == 0, at: new Date(0)}, {n: this.n}) }")
        sums = Code(
            "function(key, values) {"
            " return {n: values.map(v => v.n).reduce((a, b) => a + b)} }")
        found = self.reduced(map=by, reduce=sums)["results"]
        self.assertEqual(
            [(d["_id"]["half"], d["value"]["n"]) for d in found], [(False, 9), (True, 6)])

    def test_results_go_to_a_collection(self):
        target = self.db["totals"]
        self.assertEqual(self.reduced(out="totals")["result"], "totals")
        self.assertEqual(
            list(target.find()), [{"_id": "a", "value": 6}, {"_id": "b", "value": 3}])
        target.insert_one({"_id": "c", "value": 1})
        self.reduced(out={"merge": "totals"}, query={"n": 1})
        self.assertEqual(
            {d["_id"]: d["value"] for d in target.find()}, {"a": 1, "b": 1, "c": 1})
        self.reduced(out={"reduce": "totals"})
        self.assertEqual(
            {d["_id"]: d["value"] for d in target.find()}, {"a": 7, "b": 4, "c": 1})
        self.reduced(out={"replace": "totals"}, query={"n": 1})
        self.assertEqual({d["_id"]: d["value"] for d in target.find()}, {"a": 1, "b": 1})
        self.assertEqual(
            self.reduced(out={"replace": "totals", "db": "served_too"})["result"],
            {"db": "served_too", "collection": "totals"})
        self.assertEqual(self.client["served_too"]["totals"].count_documents({}), 2)
        self.client.drop_database("served_too")

    def test_what_is_wrong_is_told(self):
        for fields, code in (
                ({"map": 1}, 2), ({"reduce": {}}, 2), ({"out": 5}, 2), ({"out": {}}, 2),
                ({"out": {"inline": 2}}, 2), ({"out": {"merge": "a", "reduce": "b"}}, 2),
                ({"out": ""}, 73), ({"limit": -1}, 2), ({"query": 5}, 14),
                ({"map": Code("function() { nobody() }")}, 139),
                ({"map": Code("function() { emit(1) }")}, 31220),
                ({"map": Code("function( {")}, 139)):
            given = {"map": COUNT, "reduce": SUM, "out": {"inline": 1}} | fields
            self.assertEqual(self.refused("mapReduce", "items", **given)[0], code, fields)
        self.assertEqual(self.refused("mapReduce", "items", map=COUNT, out="x")[0], 40414)
        self.db.create_collection("seen", viewOn="items", pipeline=[])
        self.assertEqual(
            self.refused("mapReduce", "seen", map=COUNT, reduce=SUM, out={"inline": 1})[0], 166)
        self.assertEqual(
            self.refused(
                "create", "checked",
                validator={"$expr": {"$function": {"body": "x", "args": [], "lang": "js"}}})[0],
            4660800)

    def test_expressions_and_groups_call_scripts(self):
        def function(body, *arguments):
            return {"$function": {"body": body, "args": list(arguments), "lang": "js"}}

        self.assertEqual(
            [d["_id"] for d in self.items.find(
                {"$expr": function("function(n) { return n > 3 }", "$n")})], [4, 5])
        self.items.update_one(
            {"_id": 0}, [{"$set": {"big": Int64(1 << 40), "x": function(Code("() => [1, {}]"))}}])
        found = self.items.aggregate([
            {"$match": {"_id": 0}},
            {"$replaceWith": function("function(d) { d.n = -1; return d }", "$$ROOT")}]).next()
        self.assertEqual(
            found, {"_id": 0, "tags": ["a"], "n": -1, "big": 1 << 40, "x": [1, {}]})
        self.assertIsInstance(found["_id"], int)
        mean = {"$accumulator": {
            "init": "function(start) { return {count: 0, sum: start} }", "initArgs": [100],
            "accumulate": "function(s, n) { return {count: s.count + 1, sum: s.sum + n} }",
            "accumulateArgs": ["$n"],
            "merge": "function(a, b) { return {count: a.count + b.count, sum: a.sum + b.sum} }",
            "finalize": "function(s) { return s.sum / s.count }", "lang": "js"}}
        groups = self.items.aggregate([
            {"$group": {"_id": {"$mod": ["$n", 2]}, "mean": mean}}, {"$sort": {"_id": 1}}])
        self.assertEqual(
            list(groups), [{"_id": 0, "mean": 106 / 3}, {"_id": 1, "mean": 109 / 3}])


if __name__ == "__main__":
    main()
