import Testing

@testable import BSONCore
@testable import BSONStore

/// A view that shows itself would be read without end, until the process has no stack left.
struct ViewTests {
    private func name(_ collection: String) -> Namespace { Namespace("shop", collection) }

    private func view(_ on: String, _ pipeline: BSONArray = []) throws -> CollectionOptions {
        try CollectionOptions(["viewOn": .string(on), "pipeline": .array(pipeline)])
    }

    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code.rawValue
        }
    }

    @Test("a view cannot be changed to show itself, directly or through others")
    func cycles() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            try transaction.createCollection(name("a"), try view("items"))
            try transaction.createCollection(name("b"), try view("a"))
            for on in ["a", "b"] {
                let found = code {
                    try transaction.modifyCollection(
                        name("a"), ["collMod": "a", "viewOn": .string(on), "pipeline": []])
                }
                #expect(found == 5)
            }
            #expect(try transaction.find(name("b")).isEmpty)
        }
    }

    @Test(
        "a view cannot show itself by a stage",
        arguments: [
            [["$unionWith": "c"]], [["$unionWith": ["coll": "c", "pipeline": []]]],
            [["$lookup": ["from": "c", "localField": "a", "foreignField": "b", "as": "x"]]],
            [
                [
                    "$lookup": [
                        "from": "items", "as": "x", "pipeline": [["$unionWith": "c"]],
                    ]
                ]
            ],
            [["$facet": ["x": [["$lookup": ["from": "c", "as": "y", "pipeline": []]]]]]],
        ] as [BSONArray])
    func stages(pipeline: BSONArray) throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            let found = code {
                try transaction.createCollection(name("c"), try view("items", pipeline))
            }
            #expect(found == 5)
        }
    }

    @Test("a file with views that show each other is read to a bound")
    func depth() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            try transaction.createCollection(name("a"), try view("items"))
            try transaction.createCollection(name("b"), try view("a"))
            // As an earlier version let it be written.
            let table = try #require(try transaction.tables.table(name("a")))
            try Catalog.renew(table, as: name("a"), try view("b"), transaction.connection)
            transaction.catalogWriter.writer.abandon(table)
            #expect(code { _ = try transaction.find(name("b")) } == 165)
        }
    }

    @Test(
        "a view's pipeline is looked at when the view is made",
        arguments: [
            ([5], 14), ([[:]], 40323), ([["$foo": 1]], 40324), ([["$out": "x"]], 167),
            ([["$merge": "x"]], 167), ([["$match": ["a": 1]]], nil),
            ([["$match": ["$bad": 1]]], 2), ([["$changeStream": [:]]], 167),
            ([["$documents": []]], 73),
        ] as [(BSONArray, Int32?)])
    func pipelines(pipeline: BSONArray, expected: Int32?) throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            let found = code {
                try transaction.createCollection(name("c"), try view("items", pipeline))
            }
            #expect(found == expected)
        }
    }

    @Test("nothing is changed, deleted or indexed through a view")
    func writes() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            try transaction.insert(name("items"), ["_id": 1])
            try transaction.createCollection(name("v"), try view("items"))
            let update = try Update(["$set": ["a": 1]])
            let codes = [
                code { try transaction.updateOne(name("v"), filter: .all, update: update) },
                code { try transaction.updateMany(name("v"), filter: .all, update: update) },
                code { try transaction.deleteOne(name("v"), filter: .all) },
                code { try transaction.deleteMany(name("v"), filter: .all) },
                code {
                    try transaction.createIndex(name("v"), try IndexDefinition(["key": ["a": 1]]))
                },
            ]
            #expect(codes == [166, 166, 166, 166, 166])
        }
    }
}
