import BSONStore

/// The edits of devices A and B while both are offline.
///
/// The plan depends only on a document and its index, so both devices, a restarted one, and the
/// final check agree on it.
enum DemoPlan {
    /// The acting device.
    enum Device: String, Sendable, CaseIterable, Codable {
        case a = "A"
        case b = "B"

        /// The field in ``DemoPlan/markField`` for the device's edit number.
        var mark: String { rawValue.lowercased() }
    }

    /// The fate of a document.
    enum Scene: Sendable, CaseIterable {
        /// Both devices edit different fields.
        case bothDifferentFields
        /// Both devices edit the same field.
        case bothSameField
        /// Only A edits the document.
        case onlyA
        /// Only B edits the document.
        case onlyB
        /// A deletes the document and B edits it; the edit wins.
        case deletedByAEditedByB
        /// B deletes the document and A edits it; the edit wins.
        case deletedByBEditedByA
        /// Both devices delete the document.
        case deletedByBoth
        /// Neither device changes the document.
        case untouched
    }

    /// A device's action on a document.
    enum Action: Sendable, Equatable {
        /// Applies an update document.
        case update(BSONDocument)
        /// Deletes the document.
        case delete
        /// Does nothing.
        case leave
    }

    /// The field with each device's edit number.
    static let markField = "demoEdits"

    /// Returns the scene of the document at an index, counted from 0 in the order of `_id`.
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

    /// Returns a device's action on the document at an index.
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

    /// Whether a device edits or deletes the document at an index.
    static func edits(of device: Device, at place: Int) -> Bool {
        action(of: device, on: [:], at: place) != .leave
    }

    /// Whether the document exists at the end.
    static func survives(at place: Int) -> Bool { scene(at: place) != .deletedByBoth }

    /// Returns the documents that a device inserts offline; the last one has an `_id` that both
    /// devices use.
    static func newDocuments(of device: Device, among count: Int) -> [BSONDocument] {
        let own = (1...max(2, count / 200)).map { number -> BSONDocument in
            ["demo": .string(device.rawValue), "n": .int32(Int32(number))]
        }
        return (own + [sharedID]).map { id in
            ["_id": .document(id), markField: .document([device.mark: true])]
        }
    }

    /// The `_id` that both devices insert independently.
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

    /// Returns a change of the first suitable field: a small number, an array, or a string.
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
        key != "_id" && !key.isEmpty && !key.hasBytePrefix("$") && !key.contains(".")
            && key != markField
    }
}
