#if Server
    internal import BSONStore
    internal import NIOCore
    internal import StitchWire
    internal import Synchronization

    /// The path from a message's bytes to the reply's bytes, on a thread of the pool.
    struct MessageProcessor: Sendable {
        /// The next action of the connection.
        enum NextAction: Sendable {
            /// Sends bytes; with `next`, another reply follows without a request.
            case reply([UInt8], next: (@Sendable () -> NextAction)?)
            /// Sends nothing.
            case silence
            /// Waits without occupying a thread.
            case waiting(CommandWait, KeptRequest, again: @Sendable (Bool) -> NextAction)
            /// Continues once no other command of the connection is under way.
            ///
            /// None begins until this one has been answered.
            case exclusive(KeptRequest, @Sendable () -> NextAction)
            /// Continues as work of another kind, which the message turned out to be.
            case ranked(WorkRank, KeptRequest, @Sendable () -> NextAction)
            /// Continues on a thread that may block for long.
            case blocking(KeptRequest, @Sendable () -> NextAction)
            case close
        }

        /// The request that an action keeps in memory until it continues.
        struct KeptRequest: Sendable {
            /// The size in bytes.
            let bytes: Int
            /// Drops the request, because there is no room for it, and returns its answer.
            let refusal: @Sendable () -> NextAction
        }

        let dispatcher: Dispatcher
        let connection: ClientConnection

        private static let lastRequestID = Atomic<Int32>(0)

        /// Returns the kind of a message's work.
        ///
        /// A small message that has to be parsed to know is vital work until it is parsed.
        func rank(of message: ByteBuffer) -> WorkRank {
            let isOperator = connection.state.withLock { $0.user }?.isOperator ?? false
            switch peek(message).content {
            case .command(let name): return WorkRank(command: name, ofOperator: isOperator)
            case .small: return .vital
            case .large: return isOperator ? .ofOperator : .ordinary
            }
        }

        /// Refuses a message, because too many commands of its sender wait.
        func refuse(_ message: ByteBuffer) -> NextAction {
            let peek = peek(message)
            // A compressed message does not show whether its client waits for a reply.
            guard let wantsReply = peek.wantsReply else { return .close }
            return refuse(
                WireRequest(
                    requestID: peek.requestID, form: .message(wantsReply ? [] : .moreToCome),
                    body: [:]))
        }

        private func refuse(_ request: WireRequest) -> NextAction {
            let failure = CommandFailure(
                462,
                "too many commands of this user or address wait, or too large ones; send fewer at "
                    + "the same time, or try again later")
            return nextAction(after: .reply(failure.reply), request)
        }

        private func peek(_ message: ByteBuffer) -> WirePeek {
            let limits = dispatcher.server.limits(of: connection)
            return message.withUnsafeReadableBytes { WirePeek($0, limits) }
        }

        /// Runs the command in a message.
        ///
        /// - Parameter rank: the kind of work that the calling thread is for.
        func respond(to message: ByteBuffer, as rank: WorkRank) -> NextAction {
            let parser = WireParser(limits: dispatcher.server.limits(of: connection))
            do {
                let room = try DecompressionBudget.take(message, parser.limits)
                var isHeld = false
                defer { if !isHeld { DecompressionBudget.give(room) } }
                let request = try message.withUnsafeReadableBytes { try parser.parse($0) }
                let wanted = WorkRank(request, on: connection, dispatcher.server)
                let result: NextAction
                if rank == .vital, wanted != .vital {
                    result = .ranked(wanted, kept(request)) { answer(request) }
                } else {
                    result = answer(request)
                }
                // The message's memory stays reserved until the command has run.
                switch result {
                case .ranked(let rank, let kept, let step):
                    isHeld = true
                    return .ranked(rank, kept.givingBack(room)) {
                        defer { DecompressionBudget.give(room) }
                        return step()
                    }
                case .blocking(let kept, let step):
                    isHeld = true
                    return .blocking(kept.givingBack(room)) {
                        defer { DecompressionBudget.give(room) }
                        return step()
                    }
                case .reply, .silence, .waiting, .exclusive, .close: return result
                }
            } catch let error as WireContentError {
                let fault = CommandFailure(error.code, error.message)
                let request = WireRequest(
                    requestID: error.requestID, form: error.form, body: [:])
                return nextAction(after: .reply(fault.reply), request)
            } catch {
                let reason = (error as? WireError)?.description ?? "unknown"
                dispatcher.server.settings.log.write(
                    .warning, "connection \(connection.id) was closed: \(reason)")
                return .close
            }
        }

        private func answer(_ request: WireRequest) -> NextAction {
            guard !Self.isExclusive(request) else {
                return .exclusive(kept(request)) {
                    nextAction(after: dispatcher.respond(to: request, on: connection), request)
                }
            }
            return nextAction(after: dispatcher.respond(to: request, on: connection), request)
        }

        /// Whether a request changes who the client is, or asks for a stream of replies.
        private static func isExclusive(_ request: WireRequest) -> Bool {
            guard !request.allowsExhaust, let name = request.body.keys.first else { return true }
            let traits = CommandTable.find(name)?.traits ?? []
            return traits.contains(.signsIn) || request.body["speculativeAuthenticate"] != nil
        }

        private func nextAction(after outcome: CommandOutcome, _ request: WireRequest) -> NextAction
        {
            switch outcome {
            case .close: return .close
            case .blocking(let step):
                return .blocking(kept(request)) { nextAction(after: step(), request) }
            case .waiting(let wait):
                let kept = KeptRequest(bytes: Self.byteCount(request)) {
                    wait.abandon()
                    return refuse(request)
                }
                return .waiting(wait, kept) { isTimeUp in
                    do {
                        return nextAction(after: try wait.again(isTimeUp), request)
                    } catch {
                        return nextAction(after: .reply(CommandFailure(error).reply), request)
                    }
                }
            case .reply(let document):
                guard request.wantsReply else { return .silence }
                let number = Self.lastRequestID.wrappingAdd(1, ordering: .relaxed).newValue
                let next = following(document, number, request)
                return .reply(
                    WireEncoder.bytes(
                        document, to: request.form, requestID: number,
                        responseTo: request.requestID,
                        flags: next == nil ? [] : .moreToCome,
                        compressor: request.compressor), next: next)
            }
        }

        private func kept(_ request: WireRequest) -> KeptRequest {
            KeptRequest(bytes: Self.byteCount(request)) { refuse(request) }
        }

        private static func byteCount(_ request: WireRequest) -> Int {
            request.sequences.reduce(request.body.byteCount) { count, sequence in
                sequence.documents.reduce(count) { $0 + $1.byteCount }
            }
        }

        /// Returns the next reply for a client that streams replies (`exhaust`).
        private func following(
            _ document: BSONDocument, _ number: Int32, _ request: WireRequest
        ) -> (@Sendable () -> NextAction)? {
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
            return { nextAction(after: dispatcher.respond(to: again, on: connection), again) }
        }
    }

    extension MessageProcessor.KeptRequest {
        /// Returns the same request, whose refusal also releases memory for its expanded message.
        fileprivate func givingBack(_ room: Int) -> Self {
            Self(bytes: bytes) {
                defer { DecompressionBudget.give(room) }
                return refusal()
            }
        }
    }
#endif
