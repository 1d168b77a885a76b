#if CommandLine
    import ArgumentParser
    import BSONScript
    import BSONStore

    /// Values on the command line: Extended JSON, or literals of MongoDB's shell.
    enum ExtendedJSONArgument {
        /// Reads a value, which may be written as in MongoDB's shell: `{at: ISODate('2024-05-01')}`.
        ///
        /// - Throws: `ValidationError` with the place of the fault and an example.
        static func value(_ text: String) throws -> BSONValue {
            // Quoted first, since a key without quotes hides a fault behind it.
            let quoted = quotingKeys(text)
            let fault: BSONError
            do {
                return try BSONValue(extendedJSON: quoted)
            } catch let refused {
                fault = placing(refused, of: quoted, in: text)
            }
            let literal: ScriptLiteral
            do {
                literal = try ScriptLiteral(text)
            } catch let refused {
                throw unreadable(
                    further(
                        fault, refused.message, refused.byteOffset, text, isCause: refused.isCause))
            }
            do {
                return try BSONValue(extendedJSON: literal.extendedJSON)
            } catch let refused {
                let place = literal.byteOffset(of: refused.byteOffset ?? 0)
                throw unreadable(further(fault, refused.message, place, text))
            }
        }

        /// Returns the fault that is further on in the text, which explains it best.
        private static func further(
            _ fault: BSONError, _ message: String, _ byteOffset: Int, _ text: String,
            isCause: Bool = false
        ) -> BSONError {
            // JSON has no single quotes, so its fault there explains nothing.
            let isQuote = text.utf8.dropFirst(byteOffset).first == UInt8(ascii: "'")
            guard isCause || isQuote || byteOffset > fault.byteOffset ?? -1 else { return fault }
            let before = text.utf8.prefix(byteOffset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
            return BSONError(
                fault.code, message, byteOffset: byteOffset, line: line, column: column)
        }

        /// Returns the fault of a quoted text with its place in the text as it was given.
        private static func placing(
            _ fault: BSONError, of quoted: String, in text: String
        ) -> BSONError {
            guard let offset = fault.byteOffset else { return fault }
            let (given, bytes) = (Array(text.utf8), Array(quoted.utf8))
            var (place, line, column) = (0, 1, 1)
            for byte in bytes.prefix(offset) {
                // A quote that is not in the given text was added.
                guard place < given.count, given[place] == byte else { continue }
                place += 1
                (line, column) = byte == UInt8(ascii: "\n") ? (line + 1, 1) : (line, column + 1)
            }
            return BSONError(
                fault.code, fault.message, byteOffset: place, line: line, column: column)
        }

        private static func unreadable(_ fault: BSONError) -> ValidationError {
            ValidationError(
                "\(fault) Extended JSON is expected, such as {\"name\": \"pen\"} or "
                    + #"{"_id": {"$oid": "5f0e9c2b1c9d440000a1b2c3"}}, or a literal of MongoDB's "#
                    + "shell, such as {name: 'pen', at: ISODate('2024-05-01')}.")
        }

        /// Returns the text with quotes around each key that has none.
        ///
        /// A key without quotes is of letters, digits, `_`, `$` and `.`, and a colon follows it.
        static func quotingKeys(_ text: String) -> String {
            let key = #/"(?:[^"\\]|\\.)*"|(?<key>[\p{L}_$][\p{L}\p{N}_$.]*)(?<colon>\s*:)/#
            return text.replacing(key) { match in
                match.output.key.map { "\"\($0)\"\(match.output.colon ?? "")" }
                    ?? String(match.output.0)
            }
        }

        /// Reads a list of values.
        ///
        /// - Throws: `ValidationError`.
        static func list(_ text: String) throws -> [BSONValue] {
            guard let list = try value(text).arrayValue else {
                throw ValidationError("it is not a list, such as [1, 2]")
            }
            return Array(list)
        }

        /// Reads a document, or a list of documents.
        ///
        /// - Throws: `ValidationError`.
        static func documents(_ text: String) throws -> [BSONDocument] {
            let value = try value(text)
            if let document = value.documentValue { return [document] }
            let documents = value.arrayValue?.compactMap(\.documentValue)
            guard let documents, documents.count == value.arrayValue?.count else {
                throw ValidationError(
                    "it is neither a document nor a list of documents, such as {name: 'pen'}")
            }
            return documents
        }

        /// Reads an update: a document or a pipeline.
        ///
        /// - Throws: `ValidationError`.
        static func update(_ text: String) throws -> BSONValue {
            let value = try value(text)
            guard value.documentValue != nil || value.arrayValue != nil else {
                throw ValidationError(
                    "it is neither an update nor a pipeline, such as {$set: {price: 3}}")
            }
            return value
        }

        /// Reads a document.
        ///
        /// - Throws: `ValidationError`.
        static func document(_ text: String) throws -> BSONDocument {
            let value = try value(text)
            guard let document = value.documentValue else {
                let id = value.arrayValue == nil ? "; a filter by _id is {_id: \(text)}" : ""
                throw ValidationError("it is not a document, such as {\"name\": \"pen\"}\(id)")
            }
            return document
        }
    }
#endif
