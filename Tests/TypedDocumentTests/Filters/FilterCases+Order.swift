import BSONStore
import Foundation

extension FilterCases {
    /// Comparisons by `<`, `<=`, `>` and `>=`.
    static var order: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"_id": {"$lt": 1}}"#) { $0.id < 1 }
        list.add(#"{"_id": {"$lte": 1}}"#) { $0.id <= 1 }
        list.add(#"{"_id": {"$gt": 1}}"#) { $0.id > 1 }
        list.add(#"{"_id": {"$gte": 1}}"#) { $0.id >= 1 }
        list.add(#"{"name": {"$lt": "Ada"}}"#) { $0.name < "Ada" }
        list.add(#"{"name": {"$lte": "Ada"}}"#) { $0.name <= "Ada" }
        list.add(#"{"complexity": {"$lt": 4}}"#) { $0.complexity < 4 }
        list.add(#"{"complexity": {"$lte": 4}}"#) { $0.complexity <= 4 }
        list.add(#"{"complexity": {"$gt": 4}}"#) { $0.complexity > 4 }
        list.add(#"{"complexity": {"$gte": 4}}"#) { $0.complexity >= 4 }
        list.add(#"{"small": {"$lt": 7}}"#) { $0.small < 7 }
        list.add(#"{"small": {"$lte": 7}}"#) { $0.small <= 7 }
        list.add(#"{"rating": {"$lt": 4.5}}"#) { $0.rating < 4.5 }
        list.add(#"{"rating": {"$lte": 4.5}}"#) { $0.rating <= 4.5 }
        list.add(#"{"rating": {"$gt": 4.5}}"#) { $0.rating > 4.5 }
        list.add(#"{"rating": {"$gte": 4.5}}"#) { $0.rating >= 4.5 }
        list.add(#"{"price": {"$lt": {"$numberDecimal": "19.5"}}}"#) { $0.price < 19.5 }
        list.add(#"{"price": {"$lte": {"$numberDecimal": "19.5"}}}"#) { $0.price <= 19.5 }
        list.add(#"{"price": {"$gt": {"$numberDecimal": "19.5"}}}"#) { $0.price > 19.5 }
        list.add(#"{"price": {"$gte": {"$numberDecimal": "19.5"}}}"#) { $0.price >= 19.5 }
        list.add(#"{"created": {"$lt": {"$date": "2023-11-14T22:13:20Z"}}}"#) {
            $0.created < Order.start
        }
        list.add(#"{"created": {"$lte": {"$date": "2023-11-14T22:13:20Z"}}}"#) {
            $0.created <= Order.start
        }
        list.add(#"{"created": {"$gt": {"$date": "2023-11-14T22:13:20Z"}}}"#) {
            $0.created > Order.start
        }
        list.add(#"{"created": {"$gte": {"$date": "2023-11-14T22:13:20Z"}}}"#) {
            $0.created >= Order.start
        }
        list.add(#"{"token": {"$lt": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}}"#) {
            $0.token < Order.firstToken
        }
        list.add(#"{"token": {"$lte": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}}"#) {
            $0.token <= Order.firstToken
        }
        list.add(#"{"token": {"$gt": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}}"#) {
            $0.token > Order.firstToken
        }
        list.add(#"{"token": {"$gte": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}}"#) {
            $0.token >= Order.firstToken
        }
        list.add(#"{"owner": {"$lt": {"$oid": "64b0c0ffee0000000000abcd"}}}"#) {
            $0.owner < Order.firstOwner
        }
        list.add(#"{"owner": {"$lte": {"$oid": "64b0c0ffee0000000000abcd"}}}"#) {
            $0.owner <= Order.firstOwner
        }
        list.add(#"{"owner": {"$gt": {"$oid": "64b0c0ffee0000000000abcd"}}}"#) {
            $0.owner > Order.firstOwner
        }
        list.add(#"{"owner": {"$gte": {"$oid": "64b0c0ffee0000000000abcd"}}}"#) {
            $0.owner >= Order.firstOwner
        }
        list.add(#"{"note": {"$lt": "call"}}"#) { $0.note < "call" }
        list.add(#"{"note": {"$lte": "call"}}"#) { $0.note <= "call" }
        list.add(#"{"discount": {"$lt": 5}}"#) { $0.discount < 5 }
        list.add(#"{"discount": {"$lte": 5}}"#) { $0.discount <= 5 }
        list.add(#"{"discount": {"$gt": 5}}"#) { $0.discount > 5 }
        list.add(#"{"discount": {"$gte": 5}}"#) { $0.discount >= 5 }
        list.add(#"{"due": {"$lt": {"$date": "2023-11-14T22:14:20Z"}}}"#) {
            $0.due < Order.start + 60
        }
        list.add(#"{"due": {"$lte": {"$date": "2023-11-14T22:14:20Z"}}}"#) {
            $0.due <= Order.start + 60
        }
        list.add(#"{"due": {"$gt": {"$date": "2023-11-14T22:14:20Z"}}}"#) {
            $0.due > Order.start + 60
        }
        list.add(#"{"due": {"$gte": {"$date": "2023-11-14T22:14:20Z"}}}"#) {
            $0.due >= Order.start + 60
        }
        list.add(#"{"address.city": {"$lt": "Oslo"}}"#) { $0.address.city < "Oslo" }
        list.add(#"{"address.city": {"$lte": "Oslo"}}"#) { $0.address.city <= "Oslo" }
        list.add(#"{"previous.city": {"$lt": "Oslo"}}"#) { $0.previous.city < "Oslo" }
        list.add(#"{"previous.city": {"$lte": "Oslo"}}"#) { $0.previous.city <= "Oslo" }
        return list.cases
    }
}
