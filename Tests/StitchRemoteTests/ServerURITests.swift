#if Remote
    import BSONStore
    import StitchSync
    import Testing

    @testable import StitchRemote

    /// A wrong URI must be refused with the reason, and not be taken for another one.
    struct ServerURITests {
        /// A URI and what it means.
        struct Row: Sendable, CustomTestStringConvertible {
            let text: String
            let hosts: [String]
            var user: String?
            var password: String?
            var database: String?
            var isDirect = true

            var testDescription: String { text }
        }

        @Test(arguments: [
            Row(text: "stitchsync://localhost", hosts: ["localhost:27017"]),
            Row(text: "stitchsync://LOCALHOST:1/", hosts: ["localhost:1"]),
            Row(
                text: "mongodb://[::1]:5,127.0.0.1", hosts: ["[::1]:5", "127.0.0.1:27017"],
                isDirect: false),
            Row(text: "mongodb://a,a:27017,b", hosts: ["a:27017", "b:27017"], isDirect: false),
            Row(text: "mongodb://a/?replicaSet=rs", hosts: ["a:27017"], isDirect: false),
            Row(text: "mongodb://a?directConnection=false", hosts: ["a:27017"], isDirect: false),
            Row(
                text: "stitchsync://a%40n:p%3Aw%25@h/shop", hosts: ["h:27017"], user: "a@n",
                password: "p:w%", database: "shop"),
            Row(text: "stitchsync://ann@h", hosts: ["h:27017"], user: "ann"),
            Row(text: "stitchsync://%C3%A9:@h/", hosts: ["h:27017"], user: "é", password: ""),
        ])
        func `a URI has its parts`(_ row: Row) throws {
            let uri = try ServerURI(row.text)
            #expect(uri.hosts.map(\.description) == row.hosts)
            #expect(uri.user == row.user)
            #expect(uri.password == row.password)
            #expect(uri.database == row.database)
            #expect(uri.isDirect == row.isDirect)
        }

        @Test func `options have their values`() throws {
            let uri = try ServerURI(
                "stitchsync://h/?TLS=true&tlsCAFile=%2Fa%20b.pem&appName=My%20app&connectTimeoutMS=1"
                    + "&socketTimeoutMS=2&serverSelectionTimeoutMS=3&retryReads=false"
                    + "&retryWrites=true&w=majority&readPreference=primary&authSource=shop"
                    + "&authMechanism=SCRAM-SHA-256&readConcernLevel=majority")
            var options = URIOptions()
            options.tls = true
            options.tlsCAFile = "/a b.pem"
            options.appName = "My app"
            options.connectTimeout = .milliseconds(1)
            options.socketTimeout = .milliseconds(2)
            options.serverSelectionTimeout = .milliseconds(3)
            options.retryReads = false
            options.retryWrites = true
            options.authSource = "shop"
            options.authMechanism = "SCRAM-SHA-256"
            #expect(uri.options == options)
        }

        @Test(arguments: [
            ("localhost", "stitchsync:// or mongodb://"),
            ("http://h", "its scheme must be"),
            ("mongodb+srv://h", "list the hosts"),
            ("stitchsync://", "it names no host"),
            ("stitchsync://a,,b", "it names no host"),
            ("stitchsync://h:0", "names no host"),
            ("stitchsync://h:65536", "names no host"),
            ("stitchsync://h:+1", "names no host"),
            ("stitchsync://h:", "names no host"),
            ("stitchsync://[::1", "names no host"),
            ("stitchsync://::1", "names no host"),
            ("stitchsync://%2Ftmp%2Fs.sock", "no host"),
            ("stitchsync://u:p:q@h", "%3A"),
            ("stitchsync://:p@h", "user name"),
            ("stitchsync://u%4:p@h", "the user name has a %"),
            ("stitchsync://u:%zz@h", "the password has a %"),
            ("stitchsync://u:%+1@h", "the password has a %"),
            ("stitchsync://u:%ff@h", "not UTF-8"),
            ("stitchsync://u:%00@h", "null byte"),
            ("stitchsync://h/a.b", "the database has a character"),
            ("stitchsync://h/?maxPoolSize=1", "maxPoolSize is unknown; known are tls,"),
            ("stitchsync://h/?compressors=lz4", "allowed is none, or a list of snappy"),
            ("stitchsync://h/?compressors=", "compressors is \"\"; allowed is none"),
            ("stitchsync://h/?tls", "\"tls\" has no value"),
            ("stitchsync://h/?tls=yes", "tls is \"yes\"; allowed is true or false"),
            ("stitchsync://h/?tls=true&ssl=true", "ssl occurs twice"),
            ("stitchsync://h/?tls=false&tlsCAFile=a", "tlsCAFile needs tls=true"),
            ("stitchsync://h/?socketTimeoutMS=0", "socketTimeoutMS is \"0\""),
            ("stitchsync://h/?socketTimeoutMS=-1", "from 1 to 2147483647"),
            ("stitchsync://h/?connectTimeoutMS=2147483648", "connectTimeoutMS"),
            ("stitchsync://h/?w=1", "w is \"1\"; allowed is majority"),
            ("stitchsync://h/?appName=", "appName"),
            ("stitchsync://h/?authMechanism=GSSAPI", "allowed is SCRAM-SHA-256"),
            ("stitchsync://a,b/?directConnection=true", "exactly one host"),
        ])
        func `an invalid URI is refused with what is wrong`(_ text: String, _ part: String) {
            let error = #expect(throws: RemoteError.self) { try ServerURI(text) }
            #expect(error?.errorClass == .rejected)
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "-")")
        }

        @Test(arguments: [
            "stitchsync://ann:PW%@h", "mongodb:ann:PW@h", "mongodb:/ann:PW@h", "ann:PW@h",
            "ann:PW@h://", "mongod://ann:PW@h", "mongodb:ann:PW@h://x", "mongodb://ann:PW",
            "mongodb://ann:PW%40h", "mongodb://ann:PW/h", "mongodb://ann:PW.b/PW.c",
            "mongodb://ann:x?PW=y@h", "mongodb://ann:x?PW@h", "mongodb://ann:x?tls=PW@h",
            "mongodb://ann:x?a=b&PW=PW@h", "mongodb://ann:x/PW.y@h", "mongodb://ann:x@PW@h:0",
            "mongodb://h,ann:PW", "mongodb+srv://ann:PW@h", "PW@h://ann:PW@h",
        ])
        func `a mistyped URI is refused without its password`(_ form: String) {
            let text = form.replacing("PW", with: "se3cret")
            let error = #expect(throws: RemoteError.self) { try ServerURI(text) }
            #expect(error.map { "\($0)" }?.contains("se3cret") == false, "\(error?.message ?? "-")")
        }

        @Test func `a refusal does not show the password`() {
            let error = #expect(throws: RemoteError.self) {
                try ServerURI("stitchsync://ann:secret%@h")
            }
            #expect(error?.message.contains("secret") == false)
        }

        @Test(arguments: [
            ("stitchsync://ann:p@h", SignIn.user("bob", password: "p"), "name one of them"),
            ("stitchsync://ann@h", SignIn.none, "has no password"),
            ("stitchsync://h/?authSource=shop", SignIn.none, "authSource"),
            ("stitchsync://h", SignIn.token { "t" }, "TLS only"),
        ])
        func `parts that contradict each other are refused`(
            _ uri: String, _ signIn: SignIn, _ part: String
        ) {
            let error = #expect(throws: RemoteError.self) {
                try ServerRemote(uri, signIn: signIn)
            }
            #expect(error?.errorClass == .rejected)
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "-")")
        }

        @Test func `certificates that cannot be read are refused`() {
            var options = ServerRemote.Options()
            options.trustedRoots = ["no certificate"]
            for uri in ["stitchsync://h/?tls=true", "stitchsync://h"] {
                let error = #expect(throws: RemoteError.self) {
                    try ServerRemote(uri, options: options)
                }
                #expect(error?.errorClass == .rejected)
            }
            let error = #expect(throws: RemoteError.self) {
                try ServerRemote("stitchsync://h/?tlsCAFile=missing.pem")
            }
            #expect(error?.message.contains("missing.pem") == true)
        }
    }
#endif
