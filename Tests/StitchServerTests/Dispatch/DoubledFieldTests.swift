import BSONStore
import Testing

@testable import StitchServer

/// A field that is there twice can be authorised with one value and carried out with the other.
@Suite struct DoubledFieldTests {
    private static func isRefused(_ command: BSONDocument) throws -> Bool {
        try OfflineServer(requiresSignIn: false).answer(command: command)?["code"] == 40413
    }

    private static func doubled(_ name: String, _ value: BSONValue = 1) -> BSONValue {
        .document(Self.document([(name, value), (name, value)]))
    }

    /// A pipeline with a stage in the pipeline of another stage.
    private static func inner(_ outer: String, _ name: String, _ value: BSONValue) -> BSONValue {
        let stage: BSONValue = .document([name: value])
        return [.document([outer: ["coll": "b", "pipeline": [stage]]])]
    }

    private static func document(_ fields: [(String, BSONValue)]) -> BSONDocument {
        BSONDocument(fields)
    }

    @Test("Every command refuses every field that is there twice, and fields within them")
    func everyCommand() throws {
        let server = try OfflineServer(requiresSignIn: false)
        for definition in CommandTable.all where !definition.traits.contains(.testOnly) {
            let general = ["lsid", "writeConcern", "readConcern", "collation", "$db", "zzz"]
            for field in general + (definition.signature.schema.fields ?? [:]).keys.sorted() + [
                definition.name
            ] {
                let twice = Self.document([
                    (definition.name, "items"), ("$db", "admin"), (field, 1), (field, 2),
                ])
                #expect(
                    server.answer(command: twice)?["code"] == 40413, "\(definition.name).\(field)")
            }
            for field in general where field.first != "$" {
                let within = Self.document([
                    (definition.name, "items"), ("$db", "admin"), (field, Self.doubled("id")),
                ])
                #expect(
                    server.answer(command: within)?["code"] == 40413, "\(definition.name).\(field)")
            }
        }
    }

    @Test(
        "Specifications in commands have no field twice",
        arguments: [
            ["mapReduce": "a", "out": doubled("db", "x")],
            ["mapReduce": "a", "out": doubled("replace", "x")],
            ["createIndexes": "a", "indexes": [doubled("name", "x")]],
            ["createIndexes": "a", "indexes": [["key": doubled("x"), "name": "x"]]],
            ["create": "a", "timeseries": doubled("timeField", "x")],
            ["find": "a", "hint": doubled("x")],
            ["find": "a", "sort": doubled("x")],
            ["update": "a", "updates": [doubled("q", [:])]],
            ["update": "a", "updates": [["q": [:], "u": [doubled("$set", ["a": 1])]]]],
            ["delete": "a", "deletes": [["q": [:], "limit": 1, "collation": doubled("locale")]]],
            ["createUser": "a", "roles": [doubled("db", "x")]],
            ["bulkWrite": 1, "nsInfo": [doubled("ns", "x.y")], "ops": []],
            ["explain": ["find": "a", "hint": doubled("x")]],
            ["explain": doubled("find", "a")],
            ["aggregate": "a", "pipeline": [doubled("$limit")]],
            ["aggregate": "a", "pipeline": [["$out": doubled("db", "x")]]],
            ["aggregate": "a", "pipeline": [["$merge": ["into": doubled("db", "x")]]]],
            ["aggregate": "a", "pipeline": [["$lookup": doubled("from", "x")]]],
            ["aggregate": "a", "pipeline": [["$facet": ["f": [["$out": doubled("db", "x")]]]]]],
            ["aggregate": "a", "pipeline": [["$set": doubled("x")]]],
            ["aggregate": "a", "pipeline": [["$unionWith": doubled("coll", "x")]]],
            ["aggregate": "a", "pipeline": [["$unionWith": doubled("pipeline", [])]]],
            ["aggregate": "a", "pipeline": [["$graphLookup": doubled("from", "x")]]],
            ["aggregate": "a", "pipeline": inner("$lookup", "$out", doubled("db", "x"))],
            ["aggregate": "a", "pipeline": inner("$unionWith", "$out", doubled("coll", "x"))],
            ["aggregate": "a", "pipeline": inner("$lookup", "$merge", doubled("into", "x"))],
            [
                "aggregate": "a",
                "pipeline": inner("$unionWith", "$merge", ["into": doubled("db", "x")]),
            ],
            [
                "aggregate": "a",
                "pipeline": [
                    ["$merge": ["into": "b", "whenMatched": [["$set": doubled("x")]]]]
                ],
            ],
            ["create": "v", "viewOn": "a", "pipeline": [["$out": doubled("db", "x")]]],
            ["create": "v", "viewOn": "a", "pipeline": [["$lookup": doubled("from", "x")]]],
            ["create": "v", "viewOn": "a", "pipeline": inner("$lookup", "$limit", doubled("x"))],
            ["collMod": "v", "viewOn": "a", "pipeline": [["$unionWith": doubled("coll", "x")]]],
            ["explain": ["aggregate": "a", "pipeline": [["$merge": doubled("into", "x")]]]],
        ] as [BSONDocument])
    func specifications(command: BSONDocument) throws {
        #expect(try Self.isRefused(command.merging(["$db": "admin"])), "\(command)")
    }

    @Test(
        "Documents that are data keep fields that are there twice",
        arguments: [
            ["insert": "a", "documents": [["_id": 1, "x": doubled("y")]]],
            ["find": "a", "filter": ["x": doubled("y")]],
            ["find": "a", "filter": doubled("x")],
            ["aggregate": "a", "cursor": [:], "pipeline": [["$match": ["x": doubled("y")]]]],
            ["update": "a", "updates": [["q": ["x": doubled("y")], "u": ["z": doubled("y")]]]],
        ] as [BSONDocument])
    func data(command: BSONDocument) throws {
        let server = try OfflineServer(requiresSignIn: false)
        #expect(server.answer(command: command.merging(["$db": "shop"]))?["ok"] == 1.0)
    }

    @Test("A sort in a pipeline refuses a key that is there twice by itself")
    func sort() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let answer = server.answer(command: [
            "aggregate": "a", "cursor": [:], "$db": "shop",
            "pipeline": [["$sort": Self.doubled("v")]],
        ])
        #expect(answer?["code"] == 7_472_500)
        #expect(
            answer?["errmsg"]
                == "$sort key must not contain duplicate keys (duplicate: 'v')")
    }

    @Test("A user of one database replaces no collection of another by mapReduce")
    func output() throws {
        var settings = ServerSettings()
        settings.requiresSignIn = true
        let server = try OfflineServer(settings)
        func write(_ out: BSONValue) -> BSONDocument? {
            server.become(
                SignedInUser(
                    name: "ann", database: "admin",
                    roles: [Role(name: "readWrite", database: "shop")], generation: 1))
            return server.answer(command: [
                "mapReduce": "items", "$db": "shop", "map": "function() { emit(1, 1) }",
                "reduce": "function(k, v) { return 1 }", "out": out,
            ])
        }
        let pairs: [(String, BSONValue)] = [
            ("replace", "taken"), ("db", "shop"), ("db", "bank"),
        ]
        for pairs in [pairs, [pairs[2], pairs[1], pairs[0]]] {
            #expect(write(.document(BSONDocument(pairs)))?["code"] == 40413)
        }
        for kind in ["replace", "merge", "reduce"] {
            let out = Self.document([(kind, "taken"), ("db", "bank")])
            let answer = write(.document(out))
            #expect(answer?["code"] == 13, "\(kind)")
            #expect(answer?["errmsg"]?.stringValue?.hasPrefix("not authorized on bank") == true)
        }
    }
}

extension BSONDocument {
    /// The fields of this document and then those of another.
    fileprivate func merging(_ other: BSONDocument) -> BSONDocument {
        var merged = self
        for (name, value) in other { merged.append(name, value) }
        return merged
    }
}
