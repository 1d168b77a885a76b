#if CommandLine
    import ArgumentParser
    import BSONStore

    /// Values on the command line, which are Extended JSON.
    enum ExtendedJSONArgument {
        /// Reads a value, whose keys may be without quotes, as in MongoDB's shell: `{price: 1}`.
        ///
        /// - Throws: `ValidationError` with an example of Extended JSON.
        static func value(_ text: String) throws -> BSONValue {
            // Quoted first, since a key without quotes hides a fault behind it.
            let quoted = quotingKeys(text)
            do {
                return try BSONValue(extendedJSON: quoted)
            } catch let fault {
                throw unreadable(placing(fault, of: quoted, in: text))
            }
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
                    + #"{"_id": {"$oid": "5f0e9c2b1c9d440000a1b2c3"}}"#)
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

        /// Reads a document.
        ///
        /// - Throws: `ValidationError`.
        static func document(_ text: String) throws -> BSONDocument {
            guard let document = try value(text).documentValue else {
                throw ValidationError("it is not a document, such as {\"name\": \"pen\"}")
            }
            return document
        }
    }
#endif
