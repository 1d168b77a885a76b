internal import BSONStore

/// Answers for users that do not exist as for those that do, so that nobody learns who does.
final class DecoyCredentials: Sendable {
    private struct Known: Sendable {
        let generation: Int
        /// The mechanisms that users have, each set once.
        let sets: [[ScramMechanism]]
    }

    /// What the answers are made of; it stays with the store, since the salts of users do, too.
    let secret: [UInt8]
    private let known = Locked<Known?>(nil)

    init(secret: [UInt8]) { self.secret = secret }

    /// The secret of a store, made when it has none; its table lies beside the store's own.
    ///
    /// - Throws: what the store says.
    static func secret(of store: DocumentStore) throws -> [UInt8] {
        try store.write { transaction in
            let connection = transaction.connection
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS server_secrets(
                    name TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID
                """)
            let select = try connection.prepare(
                "SELECT bytes FROM server_secrets WHERE name = 'standIns'")
            if try select.step() { return select.bytes(0) }
            let secret = ScramCredential.random(32)
            let insert = try connection.prepare(
                "INSERT INTO server_secrets VALUES ('standIns', ?1)")
            insert.bind(1, secret)
            try insert.run()
            return secret
        }
    }

    /// The mechanisms of a user who does not exist: those that some user has, for each name always
    /// the same.
    ///
    /// - Throws: what the store says.
    func mechanisms(
        _ name: String, _ database: String, _ store: StoreBackend
    ) throws -> [ScramMechanism] {
        let sets = try sets(store)
        let text = Array("mechanisms \(User.id(name, database))".utf8)
        let sum = try ScramMechanism.sha256.sign(text, with: secret).prefix(8)
        let number = sum.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return sets.isEmpty
            ? ScramMechanism.allCases : sets[Int(number % UInt64(sets.count))]
    }

    private func sets(_ backend: StoreBackend) throws -> [[ScramMechanism]] {
        // Read first: a change after it is noticed with the next question.
        let generation = backend.server.userGeneration.withLock { $0 }
        if let known = known.withLock({ $0 }), known.generation == generation { return known.sets }
        let users = try backend.store.read { transaction in
            try transaction.find(User.namespace, filter: .all)
        }
        // Who signs in by a token has none, and is not asked for them.
        let found = Set(users.compactMap { User($0)?.credentials.map(\.mechanism) })
            .filter { !$0.isEmpty }
        let sets = found.sorted { $0.map(\.rawValue).lexicographicallyPrecedes($1.map(\.rawValue)) }
        known.withLock { $0 = Known(generation: generation, sets: sets) }
        return sets
    }
}
