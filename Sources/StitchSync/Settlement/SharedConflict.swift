internal import BSONStore

/// A conflict as a device shares it with the server.
struct SharedConflict {
    /// The maximum number of bytes of a shared conflict.
    static let bytesMax = 64 * 1024
    /// The maximum number of characters of the app's version.
    private static let versionMax = 128

    /// The conflict with its editions and its decision.
    let document: BSONDocument

    /// Describes an answered conflict; `nil` where it is too large.
    init?(_ answer: ConflictAnswer, _ outcome: ResolutionOutcome, _ sharing: ConflictSharing) {
        let conflict = answer.conflict
        var (decision, result): (String, BSONDocument?)
        var code: SyncError.Code?
        switch (answer.result, outcome) {
        case (_, .overtaken): return nil
        case (.success(let resolution), .committed):
            decision = JournaledConflict.Answer(resolution).name
            result = resolution.document(
                local: conflict.local, remote: conflict.remote.document)
        case (.success, .paused(let error)), (.failure(let error), _):
            (decision, result, code) = ("fail", nil, error.code)
        }
        let editions = FieldRedaction(paths: sharing.redactedPaths).redacted([
            conflict.base, conflict.local, conflict.remote.document, result,
        ])
        var document: BSONDocument = [
            "_id": .objectID(BSONObjectID()), "time": .datetime(.now),
            "documentID": conflict.record.documentID, "decision": .string(decision),
            "mayHaveLanded": .bool(conflict.mayHaveLanded),
        ]
        // The error's message may hold values of fields.
        if let code { document.append("code", .string(code.rawValue)) }
        if let version = sharing.appVersion {
            document.append(
                "appVersion", .string(String(version.unicodeScalars.prefix(Self.versionMax))))
        }
        for (key, edition) in zip(["base", "local", "remote", "result"], editions) {
            if let edition { document.append(key, .document(edition)) }
        }
        if let version = conflict.record.version.value { document.append("baseVersion", version) }
        if let version = conflict.remote.version.value {
            document.append("remoteVersion", version)
        }
        guard document.byteCount <= Self.bytesMax else { return nil }
        self.document = document
    }
}
