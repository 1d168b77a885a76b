#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOPosix
    internal import NIOSSL

    /// The HTTP side of the console.
    final class ConsoleHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        /// The maximum number of open connections, and of one address.
        private static let (connectionsMax, connectionsOfOneMax) = (128, 64)
        /// The time within which a request must be complete.
        private static let requestMax = TimeAmount.seconds(30)
        /// The pause between two looks at a change stream.
        private static let changesEvery = TimeAmount.milliseconds(500)

        private let console: Console
        private let pools: CommandPools
        private var head: HTTPRequestHead?
        /// The request without its body, and the body so far.
        private var arriving: (request: ConsoleRequest, body: ArrivingBody)?
        private var timeout: Scheduled<Void>?
        private var ticking: RepeatedTask?
        /// The budget of the work for the request, or for the stream's next events.
        private var working: WorkBudget?

        init(_ console: Console, _ pools: CommandPools) {
            self.console = console
            self.pools = pools
        }

        /// Listens on a port.
        ///
        /// - Throws: an error when the port is taken.
        static func listen(
            on host: String, _ port: Int, _ group: MultiThreadedEventLoopGroup,
            _ encryption: NIOSSLContext?, _ console: Console, _ pools: CommandPools
        ) async throws -> any Channel {
            try await HTTPListener.listen(
                on: host, port, group, countMax: connectionsMax, ofOneMax: connectionsOfOneMax
            ) { channel in
                let pipeline = channel.pipeline.syncOperations
                if let encryption {
                    try pipeline.addHandler(NIOSSLServerHandler(context: encryption))
                }
                try pipeline.configureHTTPServerPipeline()
                try pipeline.addHandler(ConsoleHandler(console, pools))
            }
        }

        func channelActive(context: ChannelHandlerContext) { awaitRequest(context) }

        func channelInactive(context: ChannelHandlerContext) {
            timeout?.cancel()
            ticking?.cancel()
            arriving?.body.giveBack()
            arriving = nil
            // The browser has left, so the work for its request ends.
            working?.stop(.interrupted)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private func awaitRequest(_ context: ChannelHandlerContext) {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            timeout = context.eventLoop.scheduleTask(in: Self.requestMax) {
                bound.value.close(promise: nil)
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                let request = self.request(head, context)
                arriving?.body.giveBack()
                arriving = (
                    request, ArrivingBody(in: console.bodies, isOfStranger: !console.knows(request))
                )
            case .body(let bytes): arriving?.body.add(bytes.readableBytesView)
            case .end:
                timeout?.cancel()
                guard let (request, body) = arriving else { return context.close(promise: nil) }
                arriving = nil
                if let fault = body.fault { return send(fault.answer, context) }
                answer(request, body, context)
            }
        }

        private func request(
            _ head: HTTPRequestHead, _ context: ChannelHandlerContext
        ) -> ConsoleRequest {
            let parts = head.uri.split(atByte: "?", maxSplits: 1).map(String.init)
            var query: [Name: String] = [:]
            for pair in (parts.count > 1 ? parts[1] : "").split(atByte: "&") {
                let sides = String(pair).split(atByte: "=", maxSplits: 1).map {
                    String($0).queryText
                }
                if let name = sides.first { query[Name(name)] = sides.count > 1 ? sides[1] : "" }
            }
            let known = [
                "host", "origin", "cookie", "content-type", "x-csrf-token", "x-unattended",
            ]
            let headers = known.compactMap { name in
                head.headers.first(name: name).map { (Name(name), $0) }
            }
            return ConsoleRequest(
                method: head.method.rawValue, path: parts.first ?? "/", query: query,
                headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }), body: [],
                peer: context.channel.remoteAddress.map { "\($0.ipAddress ?? ""):\($0.port ?? 0)" }
                    ?? "")
        }

        // MARK: - Answers

        private func answer(
            _ request: ConsoleRequest, _ body: ArrivingBody, _ context: ChannelHandlerContext
        ) {
            var request = request
            request.body = body.bytes
            let asked = request
            // Whatever runs on the threads, the pages themselves are there.
            if let file = console.fileAnswer(asked) {
                body.giveBack()
                return send(file, context)
            }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let (console, loop) = (console, context.eventLoop)
            let rank = WorkRank(asked)
            if let stream = ConsoleStream.Kind(asked) {
                return run(of: console.owner(of: asked), rank, body, context) {
                    let opened = console.stream(stream, asked)
                    loop.execute {
                        let (handler, context) = bound.value
                        switch opened {
                        case .success(let stream):
                            handler.begin(stream, of: console.owner(of: asked), rank, context)
                        case .failure(let fault): handler.send(fault.answer, context)
                        }
                    }
                }
            }
            run(of: console.owner(of: asked), rank, body, context) {
                let answer = console.answer(asked)
                let wait = answer.notBefore.map { $0 - .now } ?? .zero
                loop.scheduleTask(in: .milliseconds(Int64(max(0, wait / .milliseconds(1))))) {
                    let (handler, context) = bound.value
                    handler.send(answer, context)
                }
            }
        }

        /// Runs the work for a request on a thread; it ends when the browser leaves.
        private func run(
            of owner: [UInt8], _ rank: WorkRank, _ body: ArrivingBody,
            _ context: ChannelHandlerContext, _ work: @escaping @Sendable () -> Void
        ) {
            let budget = WorkBudget()
            working = budget
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            let loop = context.eventLoop
            pools.run(of: owner, rank, mayBlock: true) { isActive in
                defer { body.giveBack() }
                guard isActive, budget.fault == nil else {
                    return loop.execute { bound.value.close(promise: nil) }
                }
                budget.running(work)
            }
        }

        private func headers(_ type: String) -> HTTPHeaders {
            [
                "content-type": type.hasBytePrefix("text/") ? "\(type); charset=utf-8" : type,
                "content-security-policy":
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                    + "connect-src 'self'; form-action 'self'; base-uri 'none'; "
                    + "frame-ancestors 'none'",
                "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
                "cache-control": "no-store", "cross-origin-resource-policy": "same-origin",
                "cross-origin-opener-policy": "same-origin",
            ]
        }

        private func send(_ answer: ConsoleAnswer, _ context: ChannelHandlerContext) {
            var headers = headers(answer.type)
            if answer.status != 204 {
                headers.add(name: "content-length", value: "\(answer.body.count)")
            }
            if let cookie = answer.cookie {
                let secure = console.isSecure ? "; Secure" : ""
                let end = cookie.isEmpty ? "; Max-Age=0" : ""
                headers.add(
                    name: "set-cookie",
                    value: "\(console.cookieName)=\(cookie); Path=/; HttpOnly; "
                        + "SameSite=Strict\(secure)\(end)")
            }
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status),
                headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            let isBodiless = self.head?.method == .HEAD || answer.status == 204
            if !isBodiless {
                let bytes = context.channel.allocator.buffer(bytes: answer.body)
                context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            }
            let keeps = self.head?.isKeepAlive ?? false
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
                let (handler, context) = bound.value
                if keeps { handler.awaitRequest(context) } else { context.close(promise: nil) }
            }
        }

        // MARK: - Streams

        private func begin(
            _ stream: ConsoleStream, of owner: [UInt8], _ rank: WorkRank,
            _ context: ChannelHandlerContext
        ) {
            guard context.channel.isActive else { return }
            let head = HTTPResponseHead(
                version: .http1_1, status: .ok, headers: headers("text/event-stream"))
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let (pools, loop) = (pools, context.eventLoop)
            let pause = stream.isOfChanges ? Self.changesEvery : .seconds(1)
            let isBusy = Locked(false)
            ticking = loop.scheduleRepeatedTask(initialDelay: .zero, delay: pause) { task in
                let wasBusy = isBusy.withLock { busy in
                    defer { busy = true }
                    return busy
                }
                // A slow browser gets the next figures when it has taken the last ones.
                guard !wasBusy else { return }
                guard bound.value.1.channel.isWritable else {
                    return isBusy.withLock { $0 = false }
                }
                let budget = WorkBudget()
                bound.value.0.working = budget
                pools.run(of: owner, rank, mayBlock: true) { isActive in
                    let events = isActive ? budget.running { stream.next() } : nil
                    loop.execute {
                        isBusy.withLock { $0 = false }
                        let (handler, context) = bound.value
                        handler.send(events, context)
                    }
                }
            }
        }

        private func send(_ events: String?, _ context: ChannelHandlerContext) {
            guard context.channel.isActive else { return }
            guard let events else {
                ticking?.cancel()
                return context.close(promise: nil)
            }
            // A line without an event shows that the server is there.
            let text = events.isEmpty ? ":\n\n" : events
            let bytes = context.channel.allocator.buffer(string: text)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
        }
    }

    extension String {
        /// The text of a part of a query; an invalid escape stays.
        fileprivate var queryText: String {
            let text = String(map { $0 == "+" ? " " : $0 })
            return PercentEscapes.decoded(text).map { String(decoding: $0, as: UTF8.self) } ?? text
        }
    }
#endif
