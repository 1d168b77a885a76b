import BSONStore

/// Feeds bytes as BSON and as Extended JSON; both forms must give each other back.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzExtendedJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    if let document = parsed(bytes) {
        check(document)
    }
    if let document = validated(bytes) {
        check(document)
    }
    return 0
}

private func parsed(_ text: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(extendedJSONBytes: text) } catch { return nil }
}

private func validated(_ bytes: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
}

/// The canonical text must be read as the same document; the relaxed one must be readable.
private func check(_ document: BSONDocument) {
    let canonical = document.extendedJSONBytes(.canonical)
    do throws(BSONError) {
        let limits = BSONLimits(depthMax: 200, documentBytesMax: 64 << 20)
        _ = try BSONDocument(validating: document.bytes, limits: limits)
        let again = try BSONDocument(extendedJSONBytes: canonical)
        let third = try BSONDocument(extendedJSONBytes: again.extendedJSONBytes(.canonical))
        precondition(third == again, "Canonical text is a fixed point")
        precondition(
            holdsExpression(document) || BSONOrder.compare(again, document) == .equal,
            "Canonical text keeps the values")
        _ = try BSONDocument(extendedJSONBytes: document.extendedJSONBytes(.relaxed))
    } catch {
        preconditionFailure("\(error): \(String(decoding: canonical, as: UTF8.self))")
    }
}

/// Whether a regular expression is inside, whose options are put in order on reading.
private func holdsExpression(_ document: BSONDocument) -> Bool {
    document.contains { holdsExpression($0.value) }
}

private func holdsExpression(_ value: BSONValue) -> Bool {
    switch value {
    case .document(let nested): holdsExpression(nested)
    case .array(let array): array.contains { holdsExpression($0) }
    case .regularExpression: true
    case .javascriptWithScope(let code): holdsExpression(code.scope)
    default: false
    }
}
