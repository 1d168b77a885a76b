#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these the shell would answer otherwise than MongoDB's, or differ between files and
    /// servers.
    @Suite struct ShellTests {
        /// The lines that a person types, and what the shell prints for them.
        private struct Transcript {
            var input: [String] = []
            var output: [String] = []
            var complaints: [String] = []

            /// Reads `fixtures/shell`: `> ` before a typed line, `! ` before one of an error.
            init(_ name: String) throws {
                let file = URL(filePath: #filePath)
                    .deletingLastPathComponent().deletingLastPathComponent()
                    .deletingLastPathComponent().deletingLastPathComponent()
                    .appending(path: "fixtures/shell/\(name).txt")
                for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                    if line.hasPrefix("> ") {
                        input.append(String(line.dropFirst(2)))
                    } else if line.hasPrefix("! ") {
                        complaints.append(String(line.dropFirst(2)))
                    } else {
                        output.append(String(line))
                    }
                }
            }
        }

        private static func play(
            _ name: String, at place: String, _ folder: TemporaryFolder
        ) async throws {
            let transcript = try Transcript(name)
            _ = try folder.write(lines: transcript.input, to: "input")
            let answer = try await Tool.run("shell", place, in: folder, input: "input")
            let difference = answer.output.difference(from: transcript.output)
            #expect(difference.isEmpty, "\(difference)")
            #expect(answer.complaints == transcript.complaints)
        }

        @Test func `a store file answers as MongoDB does`() async throws {
            try await withTemporaryFolder { try await Self.play("basics", at: "shop.stitch", $0) }
        }

        @Test func `a store file knows the classes and functions of mongosh`() async throws {
            try await withTemporaryFolder { try await Self.play("classes", at: "shop.stitch", $0) }
        }

        @Test(arguments: ["language", "documentation"])
        func `scripts of MongoDB's documentation run on files and servers`(
            name: String
        ) async throws {
            try await withTemporaryFolder { folder in
                try await Self.play(name, at: "shop.stitch", folder)
                try await ServerProcess.run { server in
                    try await Self.play(name, at: "stitchsync://127.0.0.1:\(server.port)", folder)
                }
            }
        }

        @Test func `documents are a table if the person wants one`() async throws {
            try await withTemporaryFolder { folder in
                let lines = [
                    "for (let i = 1; i < 23; i++) db.c.insertOne({ _id: i, s: 'x'.repeat(i * 3) })",
                    "db.c.find().limit(2).table()", "db.c.find().limit(1)",
                    "config.set('displayTable', true)", "db.c.find({}, { _id: 1 })", "it",
                    "db.c.find({ _id: 22 }).toArray()", "db.c.find({ _id: 0 })", "[1, 2]", "'text'",
                ]
                _ = try folder.write(lines: lines, to: "input")
                let answer = try await Tool.run("shell", "shop.stitch", in: folder, input: "input")
                #expect(answer.complaints.isEmpty)
                let long = String(repeating: "x", count: 59) + "…"
                let wanted =
                    ["_id       s", "-----------", "1       xxx", "2    xxxxxx"]
                    + ["[ { _id: 1, s: 'xxx' } ]", "Setting \"displayTable\" has been changed"]
                    + ["_id", "---"] + (1...20).map(String.init) + ["Type \"it\" for more"]
                    + ["_id", "---", "21", "22"]
                    + ["_id" + String(repeating: " ", count: 61) + "s"]
                    + [String(repeating: "-", count: 65), "22   \(long)", "[ 1, 2 ]", "text"]
                let shown = Array(answer.output.drop { !$0.hasPrefix("_id") })
                #expect(shown == wanted, "\(answer.output)")
                let flag = try await Tool.run(
                    "shell", "shop.stitch", "--table", "--eval", "db.c.find({ _id: 1 })",
                    in: folder)
                #expect(flag.output == ["_id    s", "--------", "1    xxx"])
                for code in ["let a = { b: 1 }; a.a = a; [a]", "[{}]"] {
                    let plain = try await Tool.run(
                        "shell", "shop.stitch", "--eval", code, in: folder)
                    let table = try await Tool.run(
                        "shell", "shop.stitch", "--table", "--eval", code, in: folder)
                    #expect(plain.code == 0 && !plain.output.isEmpty, "\(plain)")
                    #expect(table.code == 0 && table.output == plain.output, "\(table)")
                }
                let both = try await Tool.run(
                    "shell", "shop.stitch", "--table", "--json", in: folder)
                #expect(both.code == 64)
            }
        }

        @Test func `roles, the log and the help of commands are those of the server`() async throws
        {
            try await withTemporaryFolder { folder in
                let lines = [
                    "db.getRole('readWrite').isBuiltin", "db.getRoles().roles.length",
                    "db.getRoles({ showBuiltinRoles: true }).roles.map(r => r.role).join()",
                    "db.getRole('read', { showPrivileges: true }).privileges[0].resource",
                    "db.commandHelp('dropUser').slice(0, 18)",
                    "db.adminCommand({ getLog: 'global' }).ok",
                    "JSON.parse(db.adminCommand({ getLog: 'startupWarnings' }).log[0]).s",
                    "try { db.getLogComponents() } catch (e) { print(e.message.slice(0, 28)) }",
                ]
                _ = try folder.write(lines: lines, to: "input")
                let answer = try await Tool.run("shell", "a.stitch", in: folder, input: "input")
                #expect(answer.complaints == [])
                #expect(
                    answer.output == [
                        "true", "0", "dbAdmin,dbOwner,read,readWrite,userAdmin",
                        "{ db: 'test', collection: '' }", "help for: dropUser", "1", "W",
                        "the server has one log level",
                    ])
                let roles = try await Tool.run(
                    "shell", "a.stitch", "--eval", "show roles", in: folder)
                #expect(roles.output.contains { $0.contains("role: 'userAdmin'") })
            }
        }

        @Test func `a script knows its file, and Reflect`() async throws {
            try await withTemporaryFolder { folder in
                let lines = [
                    "print(__filename.endsWith('/a.js'), __filename === __dirname + '/a.js')",
                    "const o = { b: 1 }; Reflect.set(o, 'a', 2); Reflect.deleteProperty(o, 'b')",
                    "print(Reflect.ownKeys(o).join(), Reflect.has(o, 'b'), Reflect.get(o, 'a'))",
                    "print(Reflect.apply(Math.max, null, [1, 3]), Reflect.construct(Date, [5]) - 0)",
                    "try { db.c.insertOne({ a: 10n ** 30n }) } catch (e) { print(e.name) }",
                    "db.c.insertOne({ a: 10n ** 30n })",
                ]
                _ = try folder.write(lines: lines, to: "a.js")
                let run = try await Tool.run(
                    "shell", "a.stitch", "--norc", "--file", "a.js", in: folder)
                #expect(run.output == ["true true", "a false 2", "3 5", "RangeError"])
                #expect(run.complaints.first?.hasPrefix("RangeError: the BigInt 1000") == true)
                let loaded = try await Tool.run(
                    "shell", "a.stitch", "--norc", "--eval",
                    "try { load('a.js') } catch (e) {} typeof __filename", in: folder)
                #expect(loaded.output.last == "undefined")
            }
        }

        @Test func `options have the names of mongosh's`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: ["print(5 + n)", "quit(7)"], to: "a.js")
                let run = try await Tool.run(
                    "shell", "--nodb", "--norc", "--eval", "var n = 1", "--file", "a.js", in: folder
                )
                #expect(run.output == ["6"])
                #expect(run.code == 7)
                let form = try await Tool.run(
                    "shell", "--nodb", "--eval", "({ a: Long(5) })", "--json=canonical", in: folder)
                #expect(form.output == [#"{"a":{"$numberLong":"5"}}"#])
                let thrown = try await Tool.run(
                    "shell", "--nodb", "--eval", "throw new Error('no')", in: folder)
                #expect(thrown.complaints == ["Error: no"])
                #expect(thrown.code == 1)
            }
        }

        @Test func `writes of a synced collection are pending changes`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: ["{\"_id\": 1}"], to: "first.jsonl")
                _ = try await Tool.run("import", "a", "d.c", "first.jsonl", in: folder)
                let sync = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
                #expect(sync.code == 0, "\(sync.complaints)")
                let lines = [
                    "use d", "db.c.insertOne({ _id: 2 }).insertedId",
                    "db.c.updateOne({ _id: 1 }, { $set: { a: 1 } }).modifiedCount",
                    "db.c.findOneAndUpdate({ _id: 2 }, { $set: { b: 1 } })",
                    "db.c.insertOne({ _id: 1 })", "db.c.insertOne({ _id: 3 }).acknowledged",
                    "db.c.deleteOne({ _id: 3 }).deletedCount",
                ]
                _ = try folder.write(lines: lines, to: "input")
                let answer = try await Tool.run("shell", "a", in: folder, input: "input")
                #expect(
                    answer.output == [
                        "switched to db d", "2", "1", "{ _id: 2 }", "true", "1",
                    ])
                #expect(answer.complaints.count == 2)
                #expect(answer.complaints.last?.contains("E11000") == true)
                let again = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
                #expect(again.code == 0, "\(again.complaints)")
                let found = try await Tool.run("find", "r", "d.c", "--relaxed", in: folder)
                #expect(found.output.count == 2)
                #expect(found.output.contains { $0.contains(#""a":1"#) })
            }
        }

        @Test func `commands write the same to a synced collection as to another`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: ["{\"_id\": 0}"], to: "first.jsonl")
                _ = try await Tool.run("import", "a", "d.s", "first.jsonl", in: folder)
                let sync = try await Tool.run("sync", "a", "d.s", "--remote", "r", in: folder)
                #expect(sync.code == 0, "\(sync.complaints)")
                _ = try folder.write(lines: [Self.law], to: "law.js")
                let answer = try await Tool.run("shell", "a", "law.js", in: folder)
                #expect(answer.code == 0, "\(answer.complaints)")
                #expect(answer.output == ["wrote 21, refused 21"], "\(answer.output)")
                let again = try await Tool.run("sync", "a", "d.s", "--remote", "r", in: folder)
                #expect(again.code == 0, "\(again.complaints)")
                let here = try await Tool.run("count", "a", "d.s", in: folder)
                let there = try await Tool.run("count", "r", "d.s", in: folder)
                #expect(here.output == there.output)
            }
        }

        /// Runs each form on a synced and on another collection, and prints what differs.
        private static let law = #"""
            const d = db.getSiblingDB('d');
            const run = (c, verb, more) => d.runCommand({ [verb]: c.getName(), ...more });
            const find = (c, more) => run(c, 'findAndModify', { query: { _id: 1 }, ...more });
            const forms = [
              c => c.findOneAndUpdate({ _id: 1 }, [{ $set: { b: '$a' } }]),
              c => c.findOneAndUpdate({ _id: 1 }, { $set: { 'l.$[x]': 9 } },
                { arrayFilters: [{ x: 2 }], returnDocument: 'after' }),
              c => c.findOneAndUpdate({ _id: 7 }, { $set: { a: 1 } }, { upsert: 1, new: 1 }),
              c => c.findOneAndReplace({ _id: 1 }, { z: 1 }),
              c => c.findOneAndReplace({ _id: 1 }, {}),
              c => c.findOneAndDelete({ _id: 2 }, { projection: { a: 1 } }),
              c => find(c, { remove: 1 }),
              c => find(c, { remove: true, fields: { _id: 1 } }),
              c => find(c, { update: [{ $unset: 'a' }], new: 1 }),
              c => find(c, { update: { $inc: { a: 1 } }, sort: {}, fields: {} }),
              c => find(c, { query: { _id: 8 }, update: { a: 1 }, upsert: 1 }),
              c => c.updateOne({ _id: 1 }, [{ $set: { b: 1 } }]),
              c => c.updateMany({ _id: { $gt: 0 } }, { $set: { b: 1 } }),
              c => c.update({ _id: { $gt: 0 } }, { $set: { b: 2 } }, { multi: 1 }),
              c => c.replaceOne({ _id: 1 }, { b: 1 }),
              c => c.remove({ _id: { $gt: 0 } }, { justOne: 1 }),
              c => c.remove({ _id: { $gt: 0 } }, 1),
              c => c.deleteMany({ _id: { $gt: 1 } }),
              c => run(c, 'delete', { deletes: [{ q: { _id: { $gt: 0 } }, limit: NumberDecimal('1') }] }),
              c => run(c, 'insert', { documents: [{ _id: 1 }, { _id: 9 }], ordered: 0 }),
              c => c.bulkWrite([{ deleteOne: { filter: { _id: 1 } } }]),
              // None of these may write.
              c => find(c, {}),
              c => find(c, { update: 5 }),
              c => find(c, { update: { $set: { a: 9 } }, remove: 1 }),
              c => find(c, { remove: 1, new: 1 }),
              c => find(c, { query: 5, update: { a: 9 } }),
              c => c.findAndModify({ query: undefined, remove: true }),
              c => c.findOneAndReplace({ _id: 1 }),
              c => c.findOneAndReplace({ _id: 1 }, undefined),
              c => c.findOneAndReplace({ _id: 1 }, [{ $set: { a: 9 } }]),
              c => c.findOneAndUpdate({ _id: 1 }),
              c => c.replaceOne({ _id: 1 }, [{ $set: { a: 9 } }]),
              c => c.replaceOne({ _id: 1 }),
              c => run(c, 'update', { updates: [{ q: { _id: 1 } }] }),
              c => run(c, 'update', { updates: [{ u: {} }] }),
              c => run(c, 'update', { updates: [5] }),
              c => run(c, 'delete', { deletes: [{ limit: 0 }] }),
              c => run(c, 'delete', { deletes: [{ q: {} }] }),
              c => run(c, 'delete', { deletes: [{ q: {}, limit: 2 }] }),
              c => run(c, 'insert', { documents: [5] }),
              c => c.bulkWrite([{ deleteMany: { filter: undefined } }]),
              c => c.bulkWrite([{ replaceOne: { filter: { _id: 1 } } }]),
            ];
            const first = [1, 2, 3].map(n => ({ _id: n, a: n, l: [1, 2, 3] }));
            const plain = o => JSON.stringify(o, (k, v) => k.startsWith('__') ? undefined : v);
            const read = c => plain(c.find({ _id: { $gt: 0 } }).sort({ _id: 1 }).toArray());
            let [wrote, refused] = [0, 0];
            forms.forEach((form, index) => {
              const [a, b] = ['s', 'p'].map(name => {
                const c = d.getCollection(name);
                c.deleteMany({ _id: { $gt: 0 } });
                c.insertMany(first);
                let told = 'refused';
                try {
                  const reply = form(c);
                  told = plain(reply && reply.ok === 1 ? [reply.value, reply.n, reply.lastErrorObject] : reply);
                } catch (e) {}
                return { told, left: read(c), changed: read(c) !== plain(first) };
              });
              if (plain(a) !== plain(b)) print(index, plain(a), plain(b));
              if (a.changed) wrote += 1;
              if (a.told === 'refused' && !a.changed) refused += 1;
            });
            print(`wrote ${wrote}, refused ${refused}`);
            """#

        @Test func `scripts and --eval end with an exit code`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(
                    lines: ["db.c.insertOne({ _id: 1 });", "load('more.js');", "print('done')"],
                    to: "script.js")
                _ = try folder.write(lines: ["print('more')"], to: "more.js")
                _ = try folder.write(lines: ["print(1);", "nothing.here"], to: "wrong.js")
                let script = try await Tool.run("shell", "s", "script.js", in: folder)
                #expect(script.output == ["more", "done"], "\(script.complaints)")
                #expect(script.code == 0)
                let wrong = try await Tool.run("shell", "s", "wrong.js", in: folder)
                #expect(wrong.code == 1)
                #expect(wrong.output == ["1"])
                #expect(wrong.complaints.first?.hasPrefix("ReferenceError: nothing") == true)
                let value = try await Tool.run(
                    "shell", "s", "--eval", "db.c.findOne()", "--json", in: folder)
                #expect(value.output == [#"{"_id":1}"#])
                let code = try await Tool.run("shell", "s", "--eval", "quit(7)", in: folder)
                #expect(code.code == 7)
                let deep = try await Tool.run(
                    "shell", "s", "--eval",
                    "function f(n) { return n ? 1 + f(n - 1) : 0 }; f(1000)",
                    in: folder)
                #expect(deep.output == ["1000"], "\(deep.complaints)")
            }
        }

        @Test func `a script signs in and out`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run(["--auth"]) { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    _ = try folder.write(lines: ["rootpassword"], to: "pw")
                    _ = try await Tool.run(
                        "adduser", uri, "root", "--role", "root", in: folder, input: "pw")
                    _ = try folder.write(
                        lines: [
                            "db = db.getSiblingDB('admin')",
                            "const user = () => db.runCommand({ connectionStatus: 1 })"
                                + ".authInfo.authenticatedUsers.map(u => u.user).join()",
                            "print('at first', user())",
                            "try { db.auth('root', 'wrong') } catch (e) { print(e.name, e.code) }",
                            "print('refused', user())",
                            "print(db.auth('root', 'rootpassword').ok, user())",
                            "print(db.getSiblingDB('shop').items.insertOne({ _id: 1 }).insertedId)",
                            "print(db.logout().ok, user())",
                            "try { db.getSiblingDB('shop').items.findOne() } catch (e) { print(e.code) }",
                            "print(db.auth({ user: 'root', pwd: 'rootpassword' }).ok, user())",
                            "try { db.auth({ pwd: 'x' }) } catch (e) { print(e.message) }",
                        ], to: "signs.js")
                    let answer = try await Tool.run("shell", uri, "signs.js", in: folder)
                    #expect(
                        answer.output == [
                            "at first ", "MongoServerError 18", "refused ", "1 root", "1", "1 ",
                            "13", "1 root", "db.auth needs the user's name in the field user",
                        ], "\(answer.output) \(answer.complaints)")
                }
                let file = try await Tool.run(
                    "shell", "shop.stitch", "--eval", "db.auth('ann', 'secret')", in: folder)
                #expect(file.code == 1)
                #expect(
                    file.complaints.joined().contains("stitchsync serve --db shop.stitch --auth"),
                    "\(file.complaints)")
                #expect(!file.complaints.joined().contains("secret"))
            }
        }

        @Test func `Intl formats dates and numbers as node does`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(
                    lines: [
                        "const at = new Date(Date.UTC(2026, 10, 5, 15, 4, 9))",
                        "print(new Intl.DateTimeFormat().format(at))",
                        "print(Intl.DateTimeFormat('en-US', { dateStyle: 'full' }).format(at))",
                        "print(new Intl.DateTimeFormat('en-US', { hour: 'numeric' }).format(at))",
                        "print([at].map(new Intl.DateTimeFormat('en-US', "
                            + "{ timeZone: 'Asia/Tokyo', timeStyle: 'short' }).format).join())",
                        "print(new Intl.DateTimeFormat().resolvedOptions().timeZone)",
                        "print(new Intl.NumberFormat('en-US', "
                            + "{ style: 'currency', currency: 'USD' }).format(-1234.5))",
                        "print(new Intl.NumberFormat().format(12345678901234567890n))",
                        "print(['b', 'a', 'B'].sort(new Intl.Collator().compare).join())",
                        "try { new Intl.DateTimeFormat().format(NaN) } catch (e) { print(e.name) }",
                        "try { new Intl.NumberFormat('de') } catch (e) { print(e.name) }",
                        "try { new Intl.PluralRules() } catch (e) { print(e.name) }",
                    ], to: "intl.js")
                let answer = try await Tool.run("shell", "shop.stitch", "intl.js", in: folder)
                #expect(
                    answer.output == [
                        "11/5/2026", "Thursday, November 5, 2026", "3 PM", "12:04 AM", "UTC",
                        "-$1,234.50", "12,345,678,901,234,567,890", "a,b,B", "RangeError",
                        "RangeError", "MongoshUnimplementedError",
                    ], "\(answer.output) \(answer.complaints)")
            }
        }

        @Test func `a server answers as a file does`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    try await Self.play("basics", at: uri, folder)
                    let value = try await Tool.run(
                        "shell", "\(uri)/named", "--eval", "db.getName()", in: folder)
                    #expect(value.output == ["named"])
                }
            }
        }
    }
#endif
