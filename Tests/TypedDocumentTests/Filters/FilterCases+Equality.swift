import BSONStore
import Foundation

extension FilterCases {
    /// Comparisons by `==` and `!=`, of each kind of value.
    static var equality: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"_id": 1}"#) { $0.id == 1 }
        list.add(#"{"name": "Ada"}"#) { $0.name == "Ada" }
        list.add(#"{"complexity": 4}"#) { $0.complexity == 4 }
        list.add(#"{"small": 7}"#) { $0.small == 7 }
        list.add(#"{"rating": 4.5}"#) { $0.rating == 4.5 }
        list.add(#"{"price": {"$numberDecimal": "19.5"}}"#) { $0.price == 19.5 }
        list.add(#"{"done": true}"#) { $0.done == true }
        list.add(#"{"created": {"$date": "2023-11-14T22:13:20Z"}}"#) { $0.created == Order.start }
        list.add(#"{"blob": {"$binary": {"base64": "AQI=", "subType": "00"}}}"#) {
            $0.blob == Data([1, 2])
        }
        list.add(#"{"token": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}"#) {
            $0.token == Order.firstToken
        }
        list.add(#"{"link": "https://a.example/x"}"#) {
            $0.link == URL(string: "https://a.example/x")
        }
        list.add(#"{"status": "paid"}"#) { $0.status == .paid }
        list.add(#"{"level": 9}"#) { $0.level == .high }
        list.add(#"{"owner": {"$oid": "64b0c0ffee0000000000abcd"}}"#) {
            $0.owner == Order.firstOwner
        }
        list.add(#"{"note": "call"}"#) { $0.note == "call" }
        list.add(#"{"discount": 5}"#) { $0.discount == 5 }
        list.add(#"{"hidden": true}"#) { $0.hidden == true }
        list.add(#"{"due": {"$date": "2023-11-14T22:14:20Z"}}"#) { $0.due == Order.start + 60 }
        list.add(#"{"address.city": "Oslo"}"#) { $0.address.city == "Oslo" }
        list.add(#"{"previous.city": "Oslo"}"#) { $0.previous.city == "Oslo" }
        list.add(#"{"extra": 5}"#) { $0.extra == 5 }
        list.add(#"{"_id": {"$ne": 1}}"#) { $0.id != 1 }
        list.add(#"{"name": {"$ne": "Ada"}}"#) { $0.name != "Ada" }
        list.add(#"{"complexity": {"$ne": 4}}"#) { $0.complexity != 4 }
        list.add(#"{"small": {"$ne": 7}}"#) { $0.small != 7 }
        list.add(#"{"rating": {"$ne": 4.5}}"#) { $0.rating != 4.5 }
        list.add(#"{"price": {"$ne": {"$numberDecimal": "19.5"}}}"#) { $0.price != 19.5 }
        list.add(#"{"done": {"$ne": true}}"#) { $0.done != true }
        list.add(#"{"created": {"$ne": {"$date": "2023-11-14T22:13:20Z"}}}"#) {
            $0.created != Order.start
        }
        list.add(#"{"blob": {"$ne": {"$binary": {"base64": "AQI=", "subType": "00"}}}}"#) {
            $0.blob != Data([1, 2])
        }
        list.add(#"{"token": {"$ne": {"$uuid": "01020304-0506-0708-090a-0b0c0d0e0f10"}}}"#) {
            $0.token != Order.firstToken
        }
        list.add(#"{"link": {"$ne": "https://a.example/x"}}"#) {
            $0.link != URL(string: "https://a.example/x")
        }
        list.add(#"{"status": {"$ne": "paid"}}"#) { $0.status != .paid }
        list.add(#"{"level": {"$ne": 9}}"#) { $0.level != .high }
        list.add(#"{"owner": {"$ne": {"$oid": "64b0c0ffee0000000000abcd"}}}"#) {
            $0.owner != Order.firstOwner
        }
        list.add(#"{"note": {"$ne": "call"}}"#) { $0.note != "call" }
        list.add(#"{"discount": {"$ne": 5}}"#) { $0.discount != 5 }
        list.add(#"{"hidden": {"$ne": true}}"#) { $0.hidden != true }
        list.add(#"{"due": {"$ne": {"$date": "2023-11-14T22:14:20Z"}}}"#) {
            $0.due != Order.start + 60
        }
        list.add(#"{"address.city": {"$ne": "Oslo"}}"#) { $0.address.city != "Oslo" }
        list.add(#"{"previous.city": {"$ne": "Oslo"}}"#) { $0.previous.city != "Oslo" }
        list.add(#"{"extra": {"$ne": 5}}"#) { $0.extra != 5 }
        return list.cases
    }
}
