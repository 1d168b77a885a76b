import BSONStore
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TestProcesses

/// An identity provider's server for keys, over HTTPS on loopback.
final class KeyServer: Sendable {
    /// What the server answers.
    enum Answer: Sendable {
        case content(String)
        /// That many bytes.
        case zeros(Int)
        case redirect(String)
        case status(Int)
        /// Nothing.
        case silence
        /// A part of the announced content, and the end of the connection.
        case cut
    }

    private let answer: Locked<Answer>
    private let count = Locked(0)
    private let listener: Locked<(any Channel)?> = Locked(nil)

    private init(_ answer: Answer) { self.answer = Locked(answer) }

    /// Starts a server, lends it, and ends it.
    static func lend<R>(
        _ certificate: Certificate, answering answer: Answer,
        _ body: (KeyServer) async throws -> R
    ) async throws -> R {
        let server = KeyServer(answer)
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.chain)
        let encryption = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem))))
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: encryption))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(KeyServerHandler { server.next() })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.listener.withLock { $0 = channel }
        let result: Result<R, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        try await channel.close()
        return try result.get()
    }

    /// The address of the keys.
    var address: String {
        "https://localhost:\(listener.withLock { $0?.localAddress?.port } ?? 0)/keys?tenant=a"
    }

    /// The number of requests.
    var requests: Int { count.withLock { $0 } }

    /// Sets what the server answers from now on.
    func set(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    private func next() -> Answer {
        count.withLock { $0 += 1 }
        return answer.withLock { $0 }
    }
}

private final class KeyServerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let next: @Sendable () -> KeyServer.Answer
    private var isRight = false

    init(_ next: @escaping @Sendable () -> KeyServer.Answer) { self.next = next }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isRight = head.uri == "/keys?tenant=a" && head.method == .GET
        case .body: break
        case .end: answer(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ context: ChannelHandlerContext) {
        switch isRight ? next() : .status(400) {
        case .silence: break
        case .content(let text): send(context, .ok, [:], Array(text.utf8))
        case .zeros(let count): send(context, .ok, [:], [UInt8](repeating: 48, count: count))
        case .redirect(let target): send(context, .found, ["location": target], [])
        case .status(let code): send(context, .init(statusCode: code), [:], [])
        case .cut:
            send(context, .ok, ["content-length": "100"], [UInt8](repeating: 48, count: 10))
            context.close(promise: nil)
        }
    }

    private func send(
        _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ headers: HTTPHeaders,
        _ bytes: [UInt8]
    ) {
        var headers = headers
        let isWhole = headers["content-length"].isEmpty
        if isWhole { headers.add(name: "content-length", value: "\(bytes.count)") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        if isWhole { context.write(wrapOutboundOut(.end(nil)), promise: nil) }
        context.flush()
    }
}
