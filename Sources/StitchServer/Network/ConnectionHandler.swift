#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix
    internal import StitchWire

    /// The handler of one connection, which replies to its messages one by one.
    ///
    /// Commands run on thread pools, never on the event loop. While a command runs, the handler
    /// reads nothing more, so it need not buffer for a client that sends without reading replies.
    final class ConnectionHandler: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        /// The state of the connection; used on the event loop only.
        private enum Phase {
            /// Ready for the next message.
            case idle
            /// A command runs on a pool.
            case running
            /// A command waits for a commit or for its deadline.
            case waiting(Waiting)
            /// Closed; no more replies.
            case closed
        }

        private let dispatcher: Dispatcher
        private let pools: CommandPools
        private let connection: ClientConnection
        private var phase = Phase.idle
        private var messages = CircularBuffer<ByteBuffer>()
        private var isReadHeld = false
        private var isStopping = false

        private let progress: MessageProgress
        private var looking: RepeatedTask?

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
            looking = context.eventLoop.scheduleRepeatedTask(
                initialDelay: span, delay: span
            ) { _ in
                let (handler, context) = bound.value
                guard case .idle = handler.phase, !handler.progress.isAlive() else { return }
                context.close(promise: nil)
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            messages.append(unwrapInboundIn(data))
            startNext(context)
        }

        func read(context: ChannelHandlerContext) {
            if case .idle = phase { context.read() } else { isReadHeld = true }
        }

        func channelInactive(context: ChannelHandlerContext) {
            if case .waiting(let waiting) = phase { waiting.abandon() }
            dispatcher.server.operations.clientLeft(connection.id)
            phase = .closed
            looking?.cancel()
            messages.removeAll()
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
            switch phase {
            case .idle, .waiting: context.close(promise: nil)
            case .running, .closed: break
            }
        }

        private func startNext(_ context: ChannelHandlerContext) {
            guard case .idle = phase else { return }
            guard !isStopping else { return context.close(promise: nil) }
            guard let message = messages.popFirst() else {
                if isReadHeld {
                    isReadHeld = false
                    context.read()
                }
                return
            }
            phase = .running
            let work = MessageProcessor(dispatcher: dispatcher, connection: connection)
            run(context) { work.respond(to: message) }
        }

        /// Runs a step on a pool, and continues with its result on the event loop.
        private func run(
            _ context: ChannelHandlerContext, mayBlock: Bool = false,
            _ step: @escaping @Sendable () -> MessageProcessor.Result
        ) {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            pools.run(mayBlock: mayBlock) { isActive in
                let result = isActive ? step() : .close
                bound.eventLoop.execute {
                    let (handler, context) = bound.value
                    handler.finish(context, result)
                }
            }
        }

        private func finish(_ context: ChannelHandlerContext, _ result: MessageProcessor.Result) {
            switch (phase, result) {
            case (_, .blocking(let step)): run(context, mayBlock: true, step)
            case (.closed, .waiting(let wait, _)): wait.abandon()
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
                        handler.run(context, next)
                    } else {
                        handler.goOn(context)
                    }
                }
            case (_, .waiting(let wait, let again)): self.wait(context, wait, again)
            }
        }

        private func goOn(_ context: ChannelHandlerContext) {
            phase = .idle
            startNext(context)
        }

        private func wait(
            _ context: ChannelHandlerContext, _ wait: CommandWait,
            _ again: @escaping @Sendable (Bool) -> MessageProcessor.Result
        ) {
            guard !isStopping else {
                wait.abandon()
                return context.close(promise: nil)
            }
            let waiting = Waiting(wait)
            phase = .waiting(waiting)
            let bound = NIOLoopBound((self, context, waiting), eventLoop: context.eventLoop)
            let resume: @Sendable (Bool) -> Void = { isTimeUp in
                let (handler, context, waiting) = bound.value
                guard case .waiting(let current) = handler.phase, current === waiting else {
                    return
                }
                waiting.end()
                handler.phase = .running
                handler.run(context) { again(isTimeUp) }
            }
            let left = max(.zero, wait.deadline - .now).components
            waiting.timer = context.eventLoop.scheduleTask(
                in: .nanoseconds(
                    left.seconds * 1_000_000_000 + left.attoseconds / 1_000_000_000)
            ) { resume(true) }
            waiting.unsubscribe = wait.subscribe { bound.eventLoop.execute { resume(false) } }
        }
    }

    /// The event that tells a connection's handlers that the server stops.
    struct StopEvent: Sendable {}

    /// One wait of a command, with the timer and subscription that end it.
    private final class Waiting {
        private let wait: CommandWait
        var timer: Scheduled<Void>?
        var unsubscribe: @Sendable () -> Void = {}

        init(_ wait: CommandWait) { self.wait = wait }

        /// Cancels the wait.
        func end() {
            timer?.cancel()
            unsubscribe()
        }

        func abandon() {
            end()
            wait.abandon()
        }
    }
#endif
