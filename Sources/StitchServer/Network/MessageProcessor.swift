#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire
    internal import Synchronization

    /// The path from a message's bytes to the reply's bytes, on a thread of the pool.
    struct MessageProcessor: Sendable {
        /// The next action of the connection.
        enum Result: Sendable {
            /// Sends bytes; with `next`, another reply follows without a request.
            case reply([UInt8], next: (@Sendable () -> Result)?)
            /// Sends nothing.
            case silence
            /// Waits without occupying a thread, and keeps a request of that many bytes meanwhile.
            case waiting(CommandWait, bytes: Int, again: @Sendable (Bool) -> Result)
            /// Continues once no other command of the connection is under way.
            ///
            /// None begins until this one has been answered.
            case exclusive(@Sendable () -> Result)
            /// Continues on a thread that may block for long.
            case blocking(@Sendable () -> Result)
            case close
        }

        let dispatcher: Dispatcher
        let connection: ClientConnection

        private static let lastRequestID = Atomic<Int32>(0)

        /// Runs the command in a message.
        func respond(to message: ByteBuffer) -> Result {
            let parser = WireParser(limits: dispatcher.server.limits(of: connection))
            do {
                let room = try DecompressionBudget.take(message, parser.limits)
                var isHeld = false
                defer { if !isHeld { DecompressionBudget.give(room) } }
                let request = try message.withUnsafeReadableBytes { try parser.request($0) }
                guard !Self.isExclusive(request) else {
                    return .exclusive {
                        settle(dispatcher.respond(to: request, on: connection), request)
                    }
                }
                let result = settle(dispatcher.respond(to: request, on: connection), request)
                guard case .blocking(let step) = result else { return result }
                // The message's memory stays reserved until the command has run.
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

        /// Whether a request changes who the client is, or asks for a stream of replies.
        private static func isExclusive(_ request: WireRequest) -> Bool {
            guard !request.allowsExhaust, let name = request.body.keys.first else { return true }
            let traits = CommandTable.find(name)?.traits ?? []
            return traits.contains(.signsIn) || request.body["speculativeAuthenticate"] != nil
        }

        private func settle(_ outcome: CommandOutcome, _ request: WireRequest) -> Result {
            switch outcome {
            case .close: return .close
            case .blocking(let step): return .blocking { settle(step(), request) }
            case .waiting(let wait):
                return .waiting(wait, bytes: Self.byteCount(request)) { isTimeUp in
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

        private static func byteCount(_ request: WireRequest) -> Int {
            request.sequences.reduce(request.body.byteCount) { count, sequence in
                sequence.documents.reduce(count) { $0 + $1.byteCount }
            }
        }

        /// Returns the next reply for a client that streams replies (`exhaust`).
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
                // The client now knows the version that this reply reports.
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
