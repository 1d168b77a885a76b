import BSONStore

/// Feeds a document `{filter, documents}` as Extended JSON or BSON to the filter.
///
/// What is read as a filter must answer for every document, and the same when it is asked again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFilter(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let input = parsed(bytes) ?? validated(bytes) else { return 0 }
    guard let filter = filter(input["filter"]?.documentValue ?? input) else { return 0 }
    for case .document(let document) in input["documents"]?.arrayValue ?? BSONArray() {
        precondition(
            filter.matches(document) == filter.matches(document) || isRandom(input),
            "A filter answers the same twice")
    }
    _ = filter.matches(input)
    return 0
}

private func filter(_ document: BSONDocument) -> Filter? {
    do throws(StoreError) { return try Filter(document) } catch { return nil }
}

/// Whether the input may hold an operator that answers by chance.
private func isRandom(_ input: BSONDocument) -> Bool {
    let text = input.extendedJSON()
    return text.contains("$rand") || text.contains("$sampleRate")
}

private func parsed(_ text: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(extendedJSONBytes: text) } catch { return nil }
}

private func validated(_ bytes: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
}
