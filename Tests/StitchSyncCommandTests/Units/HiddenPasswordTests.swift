#if CommandLine
    import Testing

    @testable import StitchSyncCommand

    /// Without this a mistyped address shows its password in an error, and so in logs.
    struct HiddenPasswordTests {
        @Test(arguments: [
            ("cannot open mongodb://u:pw@h/db", "cannot open mongodb://u:(hidden)@h/db"),
            ("mogodb:/u:pw@h is no file", "mogodb:/u:(hidden)@h is no file"),
            ("argument 'mongodb;//u:pw@h'", "argument 'mongodb;//u:(hidden)@h'"),
            ("a u:p@w@h b", "a u:(hidden)@h b"),
            ("--remote=mongodb://u:p/w?x@h,i", "--remote=mongodb://u:(hidden)@h,i"),
            ("ann@example.com: 3", "ann@example.com: 3"),
            ("mongodb://u@h:27017", "mongodb://u@h:27017"),
            ("mongodb://h:27017/a", "mongodb://h:27017/a"),
            ("", ""), ("@", "@"), (":@", ":@"),
        ])
        func `the password of an address is hidden`(_ text: String, _ hidden: String) {
            #expect(HiddenPassword.hidden(in: text, given: []) == hidden)
            #expect(HiddenPassword.hidden(in: hidden, given: []) == hidden)
        }

        @Test func `a password with blanks is known from the arguments`() {
            let given = ["--db", "mongo://u:my long secret@h", #"{"a": "b@c"}"#]
            let text = "cannot open mongo://u:my long secret@h: long secret, my long secret"
            #expect(
                HiddenPassword.hidden(in: text, given: given)
                    == "cannot open mongo://u:(hidden)@h: long secret, (hidden)")
        }
    }
#endif
