package import BSONStore

/// The access to files beside documents: it is that to the field with the reference.
extension RuleAccess {
    /// Whether the user reads the reference to a file in a stored document.
    package func shows(_ attachment: Attachment, in document: BSONDocument) -> Bool {
        readable(document, for: attachment) != nil
    }

    /// Whether the user may store the file to which a stored document refers: the user reads the
    /// reference, and may change it or insert the document as it is.
    ///
    /// The latter is the case of documents that are written once, such as the messages of a chat: the
    /// file follows when the document is stored already.
    package func takes(_ attachment: Attachment, in document: BSONDocument) -> Bool {
        guard let shown = readable(document, for: attachment) else { return false }
        return allows(from: document, toShown: attachment.renamed(in: shown))
            || allows(from: nil, toShown: document)
    }

    /// Returns the document as the user sees it, if the user sees the reference to a file, and each
    /// other reference to it; else `nil`.
    ///
    /// Whoever knows the reference of a hidden field could else copy it into another field of the same
    /// document.
    private func readable(
        _ document: BSONDocument, for attachment: Attachment
    ) -> BSONDocument? {
        guard let shown = visible(document) else { return nil }
        let seen = Attachment.all(in: shown)
        guard seen.contains(where: attachment.hasContent) else { return nil }
        guard hidesFields else { return shown }
        // The hash is not compared: a driver's file may have none.
        func count(_ references: [Attachment]) -> Int {
            references.count { $0.id == attachment.id }
        }
        return count(seen) == count(Attachment.all(in: document)) ? shown : nil
    }

    private func allows(from before: BSONDocument?, toShown after: BSONDocument) -> Bool {
        do throws(RuleDenial) {
            _ = try judge(from: before, toShown: after)
            return true
        } catch {
            return false
        }
    }
}

extension Attachment {
    /// Returns a document in which the reference has another name.
    fileprivate func renamed(in document: BSONDocument) -> BSONDocument {
        renamed(in: .document(document), 0).documentValue ?? document
    }

    private func renamed(in value: BSONValue, _ depth: Int) -> BSONValue {
        guard depth <= Self.depthMax else { return value }
        switch value {
        case .document(let document):
            if let found = Attachment(bson: value), found.hasContent(of: self) {
                return Attachment(
                    id: id, sha256: sha256, length: length, contentType: found.contentType,
                    name: (found.name ?? "") + "_"
                ).bsonValue
            }
            return .document(
                BSONDocument(document.map { ($0.key, renamed(in: $0.value, depth + 1)) }))
        case .array(let array):
            return .array(BSONArray(array.map { renamed(in: $0, depth + 1) }))
        default: return value
        }
    }
}
