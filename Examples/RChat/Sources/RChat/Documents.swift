import BSONStore
import Foundation

/// The collections of the chat.
enum Collections {
    /// What a user keeps: private, but for what the backend copies.
    ///
    /// It stays BSON: its rooms are fields with names that the users choose.
    static let users = Namespace("RChat", "User")
    /// What everybody may know of a user; the backend writes it.
    static let chatsters = Namespace("RChat", "Chatster")
    static let messages = Namespace("RChat", "ChatMessage")
    /// Who is in which room.
    ///
    /// No role opens it: the rules read it as the users' custom data.
    static let memberships = Namespace("RChat", "Membership")
}

/// A message in a room.
struct ChatMessage: TypedDocument {
    var id = BSONObjectID()
    /// The room's name.
    var conversationID: String
    var authorID: String
    var text: String
    var timestamp = Date()

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case conversationID, authorID, text, timestamp
    }

    /// The fields, for filters and sorts; the macro `@Document` would write them.
    struct Fields: Sendable {
        let id = Field<BSONObjectID>("_id")
        let conversationID = Field<String>("conversationID")
        let authorID = Field<String>("authorID")
        let text = Field<String>("text")
        let timestamp = Field<Date>("timestamp")
    }
    static var fields: Fields { Fields() }

    /// The message as a phone shows it.
    var line: String { "\(conversationID) | \(authorID): \(text)" }
}

/// A user as the directory shows them.
struct Chatster: TypedDocument {
    var id: String
    var userName: String
    /// The word `here` or `away`.
    var presence: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case userName, presence
    }

    /// The fields, for filters, updates and sorts.
    struct Fields: Sendable {
        let id = Field<String>("_id")
        let userName = Field<String>("userName")
        let presence = Field<String>("presence")
    }
    static var fields: Fields { Fields() }
}
