import BSONStore
import Foundation

extension FilterCases {
    /// Tests of arrays, their elements, dictionaries and nested documents.
    static var lists: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"tags": "home"}"#) { $0.tags.contains("home") }
        list.add(#"{"tags": {"$ne": "home"}}"#) { !$0.tags.contains("home") }
        list.add(#"{"labels": "new"}"#) { $0.labels.contains("new") }
        list.add(#"{"aliases": "bobby"}"#) { $0.aliases.contains("bobby") }
        list.add(#"{"scores": 5}"#) { $0.scores.contains(5) }
        list.add(#"{"$and": [{"tags": "home"}, {"tags": "work"}]}"#) {
            $0.tags.contains("home") && $0.tags.contains("work")
        }
        list.add(#"{"tags": {"$all": ["home", "work"]}}"#) {
            $0.tags.containsAll(["home", "work"])
        }
        list.add("{}") { $0.tags.containsAll([]) }
        list.add(#"{"tags": {"$in": ["work", "red"]}}"#) { $0.tags.containsAny(["work", "red"]) }
        list.add(#"{"tags": {"$nin": ["work", "red"]}}"#) { !$0.tags.containsAny(["work", "red"]) }
        list.add(#"{"tags": {"$size": 0}}"#) { $0.tags.isEmpty }
        list.add(#"{"tags": {"$not": {"$size": 0}}}"#) { !$0.tags.isEmpty }
        list.add(#"{"aliases": {"$size": 0}}"#) { $0.aliases.isEmpty }
        list.add(#"{"tags": []}"#) { $0.tags == [] }
        list.add(#"{"tags": ["home", "red"]}"#) { $0.tags == ["home", "red"] }
        list.add(#"{"tags": {"$size": 2}}"#) { $0.tags.count == 2 }
        list.add(#"{"tags": {"$not": {"$size": 2}}}"#) { $0.tags.count != 2 }
        list.add(#"{"tags.2": {"$exists": true}}"#) { $0.tags.count > 2 }
        list.add(#"{"tags.1": {"$exists": true}}"#) { $0.tags.count >= 2 }
        list.add(#"{"tags.1": {"$exists": false}}"#) { $0.tags.count < 2 }
        list.add(#"{"tags.2": {"$exists": false}}"#) { $0.tags.count <= 2 }
        list.add(#"{"tags.0": {"$exists": true}, "tags.2": {"$exists": false}}"#) {
            $0.tags.count.in(1...2)
        }
        list.add("{}") { $0.tags.count >= 0 }
        list.add(#"{"$nor": [{}]}"#) { $0.tags.count < 0 }
        list.add(#"{"$nor": [{}]}"#) { $0.tags.count == -1 }
        list.add(#"{"gaps": {"$elemMatch": {"$eq": null}}}"#) { $0.gaps.contains(nil) }
        list.add(#"{"gaps": 2}"#) { $0.gaps.contains(2) }
        list.add(#"{"matrix": {"$elemMatch": {"$eq": [1, 2]}}}"#) { $0.matrix.contains([1, 2]) }
        list.add(#"{"matrix": {"$elemMatch": {"$elemMatch": {"$eq": 3}}}}"#) {
            $0.matrix.contains { $0.contains(3) }
        }
        list.add(#"{"matrix": {"$elemMatch": {"$size": 1}}}"#) {
            $0.matrix.contains { $0.count == 1 }
        }
        list.add(#"{"matrix": {"$elemMatch": {"$elemMatch": {"$gt": 1, "$lt": 3}}}}"#) {
            $0.matrix.contains { $0.contains { $0 > 1 && $0 < 3 } }
        }
        list.add(#"{"scores": {"$elemMatch": {"$gte": 2, "$lte": 6}}}"#) {
            $0.scores.contains { $0 >= 2 && $0 <= 6 }
        }
        list.add(#"{"scores": {"$elemMatch": {"$gte": 2, "$lte": 6}}}"#) {
            $0.scores.contains { $0.in(2...6) }
        }
        list.add(
            #"{"$or": [{"scores": {"$elemMatch": {"$eq": 1}}}, {"scores": {"$elemMatch": {"$gt": 6}}}]}"#
        ) {
            $0.scores.contains { $0 == 1 || $0 > 6 }
        }
        list.add(
            #"{"$nor": [{"scores": {"$elemMatch": {"$eq": 1}}}, {"scores": {"$elemMatch": {"$gt": 6}}}]}"#
        ) {
            !$0.scores.contains { $0 == 1 || $0 > 6 }
        }
        list.add(#"{"scores": {"$elemMatch": {"$not": {"$gt": 4}}}}"#) {
            $0.scores.contains { !($0 > 4) }
        }
        list.add(#"{"scores": {"$not": {"$elemMatch": {"$gt": 4}}}}"#) {
            !$0.scores.contains { $0 > 4 }
        }
        list.add(#"{"scores": {"$elemMatch": {"$ne": 1, "$not": {"$gt": 6}}}}"#) {
            $0.scores.contains { !($0 == 1 || $0 > 6) }
        }
        list.add(#"{"scores": {"$elemMatch": {"$exists": true}}}"#) {
            $0.scores.contains { _ in .all }
        }
        list.add(#"{"$nor": [{}]}"#) { $0.scores.contains { _ in .none } }
        list.add(#"{"scores.0": 1}"#) { $0.scores[0] == 1 }
        list.add(#"{"lines.0.product": "pen"}"#) { $0.lines[0].product == "pen" }
        list.add(#"{"lines.product": "pen"}"#) { $0.lines.product == "pen" }
        list.add(#"{"lines.price": {"$gt": 2}}"#) { $0.lines.price > 2 }
        list.add(#"{"lines.marks": "b"}"#) { $0.lines.marks.contains("b") }
        list.add(#"{"lines": {"$elemMatch": {"product": "pen", "price": {"$gt": 2}}}}"#) {
            $0.lines.contains { $0.product == "pen" && $0.price > 2 }
        }
        list.add(#"{"lines": {"$elemMatch": {"$or": [{"product": "ink"}, {"price": 3}]}}}"#) {
            $0.lines.contains { $0.product == "ink" || $0.price == 3 }
        }
        list.add(#"{"lines": {"$elemMatch": {"$nor": [{"product": "ink"}, {"price": 3}]}}}"#) {
            $0.lines.contains { !($0.product == "ink" || $0.price == 3) }
        }
        list.add(#"{"lines": {"$elemMatch": {"marks": "a", "count": {"$gt": 1}}}}"#) {
            $0.lines.contains { $0.marks.contains("a") && $0.count > 1 }
        }
        list.add(#"{"lines": {"$elemMatch": {"marks": {"$elemMatch": {"$regex": "^b"}}}}}"#) {
            $0.lines.contains { $0.marks.contains { $0.hasPrefix("b") } }
        }
        list.add(#"{"lines": {"$not": {"$elemMatch": {"price": {"$gt": 10}}}}}"#) {
            !$0.lines.contains { $0.price > 10 }
        }
        list.add(#"{"lines": {"product": "ink", "price": 12, "count": 1, "marks": []}}"#) {
            $0.lines.contains(Order.Line(product: "ink", price: 12, count: 1))
        }
        list.add(#"{"tags": {"$elemMatch": {"$regex": "^w"}}}"#) {
            $0.tags.contains { $0.hasPrefix("w") }
        }
        list.add(#"{"counters.seen": 3}"#) { $0.counters["seen"] == 3 }
        list.add(#"{"counters.sold": null}"#) { $0.counters["sold"] == nil }
        list.add(#"{"counters.seen": {"$gt": 3}}"#) { $0.counters["seen"] > 3 }
        list.add(#"{"address": {"city": "Bergen", "zip": "5003"}}"#) {
            $0.address == Order.Address(city: "Bergen", zip: "5003")
        }
        list.add(#"{"address.geo.lat": {"$gt": 50.0}}"#) { $0.address.geo.lat > 50 }
        list.add(#"{"previous.geo.lon": 2.0}"#) { $0.previous.geo.lon == 2 }
        return list.cases
    }
}
