import Foundation
import Vapor

private let factors = 1...100

struct Rating: Codable {
    let score: Double
    let count: Int
}

struct Item: Codable {
    let id: Int
    let name: String
    let category: String
    let price: Int
    let quantity: Int
    let active: Bool
    let tags: [String]
    let rating: Rating
}

/// An item with its total beside its own members.
struct PricedItem: Encodable {
    let item: Item
    let total: Int

    private enum CodingKeys: CodingKey {
        case total
    }

    func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(total, forKey: .total)
    }
}

struct ItemList: Encodable {
    let count: Int
    let items: [PricedItem]
}

/// The first records of a file, compressed for clients that accept it; no other response is.
func items(_ app: Application, folder: String) throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/items.json"))
    let records = try JSONDecoder().decode([Item].self, from: content)
    app.routes.responseCompression(.enable).get("items", ":n") { request async throws in
        guard let n = request.parameters.get("n", as: Int.self), n > 0, n <= records.count else {
            throw Abort(.notFound)
        }
        guard let factor = request.query[Int.self, at: "m"], factors ~= factor else {
            throw Abort(.badRequest)
        }
        let items = records.prefix(n).map {
            PricedItem(item: $0, total: $0.price * $0.quantity * factor)
        }
        let response = Response(headers: ["Vary": "Accept-Encoding"])
        try response.content.encode(ItemList(count: n, items: items), as: .json)
        return response
    }
}
