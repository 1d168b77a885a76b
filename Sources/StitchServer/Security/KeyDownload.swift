#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOPosix
    internal import NIOSSL

    /// A download of an identity provider's keys, on an event loop.
    ///
    /// The certificate is checked, redirects are refused, and size and time are limited.
    enum KeyDownload {
        /// The largest answer, in bytes.
        static let bytesMax = 1_024 * 1_024
        /// The time for the whole download.
        static let limit = TimeAmount.seconds(10)

        /// Starts a download.
        ///
        /// - Parameter end: called once with the content or an error.
        static func start(
            _ address: KeyAddress, within limit: TimeAmount = limit,
            then end: @escaping @Sendable (Result<[UInt8], any Error>) -> Void
        ) {
            let group = MultiThreadedEventLoopGroup.singleton
            let loop = group.next()
            let outcome = loop.makePromise(of: [UInt8].self)
            outcome.futureResult.whenComplete(end)
            let timer = loop.scheduleTask(in: limit) { outcome.fail(KeyDownloadError.tooSlow) }
            outcome.futureResult.whenComplete { _ in timer.cancel() }
            let encryption: NIOSSLContext?
            do {
                encryption = try address.isSecure ? context(address) : nil
            } catch {
                return outcome.fail(error)
            }
            ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { channel in
                outcome.futureResult.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let encryption {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(
                                context: encryption, serverHostname: serverName(address)))
                    }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(KeyDownloadHandler(address, outcome))
                }
            }
            .connect(host: address.host, port: address.port)
            .whenFailure { outcome.fail($0) }
        }

        private static func context(_ address: KeyAddress) throws -> NIOSSLContext {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let path = address.authorities { configuration.trustRoots = .file(path) }
            return try NIOSSLContext(configuration: configuration)
        }

        /// Returns the name that the certificate must have; `nil` for an address, which the handler
        /// compares by itself.
        private static func serverName(_ address: KeyAddress) -> String? {
            do {
                _ = try SocketAddress(ipAddress: address.host, port: 0)
                return nil
            } catch {
                return address.host
            }
        }
    }

    /// The request for keys, and the collector of the answer.
    private final class KeyDownloadHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let address: KeyAddress
        private let outcome: EventLoopPromise<[UInt8]>
        private var bytes: [UInt8] = []

        init(_ address: KeyAddress, _ outcome: EventLoopPromise<[UInt8]>) {
            self.address = address
            self.outcome = outcome
        }

        func channelActive(context: ChannelHandlerContext) {
            let name = address.host.contains(":") ? "[\(address.host)]" : address.host
            let usual = address.isSecure ? 443 : 80
            let headers: HTTPHeaders = [
                "host": address.port == usual ? name : "\(name):\(address.port)",
                "accept": "application/json", "user-agent": "stitchsync", "connection": "close",
            ]
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: address.target, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                let code = Int(head.status.code)
                guard code == 200 else {
                    return outcome.fail(
                        (300..<400).contains(code)
                            ? KeyDownloadError.redirect(code) : KeyDownloadError.status(code))
                }
            case .body(let part):
                guard bytes.count + part.readableBytes <= KeyDownload.bytesMax else {
                    return outcome.fail(KeyDownloadError.tooLarge)
                }
                bytes += Array(part.readableBytesView)
            case .end: outcome.succeed(bytes)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            outcome.fail(KeyDownloadError.incomplete)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            let isCut = (error as? HTTPParserError) == .invalidEOFState
            outcome.fail(isCut ? KeyDownloadError.incomplete : error)
            context.close(promise: nil)
        }
    }
#endif
