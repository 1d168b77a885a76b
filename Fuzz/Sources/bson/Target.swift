import BSONStore
import FuzzOracle

/// Feeds any bytes to validation; what is accepted must be readable, writable and known to libbson.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    let oracle = start.map { oracle_accepts($0, count) != 0 } ?? false
    let document: BSONDocument
    do throws(BSONError) {
        document = try BSONDocument(validating: bytes)
    } catch {
        let offset = error.byteOffset ?? -1
        precondition(offset >= 0 && offset <= count, "A fault has a place: \(error)")
        return 0
    }
    precondition(oracle, "libbson refuses what is accepted here")
    checkReading(document)
    checkWriting(document)
    return 0
}

/// Decodes everything, encodes it again and compares.
private func checkReading(_ document: BSONDocument) {
    let again = BSONDocument(document.map { ($0.key, $0.value) })
    precondition(hasFreeForm(document) || again == document, "Encoding gives the same bytes")
    precondition(again.count == document.count, "No element is lost")
    precondition(
        hasFreeForm(document) || BSONOrder.compare(document, again) == .equal,
        "The order finds both equal")
    for element in document {
        precondition(document.contains(key: element.key), "A key is found")
        precondition(
            BSONOrder.compare(element.value, element.value) == .equal, "A value equals itself")
        walk(element.value)
    }
    var builder = BSONDocumentBuilder(reservingBytes: 0)
    document.withCursor { cursor in
        while let element = cursor.next() { builder.append(element) }
    }
    precondition(builder.finish() == document, "Copied elements are the same bytes")
    let reversed = BSONDocument(Array(document).reversed().map { ($0.key, $0.value) })
    precondition(
        hasFreeForm(document) || document.contentEquals(reversed),
        "The order of fields is no content")
}

private func walk(_ value: BSONValue) {
    switch value {
    case .document(let nested): checkReading(nested)
    case .array(let array):
        for value in array { walk(value) }
    case .javascriptWithScope(let code): checkReading(code.scope)
    default: break
    }
}

/// Whether bytes of equal meaning exist, so that encoding may differ: array keys, regex options.
private func hasFreeForm(_ document: BSONDocument) -> Bool {
    document.contains { element in hasFreeForm(element.value) }
}

private func hasFreeForm(_ value: BSONValue) -> Bool {
    switch value {
    case .document(let nested): hasFreeForm(nested)
    case .array(let array): array.contains { hasFreeForm($0) }
    case .regularExpression: true
    case .javascriptWithScope(let code): hasFreeForm(code.scope)
    default: false
    }
}

/// Changes fields and takes the changes back.
private func checkWriting(_ document: BSONDocument) {
    var changed = document
    let marker = "fuzz marker"
    guard !document.contains(key: marker) else { return }
    changed[marker] = ["nested": [1, 2]]
    changed[path: marker + ".nested.4"] = "x"
    check(changed)
    precondition(changed[path: marker + ".nested.4"] == "x", "What was set is read")
    changed[marker] = nil
    precondition(changed == document, "Removing takes setting back")
    for (key, value) in document.prefix(8) where document[key] == value {
        changed[key] = .string("another value of another size")
        check(changed)
        changed[key] = value
        precondition(hasFreeForm(value) || changed == document, "Setting back gives the same bytes")
        changed = document
        changed[key] = nil
        check(changed)
        precondition(changed.count == document.count - 1, "One element is gone")
        changed = document
    }
}

private func check(_ document: BSONDocument) {
    do throws(BSONError) {
        let limits = BSONLimits(depthMax: 110, documentBytesMax: 32 << 20)
        _ = try BSONDocument(validating: document.bytes, limits: limits)
    } catch {
        preconditionFailure("A changed document is valid: \(error)")
    }
}
