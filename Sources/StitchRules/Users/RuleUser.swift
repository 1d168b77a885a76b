public import BSONStore

/// The user for whom rules are evaluated.
public struct RuleUser: Sendable, Hashable {
    /// The user's id, `%%user.id`.
    public var id: String
    /// `normal`, `server`, or `anonymous` for a user without an account, `%%user.type`.
    public var type: String
    /// The metadata from the user's sign-in, `%%user.data`.
    public var data: BSONDocument
    /// The user's data from a collection of the app, `%%user.custom_data`; `nil` without any.
    public var customData: BSONDocument?
    /// The user's sign-in identities, `%%user.identities`.
    public var identities: BSONArray

    /// Makes a user.
    public init(
        id: String, type: String = "normal", data: BSONDocument = [:],
        customData: BSONDocument? = nil, identities: BSONArray = []
    ) {
        self.id = id
        self.type = type
        self.data = data
        self.customData = customData
        self.identities = identities
    }

    /// Whether both users have the same id and type, by their bytes, and the same values.
    public static func == (left: RuleUser, right: RuleUser) -> Bool {
        left.id.hasSameBytes(as: right.id) && left.type.hasSameBytes(as: right.type)
            && left.data == right.data && left.customData == right.customData
            && left.identities == right.identities
    }

    /// Returns the value at a path below `%%user`; `nil` when missing.
    func value(_ path: [String]) -> BSONValue? {
        guard let first = path.first else { return .document(document) }
        let root: BSONValue? =
            switch first {
            case "id": .string(id)
            case "type": .string(type)
            case "data": .document(data)
            case "custom_data": customData.map(BSONValue.document)
            case "identities": .array(identities)
            default: nil
            }
        return path.dropFirst().reduce(root) { Self.step(from: $0, by: $1) }
    }

    /// The names that can follow `%%user`.
    static let names: Set<String> = ["id", "type", "data", "custom_data", "identities"]

    private var document: BSONDocument {
        var document: BSONDocument = [
            "id": .string(id), "type": .string(type), "data": .document(data),
        ]
        if let customData { document.append("custom_data", .document(customData)) }
        document.append("identities", .array(identities))
        return document
    }

    /// Returns a field of a document, or an element of an array.
    static func step(from value: BSONValue?, by name: String) -> BSONValue? {
        if let document = value?.documentValue { return document[name] }
        if let array = value?.arrayValue, let index = Int(name), index >= 0 { return array[index] }
        return nil
    }
}

/// The constants that rules can use, as well as the user and the documents.
public struct RuleConstants: Sendable, Hashable {
    /// The constants of the app, `%%values`.
    public var values: BSONDocument
    /// The tag of the environment, `%%environment.tag`; empty for none.
    public var environmentTag: String
    /// The constants of the environment, `%%environment.values`.
    public var environmentValues: BSONDocument

    /// Makes constants.
    public init(
        values: BSONDocument = [:], environmentTag: String = "",
        environmentValues: BSONDocument = [:]
    ) {
        self.values = values
        self.environmentTag = environmentTag
        self.environmentValues = environmentValues
    }
}
