#if Remote
    internal import BSONStore
    internal import NIOCore
    internal import StitchCommands
    internal import StitchWire

    /// One connection to a server, which carries any number of concurrent requests.
    ///
    /// Replies are matched by their numbers, so they may arrive in any order.
    final class WireConnection: Sendable {
        private let channel: any Channel
        private let table: ReplyTable
        private let traffic: TrafficMeter

        private init(_ channel: any Channel, _ table: ReplyTable, _ traffic: TrafficMeter) {
            self.channel = channel
            self.table = table
            self.traffic = traffic
        }

        /// Connects.
        ///
        /// - Throws: ``MongoFailure`` when the host cannot be reached within the limit.
        static func open(
            _ address: ServerAddress, _ security: TransportSecurity?, within limit: Duration,
            counting traffic: TrafficMeter
        ) async throws(MongoFailure) -> WireConnection {
            guard !Task.isCancelled else { throw .cancelled }
            let table = ReplyTable(counting: traffic)
            let answer = FirstAnswer<Result<any Channel, MongoFailure>>()
            let connecting = SocketBootstrap.connect(
                to: address, security, within: .of(limit)
            ) { channel in
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(ByteToMessageHandler(ReplyDecoder(table)))
                try pipeline.addHandler(ReplyHandler(table))
            }
            connecting.whenComplete { result in
                answer.give(
                    result.mapError { .network("cannot connect: \(String(shortly: $0))") })
            }
            let result = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                answer.give(.failure(.cancelled))
            }
            switch result {
            case .success(let channel): return WireConnection(channel, table, traffic)
            case .failure(let failure):
                connecting.whenSuccess { $0.close(promise: nil) }
                throw failure
            }
        }

        /// Whether requests are accepted.
        var isOpen: Bool { table.isOpen }

        /// Allows large replies from now on, as from a server that has proved who it is, and
        /// compresses requests if the server agreed to a method.
        func trust(_ compressor: WireCompressor?) { table.trust(compressor) }

        /// Sends a command and returns its reply, whatever its `ok`.
        ///
        /// - Parameter limit: the longest wait for the reply. If the server sent nothing at all
        ///   meanwhile, the connection is closed, too.
        func reply(
            to command: MongoRequest, within limit: Duration
        ) async throws(MongoFailure) -> BSONDocument {
            guard !Task.isCancelled else { throw .cancelled }
            let answer = ReplyTable.Answer()
            let id = try table.begin(answer)
            let request = request(command, id)
            guard request.byteCount <= ReplyTable.bytesMax else {
                _ = table.abandon(id, .cancelled)
                throw MongoFailure(
                    kind: .server, code: 10_334,
                    message: "a request of \(request.byteCount) bytes is too large")
            }
            let before = table.replyCount
            let timer = channel.eventLoop.scheduleTask(in: .of(limit)) { [table, channel] in
                let late = MongoFailure.network("no reply within \(limit)")
                let isAlive = table.replyCount > before
                if !isAlive { table.end(late) }
                if !table.abandon(id, late) || !isAlive { channel.close(promise: nil) }
            }
            send(request, mayCompress: CompressionChoice.allows(command.body))
            let result = await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                if !table.abandon(id, .cancelled) { close(.network("too many cancelled requests")) }
            }
            timer.cancel()
            return try parse(try result.get())
        }

        /// Sends a command whose reply is dropped; a failure is ignored.
        func post(_ command: BSONDocument) {
            do throws(MongoFailure) {
                let id = try table.begin(ReplyTable.Answer())
                send(
                    request(MongoRequest(command), id),
                    mayCompress: CompressionChoice.allows(command))
                if !table.abandon(id, .cancelled) { close(.network("too many dropped requests")) }
            } catch {
                // The connection is closed, and with it what the command is about.
            }
        }

        private func request(_ command: MongoRequest, _ id: Int32) -> OutgoingRequest {
            OutgoingRequest(
                requestID: id, body: command.body,
                sequence: command.list.map {
                    WireRequest.Sequence(field: $0.field, documents: $0.documents)
                })
        }

        private func send(_ request: OutgoingRequest, mayCompress: Bool) {
            let compressor = mayCompress ? table.compressor : nil
            let message =
                compressor.flatMap { request.compressed(by: $0) }.map { ByteBuffer(bytes: $0) }
                ?? plain(request)
            traffic.noteSent(message.readableBytes, plainCount: request.byteCount)
            channel.writeAndFlush(message, promise: nil)
        }

        private func plain(_ request: OutgoingRequest) -> ByteBuffer {
            let count = request.byteCount
            var buffer = channel.allocator.buffer(capacity: count)
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
                request.write(to: UnsafeMutableRawBufferPointer(rebasing: memory.prefix(count)))
                return count
            }
            return buffer
        }

        private func parse(_ message: ByteBuffer) throws(MongoFailure) -> BSONDocument {
            do {
                let reply = try message.withUnsafeReadableBytes { bytes in
                    try WireParser(limits: table.limits).parse(bytes)
                }
                guard reply.sequences.isEmpty, reply.wantsReply, case .message = reply.form,
                    reply.compressor == nil || reply.compressor == table.compressor
                else {
                    throw MongoFailure.broken("a reply has parts that were not asked for")
                }
                return reply.body
            } catch {
                let failure =
                    error as? MongoFailure ?? .broken("a reply is invalid: \(error)")
                close(failure)
                throw failure
            }
        }

        /// Accepts no new requests, and closes once the last reply has arrived.
        func retire() { if table.retire() { close(.network("the connection was replaced")) } }

        /// Closes the connection; waiting requests fail.
        func close(_ failure: MongoFailure) {
            table.end(failure)
            channel.close(promise: nil)
        }
    }
#endif
