import BSONStore

/// Requests whose own size makes them expensive.
enum LargeRequest: String, CaseIterable, Sendable {
    case wideSet, wideSetOfOthers, wideUnset, values, otherValues, polygon
    case insert, delete, findAndModify, update, count
    case endSessions, refreshSessions, killSessions, killCursors, rolesInfo, createUser
    case createIndexes

    /// Returns an object of fields with numbered names.
    static func fields(_ numbers: Range<Int32>) -> BSONDocument {
        var fields = BSONDocument()
        for number in numbers { fields.append("f\(number)", .int32(number)) }
        return fields
    }

    /// Returns fields by paths into one object.
    private static func paths(_ numbers: Range<Int32>) -> BSONDocument {
        var fields = BSONDocument()
        for number in numbers { fields.append("wide.f\(number)", .int32(-number)) }
        return fields
    }

    /// A filter that names a million values; no document has one.
    private static let million: BSONDocument = [
        "n": ["$in": .array(BSONArray((1_000_000..<2_000_000).map { .int32($0) }))]
    ]

    /// A filter by a polygon of 25,000 corners.
    private static let corners: BSONDocument = {
        var ring = (0..<25_000).map { number -> BSONValue in
            // A circle by rational points.
            let t = Double(number) / 12_500 - 1
            let (x, y) = ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))
            return [.double(x), .double(y)]
        }
        ring.append(ring[0])
        let polygon: BSONDocument = [
            "type": "Polygon", "coordinates": [.array(BSONArray(ring))],
        ]
        return ["at": ["$geoWithin": ["$geometry": .document(polygon)]]]
    }()

    /// 100,000 sessions of which none is known.
    static let sessions: BSONValue = {
        let ids = (0..<100_000).map { number -> BSONValue in
            let bytes = withUnsafeBytes(of: Int64(number)) { Array($0) }
            return ["id": .binary(BSONBinary(bytes + bytes, subtype: 4))]
        }
        return .array(BSONArray(ids))
    }()

    /// A role on each of 50,000 databases.
    private static let roles: BSONValue = .array(
        BSONArray((0..<50_000).map { ["role": "readWrite", "db": .string("d\($0)")] }))

    private static func update(_ query: BSONDocument, _ change: BSONDocument) -> BSONDocument {
        let update: BSONDocument = [
            "q": .document(query), "u": .document(change), "multi": true,
        ]
        return ["update": "items", "updates": [.document(update)]]
    }

    /// The command.
    var command: BSONDocument {
        switch self {
        case .wideSet: return Self.update(["_id": 0], ["$set": .document(Self.paths(0..<20_000))])
        case .wideSetOfOthers:
            return Self.update([:], ["$set": .document(Self.paths(20_000..<40_000))])
        case .wideUnset:
            return Self.update(["_id": 0], ["$unset": .document(Self.paths(0..<20_000))])
        case .values: return ["find": "items", "filter": .document(Self.million)]
        case .otherValues:
            return ["find": "items", "filter": ["$nor": [.document(Self.million)]]]
        case .polygon: return ["find": "items", "filter": .document(Self.corners)]
        case .insert:
            let documents = (0..<90_000).map { number -> BSONValue in ["n": .int32(number)] }
            return ["insert": "items", "documents": .array(BSONArray(documents))]
        case .delete:
            let delete: BSONDocument = ["q": .document(Self.million), "limit": 0]
            return ["delete": "items", "deletes": [.document(delete)]]
        case .findAndModify:
            return ["findAndModify": "items", "query": .document(Self.corners), "remove": true]
        case .update: return Self.update(Self.million, ["$set": ["x": 1]])
        case .count: return ["count": "items", "query": .document(Self.million)]
        case .endSessions, .refreshSessions, .killSessions: return [rawValue: Self.sessions]
        case .killCursors:
            let ids = (0..<1_000_000).map { BSONValue.int64($0) }
            return ["killCursors": "items", "cursors": .array(BSONArray(ids))]
        case .rolesInfo: return ["rolesInfo": Self.roles]
        case .createUser: return ["createUser": "many", "pwd": "pw", "roles": Self.roles]
        case .createIndexes:
            let index: BSONValue = ["key": ["a": 1], "name": "a"]
            return [
                "createIndexes": "items",
                "indexes": .array(BSONArray(Array(repeating: index, count: 50_000))),
            ]
        }
    }
}
