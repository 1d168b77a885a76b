import BSONStore
import StitchSync

/// The differences between base, local and remote of one document.
struct DocumentDiff: Sendable {
    /// The collection.
    let namespace: Namespace
    /// The versions in the store.
    let editions: DocumentEditions
    /// The known remote version.
    let remote: RemoteKnowledge
    /// The document's last conflict, if it is still stored.
    let conflict: JournaledConflict?
    /// Whether unchanged fields are shown, too, and values as a whole.
    let showsAll: Bool

    /// The maximum number of fields that are shown.
    private static let fieldsMax = 50

    private var fields: [EditionLine] {
        let hasRemote = remote.edition != nil
        return EditionLine.lines(
            base: editions.base, local: editions.local, remote: remote.edition,
            keepsArrays: showsAll
        ).filter { showsAll || $0.differs(hasRemote: hasRemote) }
    }

    /// Returns the differences as text lines.
    func lines(_ style: TextStyle) -> [String] {
        let id = editions.documentID.extendedJSON(.relaxed)
        var lines = [
            style("\(namespace) \(id)", .bold) + ": \(stateText.printable)",
            "base    \(baseText)", "local   \(localText)", "remote  \(remote.text)",
        ]
        if let conflict {
            lines.append("        last conflict at \(conflict.time.text): \(conflict.answerText)")
        }
        let fields = fields
        if fields.isEmpty { return lines + ["", "no field differs"] }
        let shown = showsAll ? fields[...] : fields.prefix(Self.fieldsMax)
        for field in shown {
            lines += ["", style(field.path.printable, .bold)]
            lines += rows(of: field, style)
        }
        let rest = fields.count - shown.count
        if rest > 0 { lines += ["", "\(rest) more differ; --all shows all"] }
        return lines
    }

    private func rows(of field: EditionLine, _ style: TextStyle) -> [String] {
        let hasRemote = remote.edition != nil
        let base = "  base    \(text(field.base, of: editions.base))"
        let local = "  local   \(text(field.local, of: editions.local))"
        let remote =
            hasRemote ? "  remote  \(text(field.remote, of: remote.edition ?? nil))" : "  remote  ?"
        let isMine = !EditionLine.isSame(field.base, field.local)
        let isTheirs = hasRemote && !EditionLine.isSame(field.base, field.remote)
        return [
            style(base, .dim), isMine ? style(local, .green) : style(local, .dim),
            isTheirs ? style(remote, .cyan) : style(remote, .dim),
        ]
    }

    private func text(_ value: BSONValue?, of edition: BSONDocument?) -> String {
        guard edition != nil else { return "(no document)" }
        guard let value else { return "(no such field)" }
        return showsAll ? value.extendedJSON(.relaxed) : "\(ShortValue(value))"
    }

    private var stateText: String {
        switch editions.status {
        case .notSynced: "not synced; only the local document is known"
        case .synced: "in step, as far as is known"
        case .pending: "a change is pending"
        case .stale: "the remote may have changed; the next pass reads it"
        case .conflicted: "a change is pending; the next pass reads the remote first"
        case .unexplained:
            "missing at the remote without evidence of a delete; kept here and not uploaded"
        case .paused(let reason):
            "paused (\(reason.code.rawValue)): \(EngineText.translated(reason.message))"
        }
    }

    private var baseText: String {
        guard editions.status != .notSynced else { return "none" }
        let document = editions.base == nil ? "the remote held no document" : "confirmed last"
        switch editions.version {
        case .absent: return document + ", without a version"
        case .foreign: return document + ", with an unknown version field"
        case .version(let version):
            return document + ", version \(version.counter) of \(version.lineage.printable)"
        }
    }

    private var localText: String {
        if editions.local == nil { return "no document here" }
        return EditionLine.isSame(
            editions.base.map(BSONValue.document), editions.local.map(BSONValue.document))
            ? "same as the base" : "changed here"
    }

    /// The differences as one JSON object.
    var document: BSONDocument {
        func value(_ edition: BSONDocument?) -> BSONValue {
            edition.map(BSONValue.document) ?? .null
        }
        var document: BSONDocument = [
            "collection": .string(namespace.description), "_id": editions.documentID,
            "state": .string(editions.status.name), "base": value(editions.base),
            "local": value(editions.local),
            "remoteIs": .string(remote.name),
        ]
        if let reason = editions.pauseReason { document.append("reason", .string(reason.message)) }
        if let edition = remote.edition { document.append("remote", value(edition)) }
        if let version = editions.version.value { document.append("version", version) }
        let differences = fields.map { field in
            var line: BSONDocument = ["path": .string(field.path)]
            if let value = field.base { line.append("base", value) }
            if let value = field.local { line.append("local", value) }
            if let value = field.remote { line.append("remote", value) }
            return BSONValue.document(line)
        }
        document.append("differences", .array(BSONArray(differences)))
        return document
    }
}

extension DocumentEditions {
    /// The reason of the pause, if the document is paused.
    var pauseReason: PauseReason? {
        if case .paused(let reason) = status { reason } else { nil }
    }
}

extension JournaledConflict {
    /// The resolution in words.
    var answerText: String {
        switch answer {
        case .useLocal: "the local edition was kept"
        case .useRemote: "the remote edition was taken"
        case .use: "a merged document was kept"
        case .delete: "deleted on both sides"
        case .failed(let reason): reason.printable
        case .waits: "it waits for a conflict handler"
        }
    }
}
