import BSONStore

/// Feeds a document `{update, arrayFilters, filter, documents}` as Extended JSON or BSON to the update.
///
/// What is read as an update must answer for every document, with a document that is valid.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzUpdate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let input = parsed(bytes) ?? validated(bytes) else { return 0 }
    guard let update = update(input) else { return 0 }
    let filter = filter(input["filter"]?.documentValue ?? BSONDocument()) ?? .all
    for case .document(let document) in input["documents"]?.arrayValue ?? BSONArray() {
        do throws(StoreError) {
            if let changed = try update.apply(to: document, matching: filter) { check(changed) }
        } catch {
            continue
        }
    }
    do throws(StoreError) { check(try update.insertion(for: filter)) } catch { return 0 }
    return 0
}

private func update(_ input: BSONDocument) -> Update? {
    let filters = (input["arrayFilters"]?.arrayValue ?? BSONArray()).compactMap(\.documentValue)
    do throws(StoreError) {
        return try Update(input["update"]?.documentValue ?? input, arrayFilters: filters)
    } catch {
        return nil
    }
}

private func filter(_ document: BSONDocument) -> Filter? {
    do throws(StoreError) { return try Filter(document) } catch { return nil }
}

/// A changed document may be larger and deeper than one that is stored, but is BSON.
private func check(_ document: BSONDocument) {
    do throws(BSONError) {
        let limits = BSONLimits(depthMax: 400, documentBytesMax: 256 << 20)
        _ = try BSONDocument(validating: document.bytes, limits: limits)
    } catch {
        preconditionFailure("A changed document is valid: \(error)")
    }
}

private func parsed(_ text: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(extendedJSONBytes: text) } catch { return nil }
}

private func validated(_ bytes: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
}
