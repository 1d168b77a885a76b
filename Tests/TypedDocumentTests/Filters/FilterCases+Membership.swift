import BSONStore
import Foundation

extension FilterCases {
    /// Ranges, `in`, `nil`, `exists`, types and multiples.
    static var membership: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"complexity": {"$gte": 1, "$lte": 4}}"#) { $0.complexity.in(1...4) }
        list.add(#"{"complexity": {"$gte": 1, "$lt": 4}}"#) { $0.complexity.in(1..<4) }
        list.add(#"{"complexity": {"$gte": 4}}"#) { $0.complexity.in(4...) }
        list.add(#"{"complexity": {"$lte": 4}}"#) { $0.complexity.in(...4) }
        list.add(#"{"complexity": {"$lt": 4}}"#) { $0.complexity.in(..<4) }
        list.add(#"{"complexity": {"$in": [1, 4]}}"#) { $0.complexity.in([1, 4]) }
        list.add(#"{"complexity": {"$nin": [1, 4]}}"#) { !$0.complexity.in([1, 4]) }
        list.add(#"{"$nor": [{"complexity": {"$gte": 1, "$lte": 4}}]}"#) {
            !$0.complexity.in(1...4)
        }
        list.add(#"{"discount": {"$gte": 1, "$lte": 4}}"#) { $0.discount.in(1...4) }
        list.add(#"{"discount": {"$gte": 1, "$lt": 4}}"#) { $0.discount.in(1..<4) }
        list.add(#"{"discount": {"$gte": 4}}"#) { $0.discount.in(4...) }
        list.add(#"{"discount": {"$lte": 4}}"#) { $0.discount.in(...4) }
        list.add(#"{"discount": {"$lt": 4}}"#) { $0.discount.in(..<4) }
        list.add(#"{"discount": {"$in": [1, 4]}}"#) { $0.discount.in([1, 4]) }
        list.add(#"{"discount": {"$nin": [1, 4]}}"#) { !$0.discount.in([1, 4]) }
        list.add(#"{"$nor": [{"discount": {"$gte": 1, "$lte": 4}}]}"#) { !$0.discount.in(1...4) }
        list.add(#"{"rating": {"$gte": 2.5, "$lte": 4.5}}"#) { $0.rating.in(2.5...4.5) }
        list.add(
            #"{"created": {"$gte": {"$date": "2023-11-14T22:13:20Z"}, "$lt": {"$date": "2023-11-14T22:14:20Z"}}}"#
        ) {
            $0.created.in(Order.start..<Order.start + 60)
        }
        list.add(#"{"status": {"$in": ["open", "sent"]}}"#) { $0.status.in([.open, .sent]) }
        list.add(#"{"note": {"$in": ["call", null]}}"#) { $0.note.in(["call", nil]) }
        list.add(#"{"complexity": {"$in": []}}"#) { $0.complexity.in([]) }
        list.add(#"{"complexity": {"$nin": []}}"#) { !$0.complexity.in([]) }
        list.add(#"{"note": null}"#) { $0.note == nil }
        list.add(#"{"note": {"$ne": null}}"#) { $0.note != nil }
        list.add(#"{"note": {"$ne": null}}"#) { !($0.note == nil) }
        list.add(#"{"note": null}"#) { !($0.note != nil) }
        list.add(#"{"previous": null}"#) { $0.previous == nil }
        list.add(#"{"previous.zip": null}"#) { $0.previous.zip == nil }
        list.add(#"{"previous.geo.lat": {"$ne": null}}"#) { $0.previous.geo.lat != nil }
        list.add(#"{"level": null}"#) { $0.level == nil }
        list.add(#"{"note": {"$exists": true}}"#) { $0.note.exists }
        list.add(#"{"note": {"$exists": false}}"#) { !$0.note.exists }
        list.add(#"{"address.zip": {"$exists": true}}"#) { $0.address.zip.exists }
        list.add(#"{"extra": {"$type": "string"}}"#) { $0.extra.hasType(.string) }
        list.add(#"{"extra": {"$not": {"$type": "string"}}}"#) { !$0.extra.hasType(.string) }
        list.add(#"{"complexity": {"$mod": [2, 0]}}"#) { $0.complexity.isMultiple(of: 2) }
        list.add(#"{"complexity": {"$not": {"$mod": [2, 0]}}}"#) {
            !$0.complexity.isMultiple(of: 2)
        }
        list.add(#"{"extra": {"$eq": {"$regularExpression": {"pattern": "t", "options": ""}}}}"#) {
            $0.extra == .regularExpression(BSONRegularExpression("t"))
        }
        list.add(
            #"{"extra": {"$not": {"$eq": {"$regularExpression": {"pattern": "t", "options": ""}}}}}"#
        ) {
            $0.extra != .regularExpression(BSONRegularExpression("t"))
        }
        return list.cases
    }
}
