import BSONStore
import StitchRules
import StitchSync

/// Rules: reading them, and what they cost a read and a write.
enum RulesRoads {
    private static let user = RuleUser(
        id: "ann", customData: ["group": 1, "teams": ["a", "b"]])

    /// Returns rules of one collection with the roles as they are given.
    static func rules(_ roles: BSONValue) throws -> RuleSet {
        let file: BSONDocument = ["database": "app", "collection": "items", "roles": roles]
        return try RuleSet(
            files: ["data_sources/a/app/items/rules.json": Array(file.extendedJSON().utf8)])
    }

    /// Returns rules with one role that sees and writes documents by its filter.
    static func simple(_ filter: BSONValue = [:]) throws -> RuleSet {
        try rules([
            [
                "name": "member", "apply_when": [:],
                "document_filters": ["read": filter, "write": filter], "read": true, "write": true,
            ]
        ])
    }

    private static func masked(_ n: Int, _ permission: BSONValue) throws -> RuleAccess {
        let fields = Sample.fields(n) { $0 % 2 == 0 ? permission : ["read": false] }
        return try rules([["name": "member", "apply_when": [:], "fields": .document(fields)]])
            .access(to: Sample.namespace, for: user)
    }

    private static func access(
        _ name: String, _ growth: Road.Growth, upTo: Int = 8_000,
        _ prepare: @escaping (Int) throws -> () throws -> Void
    ) -> Road {
        Road("rules: \(name)", growth, upTo: upTo) { n in
            let run = try prepare(n)
            return Trip { try run() }
        }
    }

    /// The roads.
    static var all: [Road] { decisions + loading + stores }

    private static var decisions: [Road] {
        [
            access("read mask of fields", .fields) { n in
                let (access, document) = (try masked(n, ["read": true]), Sample.wide(n))
                return { _ = access.shown(document) }
            },
            access("update of allowed fields", .fields) { n in
                let access = try masked(n, ["read": true, "write": true])
                let before = Sample.wide(n)
                let after = Sample.wide(n) { .int($0 % 2 == 0 ? -1 : $0) }
                let shown = access.shown(after)
                return { _ = try access.judge(from: before, toShown: shown) }
            },
            access("insert under rules of fields", .fields) { n in
                let fields = Sample.fields(n) { _ in ["read": true, "write": true] }
                let access = try rules([
                    [
                        "name": "member", "apply_when": [:], "insert": true, "delete": true,
                        "fields": .document(fields),
                    ]
                ]).access(to: Sample.namespace, for: user)
                let document = Sample.wide(n)
                return { _ = try access.judge(from: nil, toShown: document) }
            },
            access("denied changes of fields", .fields) { n in
                let access = try masked(n, ["read": true])
                let before = access.shown(Sample.wide(n))
                let after = access.shown(Sample.wide(n) { .int($0 % 2 == 0 ? -1 : $0) })
                return {
                    _ = access.mask(for: before).deniedChanges(from: before, to: after)
                }
            },
            access("read mask of nested fields", .fields) { n in
                let fields = Sample.fields(n) { .document(["read": .bool($0 % 2 == 0)]) }
                let access = try rules([
                    [
                        "name": "member", "apply_when": [:],
                        "fields": ["a": ["fields": .document(fields)]],
                    ]
                ]).access(to: Sample.namespace, for: user)
                let document: BSONDocument = ["_id": 1, "a": .document(Sample.fields(n))]
                return { _ = access.shown(document) }
            },
            access("a filter of many values", .values) { n in
                let access = try simple(["n": ["$in": Sample.array(n)]])
                    .access(to: Sample.namespace, for: user)
                let document = Sample.document(n - 1)
                return { for _ in 0..<100 { _ = access.sees(document) } }
            },
            access("a user with many teams", .values) { n in
                let user = RuleUser(id: "ann", customData: ["teams": Sample.array(n)])
                let rules = try simple(["n": ["$in": "%%user.custom_data.teams"]])
                return {
                    let access = rules.access(to: Sample.namespace, for: user)
                    for number in 0..<100 { _ = access.sees(Sample.document(number)) }
                }
            },
        ]
    }

    private static func role(_ number: Int) -> BSONValue {
        [
            "name": .string("role\(number)"), "apply_when": ["%%user.id": .string("u\(number)")],
            "read": true, "write": true,
        ]
    }

    private static var loading: [Road] {
        [
            access("load collections", .collections, upTo: 2_000) { n in
                var files: [String: [UInt8]] = [:]
                for name in Sample.names(n) {
                    let file: BSONDocument = [
                        "database": "app", "collection": .string(name), "roles": [role(1)],
                    ]
                    files["data_sources/a/app/\(name)/rules.json"] = Array(
                        file.extendedJSON().utf8)
                }
                let all = files
                return { _ = try RuleSet(files: all) }
            },
            access("load roles", .roles, upTo: 4_000) { n in
                { _ = try rules(Sample.array(n, role)) }
            },
            access("load fields", .fields) { n in
                let fields = BSONValue.document(Sample.fields(n) { _ in ["read": true] })
                return {
                    _ = try rules([["name": "member", "apply_when": [:], "fields": fields]])
                }
            },
            access("the role of a user", .roles, upTo: 4_000) { n in
                let rules = try rules(Sample.array(n, role))
                let user = RuleUser(id: "u\(n - 1)")
                return { _ = rules.access(to: Sample.namespace, for: user) }
            },
        ]
    }

    private static var stores: [Road] {
        [
            Road(once: "rules: first download", .documents, upTo: 4_000) { n in
                let device = try await SweptDevice(rules: simple(["half": 1]))
                try device.fillRemote(n)
                try await device.items.subscribe(waitForSync: .never)
                return Trip(end: { try await device.end(count: n / 2) }) {
                    try await device.sync()
                }
            },
            Road(once: "rules: first download with hidden fields", .documents, upTo: 4_000) { n in
                let device = try await SweptDevice(
                    rules: rules([
                        [
                            "name": "member", "apply_when": [:],
                            "document_filters": ["read": [:], "write": [:]],
                            "fields": ["n": ["read": true], "half": ["read": true]],
                        ]
                    ]))
                try device.fillRemote(n)
                try await device.items.subscribe(waitForSync: .never)
                return Trip(end: { try await device.end(count: n) }) { try await device.sync() }
            },
            Road(once: "rules: uploads", .writes, upTo: 4_000) { n in
                let device = try await SweptDevice(rules: simple())
                try await device.items.subscribe(waitForSync: .never)
                try await device.sync()
                try await device.items.insertMany(Sample.documents(n))
                return Trip(end: { try await device.end(remoteCount: n) }) {
                    try await device.sync()
                }
            },
            Road(once: "rules: denied uploads", .writes, upTo: 2_000) { n in
                let device = try await SweptDevice(rules: simple(["n": ["$lt": 0]]))
                try await device.items.subscribe(waitForSync: .never)
                try await device.sync()
                try await device.items.insertMany(Sample.documents(n))
                return Trip(end: { try await device.end(remoteCount: 0) }) {
                    try await device.sync()
                }
            },
            Road("rules: rejected writes listed", .writes, upTo: 2_000) { n in
                let device = try await rejected(n)
                return Trip(end: { try await device.end() }) {
                    let found = try await device.items.rejectedWrites.all()
                    guard found.count == n else { throw SweptFailure("\(found.count) of \(n)") }
                }
            },
            Road(once: "rules: rejected writes discarded one by one", .writes, upTo: 2_000) { n in
                let device = try await rejected(n)
                let writes = try await device.items.rejectedWrites.all()
                return Trip(end: { try await device.end() }) {
                    for write in writes { try await device.items.rejectedWrites.discard(write.id) }
                }
            },
            Road(once: "rules: rejected writes retried", .writes, upTo: 1_000) { n in
                let device = try await rejected(n)
                let writes = try await device.items.rejectedWrites.all()
                return Trip(end: { try await device.end() }) {
                    for write in writes { try await device.items.rejectedWrites.retry(write.id) }
                }
            },
        ]
    }

    private static func rejected(_ count: Int) async throws -> SweptDevice {
        let device = try await SweptDevice(rules: simple(["n": ["$lt": 0]]))
        try await device.items.subscribe(waitForSync: .never)
        try await device.sync()
        try await device.items.insertMany(Sample.documents(count))
        try await device.sync()
        return device
    }
}
