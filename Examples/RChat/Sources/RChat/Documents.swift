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
    /// A photo, whose content is a file beside the message.
    var photo: Attachment?
    /// Where the author was.
    var location: Point?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case conversationID, authorID, text, timestamp, photo, location
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
    var line: String {
        var line = "\(conversationID) | \(authorID): \(text)"
        if let photo { line += "photo \(photo.shown)" }
        if let location { line += " (at \(location.shown))" }
        return line
    }
}

/// A place on the earth, in GeoJSON.
struct Point: Codable, Sendable {
    var type = "Point"
    /// The longitude, then the latitude.
    let coordinates: [Double]

    /// - Throws: `ChatFailure` for a place that is not on the earth.
    init(latitude: String, longitude: String) throws {
        guard let north = Double(latitude), let east = Double(longitude), abs(north) <= 90,
            abs(east) <= 180
        else { throw ChatFailure("where? /at LATITUDE LONGITUDE TEXT") }
        coordinates = [east, north]
    }

    var shown: String { coordinates.reversed().map { "\($0)" }.joined(separator: " ") }
}

extension Attachment {
    /// The name and the size, without the bytes.
    var shown: String { "\(name ?? "without a name"), \(length) bytes" }
}

/// A user as the directory shows them.
struct Chatster: TypedDocument {
    var id: String
    var userName: String
    /// The word `here` or `away`.
    var presence: String
    /// The user's picture, which the user writes; the rest is the backend's.
    var picture: Attachment?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case userName, presence, picture
    }

    /// The fields, for filters, updates and sorts.
    struct Fields: Sendable {
        let id = Field<String>("_id")
        let userName = Field<String>("userName")
        let presence = Field<String>("presence")
        let picture = Field<Attachment?>("picture")
    }
    static var fields: Fields { Fields() }
}
