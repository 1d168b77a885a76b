/// The hash that a hashed index stores for a value.
///
/// Source: the server's `BSONElementHasher`: MD5 (RFC 1321) over types and values, with numbers
/// truncated to int64.
package enum ExpressionHash {
    /// Returns the hash of a value.
    package static func hash(_ value: BSONValue) -> Int64 {
        var bytes: [UInt8] = [0, 0, 0, 0]
        append(value, to: &bytes)
        return Int64(bitPattern: MD5.digest(bytes))
    }

    private static func append(_ value: BSONValue, key: String? = nil, to bytes: inout [UInt8]) {
        append(Int32(BSONOrder.rank(value.type)), to: &bytes)
        if let key { bytes += Array(key.utf8) + [0] }
        switch value {
        case .double, .int32, .int64, .decimal128: append(number(value), to: &bytes)
        case .document(let document): append(document, to: &bytes)
        case .array(let array): append(array.document, to: &bytes)
        case .javascriptWithScope(let code):
            bytes += Array(code.code.utf8) + [0]
            append(code.scope, to: &bytes)
        default:
            let document: BSONDocument = ["": value]
            bytes += document.bytes[6..<document.byteCount - 1]
        }
    }

    private static func append(_ document: BSONDocument, to bytes: inout [UInt8]) {
        for (key, value) in document { append(value, key: key, to: &bytes) }
        append(Int32(0), to: &bytes)
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    /// Returns the number truncated to an int64, 0 for NaN.
    private static func number(_ value: BSONValue) -> Int64 {
        if let whole = NumberCoercion.whole(value) { return whole }
        let double = NumberCoercion.double(value) ?? .nan
        if double.isNaN { return 0 }
        if case .decimal128(let decimal) = value,
            let whole = decimal.quantized(to: 0, .towardZero).int64Value
        {
            return whole
        }
        return double < -0x1p63 ? .min : double >= 0x1p63 ? .max : Int64(double)
    }

    private enum MD5 {
        private static let shifts: [[UInt32]] = [
            [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
        ]
        /// The whole parts of the sines of 1 to 64, scaled by 2 to the power 32.
        private static let sines: [UInt32] = [
            0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a,
            0xa830_4613, 0xfd46_9501, 0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be,
            0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821, 0xf61e_2562, 0xc040_b340,
            0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
            0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8,
            0x676f_02d9, 0x8d2a_4c8a, 0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c,
            0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70, 0x289b_7ec6, 0xeaa1_27fa,
            0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
            0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92,
            0xffef_f47d, 0x8584_5dd1, 0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1,
            0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
        ]

        /// Returns the first eight bytes of the digest.
        static func digest(_ message: [UInt8]) -> UInt64 {
            var bytes = message + [0x80]
            while bytes.count % 64 != 56 { bytes.append(0) }
            ExpressionHash.append(UInt64(message.count) * 8, to: &bytes)
            var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
            for start in stride(from: 0, to: bytes.count, by: 64) {
                let words = (0..<16).map { word in
                    (0..<4).reduce(UInt32(0)) {
                        $0 | UInt32(bytes[start + word * 4 + $1]) << UInt32($1 * 8)
                    }
                }
                let mixed = mix(state, words)
                for index in 0..<4 { state[index] &+= mixed[index] }
            }
            return UInt64(state[0]) | UInt64(state[1]) << 32
        }

        private static func mix(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (value, word) =
                    switch step / 16 {
                    case 0: (b & c | ~b & d, step)
                    case 1: (d & b | ~d & c, 5 * step + 1)
                    case 2: (b ^ c ^ d, 3 * step + 5)
                    default: (c ^ (b | ~d), 7 * step)
                    }
                let sum = a &+ value &+ sines[step] &+ words[word % 16]
                let shift = shifts[step / 16][step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            return [a, b, c, d]
        }
    }
}
