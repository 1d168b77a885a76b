import BSONStore
import Foundation

struct Expense: Codable, Identifiable, Equatable {
    var id = BSONObjectID()
    var group: String
    var payer: String
    var amount: Decimal
    var what: String

    enum CodingKeys: String, CodingKey { case id = "_id", group, payer, amount, what }
}

/// What the operator has stored about a user.
struct Profile: Codable, Identifiable, Equatable {
    var id: String
    var group: String

    enum CodingKeys: String, CodingKey { case id = "_id", group }
}
