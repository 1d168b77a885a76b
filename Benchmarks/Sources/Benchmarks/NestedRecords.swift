import BSONStore

/// Holds structs in structs and a list of structs, as an app's documents do.
struct NestedRecord: Codable {
    struct Customer: Codable {
        let name: String
        let email: String
        let address: Address
    }

    struct Address: Codable {
        let street: String
        let city: String
        let zip: String
        let position: Position
    }

    struct Position: Codable {
        let latitude: Double
        let longitude: Double
    }

    struct Shipping: Codable {
        let carrier: String
        let to: Address
        let isExpress: Bool
    }

    let id: String
    let number: Int64
    let customer: Customer
    let shipping: Shipping
    let total: Double

    static let document: BSONDocument = [
        "id": "5f43a1b2c3d4e5f6a7b8c9d0", "number": .int64(7_000_000_001),
        "customer": [
            "name": "Ada Lovelace", "email": "ada@example.com", "address": .document(address),
        ],
        "shipping": ["carrier": "Royal Mail", "to": .document(address), "isExpress": true],
        "total": 129.5,
    ]

    private static let address: BSONDocument = [
        "street": "12 St James's Square", "city": "London", "zip": "SW1Y 4JH",
        "position": ["latitude": 51.5074, "longitude": -0.1278],
    ]
}

/// Holds a list of structs.
struct ListRecord: Codable {
    struct Line: Codable {
        let product: String
        let title: String
        let count: Int32
        let price: Double
        let isGift: Bool
    }

    let id: String
    let lines: [Line]

    static let count = 20

    static let document: BSONDocument = [
        "id": "5f43a1b2c3d4e5f6a7b8c9d0",
        "lines": .array(
            BSONArray(
                (0..<count).map { index -> BSONValue in
                    [
                        "product": .string("sku-\(10_000 + index)"),
                        "title": "A notebook with squared paper", "count": .int32(Int32(index)),
                        "price": .double(Double(index) * 1.25), "isGift": .bool(index == 3),
                    ]
                })),
    ]
}
