import BSONStore
import StitchSync

/// A conflict of the journal as the fields in which its versions differ.
struct ConflictComparison: Sendable {
    /// The conflict.
    let conflict: JournaledConflict

    /// The version on both sides after the conflict; `nil` for a delete, and while it is unresolved.
    private var result: BSONDocument? {
        switch conflict.answer {
        case .useLocal: conflict.local
        case .useRemote: conflict.remote
        case .use(let document): document
        case .delete, .failed, .waits: nil
        }
    }

    /// The fields that are not the same in all versions.
    var lines: [EditionLine] {
        EditionLine.lines(
            base: conflict.base, local: conflict.local, remote: conflict.remote, result: result
        ).filter { line in
            line.differs(hasRemote: true)
                || result != nil && !EditionLine.isSame(line.base, line.result)
        }
    }

    /// Returns the columns of a field: base, local, remote and result.
    func cells(of line: EditionLine) -> [Cell] {
        [
            Cell(title: "base", value: line.base, isMarked: false, in: conflict.base),
            Cell(
                title: "local", value: line.local,
                isMarked: !EditionLine.isSame(line.base, line.local), in: conflict.local),
            Cell(
                title: "remote", value: line.remote,
                isMarked: !EditionLine.isSame(line.base, line.remote), in: conflict.remote),
            conflict.isOpen
                ? Cell(title: "result", text: "not yet", isMarked: false)
                : Cell(
                    title: "result", value: line.result,
                    isMarked: !EditionLine.isSame(line.base, line.result), in: result),
        ]
    }

    /// The value of a field in one version.
    struct Cell: Sendable {
        /// The name of the version.
        let title: String
        /// The field's value; `nil` if it has none, which `text` then says.
        let value: BSONValue?
        /// The words in place of a value.
        let text: String?
        /// Whether the value differs from the base.
        let isMarked: Bool

        /// The maximum number of characters of a value that a page gets.
        private static let shownMax = 2_000

        /// The value; a long one as the beginning of its text.
        fileprivate var shortValue: BSONValue? {
            guard let value else { return nil }
            let text = value.extendedJSON(.relaxed)
            guard text.utf8.count > Self.shownMax else { return value }
            return .string(text.prefix(Self.shownMax) + " …")
        }

        fileprivate init(title: String, text: String, isMarked: Bool) {
            (self.title, value, self.text, self.isMarked) = (title, nil, text, isMarked)
        }

        fileprivate init(
            title: String, value: BSONValue?, isMarked: Bool, in version: BSONDocument?
        ) {
            (self.title, self.value, self.isMarked) = (title, value, isMarked)
            text = value != nil ? nil : version == nil ? "no document" : "no field"
        }
    }

    /// The conflict as one JSON object.
    var object: BSONDocument {
        let fields = lines.map { line in
            let cells = cells(of: line).map { cell in
                BSONValue.document([
                    "value": cell.shortValue.map { .document(["value": $0]) } ?? .null,
                    "text": cell.text.map(BSONValue.string) ?? .null,
                    "marked": .bool(cell.isMarked),
                ])
            }
            return BSONValue.document([
                "path": .string(line.path), "cells": .array(BSONArray(cells)),
            ])
        }
        return [
            "collection": .string(conflict.namespace.description), "_id": conflict.documentID,
            "time": .int64(conflict.time.milliseconds), "text": .string(conflict.answerText),
            "isOpen": .bool(conflict.isOpen), "fields": .array(BSONArray(fields)),
        ]
    }
}
