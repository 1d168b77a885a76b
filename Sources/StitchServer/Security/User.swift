internal import BSONStore

/// A user, as stored in `admin.system.users`.
struct User: Sendable {
    /// The collection of all users.
    static let namespace = Namespace("admin", "system.users")

    /// The database of anonymous users; the name is invalid for any other user.
    static let anonymousDatabase = "$anonymous"

    /// The filter that finds users, and neither the records of former names nor what is stored about
    /// anonymous users, who can be any strangers.
    static let exists: BSONDocument = [
        "user": ["$exists": true], "db": ["$ne": .string(anonymousDatabase)],
    ]

    let name: String
    let database: String
    var roles: [Role]
    var credentials: [ScramCredential]
    /// The stored document, with the fields that are not parsed, such as `customData`.
    private var document: BSONDocument

    /// Creates a new user.
    init(name: String, database: String) {
        self.name = name
        self.database = database
        roles = []
        credentials = []
        document = [
            "_id": .string(Self.id(name, database)),
            "userId": .binary(BSONBinary(ScramCredential.random(16), subtype: 4)),
            "user": .string(name), "db": .string(database),
        ]
    }

    /// Reads a stored user; `nil` if invalid.
    init?(_ document: BSONDocument) {
        guard let name = document["user"]?.stringValue,
            let database = document["db"]?.stringValue
        else { return nil }
        self.name = name
        self.database = database
        self.document = document
        roles = (document["roles"]?.arrayValue ?? []).compactMap { value in
            guard let role = value.documentValue, let name = role["role"]?.stringValue,
                let database = role["db"]?.stringValue
            else { return nil }
            return Role(name: name, database: database)
        }
        let stored = document["credentials"]?.documentValue ?? [:]
        credentials = ScramMechanism.allCases.compactMap { mechanism in
            stored[mechanism.rawValue]?.documentValue.flatMap {
                ScramCredential(mechanism, $0)
            }
        }
    }

    /// The prefix of the rule ids of users of single databases.
    static let idMark = ":"

    /// Whether the users of a database are users of the whole server.
    static func isOfServer(_ database: String) -> Bool {
        database == "admin" || database == "$external"
    }

    /// Whether a name could be confused with another user's.
    static func isAmbiguous(_ name: String, _ database: String) -> Bool {
        name.utf8.contains(0)
            || isOfServer(database) && name.utf8.starts(with: idMark.utf8)
    }

    static func id(_ name: String, _ database: String) -> String { "\(database).\(name)" }

    /// The `_id` of the stored document.
    var id: String { Self.id(name, database) }

    /// Whether the user signed up, so that rules alone decide what the user reads and writes.
    var isSelfMade: Bool {
        get { document["signedUp"]?.boolValue ?? false }
        set { document.set("signedUp", to: newValue ? true : nil) }
    }

    /// The sign-ins that are valid: those that began with this mark; `nil` before the first change.
    var signInMark: BSONValue? {
        get { document["signInMark"] }
        set { document.set("signInMark", to: newValue) }
    }

    /// The token that sets a new password; `nil` without one.
    var passwordToken: PasswordToken? {
        get { document["passwordToken"]?.documentValue.flatMap(PasswordToken.init) }
        set { document.set("passwordToken", to: newValue.map { .document($0.document) }) }
    }

    /// Whether an administrator disabled the user, so that no password signs in.
    var isDisabled: Bool {
        get { document["disabled"]?.boolValue ?? false }
        set { document.set("disabled", to: newValue ? true : nil) }
    }

    /// The id in rules of a user who was anonymous before, or whose name another user had before;
    /// `nil` for the usual id.
    var ruleID: String? {
        get { document["ruleID"]?.stringValue }
        set { document.set("ruleID", to: newValue.map { .string($0) }) }
    }

    /// The id in rules of all users of a name of whom none was removed: the name, or
    /// `:database.name` for users of other databases than `admin` and `$external`.
    ///
    /// Database names have no dot, and no name on `admin` or `$external` begins with a colon, so no
    /// two users of different databases share an id. `admin` and `$external` count as one.
    static func usualRuleID(_ name: String, _ database: String) -> String {
        isOfServer(database) ? name : "\(idMark)\(database).\(name)"
    }

    /// The beginning of ids in rules that the server made for accounts; no database has such a name.
    static let accountIDMark = idMark + "$account."

    /// The beginning of the ids in rules of anonymous users, who keep them when they register.
    static let guestIDMark = idMark + id("", anonymousDatabase)

    /// An id in rules that no other account has or will have.
    var accountRuleID: String { Self.accountIDMark + accountText }

    /// The random id of the account in hexadecimal digits.
    var accountText: String {
        guard case .binary(let id)? = accountID else { return "" }
        return id.bytes.hexadecimal
    }

    /// The account's id that an anonymous user got by registering; `nil` for all other users.
    ///
    /// It is not the name, which a deletion of the account removes. Earlier versions stored the `_id` of
    /// the user.
    var registeredAs: String? {
        get { document["registeredAs"]?.stringValue }
        set { document.set("registeredAs", to: newValue.map { .string($0) }) }
    }

    /// The time at which an anonymous user registered; `nil` for all other users.
    var registeredAt: BSONDatetime? {
        get {
            guard case .datetime(let time)? = document["registeredAt"] else { return nil }
            return time
        }
        set { document.set("registeredAt", to: newValue.map { .datetime($0) }) }
    }

    /// The ``accountID`` of the account that an anonymous user got by registering; `nil` where
    /// ``registeredAs`` does not hold it.
    var registeredAccountID: BSONValue? {
        guard let text = registeredAs, text.utf8.count == 32 else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == 32 else { return nil }
        let bytes = (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
        return .binary(BSONBinary(bytes, subtype: 4))
    }

    /// The filter that finds the user with an ``accountID``.
    static func filter(ofAccount id: BSONValue) -> BSONDocument { ["userId": ["$eq": id]] }

    /// Whether an anonymous user deleted the account, or registered and then did so.
    private(set) var isDeleted: Bool {
        get { document["deleted"]?.boolValue ?? false }
        set { document.set("deleted", to: newValue ? true : nil) }
    }

    /// Marks the account of an anonymous user as deleted.
    mutating func endAsDeleted() {
        registeredAs = nil
        registeredAt = nil
        isDeleted = true
    }

    /// The `_id` of the anonymous user whom this user was before; `nil` for all other users.
    var guestID: String? {
        guard let ruleID, ruleID.utf8.starts(with: Self.guestIDMark.utf8) else { return nil }
        return String(ruleID.dropFirst(Self.idMark.count))
    }

    /// The random id of the account, which no later user of the same name has.
    var accountID: BSONValue? { document["userId"] }

    /// The app's own data about the user.
    var customData: BSONValue? {
        get { document["customData"] }
        set { document.set("customData", to: newValue) }
    }

    /// The document to store.
    var stored: BSONDocument {
        var stored = document
        stored.set(
            "credentials",
            to: .document(
                BSONDocument(
                    credentials.map { ($0.mechanism.rawValue, .document($0.document)) })))
        stored.set("roles", to: .array(BSONArray(roles.map(\.value))))
        return stored
    }

    /// Returns the user in the form of `usersInfo`.
    func shown(withCredentials: Bool) -> BSONDocument {
        var shown = stored
        if !withCredentials { shown.set("credentials", to: nil) }
        for field in ["signInMark", "passwordToken"] { shown.set(field, to: nil) }
        let mechanisms = credentials.map { BSONValue.string($0.mechanism.rawValue) }
        shown.set("mechanisms", to: .array(BSONArray(mechanisms)))
        return shown
    }

    /// Sets the password for some mechanisms, and makes a token for a new password invalid.
    mutating func setPassword(_ password: String, _ mechanisms: [ScramMechanism]) throws {
        passwordToken = nil
        credentials = try mechanisms.map {
            try ScramCredential($0, user: name, password: password)
        }
    }

    /// Returns the user as signed in on a connection.
    ///
    /// - Parameter isUnderRules: whether the server has rules; without them only roles count.
    func signedIn(isUnderRules: Bool) -> SignedInUser {
        var user = SignedInUser(name: Name(name), database: Name(database), roles: roles)
        user.isGovernedByRules = isSelfMade && isUnderRules
        user.storedRuleID = ruleID
        user.origin = SignInOrigin(accountID: accountID, marks: [signInMark])
        return user
    }

    /// Whether a sign-in is still valid, by the account and the mark with which it began.
    func accepts(_ origin: SignInOrigin) -> Bool {
        !isDisabled && accountID == origin.accountID && origin.marks.contains(signInMark)
    }

    /// Makes all sign-ins invalid.
    ///
    /// - Returns: the mark of the sign-ins from now on.
    @discardableResult
    mutating func endSignIns() -> BSONValue {
        let mark = BSONValue.binary(BSONBinary(ScramCredential.random(16)))
        signInMark = mark
        return mark
    }
}
