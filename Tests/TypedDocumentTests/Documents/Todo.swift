#if Macros
    import BSONStore
    import Foundation

    // The types of Docs/SCHEMA.md and Docs/COOKBOOK.md, which all pages use.

    @Document
    struct Todo: Equatable {
        enum Priority: String, Codable { case low, high }
        enum Effort: Int, Codable { case small = 1, large = 9 }

        var id = BSONObjectID()  // the field "_id"
        var task: String
        var done = false  // a default, for documents without the field
        var priority: Priority = .low
        var effort: Effort = .small
        var votes = 0
        var tags: [String] = []
        var due: Date?  // may be missing
        var photo: Data?
        @FieldName("owner_id") var ownerID: UUID?  // another name in documents
        var address: Address?  // a struct with @Document, too
    }

    @Document
    struct Address: Equatable {
        var city: String
    }

    @Document
    struct User {
        var id: UUID
        var name: String
    }

    @Document
    struct Product {
        var id: String
        var price: Decimal
        var link: URL?
    }

    @Document
    struct Album {
        var id: String
        var cover: Attachment?
    }

    @Document
    struct Bill {
        var id = BSONObjectID()
        var amount: Decimal
        var paid: Date
    }
#endif
