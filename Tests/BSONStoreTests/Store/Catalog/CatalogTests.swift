import BSONStore
import Testing

/// Without these a dropped or renamed collection could be read, or written, under the wrong name.
@Suite struct CatalogTests {
    private static let things = Namespace("app", "things")
    private static let others = Namespace("app", "others")

    private func store() throws -> DocumentStore {
        try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
    }

    private func expectError(
        _ code: Int32, _ message: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code.rawValue == code, sourceLocation: sourceLocation)
        if let message {
            #expect(error?.message == message, sourceLocation: sourceLocation)
        }
    }

    @Test func `a collection is listed with its options, UUID and id index`() throws {
        let store = try store()
        try store.createCollection(
            Self.things,
            ["create": "things", "validator": ["a": ["$gt": 0]], "validationLevel": "moderate"])
        try store.collection(Self.others).insertOne(["_id": 1])
        let listed = try store.listCollections("app")
        #expect(listed.map { $0["name"] } == ["others", "things"])
        let entry = try #require(listed.last)
        #expect(entry["type"] == "collection")
        #expect(
            entry["options"]
                == ["validator": ["a": ["$gt": 0]], "validationLevel": "moderate"])
        #expect(entry["idIndex"] == ["v": 2, "key": ["_id": 1], "name": "_id_"])
        #expect(entry[path: "info.readOnly"] == false)
        guard case .binary(let uuid)? = entry[path: "info.uuid"] else {
            Issue.record("no UUID")
            return
        }
        #expect(uuid.subtype == 4 && uuid.bytes.count == 16)
        #expect(
            try store.listCollections("app", filter: ["name": "others"], nameOnly: true)
                == [["name": "others", "type": "collection"]])
        #expect(try store.listCollections("nothing").isEmpty)
        #expect(
            try store.listDatabases(nameOnly: true) == [["name": "app"]])
    }

    @Test func `a collection that is there is not made again`() throws {
        let store = try store()
        try store.createCollection(Self.things)
        expectError(48, "Collection app.things already exists.") {
            try store.createCollection(Self.things)
        }
        expectError(73, "Invalid namespace specified 'app.'") {
            try store.createCollection(Namespace("app", ""))
        }
    }

    @Test(
        arguments: [
            (["capped": true], 72, "the 'size' field is required when 'capped' is true"),
            (
                ["size": 10], 72,
                "the 'capped' field needs to be true when either the 'size' or 'max' fields are present"
            ),
            (
                ["capped": true, "size": 0], 2,
                "BSON field 'size' value must be >= 1, actual value '0'"
            ),
            (
                ["capped": true, "size": "x"], 14,
                "BSON field 'create.size' is the wrong type 'string', expected types "
                    + "'[long, int, decimal, double]'"
            ),
            (
                ["validator": 1], 14,
                "BSON field 'create.validator' is the wrong type 'int', expected type 'object'"
            ),
            (
                ["validationAction": "shout"], 2,
                "Enumeration value 'shout' for field 'create.validationAction' is not a valid value."
            ),
            (["colour": 1], 40415, "BSON field 'create.colour' is an unknown field."),
            (["pipeline": []], 72, "'pipeline' requires 'viewOn' to also be specified"),
            (["validator": ["$where": "1"]], 2, "$where is not allowed in this context"),
        ] as [(BSONDocument, Int32, String)])
    func `options that make no sense are refused`(
        _ options: BSONDocument, _ code: Int32, _ message: String
    ) throws {
        let store = try store()
        expectError(code, message) { try store.createCollection(Self.things, options) }
        #expect(try store.listCollections("app").isEmpty)
    }

    @Test func `a validator refuses what does not pass`() throws {
        let store = try store()
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 0, "age": -1])
        try store.modifyCollection(
            Self.things, ["validator": ["age": ["$gte": 0]], "validationLevel": "moderate"])
        let error = #expect(throws: StoreError.self) {
            try things.insertOne(["_id": 1, "age": -5])
        }
        #expect(error?.code == .documentValidationFailure)
        #expect(error?.message == "Document failed validation")
        #expect(error?.errorInfo?["failingDocumentId"] == 1)
        #expect(error?.errorInfo?[path: "details.operatorName"] == "$gte")
        #expect(error?.errorInfo?[path: "details.consideredValue"] == -5)
        // What did not pass before may stay as it is; what did must still pass.
        try things.updateOne(["_id": 0], ["$set": ["age": -2]])
        try things.insertOne(["_id": 2, "age": 5])
        expectError(121) { try things.updateOne(["_id": 2], ["$set": ["age": -2]]) }
        expectError(121) { try things.replaceOne(["_id": 2], [:]) }
        try store.modifyCollection(Self.things, ["validationLevel": "strict"])
        expectError(121) { try things.updateOne(["_id": 0], ["$set": ["age": -3]]) }
        try store.write { transaction in
            transaction.bypassesValidation = true
            try transaction.insert(Self.things, ["_id": 3, "age": -1])
        }
        try store.modifyCollection(Self.things, ["validationAction": "warn"])
        try things.insertOne(["_id": 4, "age": -1])
        #expect(
            try store.read { try $0.options(Self.things)?.document } == [
                "validator": ["age": ["$gte": 0]], "validationLevel": "strict",
                "validationAction": "warn",
            ])
    }

    private static let schema: BSONDocument = [
        "required": ["name"],
        "properties": [
            "year": ["bsonType": "int", "maximum": 3000, "description": "a year"],
            "address": ["properties": ["zip": ["bsonType": "string"]]],
        ],
    ]

    @Test func `a schema says which of its rules a document broke`() throws {
        let store = try store()
        try store.createCollection(
            Self.things, ["validator": ["$jsonSchema": .document(Self.schema)]])
        let error = #expect(throws: StoreError.self) {
            try store.collection(Self.things).insertOne(
                ["_id": 1, "year": 3.5, "address": ["zip": 1]])
        }
        #expect(
            error?.errorInfo?["details"] == [
                "operatorName": "$jsonSchema",
                "schemaRulesNotSatisfied": [
                    [
                        "operatorName": "properties",
                        "propertiesNotSatisfied": [
                            [
                                "propertyName": "year", "description": "a year",
                                "details": [
                                    [
                                        "operatorName": "bsonType",
                                        "specifiedAs": ["bsonType": "int"],
                                        "reason": "type did not match", "consideredValue": 3.5,
                                        "consideredType": "double",
                                    ]
                                ],
                            ],
                            [
                                "propertyName": "address",
                                "details": [
                                    [
                                        "operatorName": "properties",
                                        "propertiesNotSatisfied": [
                                            [
                                                "propertyName": "zip",
                                                "details": [
                                                    [
                                                        "operatorName": "bsonType",
                                                        "specifiedAs": ["bsonType": "string"],
                                                        "reason": "type did not match",
                                                        "consideredValue": 1,
                                                        "consideredType": "int",
                                                    ]
                                                ],
                                            ]
                                        ],
                                    ]
                                ],
                            ],
                        ],
                    ],
                    [
                        "operatorName": "required", "specifiedAs": ["required": ["name"]],
                        "missingProperties": ["name"],
                    ],
                ],
            ])
        try store.collection(Self.things).insertOne(["name": "a", "year": 2000])
    }

    @Test func `a capped collection lets its oldest documents go`() throws {
        let store = try store()
        try store.createCollection(Self.things, ["capped": true, "size": 1_000, "max": 3])
        let things = store.collection(Self.things)
        try things.createIndex(["n": 1])
        try things.insertMany((0..<5).map { ["_id": .int32($0), "n": .int32($0)] })
        #expect(try things.find().fetch().map { $0["_id"] } == [2, 3, 4])
        try things.insertOne([
            "_id": 5, "n": 5, "text": .string(String(repeating: "x", count: 985)),
        ])
        #expect(try things.find().fetch().map { $0["_id"] } == [5])
        #expect(try things.find(["n": ["$lt": 5]]).count() == 0)
        // functional-tests, capped_collections/test_capped_collections_eviction.py: a document larger
        // than the collection stays until the next one.
        let large = BSONValue.string(String(repeating: "x", count: 2_000))
        try things.insertOne(["_id": 6, "text": large])
        #expect(try things.find().fetch().map { $0["_id"] } == [6])
        try things.insertOne(["_id": 7])
        #expect(try things.find().fetch().map { $0["_id"] } == [7])
        #expect(
            try store.read { try $0.options(Self.things)?.document }
                == ["capped": true, "size": 1024, "max": 3])
    }

    @Test func `a dropped collection is empty and may be made again`() throws {
        let store = try store()
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 1, "a": 1])
        try things.createIndex(["a": 1])
        let position = try store.changePosition
        #expect(try store.dropCollection(Self.things))
        #expect(try !store.dropCollection(Self.things))
        #expect(try things.find().fetch().isEmpty)
        #expect(try things.listIndexes().isEmpty)
        try things.insertOne(["_id": 1])
        #expect(try things.find(["a": 1]).fetch().isEmpty)
        #expect(try things.listIndexes().map(\.name) == ["_id_"])
        #expect(
            try store.changes(after: position).changes.map(\.kind) == [.drop, .insert])
    }

    @Test func `a drop that is undone leaves everything`() throws {
        let store = try store()
        let things = store.collection(Self.things)
        try things.insertOne(["_id": 1, "a": 1])
        try things.createIndex(["a": 1])
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try store.write { transaction in
                try transaction.dropCollection(Self.things)
                try transaction.insert(Self.things, ["_id": 2])
                throw Undo()
            }
        }
        try store.write { transaction in
            #expect(throws: Undo.self) {
                try transaction.savepoint {
                    try transaction.renameCollection(Self.things, to: Self.others)
                    throw Undo()
                }
            }
            let kept = try transaction.get(Self.things, id: 1)
            #expect(kept != nil)
        }
        #expect(try things.find(["a": 1]).fetch().count == 1)
        #expect(try things.listIndexes().map(\.name) == ["_id_", "a_1"])
        #expect(try store.changes(after: 0).changes.map(\.kind) == [.insert])
    }

    @Test func `a renamed collection keeps documents, indexes and UUID`() throws {
        let store = try store()
        let (things, others) = (store.collection(Self.things), store.collection(Self.others))
        try things.insertOne(["_id": 1, "a": 1])
        try things.createIndex(["a": 1], ["unique": true])
        let uuid = try store.listCollections("app")[0][path: "info.uuid"]
        let position = try store.changePosition
        try store.renameCollection(Self.things, to: Self.others)
        #expect(try things.find().fetch().isEmpty)
        #expect(try others.find(["a": 1]).fetch().count == 1)
        #expect(try store.listCollections("app").map { $0[path: "info.uuid"] } == [uuid])
        expectError(
            11000,
            "E11000 duplicate key error collection: app.others index: a_1 dup key: { a: 1 }"
        ) { try others.insertOne(["_id": 2, "a": 1]) }
        let changes = try store.changes(after: position).changes
        #expect(changes.map(\.kind) == [.rename, .renameTarget])
        #expect(changes.map(\.namespace) == [Self.things, Self.others])
        #expect(changes[0].after == ["to": ["db": "app", "coll": "others"]])
    }

    @Test func `a rename does not take another collection's place unless told`() throws {
        let store = try store()
        try store.collection(Self.things).insertOne(["_id": 1])
        try store.collection(Self.others).insertOne(["_id": 2])
        expectError(48, "target namespace exists") {
            try store.renameCollection(Self.things, to: Self.others)
        }
        expectError(26, "Source collection app.none does not exist") {
            try store.renameCollection(Namespace("app", "none"), to: Self.others)
        }
        expectError(20, "Can't rename a collection to itself") {
            try store.renameCollection(Self.things, to: Self.things)
        }
        try store.renameCollection(Self.things, to: Self.others, dropTarget: true)
        #expect(try store.collection(Self.others).find().fetch() == [["_id": 1]])
        try store.renameCollection(Self.others, to: Namespace("more", "things"))
        #expect(try store.listDatabases(nameOnly: true) == [["name": "more"]])
        #expect(try store.dropDatabase("more"))
        #expect(try !store.dropDatabase("more"))
        #expect(try store.changes(after: 0).changes.last?.kind == .dropDatabase)
    }

    @Test func `another store on the file sees other options, names and drops`() throws {
        let directory = try TemporaryDirectory()
        let one = try DocumentStore(at: .file(directory.file()))
        let two = try DocumentStore(at: .file(directory.file()))
        try one.createCollection(Self.things, ["validator": ["a": 1]])
        expectError(121) { try two.collection(Self.things).insertOne(["a": 2]) }
        try one.modifyCollection(Self.things, ["validator": [:]])
        try two.collection(Self.things).insertOne(["_id": 1, "a": 2])
        try one.modifyCollection(Self.things, ["validator": ["a": 3]])
        expectError(121) { try two.collection(Self.things).insertOne(["a": 2]) }
        try one.renameCollection(Self.things, to: Self.others)
        #expect(try two.collection(Self.things).find().fetch().isEmpty)
        #expect(try two.collection(Self.others).find().fetch() == [["_id": 1, "a": 2]])
        try two.dropCollection(Self.others)
        try one.collection(Self.others).insertOne(["_id": 5])
        #expect(try two.collection(Self.others).find().fetch() == [["_id": 5]])
    }

    @Test func `a view is listed and takes no writes`() throws {
        let store = try store()
        try store.createCollection(
            Self.things, ["viewOn": "others", "pipeline": [["$match": ["a": 1]]]])
        #expect(
            try store.listCollections("app") == [
                [
                    "name": "things", "type": "view",
                    "options": ["viewOn": "others", "pipeline": [["$match": ["a": 1]]]],
                    "info": ["readOnly": true],
                ]
            ])
        expectError(166, "Namespace app.things is a view, not a collection") {
            try store.collection(Self.things).insertOne(["a": 1])
        }
        expectError(5) {
            try store.createCollection(Self.others, ["viewOn": "things"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a view that others read in many ways is followed once`() throws {
        let store = try store()
        // Each reads the one before in four ways: 4 to the power of 18 ways lead to the first.
        var before: BSONValue = "others"
        for depth in 1...19 {
            let name = "view\(depth)"
            let lookup: BSONValue = ["from": before, "pipeline": [], "as": "x"]
            try store.createCollection(
                Namespace("app", name),
                [
                    "viewOn": before,
                    "pipeline": [
                        ["$unionWith": before], ["$lookup": lookup],
                        ["$facet": ["y": [["$lookup": lookup]]]],
                    ],
                ])
            before = .string(name)
        }
        expectError(5) {
            try store.createCollection(Self.others, ["viewOn": before])
        }
        try store.createCollection(Namespace("app", "view20"), ["viewOn": before])
        expectError(165) {
            try store.createCollection(Namespace("app", "view21"), ["viewOn": "view20"])
        }
    }

    @Test func `a view shows what its pipeline makes`() throws {
        let store = try store()
        try store.collection(Self.others).insertMany(
            (0..<6).map { ["_id": .int32($0), "a": .int32($0 % 2), "n": .int32(-$0)] })
        try store.createCollection(
            Self.things,
            ["viewOn": "others", "pipeline": [["$match": ["a": 1]], ["$project": ["n": 1]]]])
        try store.createCollection(
            Namespace("app", "more"), ["viewOn": "things", "pipeline": [["$match": ["n": -3]]]])
        let view = store.collection(Self.things)
        #expect(
            try view.find().fetch() == [
                ["_id": 1, "n": -1], ["_id": 3, "n": -3], ["_id": 5, "n": -5],
            ])
        let last = view.find(["n": ["$lt": 0]]).sort(["_id": -1]).limit(1)
        #expect(try last.fetch() == [["_id": 5, "n": -5]])
        #expect(try view.find().count() == 3)
        #expect(try view.find(["n": -1]).count() == 1)
        #expect(try view.aggregate([["$count": "all"]]) == [["all": 3]])
        #expect(
            try store.collection(Namespace("app", "more")).find().fetch() == [["_id": 3, "n": -3]])
        try store.modifyCollection(Self.things, ["viewOn": "others", "pipeline": []])
        #expect(try view.find([:]).count() == 6)
        #expect(try store.dropCollection(Self.things))
        #expect(try store.collection(Self.others).find().count() == 6)
    }

    @Test func `an index is hidden, and its documents' time changed`() throws {
        let store = try store()
        let things = store.collection(Self.things)
        try things.createIndex(["at": 1], ["expireAfterSeconds": 60])
        #expect(
            try store.modifyCollection(
                Self.things,
                ["index": ["keyPattern": ["at": 1], "expireAfterSeconds": 90, "hidden": true]])
                == [
                    "expireAfterSeconds_old": .int64(60), "expireAfterSeconds_new": .int64(90),
                    "hidden_old": false, "hidden_new": true,
                ])
        let index = try #require(try things.listIndexes().last)
        #expect(index.isHidden && index.expireAfterSeconds == 90)
        try store.modifyCollection(Self.things, ["index": ["name": "at_1", "hidden": false]])
        let shown = try things.listIndexes().last?.document
        #expect(shown?.contains(key: "hidden") == false)
        expectError(27, "cannot find index none for ns app.things") {
            try store.modifyCollection(Self.things, ["index": ["name": "none", "hidden": true]])
        }
        expectError(26) {
            try store.modifyCollection(Self.others, ["validationLevel": "off"])
        }
    }
}
