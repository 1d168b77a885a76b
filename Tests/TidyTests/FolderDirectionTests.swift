import Testing

/// Without this a folder could use one that stands on it, and the layers would be knots again.
struct FolderDirectionTests {
    @Test(arguments: FolderOrder.all)
    func `folders use only what lies below them`(_ order: FolderOrder) throws {
        let found = Set(
            order.wrongUses(in: try SourceTree.ofRepository.get().files).map(\.description))
        let known = Set(FolderOrder.wrongDirections.filter { $0.hasPrefix(order.root) })
        let new = found.subtracting(known).sorted()
        #expect(new.isEmpty, "a lower folder uses a higher one:\n\(new.joined(separator: "\n"))")
        let mended = known.subtracting(found).sorted()
        #expect(
            mended.isEmpty, "mended; take them off the list:\n\(mended.joined(separator: "\n"))")
    }

    @Test(arguments: FolderOrder.all)
    func `every file lies in a folder that has its place`(_ order: FolderOrder) throws {
        let lost = try SourceTree.ofRepository.get().files.filter {
            $0.isSwift && $0.path.hasPrefix(order.root) && order.rank(of: $0.path) == nil
        }
        #expect(lost.isEmpty, "name the folder in FolderOrder: \(lost.map(\.path))")
    }

    @Test func `a folder has at most 30 files`() throws {
        var counts: [String: Int] = [:]
        for file in try SourceTree.ofRepository.get().files
        where file.isSwift && file.path.hasPrefix("Sources/") {
            let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
            counts[folder, default: 0] += 1
        }
        let full = counts.filter { $0.value > 30 }
        #expect(full.isEmpty, "divide \(full)")
    }

    @Test func `the rule finds a wrong use and only that`() {
        let order = FolderOrder("Sources/A/", [["Low"], ["High"]])
        let files = [
            SourceFile("Sources/A/Low/Stone.swift", "struct Stone { var roof: Roof? }\n"),
            SourceFile("Sources/A/High/Roof.swift", "struct Roof { var stone: Stone }\n"),
        ]
        #expect(
            order.wrongUses(in: files).map(\.description) == ["Sources/A/Low/Stone.swift: Roof"])
    }

    @Test func `a nested type of a lower folder may have the name of a higher type`() {
        let order = FolderOrder("Sources/A/", [["Low"], ["High"]])
        let stone = SourceFile("Sources/A/Low/Stone.swift", "struct Stone { var roof: Roof? }\n")
        let roof = SourceFile("Sources/A/High/Roof.swift", "struct Roof {}\n")
        let low = SourceFile("Sources/A/Low/House.swift", "struct House { struct Roof {} }\n")
        let high = SourceFile("Sources/A/High/Town.swift", "struct Town { struct Roof {} }\n")
        #expect(order.wrongUses(in: [stone, roof, low]).isEmpty)
        #expect(order.wrongUses(in: [stone, roof, high]).count == 1)
    }

    @Test func `an import and a condition use no type`() {
        let order = FolderOrder("Sources/A/", [["Low"], ["High"]])
        let files = [
            SourceFile(
                "Sources/A/Low/Stone.swift",
                "internal import struct Foundation.Date\n#if Roof\nstruct Stone {}\n#endif\n"),
            SourceFile(
                "Sources/A/High/Roof.swift",
                "@preconcurrency import class Foundation.Process\n#if Roof\nstruct Roof {}\n"
                    + "#elseif Stone\n#endif\n"),
        ]
        #expect(order.wrongUses(in: files).isEmpty)
    }
}
