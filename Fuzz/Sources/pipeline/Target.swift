import BSONStore

/// Holds the documents that the pipelines look at.
private let store: DocumentStore = {
    do { return try DocumentStore(at: .inMemory) } catch {
        preconditionFailure("A store in memory can be opened: \(error)")
    }
}()

/// Feeds a document `{pipeline, documents, let}` as Extended JSON or BSON to the aggregation.
///
/// A pipeline gives valid documents or an error, whatever the documents are.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPipeline(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let input = parsed(bytes) ?? validated(bytes) else { return 0 }
    let stages = input["pipeline"]?.arrayValue ?? BSONArray()
    var options = PipelineOptions()
    options.let = input["let"]?.documentValue
    do throws(StoreError) { _ = try Pipeline(stages, options: options) } catch { return 0 }
    let documents = (input["documents"]?.arrayValue ?? BSONArray()).compactMap(\.documentValue)
    run(stages, options, documents)
    return 0
}

private func run(
    _ stages: BSONArray, _ options: PipelineOptions, _ documents: [BSONDocument]
) {
    let namespace = Namespace("fuzz", "input")
    do {
        try store.write { transaction in
            for document in documents.prefix(16) {
                do { try transaction.insert(namespace, document) } catch { continue }
            }
            for isDatabase in [false, true] {
                let place = isDatabase ? Namespace("fuzz", "$cmd.aggregate") : namespace
                do {
                    let pipeline = try Pipeline(stages, options: options)
                    try transaction.aggregate(place, pipeline) { (document) throws(StoreError) in
                        check(document)
                        return true
                    }
                } catch let error as StoreError {
                    precondition(error.code != .corrupt, "Nothing is damaged: \(error)")
                }
            }
            throw Undo()
        }
    } catch {
        precondition(error is Undo, "Only the end of the attempt is thrown: \(error)")
    }
}

/// Takes back what an input stored.
private struct Undo: Error {}

private func check(_ document: BSONDocument) {
    do throws(BSONError) {
        let limits = BSONLimits(depthMax: 1_000, documentBytesMax: 256 << 20)
        _ = try BSONDocument(validating: document.bytes, limits: limits)
    } catch {
        preconditionFailure("A result is valid: \(error)")
    }
}

private func parsed(_ text: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(extendedJSONBytes: text) } catch { return nil }
}

private func validated(_ bytes: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
}
