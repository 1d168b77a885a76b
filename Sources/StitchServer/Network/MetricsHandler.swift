#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOPosix

    /// The handler of `GET /metrics` for Prometheus, and of `GET /healthz` and `GET /readyz` for load
    /// balancers.
    final class MetricsHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        /// The maximum number of open connections; more would take files from the database's port.
        private static let connectionsMax = 64
        /// The maximum number of one address.
        private static let connectionsOfOneMax = 16

        private let figures: @Sendable () -> String
        private let isReady: @Sendable () -> Bool
        private var path = ""

        init(
            _ figures: @escaping @Sendable () -> String, isReady: @escaping @Sendable () -> Bool
        ) {
            self.figures = figures
            self.isReady = isReady
        }

        /// Listens on a port.
        ///
        /// - Throws: an error when the port is taken.
        ///
        /// - Parameter limit: the time from the connection to the end of the reply.
        static func listen(
            on host: String, _ port: Int, _ group: MultiThreadedEventLoopGroup,
            within limit: TimeAmount, _ figures: @escaping @Sendable () -> String,
            isReady: @escaping @Sendable () -> Bool
        ) async throws -> any Channel {
            try await HTTPListener.listen(
                on: host, port, group, countMax: connectionsMax, ofOneMax: connectionsOfOneMax
            ) { channel in
                let end = channel.eventLoop.scheduleTask(in: limit) {
                    channel.close(promise: nil)
                }
                channel.closeFuture.whenComplete { _ in end.cancel() }
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(
                    MetricsHandler(figures, isReady: isReady))
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): path = head.method == .GET ? head.uri : ""
            case .body: break
            case .end: answer(context)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private func answer() -> (HTTPResponseStatus, String) {
            switch path {
            case "/metrics": (.ok, figures())
            case "/healthz": (.ok, "ok\n")
            case "/readyz": isReady() ? (.ok, "ready\n") : (.serviceUnavailable, "not ready\n")
            default: (.notFound, "not found\n")
            }
        }

        private func answer(_ context: ChannelHandlerContext) {
            let (status, text) = answer()
            let body = context.channel.allocator.buffer(string: text)
            let headers: HTTPHeaders = [
                "content-type": "text/plain; version=0.0.4; charset=utf-8",
                "content-length": "\(body.readableBytes)", "connection": "close",
            ]
            let head = HTTPResponseHead(
                version: .http1_1, status: status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
                bound.value.close(promise: nil)
            }
        }
    }
#endif
