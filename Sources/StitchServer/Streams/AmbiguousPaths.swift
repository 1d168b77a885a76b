internal import BSONStore

/// Tells what paths of an update mean that can be read in two ways: a number in them may be the place
/// in an array or the name of a field.
///
/// Source: MongoDB manual, "update Event", `disambiguatedPaths`.
enum AmbiguousPaths {
    /// The paths of the update with a number that is a field's name, each with its parts.
    static func document(_ update: UpdateDescription, _ after: BSONDocument) -> BSONDocument {
        var paths = BSONDocument()
        for path in update.updatedFields.keys + update.removedFields {
            guard let parts = parts(of: path, in: after) else { continue }
            paths.append(path, .array(BSONArray(parts)))
        }
        return paths
    }

    private static func parts(of path: String, in document: BSONDocument) -> [BSONValue]? {
        var parts: [BSONValue] = []
        var isAmbiguous = false
        var place: BSONValue? = .document(document)
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            let number = Int32(part)
            if let number, case .array(let array)? = place {
                parts.append(.int32(number))
                place = array.values.indices.contains(Int(number)) ? array.values[Int(number)] : nil
            } else {
                isAmbiguous = isAmbiguous || number != nil
                parts.append(.string(String(part)))
                place = place?.documentValue?[String(part)]
            }
        }
        return isAmbiguous ? parts : nil
    }
}
