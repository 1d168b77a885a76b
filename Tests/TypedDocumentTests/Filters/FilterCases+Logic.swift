import BSONStore
import Foundation

extension FilterCases {
    /// `&&`, `||`, `!`, boolean fields and filters in BSON.
    static var logic: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"complexity": {"$lte": 4}, "done": true}"#) {
            $0.complexity <= 4 && $0.done == true
        }
        list.add(#"{"complexity": {"$lte": 4}, "tags": "home"}"#) {
            $0.complexity <= 4 && $0.tags.contains("home")
        }
        list.add(#"{"complexity": {"$gt": 1, "$lt": 7}}"#) {
            $0.complexity > 1 && $0.complexity < 7
        }
        list.add(#"{"complexity": {"$gt": 1, "$eq": 4}}"#) {
            $0.complexity > 1 && $0.complexity == 4
        }
        list.add(#"{"complexity": {"$ne": 1, "$lte": 4}}"#) {
            $0.complexity != 1 && $0.complexity <= 4
        }
        list.add(#"{"$and": [{"complexity": {"$gt": 1}}, {"complexity": {"$gt": 2}}]}"#) {
            $0.complexity > 1 && $0.complexity > 2
        }
        list.add(#"{"$and": [{"complexity": {"$ne": 1}}, {"complexity": {"$ne": 4}}]}"#) {
            $0.complexity != 1 && $0.complexity != 4
        }
        list.add(
            #"{"$and": [{"complexity": {"$gt": 1}, "done": true}, {"complexity": {"$gt": 2}}]}"#
        ) {
            $0.complexity > 1 && $0.complexity > 2 && $0.done == true
        }
        list.add(#"{"$and": [{"name": {"$regex": "a"}}, {"name": {"$regex": "d"}}]}"#) {
            $0.name.contains("a") && $0.name.contains("d")
        }
        list.add(#"{"$or": [{"complexity": 1}, {"complexity": 7}]}"#) {
            $0.complexity == 1 || $0.complexity == 7
        }
        list.add(#"{"$or": [{"complexity": 1}, {"complexity": 7}, {"done": false}]}"#) {
            $0.complexity == 1 || $0.complexity == 7 || $0.done == false
        }
        list.add(#"{"$or": [{"complexity": 1, "done": false}, {"complexity": 7}]}"#) {
            $0.complexity == 1 && $0.done == false || $0.complexity == 7
        }
        list.add(#"{"done": true, "$or": [{"complexity": 1}, {"complexity": 7}]}"#) {
            $0.done == true && ($0.complexity == 1 || $0.complexity == 7)
        }
        list.add(
            #"{"$and": [{"$or": [{"complexity": 1}, {"complexity": 7}]}, {"$or": [{"done": true}, {"rating": 5.0}]}]}"#
        ) {
            ($0.complexity == 1 || $0.complexity == 7) && ($0.done == true || $0.rating == 5)
        }
        for (isOn, isOff) in [(true, false)] {
            list.add(#"{"complexity": 4}"#) { isOn && $0.complexity == 4 }
            list.add(#"{"complexity": 4}"#) { $0.complexity == 4 && isOn }
            list.add(#"{"complexity": 4}"#) { isOff || $0.complexity == 4 }
            list.add(#"{"complexity": 4}"#) { $0.complexity == 4 || isOff }
            list.add(#"{"done": true}"#) { isOn && $0.done }
            list.add(#"{"done": true, "complexity": 4}"#) {
                isOn && $0.done && $0.complexity == 4
            }
            list.add(#"{"done": {"$ne": true}}"#) { !$0.done && !isOff }
            list.add("{}") { isOn || $0.done }
            list.add("{}") { $0.complexity == 4 || isOn && !isOff }
            list.add(#"{"$nor": [{}]}"#) { isOff && $0.complexity == 4 }
            list.add(#"{"$nor": [{}]}"#) { $0.done && isOff }
        }
        list.add(#"{"complexity": {"$not": {"$gt": 4}}}"#) { !($0.complexity > 4) }
        list.add(#"{"complexity": {"$not": {"$lte": 4}}}"#) { !($0.complexity <= 4) }
        list.add(#"{"complexity": {"$gt": 4}}"#) { !(!($0.complexity > 4)) }
        list.add(#"{"complexity": {"$ne": 4}}"#) { !($0.complexity == 4) }
        list.add(#"{"complexity": 4}"#) { !($0.complexity != 4) }
        list.add(#"{"$nor": [{"complexity": {"$lte": 4}, "done": true}]}"#) {
            !($0.complexity <= 4 && $0.done == true)
        }
        list.add(#"{"$nor": [{"complexity": 1}, {"done": true}]}"#) {
            !($0.complexity == 1 || $0.done == true)
        }
        list.add(#"{"done": true, "$nor": [{"complexity": 1}, {"complexity": 7}]}"#) {
            $0.done == true && !($0.complexity == 1 || $0.complexity == 7)
        }
        list.add(#"{"discount": {"$gt": 0, "$not": {"$gt": 4}}}"#) {
            $0.discount > 0 && !($0.discount > 4)
        }
        list.add(#"{"done": true}"#) { $0.done }
        list.add(#"{"done": {"$ne": true}}"#) { !$0.done }
        list.add(#"{"hidden": true}"#) { $0.hidden }
        list.add(#"{"hidden": {"$ne": true}}"#) { !$0.hidden }
        list.add(#"{"done": true, "hidden": {"$ne": true}}"#) { $0.done && !$0.hidden }
        list.add(#"{"$or": [{"done": true}, {"hidden": true}]}"#) { $0.done || $0.hidden }
        list.add(#"{"complexity": 4, "done": true}"#) { $0.complexity == 4 && $0.done }
        list.add("{}") { _ in .all }
        list.add(#"{"$nor": [{}]}"#) { _ in .none }
        list.add(#"{"$nor": [{}]}"#) { _ in !TypedFilter.all }
        list.add("{}") { _ in !TypedFilter.none }
        list.add(#"{"done": true}"#) { $0.done && TypedFilter.all }
        list.add("{}") { $0.done || TypedFilter.all }
        list.add(#"{"done": true}"#) { $0.done || TypedFilter.none }
        list.add(#"{"done": true, "complexity": {"$bitsAllSet": 1}}"#) {
            $0.done && TypedFilter.bson(["complexity": ["$bitsAllSet": 1]])
        }
        list.add(#"{"$and": [{"done": true}, {"done": {"$type": "bool"}}]}"#) {
            $0.done && TypedFilter.bson(["done": ["$type": "bool"]])
        }
        list.add(#"{"$nor": [{"done": {"$type": "bool"}}]}"#) {
            _ in !TypedFilter.bson(["done": ["$type": "bool"]])
        }
        list.add(#"{"done": true, "complexity": 4}"#) {
            $0.done; $0.complexity == 4
        }
        return list.cases
    }
}
