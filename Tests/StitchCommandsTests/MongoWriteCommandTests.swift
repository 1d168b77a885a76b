import BSONStore
import StitchSync
import Testing

@testable import StitchCommands

/// A reply that is read wrongly would lose a write or send it twice.
struct MongoWriteCommandTests {
    private func write(_ id: Int32, _ action: RemoteWrite.Action) -> RemoteWrite {
        RemoteWrite(
            documentID: .int32(id),
            operation: OperationID(instance: 1, sequence: UInt64(id)), action: action,
            condition: .init(version: .absent))
    }

    private var three: [RemoteWrite] {
        (0..<3).map { write($0, .update(set: ["a": 1], unset: ["b"])) }
    }

    private func answer(_ writes: [RemoteWrite], _ reply: BSONDocument) throws
        -> MongoWriteCommand
        .Answer
    {
        let commands = MongoWriteCommand.commands(writes, writes.indices)
        return try #require(commands.first).answer(reply)
    }

    @Test("writes of one kind go in one command, in the order of the batch")
    func grouping() {
        let writes = [
            write(0, .delete), write(1, .insert(["_id": 1])),
            write(2, .update(set: ["a": 1], unset: [])),
            write(3, .replace(["_id": 3])), write(4, .insert(["_id": 4])),
        ]
        let commands = MongoWriteCommand.commands(writes, writes.indices)
        #expect(commands.map(\.kind) == [.insert, .update, .delete])
        #expect(commands.map { $0.statements.map(\.index) } == [[1, 4], [2, 3], [0]])
        let insert = commands[0].request(Namespace("app", "items")).document
        #expect(insert["ordered"] == false)
        #expect(insert["writeConcern"] == ["w": "majority"])
        #expect(insert["documents"] == [["_id": 1], ["_id": 4]])
        #expect(
            commands[1].statements[0].body["u"] == ["$set": ["a": 1]],
            "an empty $unset would be an error")
    }

    @Test("a command ends before it is too large for a message")
    func largeBatches() {
        let half = BSONValue.binary(
            BSONBinary([UInt8](repeating: 1, count: MongoWriteCommand.bytesMax / 2)))
        let writes = (0..<3).map { write($0, .insert(["_id": .int32($0), "b": half])) }
        let commands = MongoWriteCommand.commands(writes, writes.indices)
        #expect(commands.map { $0.statements.map(\.index) } == [[0], [1], [2]])
    }

    @Test("a total that is complete settles all writes")
    func completeTotal() throws {
        let answer = try answer(three, ["ok": 1, "n": 3, "nModified": 3])
        #expect(answer.outcomes == [0: .applied, 1: .applied, 2: .applied])
        #expect(answer.unclear.isEmpty)
    }

    @Test("a total that is short leaves all writes unclear that have no error")
    func shortTotal() throws {
        let answer = try answer(
            three,
            [
                "ok": 1, "n": 1,
                "writeErrors": [["index": 1, "code": 121, "errmsg": "Document failed validation"]],
            ])
        #expect(
            answer.outcomes == [
                1: .failed(RemoteError(.rejected, code: 121, "Document failed validation"))
            ])
        #expect(answer.unclear == [0, 2])
    }

    @Test("a write concern that was not met makes every write one that nobody knows of")
    func writeConcern() throws {
        let answer = try answer(
            three,
            ["ok": 1, "n": 3, "writeConcernError": ["code": 64, "errmsg": "waiting timed out"]])
        #expect(
            answer.outcomes[1] == .failed(RemoteError(.retryable, code: 64, "waiting timed out")))
        #expect(answer.outcomes.count == 3)
    }

    @Test("a taken _id is told from another unique index, with and without the key's pattern")
    func duplicateKeys() throws {
        let writes = (0..<4).map { write($0, .insert(["_id": .int32($0)])) }
        let id = "E11000 duplicate key error collection: a.b index: _id_ dup key: { _id: 0 }"
        let other = "E11000 duplicate key error collection: a.b index: x_1 dup key: { x: 0 }"
        func error(_ index: Int32, _ text: String, _ pattern: BSONDocument?) -> BSONValue {
            var error: BSONDocument = ["index": .int32(index), "code": 11_000]
            if let pattern { error.append("keyPattern", .document(pattern)) }
            error.append("errmsg", .string(text))
            return .document(error)
        }
        let answer = try answer(
            writes,
            [
                "ok": 1, "n": 0,
                "writeErrors": [
                    error(0, id, ["_id": 1]), error(1, id, nil), error(2, other, ["x": 1]),
                    error(3, other, nil),
                ],
            ])
        func rejected(_ paths: [String]) -> RemoteWriteOutcome {
            .failed(RemoteError(uniquePaths: paths, code: 11_000, other))
        }
        #expect(
            answer.outcomes == [
                0: .duplicateKey, 1: .duplicateKey, 2: rejected(["x"]), 3: rejected([]),
            ])
    }

    @Test("a path that leads through a scalar is a condition that does not hold")
    func pathNotViable() throws {
        let answer = try answer(
            three, ["ok": 1, "n": 2, "writeErrors": [["index": 0, "code": 28, "errmsg": "path"]]])
        #expect(answer.outcomes == [0: .notMatched, 1: .applied, 2: .applied])
    }

    @Test("an index that is none is passed over, and leaves the total unclear")
    func foreignIndex() throws {
        let answer = try answer(
            three, ["ok": 1, "n": 2, "writeErrors": [["index": 9, "code": 28], ["code": 1], 7]])
        #expect(answer.outcomes.isEmpty)
        #expect(answer.unclear == [0, 1, 2])
    }

    @Test(
        "each code has the class that rule R7 wants",
        arguments: [
            (11_600, [], RemoteError.Class.retryable), (10_107, [], .retryable),
            (18, [], .unauthenticated),
            (112, [], .retryable), (50, [], .retryable), (64, [], .retryable), (43, [], .retryable),
            (286, [], .historyLost), (280, [], .historyLost), (260, [], .historyLost),
            (13, [], .rejected), (121, [], .rejected), (11_000, [], .rejected),
            (10_334, [], .rejected), (66, [], .rejected), (2, [], .rejected),
            (4_711, [], .unknown), (0, [], .unknown),
            (4_711, ["RetryableWriteError"], .retryable),
            (4_711, ["NonResumableChangeStreamError"], .historyLost),
            (1, ["SomethingNew"], .unknown),
        ])
    func classes(code: Int, labels: [String], expected: RemoteError.Class) {
        #expect(MongoErrorClass.decide(code: code, labels: Set(labels)) == expected)
    }

    @Test("no code has two classes")
    func classesAreDisjoint() {
        let sets = [
            MongoErrorClass.historyCodes, MongoErrorClass.signInCodes,
            MongoErrorClass.retryableCodes,
            MongoErrorClass.rejectedCodes,
        ]
        let all = sets.reduce(Set<Int>()) { $0.union($1) }
        #expect(all.count == sets.reduce(0) { $0 + $1.count })
    }

    @Test("bulkWrite carries all kinds in the order of the batch, in one command")
    func bulkCommand() throws {
        let writes = [
            write(0, .delete), write(1, .insert(["_id": 1])),
            write(2, .replace(["_id": 2, "a": 1])),
        ]
        let commands = MongoWriteCommand.commands(writes, writes.indices, inBulk: true)
        let command = try #require(commands.first)
        #expect(commands.count == 1)
        #expect(command.database(Namespace("app", "items")) == "admin")
        let body = command.request(Namespace("app", "items")).document
        #expect(body.first { _ in true }?.key == "bulkWrite", "the name comes first")
        #expect(body["ordered"] == false)
        #expect(body["nsInfo"] == [["ns": "app.items"]])
        let operations = body["ops"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(operations.map { $0.first { _ in true }?.key } == ["delete", "insert", "update"])
        #expect(operations[1] == ["insert": 0, "document": ["_id": 1]])
        #expect(operations[2]["updateMods"] == ["_id": 2, "a": 1])
        #expect(operations[2]["filter"]?.documentValue?["_id"] == 2)
    }

    @Test("bulkWrite tells of each write; what it is silent about is read again")
    func bulkAnswer() throws {
        let writes = [
            write(0, .delete), write(1, .insert(["_id": 1])), write(2, .insert(["_id": 2])),
            write(3, .update(set: ["a": 1], unset: [])), write(4, .delete),
        ]
        let commands = MongoWriteCommand.commands(writes, writes.indices, inBulk: true)
        let answer = try #require(commands.first).answer([
            "ok": 1.0, "nErrors": 1,
            "cursor": [
                "id": 7,
                "firstBatch": [
                    ["ok": 1.0, "idx": 0, "n": 1],
                    [
                        "ok": 0.0, "idx": 1, "n": 0, "code": 11_000, "errmsg": "E11000",
                        "keyPattern": ["_id": 1],
                    ],
                    ["ok": 0.0, "idx": 2, "n": 0, "code": 121, "errmsg": "not valid"],
                    ["ok": 1.0, "idx": 3, "n": 0, "nModified": 0],
                    ["ok": 1.0, "idx": 99, "n": 1],
                ],
            ],
        ])
        #expect(answer.outcomes[0] == .applied)
        #expect(answer.outcomes[1] == .duplicateKey)
        #expect(answer.outcomes[2] == .failed(RemoteError(.rejected, code: 121, "not valid")))
        #expect(answer.unclear == [3, 4])
    }

    @Test("a write concern that was not met leaves a whole bulkWrite open")
    func bulkWriteConcern() throws {
        let writes = [write(0, .delete)]
        let commands = MongoWriteCommand.commands(writes, writes.indices, inBulk: true)
        let answer = try #require(commands.first).answer([
            "ok": 1.0, "writeConcernError": ["code": 64, "errmsg": "timed out"],
            "cursor": ["id": 0, "firstBatch": [["ok": 1.0, "idx": 0, "n": 1]]],
        ])
        #expect(answer.outcomes == [0: .failed(RemoteError(.retryable, code: 64, "timed out"))])
    }
}
