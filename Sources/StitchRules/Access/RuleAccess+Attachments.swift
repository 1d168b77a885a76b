package import BSONStore

/// The access to files beside documents: it is that to the field with the reference.
extension RuleAccess {
    /// Whether the user reads the reference to a file in a stored document.
    package func shows(_ attachment: Attachment, in document: BSONDocument) -> Bool {
        visible(document).map { Attachment.all(in: $0).contains(attachment) } ?? false
    }

    /// Whether the user may store the file to which a stored document refers: the user reads the
    /// reference and may change it.
    package func takes(_ attachment: Attachment, in document: BSONDocument) -> Bool {
        guard let shown = visible(document), Attachment.all(in: shown).contains(attachment) else {
            return false
        }
        do throws(RuleDenial) {
            _ = try judge(from: document, toShown: attachment.renamed(in: shown))
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
            if Attachment(bson: value) == self {
                return Attachment(
                    id: id, sha256: sha256, length: length, contentType: contentType,
                    name: (name ?? "") + "_"
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
