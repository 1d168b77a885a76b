import BSONStore
import StitchServer

/// A server for so many inputs; what clients stored is then forgotten.
private nonisolated(unsafe) var server = fresh()
private nonisolated(unsafe) var inputs = 0

private func fresh() -> OfflineServer {
    do { return try OfflineServer(requiresSignIn: false) } catch {
        preconditionFailure("A store in memory can be opened: \(error)")
    }
}

/// Feeds any bytes to the framing: answers are whole messages, or the connection is closed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWire(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    inputs += 1
    if inputs.isMultiple(of: 2_000) { server = fresh() }
    check(server.answer(bytes).bytes)
    // The beginning of a message is no message: it is waited for or refused, never answered.
    let short = UnsafeRawBufferPointer(rebasing: bytes[..<min(count, 15)])
    precondition(server.answer(short).bytes.isEmpty, "Half a header is not answered")
    return 0
}

private func check(_ answers: [UInt8]) {
    var at = 0
    while at < answers.count {
        precondition(answers.count - at >= 21, "An answer has a header")
        let length = answers.withUnsafeBytes {
            Int(Int32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        precondition(length >= 21 && length <= answers.count - at, "An answer has its length")
        let opcode = answers[at + 12]
        let head = opcode == 1 ? 36 : 21
        let document = answers[(at + head)..<(at + length)]
        do throws(BSONError) {
            let limits = BSONLimits(depthMax: 300, documentBytesMax: 64 << 20)
            _ = try BSONDocument(validating: Array(document), limits: limits)
        } catch {
            preconditionFailure("An answer is valid: \(error)")
        }
        at += length
    }
}
