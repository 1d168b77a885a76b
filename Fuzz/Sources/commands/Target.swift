import BSONStore
import StitchServer

/// Servers for so many inputs; what clients stored is then forgotten.
private nonisolated(unsafe) var (inside, outside) = (fresh(false), fresh(true))
private nonisolated(unsafe) var inputs = 0

private func fresh(_ requiresSignIn: Bool) -> OfflineServer {
    do { return try OfflineServer(requiresSignIn: requiresSignIn) } catch {
        preconditionFailure("A store in memory can be opened: \(error)")
    }
}

/// Feeds a command, or several as `{commands: [...]}`, as Extended JSON or BSON, to the dispatch.
///
/// Whoever is let in gets a valid answer to anything; a stranger only to what strangers may ask.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCommands(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let input = parsed(bytes) ?? validated(bytes) else { return 0 }
    inputs += 1
    if inputs.isMultiple(of: 1_000) { (inside, outside) = (fresh(false), fresh(true)) }
    let commands = input["commands"]?.arrayValue?.compactMap(\.documentValue) ?? [input]
    for var command in commands.prefix(16) {
        if command["$db"] == nil { command.append("$db", "fuzz") }
        check(inside.answer(command: command), command)
        guard let answer = outside.answer(command: command) else { continue }
        check(answer, command)
        let name = command.keys.first ?? ""
        precondition(
            answer["ok"] == 0.0 || OfflineServer.isOpenToStrangers(name),
            "A stranger was answered: \(name)")
    }
    return 0
}

private func check(_ answer: BSONDocument?, _ command: BSONDocument) {
    guard let answer else { return }
    precondition(answer["ok"] == 1.0 || answer["code"] != nil, "A refusal has a code")
    precondition(answer["code"] != 1, "Nothing fails for an inner reason: \(answer)")
    do throws(BSONError) {
        let limits = BSONLimits(depthMax: 1_000, documentBytesMax: 256 << 20)
        _ = try BSONDocument(validating: answer.bytes, limits: limits)
    } catch {
        preconditionFailure("An answer is valid: \(error)")
    }
}

private func parsed(_ text: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(extendedJSONBytes: text) } catch { return nil }
}

private func validated(_ bytes: UnsafeRawBufferPointer) -> BSONDocument? {
    do throws(BSONError) { return try BSONDocument(validating: bytes) } catch { return nil }
}
