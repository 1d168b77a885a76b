#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix
    internal import StitchWire

    /// The handler of one connection, which runs one of its commands at a time.
    ///
    /// Commands run on thread pools, never on the event loop. While a command runs, the handler
    /// reads nothing more, so it need not buffer for a client that sends without reading replies.
    /// A command that waits makes way for the next ones, up to a limit, and continues in its turn.
    final class ConnectionHandler: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        /// What the connection does now; used on the event loop only.
        ///
        /// `heldStep` and `isExclusive` limit what may begin in `idle`, and are never set together.
        /// While a step is held, only commands that waited go on; once none waits any more, the step
        /// runs and is exclusive until it is answered. Of the other flags, `isMessageNext` says whose
        /// turn it is, and `isReadHeld` and `isStopping` keep a request until it can be met.
        private enum Phase {
            /// Ready for the next step.
            case idle
            /// A command runs on a pool, or its reply is being sent.
            case running
            /// Closed; no more replies.
            case closed
        }

        /// A command that waits for the others of the connection.
        private struct HeldStep {
            let rank: WorkRank
            let place: RequestPlace
            let step: @Sendable () -> MessageProcessor.NextAction
        }

        private let dispatcher: Dispatcher
        private let pools: CommandPools
        private let connection: ClientConnection
        private var phase = Phase.idle
        private var messages = CircularBuffer<ByteBuffer>()
        private var waits = WaitingCommands()
        /// The command that begins once no other is under way.
        private var heldStep: HeldStep?
        /// Whether no other command begins until the present one has been answered.
        private var isExclusive = false
        /// Whether a new message precedes the commands that can continue.
        private var isMessageNext = false
        private var isReadHeld = false
        private var isStopping = false

        private let progress: MessageProgress
        /// Closes the connection if no message arrives for long.
        private var idleTimer: RepeatedTask?

        init(
            _ dispatcher: Dispatcher, _ pools: CommandPools, _ connection: ClientConnection,
            _ progress: MessageProgress
        ) {
            self.dispatcher = dispatcher
            self.pools = pools
            self.connection = connection
            self.progress = progress
        }

        func handlerAdded(context: ChannelHandlerContext) {
            let span = TimeAmount.seconds(
                Int64(dispatcher.server.settings.handshakeTimeoutSeconds))
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            idleTimer = context.eventLoop.scheduleRepeatedTask(
                initialDelay: span, delay: span
            ) { _ in
                let (handler, context) = bound.value
                guard case .idle = handler.phase else { return }
                guard handler.mayBegin else { return handler.progress.isHeldUp() }
                guard !handler.progress.isAlive() else { return }
                context.close(promise: nil)
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            messages.append(unwrapInboundIn(data))
            startNext(context)
        }

        func read(context: ChannelHandlerContext) {
            if case .idle = phase, mayBegin { context.read() } else { isReadHeld = true }
        }

        func channelInactive(context: ChannelHandlerContext) {
            waits.abandonAll()
            // Before that, so that a command which begins now is noticed by one of the two.
            connection.state.withLock { $0.isClosed = true }
            dispatcher.server.operations.clientLeft(connection.id)
            phase = .closed
            idleTimer?.cancel()
            messages.removeAll()
            heldStep = nil
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is StopEvent else {
                return context.fireUserInboundEventTriggered(event)
            }
            isStopping = true
            startNext(context)
        }

        /// Whether the next message may begin.
        ///
        /// A client that has not signed in where it must has one command under way.
        private var mayBegin: Bool {
            guard !isExclusive, heldStep == nil else { return false }
            return dispatcher.server.knows(connection)
                ? waits.hasRoom() : waits.hasRoom(countMax: 1)
        }

        private func startNext(_ context: ChannelHandlerContext) {
            guard case .idle = phase else { return }
            // In turns, so that neither many messages nor many commits hold up the others.
            if isMessageNext, mayBegin, !messages.isEmpty, !isStopping {
                return startMessage(context)
            }
            isMessageNext = true
            if let (command, isTimeUp) = waits.popWoken() {
                phase = .running
                return run(context, command.rank, at: command.place) {
                    [again = command.again] in again(isTimeUp)
                }
            }
            // Last, so that commands that waited get a reply that says why they end.
            guard !isStopping else { return context.close(promise: nil) }
            if let held = heldStep {
                guard waits.isEmpty else { return }
                heldStep = nil
                isExclusive = true
                phase = .running
                return run(context, held.rank, at: held.place, held.step)
            }
            if mayBegin { startMessage(context) }
        }

        private func startMessage(_ context: ChannelHandlerContext) {
            isMessageNext = false
            guard let message = messages.popFirst() else {
                if isReadHeld {
                    isReadHeld = false
                    context.read()
                }
                return
            }
            phase = .running
            let work = MessageProcessor(dispatcher: dispatcher, connection: connection)
            let rank = work.rank(of: message)
            let owner = connection.owner
            let isRoom = rank == .vital || pools.hasRoom(for: owner)
            guard isRoom, let place = pools.place(for: message.readableBytes, of: owner) else {
                // Not at once: the buffer may hold many such messages.
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                return bound.eventLoop.execute {
                    let (handler, context) = bound.value
                    handler.finish(context, rank, work.refuse(message))
                }
            }
            run(context, rank, at: place) { work.respond(to: message, as: rank) }
        }

        /// Runs a step on a pool, and continues with its result on the event loop.
        ///
        /// - Parameter place: the place of the request while it waits for a thread.
        private func run(
            _ context: ChannelHandlerContext, _ rank: WorkRank, mayBlock: Bool = false,
            at place: RequestPlace = .small,
            _ step: @escaping @Sendable () -> MessageProcessor.NextAction
        ) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            pools.run(of: connection.owner, rank, mayBlock: mayBlock, leaving: place) { isActive in
                let result = isActive ? step() : .close
                bound.eventLoop.execute {
                    let (handler, context) = bound.value
                    handler.finish(context, rank, result)
                }
            }
        }

        private func finish(
            _ context: ChannelHandlerContext, _ rank: WorkRank,
            _ result: MessageProcessor.NextAction
        ) {
            switch (phase, result) {
            case (_, .ranked(let wanted, let kept, let step)):
                guard let place = place(for: kept, mayBlock: false) else {
                    return finish(context, rank, kept.refusal())
                }
                run(context, wanted, at: place, step)
            case (_, .blocking(let kept, let step)):
                guard let place = place(for: kept, mayBlock: true) else {
                    return finish(context, rank, kept.refusal())
                }
                run(context, rank, mayBlock: true, at: place, step)
            case (.closed, .waiting(let wait, _, _)): wait.abandon()
            case (.closed, _): break
            case (_, .close): context.close(promise: nil)
            case (_, .silence): goOn(context)
            case (_, .reply(let bytes, let next)):
                let written = context.writeAndFlush(
                    wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)))
                // A client that does not read its replies gets no further ones.
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                written.whenSuccess {
                    let (handler, context) = bound.value
                    if let next, !handler.isStopping {
                        handler.run(context, rank, next)
                    } else {
                        handler.goOn(context)
                    }
                }
            case (_, .waiting(let wait, let kept, let again)):
                // A small one always waits: it may be a wrong password, whose answer must be late.
                let isSmall = kept.bytes <= WaitingCommands.smallBytes
                guard
                    let place = isSmall
                        ? RequestPlace.small : pools.place(for: kept.bytes, of: connection.owner)
                else { return finish(context, rank, kept.refusal()) }
                self.wait(
                    context, wait,
                    WaitingCommand(wait, rank: rank, bytes: kept.bytes, at: place, again: again))
            case (_, .exclusive(let kept, let step)):
                guard let place = pools.place(for: kept.bytes, of: connection.owner) else {
                    return finish(context, rank, kept.refusal())
                }
                heldStep = HeldStep(rank: rank, place: place, step: step)
                phase = .idle
                startNext(context)
            }
        }

        /// Returns the place of a request whose next step needs a thread; `nil` if its owner may
        /// have no more of these.
        private func place(
            for kept: MessageProcessor.KeptRequest, mayBlock: Bool
        ) -> RequestPlace? {
            let owner = connection.owner
            guard pools.hasRoom(for: owner, mayBlock: mayBlock) else { return nil }
            return pools.place(for: kept.bytes, of: owner)
        }

        private func goOn(_ context: ChannelHandlerContext) {
            isExclusive = false
            phase = .idle
            startNext(context)
        }

        private func wait(
            _ context: ChannelHandlerContext, _ wait: CommandWait, _ command: WaitingCommand
        ) {
            guard !isStopping else {
                wait.abandon()
                return context.close(promise: nil)
            }
            waits.add(command)
            let bound = NIOLoopBound((self, context, command), eventLoop: context.eventLoop)
            let resume: @Sendable (Bool) -> Void = { isTimeUp in
                let (handler, context, command) = bound.value
                guard handler.waits.wake(command, isTimeUp: isTimeUp) else { return }
                handler.startNext(context)
            }
            let left = max(.zero, wait.deadline - .now).components
            command.timer = context.eventLoop.scheduleTask(
                in: .nanoseconds(
                    left.seconds * 1_000_000_000 + left.attoseconds / 1_000_000_000)
            ) { resume(true) }
            command.unsubscribe = wait.subscribe { bound.eventLoop.execute { resume(false) } }
            phase = .idle
            startNext(context)
        }
    }

    /// The event that tells a connection's handlers that the server stops.
    struct StopEvent: Sendable {}
#endif
