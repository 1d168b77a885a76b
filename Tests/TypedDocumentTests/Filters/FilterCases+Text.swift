import BSONStore
import Foundation

extension FilterCases {
    /// Tests of texts.
    static var text: [FilterCase] {
        var list = FilterCases()
        list.add(#"{"name": {"$regex": "^Ad"}}"#) { $0.name.hasPrefix("Ad") }
        list.add(#"{"name": {"$regex": "old\\)\\z"}}"#) { $0.name.hasSuffix("old)") }
        list.add(#"{"name": {"$regex": "a"}}"#) { $0.name.contains("a") }
        list.add(#"{"name": {"$regex": "^AD", "$options": "i"}}"#) {
            $0.name.hasPrefix("AD", caseInsensitive: true)
        }
        list.add(#"{"name": ""}"#) { $0.name.isEmpty }
        list.add(#"{"note": {"$regex": "^Ad"}}"#) { $0.note.hasPrefix("Ad") }
        list.add(#"{"note": {"$regex": "old\\)\\z"}}"#) { $0.note.hasSuffix("old)") }
        list.add(#"{"note": {"$regex": "a"}}"#) { $0.note.contains("a") }
        list.add(#"{"note": {"$regex": "^AD", "$options": "i"}}"#) {
            $0.note.hasPrefix("AD", caseInsensitive: true)
        }
        list.add(#"{"note": ""}"#) { $0.note.isEmpty }
        list.add(#"{"name": {"$regex": "A", "$options": "i"}}"#) {
            $0.name.contains("A", caseInsensitive: true)
        }
        list.add(#"{"name": {"$regex": "^ADA\\z", "$options": "i"}}"#) {
            $0.name.equals(caseInsensitive: "ADA")
        }
        list.add(#"{"name": {"$regex": "^A.*a$"}}"#) { $0.name.matches("^A.*a$") }
        list.add(#"{"name": {"$regex": "^a.*a$", "$options": "im"}}"#) {
            $0.name.matches("^a.*a$", options: "im")
        }
        list.add(#"{"name": {"$not": {"$regex": "^A"}}}"#) { !$0.name.hasPrefix("A") }
        list.add(#"{"name": {"$not": {"$regex": "^A", "$options": "i"}}}"#) {
            !$0.name.hasPrefix("A", caseInsensitive: true)
        }
        list.add(#"{"name": {"$ne": ""}}"#) { !$0.name.isEmpty }
        list.add(#"{"name": {"$regex": "\\(old\\)"}}"#) { $0.name.contains("(old)") }
        list.add(#"{"name": {"$regex": "a\\.b\\*c\\+\\?\\[x\\]\\{1\\}\\|\\^\\$\\\\"}}"#) {
            $0.name.contains(#"a.b*c+?[x]{1}|^$\"#)
        }
        list.add(#"{"name": {"$regex": "a\\x00b"}}"#) { $0.name.contains("a\0b") }
        list.add(#"{"name": {"$regex": "^"}}"#) { $0.name.hasPrefix("") }
        list.add(#"{"name": {"$regex": "é"}}"#) { $0.name.contains("é") }
        list.add(#"{"address.city": {"$regex": "^Os"}}"#) { $0.address.city.hasPrefix("Os") }
        list.add(#"{"previous.zip": {"$regex": "^0"}}"#) { $0.previous.zip.hasPrefix("0") }
        list.add(#"{"lines.product": {"$regex": "^p"}}"#) { $0.lines.product.hasPrefix("p") }
        list.add(#"{"name": {"$regex": "^A", "$ne": "Ada"}}"#) {
            $0.name.hasPrefix("A") && $0.name != "Ada"
        }
        return list.cases
    }
}
