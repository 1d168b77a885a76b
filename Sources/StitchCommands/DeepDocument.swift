package import BSONStore

/// The search for the document of a reply that is nested more deeply than ours may be.
package enum DeepDocument {
    /// Overflow, which MongoDB itself answers for a document that is nested too deeply.
    package static let code = 15

    /// Returns the failure that names the document: the same request fails again.
    ///
    /// - Parameter reply: a reply that is nested too deeply.
    package static func failure(in reply: BSONDocument) -> MongoFailure {
        let cursor = reply["cursor"]?.documentValue ?? [:]
        let batch = (cursor["firstBatch"] ?? cursor["nextBatch"])?.arrayValue ?? []
        let deep = batch.lazy.compactMap(\.documentValue).first(where: isTooDeep)
        let levels = BSONLimits().depthMax
        var subject = "a document of the answer"
        if let deep {
            // An event names the document that changed.
            let id = deep["documentKey"]?.documentValue?["_id"] ?? deep["_id"]
            let place = deep["documentKey"] == nil ? nil : deep["ns"]?.documentValue
            let names = [place?["db"]?.stringValue, place?["coll"]?.stringValue].compactMap(\.self)
            let namespace =
                names.isEmpty ? cursor["ns"]?.stringValue ?? "" : names.joined(separator: ".")
            subject = "the document of \(namespace) with _id \(text(of: id))"
        }
        return MongoFailure(
            kind: .server, code: code,
            message: "\(subject) is nested deeper than \(levels) levels and cannot be read")
    }

    private static func text(of id: BSONValue?) -> String {
        guard let id, !isTooDeep(["_id": id]) else { return "unknown" }
        return id.extendedJSON(.relaxed)
    }

    private static func isTooDeep(_ document: BSONDocument) -> Bool {
        do throws(BSONError) {
            let bytes = document.withUnsafeBytes { Array($0) }
            _ = try BSONDocument(validating: bytes, limits: BSONLimits(documentBytesMax: .max))
            return false
        } catch {
            return error.code == .tooDeep
        }
    }
}
