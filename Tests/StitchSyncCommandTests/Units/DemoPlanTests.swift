import BSONStore
import Testing

@testable import StitchSyncCommand

/// The demo shows nothing if its devices never meet.
@Suite struct DemoPlanTests {
    private let document: BSONDocument = [
        "_id": "x", "": "no", "a.b": 1, "flag": true, "name": "kettle", "stock": 3,
    ]

    @Test func `every scene happens within twenty documents`() {
        let scenes = (0..<20).map(DemoPlan.scene)
        for scene in DemoPlan.Scene.allCases { #expect(scenes.contains(scene)) }
    }

    @Test func `both change the same field, each in its way`() {
        let a = DemoPlan.action(of: .a, on: document, at: 1)
        let b = DemoPlan.action(of: .b, on: document, at: 1)
        #expect(
            a == .update(["$set": ["name": "kettle [A]", "demoEdits.a": .int64(1)]]))
        #expect(
            b == .update(["$set": ["name": "kettle [B]", "demoEdits.b": .int64(1)]]))
    }

    @Test func `a number is counted up and an array added to`() {
        #expect(
            DemoPlan.action(of: .b, on: ["_id": 1, "n": 3], at: 21)
                == .update(["$inc": ["n": 10], "$set": ["demoEdits.b": .int64(21)]]))
        #expect(
            DemoPlan.action(of: .a, on: ["_id": 1, "n": [1]], at: 21)
                == .update(["$push": ["n": "by A"], "$set": ["demoEdits.a": .int64(21)]]))
    }

    @Test func `a document without such a field is only marked`() {
        let bare: BSONDocument = ["_id": 1, "n": .int32(.max), "d": 1.5]
        #expect(
            DemoPlan.action(of: .a, on: bare, at: 1)
                == .update(["$set": ["demoEdits.a": .int64(1)]]))
    }

    @Test(arguments: 0..<20)
    func `a document is gone in the end only when nobody edits it`(_ place: Int) {
        let actions = DemoPlan.Device.allCases.map {
            DemoPlan.action(of: $0, on: document, at: place)
        }
        let isEdited = actions.contains { if case .update = $0 { true } else { false } }
        let isDeleted = actions.contains(.delete)
        #expect(DemoPlan.survives(at: place) == (isEdited || !isDeleted))
    }
}
