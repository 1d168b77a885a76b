internal import BSONStore

/// Made-up answers for unknown users, so that a client cannot find out which users exist.
final class DecoyCredentials: Sendable {
    private struct Known: Sendable {
        let generation: Int
        /// The distinct sets of mechanisms that users have.
        let sets: [[ScramMechanism]]
    }

    /// The source of the made-up answers; stored, since the salts of real users do not change
    /// either.
    let secret: [UInt8]
    private let known = Locked<Known?>(nil)

    /// The stored form of a user who does not exist, which takes as long to read as a real one.
    let document: BSONDocument

    /// - Throws: an error when a key cannot be derived.
    init(secret: [UInt8]) throws {
        self.secret = secret
        var user = User(name: "", database: "admin")
        user.credentials = try ScramMechanism.allCases.map {
            try ScramCredential($0, standingFor: user.id, secret: secret)
        }
        user.roles = [Role(name: "readWrite", database: "admin")]
        document = user.stored
    }

    /// Returns the store's secret and creates it when missing; it has a table of its own.
    ///
    /// - Throws: the errors of the store.
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

    /// Returns mechanisms for a user who does not exist: those of some real user, always the same
    /// for one name.
    ///
    /// - Throws: the errors of the store.
    func mechanisms(
        _ name: String, _ database: String, _ users: UserDirectory
    ) throws -> [ScramMechanism] {
        let sets = try sets(users)
        let text = Array("mechanisms \(User.id(name, database))".utf8)
        let sum = try ScramMechanism.sha256.sign(text, with: secret).prefix(8)
        let number = sum.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return sets.isEmpty
            ? ScramMechanism.allCases : sets[Int(number % UInt64(sets.count))]
    }

    private func sets(_ users: UserDirectory) throws -> [[ScramMechanism]] {
        // Read before the users, so that a later change is noticed at the next call.
        let generation = users.server.userGeneration.withLock { $0 }
        if let known = known.withLock({ $0 }), known.generation == generation { return known.sets }
        let all = try users.records.all()
        // Users who sign in with a token have no mechanisms and are not asked for any.
        let found = Set(all.compactMap { User($0)?.credentials.map(\.mechanism) })
            .filter { !$0.isEmpty }
        let sets = found.sorted { $0.map(\.rawValue).lexicographicallyPrecedes($1.map(\.rawValue)) }
        known.withLock { $0 = Known(generation: generation, sets: sets) }
        return sets
    }
}
