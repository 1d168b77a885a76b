import BSONStore

/// Says what devices A and B do to a document while both are offline.
///
/// A function of the document and of its place among all, so that both devices, a restarted one too, and
/// the final check agree on it.
enum DemoPlan {
    /// Which device acts.
    enum Device: String, Sendable, CaseIterable, Codable {
        case a = "A"
        case b = "B"

        /// The field of ``DemoPlan/markField`` in which the device leaves its number.
        var mark: String { rawValue.lowercased() }
    }

    /// What becomes of a document.
    enum Scene: Sendable, CaseIterable {
        /// Both edit fields that the other leaves alone.
        case bothDifferentFields
        /// Both edit the same field.
        case bothSameField
        /// Only A edits.
        case onlyA
        /// Only B edits.
        case onlyB
        /// A deletes what B edits; the edit wins.
        case deletedByAEditedByB
        /// B deletes what A edits; the edit wins.
        case deletedByBEditedByA
        /// Both delete.
        case deletedByBoth
        /// Nobody touches it.
        case untouched
    }

    /// What a device does to a document.
    enum Action: Sendable, Equatable {
        /// Applies an update in MongoDB's language.
        case update(BSONDocument)
        /// Deletes it.
        case delete
        /// Leaves it alone.
        case leave
    }

    /// The field that holds, by device, the number of its edit.
    static let markField = "demoEdits"

    /// The scene of the document at a place, counted from 0 in the order of `_id`.
    static func scene(at place: Int) -> Scene {
        switch place % 20 {
        case 0, 10: .bothDifferentFields
        case 1, 11: .bothSameField
        case 2, 12: .onlyA
        case 3, 13: .onlyB
        case 4: .deletedByAEditedByB
        case 5: .deletedByBEditedByA
        case 6: .deletedByBoth
        default: .untouched
        }
    }

    /// What a device does to a document at a place.
    static func action(of device: Device, on document: BSONDocument, at place: Int) -> Action {
        switch (scene(at: place), device) {
        case (.bothDifferentFields, _), (.onlyA, .a), (.onlyB, .b):
            .update(mark(device, place))
        case (.bothSameField, _):
            .update(mark(device, place, with: change(by: device, of: document)))
        case (.deletedByAEditedByB, .b), (.deletedByBEditedByA, .a):
            .update(mark(device, place))
        case (.deletedByAEditedByB, .a), (.deletedByBEditedByA, .b), (.deletedByBoth, _):
            .delete
        case (.onlyA, .b), (.onlyB, .a), (.untouched, _):
            .leave
        }
    }

    /// Whether a device edits or deletes the document at a place.
    static func edits(of device: Device, at place: Int) -> Bool {
        action(of: device, on: [:], at: place) != .leave
    }

    /// Whether the document is there in the end.
    static func survives(at place: Int) -> Bool { scene(at: place) != .deletedByBoth }

    /// The documents that a device makes offline, the last of them under an `_id` of both devices.
    static func newDocuments(of device: Device, among count: Int) -> [BSONDocument] {
        let own = (1...max(2, count / 200)).map { number -> BSONDocument in
            ["demo": .string(device.rawValue), "n": .int32(Int32(number))]
        }
        return (own + [sharedID]).map { id in
            ["_id": .document(id), markField: .document([device.mark: true])]
        }
    }

    /// The `_id` under which both devices make a document, without knowing of each other.
    static let sharedID: BSONDocument = ["demo": "both"]

    private static func mark(
        _ device: Device, _ place: Int, with change: BSONDocument = [:]
    ) -> BSONDocument {
        var update = change
        var fields = update["$set"]?.documentValue ?? [:]
        fields["\(markField).\(device.mark)"] = .int64(Int64(place))
        update["$set"] = .document(fields)
        return update
    }

    /// A change of the first field that can be added to: a small number, an array, or a text.
    private static func change(by device: Device, of document: BSONDocument) -> BSONDocument {
        for (key, value) in document where isPlain(key) {
            switch value {
            case .string(let text):
                return ["$set": .document([key: .string("\(text) [\(device.rawValue)]")])]
            case .array: return ["$push": .document([key: .string("by \(device.rawValue)")])]
            case .int32(let number) where abs(Int(number)) < 1 << 30:
                return ["$inc": .document([key: .int32(device == .a ? 1 : 10)])]
            default: continue
            }
        }
        return [:]
    }

    private static func isPlain(_ key: String) -> Bool {
        key != "_id" && !key.isEmpty && !key.hasPrefix("$") && !key.contains(".")
            && key != markField
    }
}
