#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire
    internal import Synchronization

    /// Reads a message, has it carried out, and writes the answer; on a thread of the pool.
    struct MessageProcessor: Sendable {
        /// What the connection does next.
        enum Result: Sendable {
            /// Sends bytes; where there is a next step, its answer follows by itself.
            case reply([UInt8], next: (@Sendable () -> Result)?)
            /// Sends nothing.
            case silence
            case waiting(CommandWait, again: @Sendable (Bool) -> Result)
            /// Goes on where it may hold a thread for long.
            case blocking(@Sendable () -> Result)
            case close
        }

        let dispatcher: Dispatcher
        let connection: ClientConnection

        private static let lastRequestID = Atomic<Int32>(0)

        /// Carries out the command in a message.
        func respond(to message: ByteBuffer) -> Result {
            let parser = WireParser(limits: dispatcher.server.limits(of: connection))
            do {
                let room = try DecompressionBudget.take(message, parser.limits)
                var isHeld = false
                defer { if !isHeld { DecompressionBudget.give(room) } }
                let request = try message.withUnsafeReadableBytes { try parser.request($0) }
                let result = settle(dispatcher.respond(to: request, on: connection), request)
                guard case .blocking(let step) = result else { return result }
                // What came is kept until the command has run.
                isHeld = true
                return .blocking {
                    defer { DecompressionBudget.give(room) }
                    return step()
                }
            } catch let error as WireDocumentError {
                let fault = CommandFailure(.invalidBSON, error.error.message)
                let request = WireRequest(
                    requestID: error.requestID, form: error.form, body: [:])
                return settle(.reply(fault.reply), request)
            } catch {
                let reason = (error as? WireError)?.description ?? "unknown"
                dispatcher.server.settings.log.write(
                    .warning, "connection \(connection.id) was closed: \(reason)")
                return .close
            }
        }

        private func settle(_ outcome: CommandOutcome, _ request: WireRequest) -> Result {
            switch outcome {
            case .close: return .close
            case .blocking(let step): return .blocking { settle(step(), request) }
            case .waiting(let wait):
                return .waiting(wait) { isTimeUp in
                    do {
                        return settle(try wait.again(isTimeUp), request)
                    } catch {
                        return settle(.reply(CommandFailure(error).reply), request)
                    }
                }
            case .reply(let document):
                guard request.wantsReply else { return .silence }
                let number = Self.lastRequestID.wrappingAdd(1, ordering: .relaxed).newValue
                let next = following(document, number, request)
                return .reply(
                    WireReply.bytes(
                        document, to: request.form, requestID: number,
                        responseTo: request.requestID,
                        flags: next == nil ? [] : .moreToCome,
                        compressor: request.compressor), next: next)
            }
        }

        /// The next answer where a client wants all of them without asking for each.
        private func following(
            _ document: BSONDocument, _ number: Int32, _ request: WireRequest
        ) -> (@Sendable () -> Result)? {
            guard request.allowsExhaust, document["ok"] == 1.0 else { return nil }
            var body = request.body
            switch request.body.keys.first {
            case "getMore":
                guard let id = document["cursor"]?.documentValue?["id"], id != .int64(0) else {
                    return nil
                }
            case "hello", "isMaster", "ismaster":
                guard body["topologyVersion"] != nil else { return nil }
                // From now on the client knows what it was told last.
                body.set("topologyVersion", to: document["topologyVersion"])
            default: return nil
            }
            let again = WireRequest(
                requestID: number, form: request.form, body: body,
                sequences: request.sequences, compressor: request.compressor)
            return { settle(dispatcher.respond(to: again, on: connection), again) }
        }
    }
#endif
