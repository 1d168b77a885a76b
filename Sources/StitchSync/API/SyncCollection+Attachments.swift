#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import BSONStore

/// Files beside documents; see Docs/ATTACHMENTS.md.
extension SyncCollection {
    /// Stores a file and makes a field of a document refer to it.
    ///
    /// It works offline. The content is stored before the reference, so that a reference never is
    /// without it on this device. The document is sent as after any change, and the content after it, in
    /// the background. An earlier file of the field is removed.
    ///
    /// ```swift
    /// try await todos.attach(jpeg, to: .objectID(todo.id), at: "photo", contentType: "image/jpeg")
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - id: the document's `_id`.
    ///   - field: the dotted path of the field.
    /// - Throws: `SyncError` of code `.localDocumentMissing` when the collection has no such document;
    ///   `StoreError`. Nothing is changed then.
    @discardableResult
    public func attach(
        _ bytes: [UInt8], to id: BSONValue, at field: String, contentType: String? = nil,
        name: String? = nil
    ) async throws -> Attachment {
        try await attach(AttachmentSource(bytes), to: id, at: field, contentType, name)
    }

    /// Stores a copy of a file and makes a field of a document refer to it, as
    /// ``attach(_:to:at:contentType:name:)`` does.
    ///
    /// - Parameter name: the name to show; the file's own name if it is omitted.
    /// - Throws: also `SyncError` of code `.fileUnreadable`.
    @discardableResult
    public func attach(
        contentsOf file: URL, to id: BSONValue, at field: String, contentType: String? = nil,
        name: String? = nil
    ) async throws -> Attachment {
        try await attach(
            AttachmentSource(path: file.path), to: id, at: field, contentType,
            name ?? file.lastPathComponent)
    }

    /// Stores a content for a document that the app writes next, for example a new one.
    ///
    /// Put the reference into a field of the document. A content that no document refers to is removed
    /// after a day.
    @discardableResult
    public func store(
        _ bytes: [UInt8], contentType: String? = nil, name: String? = nil
    ) async throws -> Attachment {
        try engine.checkIsOpen()
        return try await engine.files.cache().store(
            AttachmentSource(bytes), contentType: contentType, name: name, of: nil)
    }

    /// Stores a copy of a file as ``store(_:contentType:name:)`` does.
    ///
    /// - Throws: also `SyncError` of code `.fileUnreadable`.
    @discardableResult
    public func store(
        contentsOf file: URL, contentType: String? = nil, name: String? = nil
    ) async throws -> Attachment {
        try engine.checkIsOpen()
        return try await engine.files.cache().store(
            AttachmentSource(path: file.path), contentType: contentType,
            name: name ?? file.lastPathComponent, of: nil)
    }

    /// Returns the file that a document refers to.
    public func file(_ attachment: Attachment, of id: BSONValue) -> AttachmentFile {
        AttachmentFile(
            engine: engine, place: AttachmentPlace(namespace, documentID: id, attachment))
    }

    private func attach(
        _ source: AttachmentSource, to id: BSONValue, at field: String, _ contentType: String?,
        _ name: String?
    ) async throws -> Attachment {
        try engine.checkIsOpen()
        let (files, namespace) = (engine.files, namespace)
        let cache = try files.cache()
        let owner = AttachmentRecord.Owner(namespace: namespace, documentID: id)
        let attachment = try await cache.store(
            source, contentType: contentType, name: name, of: owner)
        do {
            let filter = try Filter(comparingBytes: ["_id": ["$eq": id]])
            let update = try Update(["$set": [field: attachment.bsonValue]])
            let result = try await engine.change(namespace) { sync in
                try sync.transaction.updateOne(namespace, filter: filter, update: update)
            }
            guard result.matchedCount == 1 else {
                throw SyncError(
                    .localDocumentMissing, "there is no document to attach the file to",
                    namespace: namespace, documentID: id)
            }
        } catch {
            try await cache.remove(attachment.id)
            throw error
        }
        files.note([id], in: namespace)
        // From now on a document without the reference is one from which it was taken out.
        try await cache.change(attachment.id) { record in
            if record.stage == .staged { record.stage = .toSend }
        }
        return attachment
    }
}

extension SyncCollection where Document: TypedDocument {
    /// Stores a file and makes a field of a document refer to it, as the form with a path does.
    ///
    /// ```swift
    /// try await todos.attach(jpeg, to: .objectID(todo.id), \.photo, contentType: "image/jpeg")
    /// ```
    @discardableResult
    public func attach(
        _ bytes: [UInt8], to id: BSONValue,
        _ field: KeyPath<Document.Fields, Field<Attachment?>>,
        contentType: String? = nil, name: String? = nil
    ) async throws -> Attachment {
        try await attach(
            bytes, to: id, at: Document.fields[keyPath: field].path(with: coding.encoder),
            contentType: contentType, name: name)
    }

    /// Stores a copy of a file and makes a field of a document refer to it, as the form with a path does.
    @discardableResult
    public func attach(
        contentsOf file: URL, to id: BSONValue,
        _ field: KeyPath<Document.Fields, Field<Attachment?>>,
        contentType: String? = nil, name: String? = nil
    ) async throws -> Attachment {
        try await attach(
            contentsOf: file, to: id,
            at: Document.fields[keyPath: field].path(with: coding.encoder),
            contentType: contentType, name: name)
    }
}
