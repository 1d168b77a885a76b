#if MongoRemote
    import StitchSync
    import Testing

    @testable import StitchMongo

    /// libmongoc's errors repeat parts of a URI, which may be those of a password.
    struct MistypedURITests {
        @Test(arguments: [
            "mogodb://ann:PW@h", "mongodb:ann:PW@h", "mongodb:/ann:PW@h", "ann:PW@h",
            "mongodb://ann:PW%@h", "mongodb://ann:PW", "mongodb://ann:PW/x", "mongodb://h,ann:PW",
            "mongodb://ann:x?PW=y@h", "mongodb://ann:x/PW@h", "mongodb://ann:x@PW@h:0",
            "mongodb://ann:PW@h/?tls=maybe", "mongodb://ann:PW@h:99999",
        ])
        func `a mistyped URI is refused without its password`(_ form: String) {
            let text = form.replacing("PW", with: "se3cret")
            do throws(RemoteError) {
                _ = try LibmongocServer(uri: text, options: MongoRemote.Options())
            } catch {
                #expect(!"\(error)".contains("se3cret"), "\(error.message)")
            }
            #expect(!LibmongocServer.hasNoPassword(text))
        }

        @Test func `an error in a URI without a password is told`() {
            let error = #expect(throws: RemoteError.self) {
                try LibmongocServer(uri: "mongodb://h:0", options: MongoRemote.Options())
            }
            #expect(error?.message.contains("cannot be used: ") == true)
        }
    }
#endif
