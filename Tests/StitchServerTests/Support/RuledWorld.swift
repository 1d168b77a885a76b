import BSONStore
import Foundation
import TestProcesses

/// The users and documents of the tests of rules; `fixtures/rules/app` says who sees what.
enum RuledWorld {
    /// The profile of each user: the tenant, and the role where there is one.
    static let profiles: [BSONDocument] = [
        ["user": "ann", "tenant": "a"], ["user": "ben", "tenant": "a"],
        ["user": "eve", "tenant": "b"], ["user": "ron", "tenant": "a", "role": "auditor"],
        ["user": "fay", "tenant": "a", "role": "clerk"],
    ]

    static let documents: [BSONDocument] = [
        [
            "_id": "own", "owner": "ann", "tenant": "a", "title": "one", "n": 1, "salary": 10,
            "tags": ["x", "y"], "address": ["city": "Rome", "street": "Via 1"], "at": [0, 0],
        ],
        [
            "_id": "other", "owner": "ben", "tenant": "a", "title": "two", "n": 2, "salary": 20,
            "tags": ["y"], "address": ["city": "Bonn", "street": "Weg 2"], "at": [1, 1],
        ],
        [
            "_id": "fixed", "owner": "zoe", "tenant": "a", "title": "three", "n": 3, "salary": 30,
            "tags": [], "address": ["city": "Oslo", "street": "Vei 3"], "locked": true,
            "at": [2, 2],
        ],
        [
            "_id": "far", "owner": "eve", "tenant": "b", "title": "secret", "n": 4, "salary": 40,
            "tags": ["z"], "address": ["city": "Lima", "street": "Jiron 4"], "at": [3, 3],
        ],
        [
            "_id": "farther", "owner": "max", "tenant": "b", "title": "hush", "n": 5,
            "salary": 50, "tags": ["z"], "address": ["city": "Kyiv", "street": "Vul 5"],
            "locked": true, "at": [4, 4],
        ],
    ]

    /// The arguments of a server under the rules.
    static let arguments = [
        "--auth", "--rules", Python.folder.appending(path: "fixtures/rules/app").path,
    ]

    /// The places where rules are enforced.
    enum Place: String, CaseIterable, Sendable {
        /// A server over a file.
        case file
        /// Two gateways to one upstream.
        case gateways

        /// Lends the ports of new servers under the rules, which share their documents.
        func lend<R>(
            _ arguments: [String] = RuledWorld.arguments, _ body: ([Int]) async throws -> R
        ) async throws -> R {
            switch self {
            case .file: try await ServerProcess.run(arguments) { try await body([$0.port]) }
            case .gateways:
                try await GatewayProcesses.run(2, arguments) { try await body($0.ports) }
            }
        }
    }

    /// Lends the ports of new servers under the rules, which share their documents.
    static func lend(
        _ place: Place, _ arguments: [String] = arguments,
        _ body: @escaping @Sendable (_ ports: [Int]) throws -> Void
    ) async throws {
        try await place.lend(arguments) { ports in
            try await BlockingThread.run { try body(ports) }
        }
    }

    /// Makes the users, their profiles, the indexes and the documents of a new server.
    ///
    /// - Returns: the administrator's client.
    static func prepare(_ port: Int) throws -> ServerClient {
        // The first user is made without signing in.
        try ServerClient(port: port, database: "shop").run(
            ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
        let root = try client(port, "root")
        for profile in profiles {
            try root.run(
                [
                    "createUser": profile["user"] ?? .null, "pwd": "pw",
                    "roles": [["role": "readWrite", "db": "shop"]],
                ], on: "admin")
        }
        try root.insert(profiles, into: "profiles")
        try root.run([
            "createIndexes": "items",
            "indexes": [
                ["key": ["salary": 1], "name": "salary_1"],
                ["key": ["tenant": 1, "n": -1], "name": "tenant_1_n_-1"],
                ["key": ["at": "2d"], "name": "at_2d"],
            ],
        ])
        try root.insert(documents, into: "items")
        return root
    }

    /// Connects a user.
    static func client(_ port: Int, _ user: String) throws -> ServerClient {
        try ServerClient(port: port, database: "shop", user: user)
    }

    /// Replaces all documents.
    static func fill(_ root: ServerClient, with documents: [BSONDocument] = documents) throws {
        try root.run(["delete": "items", "deletes": [["q": [:], "limit": 0]]])
        try root.run([
            "insert": "items", "bypassDocumentValidation": true,
            "documents": .array(BSONArray(documents.map { .document($0) })),
        ])
    }
}
