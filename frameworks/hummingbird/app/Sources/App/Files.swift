import Foundation
import Hummingbird
import Logging

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

struct ItemList: ResponseEncodable {
    let count: Int
    let items: [PricedItem]
}

/// What is made from files: a list of records, and the files themselves.
func addFiles(to router: Router<AppRequestContext>, folder: String, logger: Logger) throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/items.json"))
    let records = try JSONDecoder().decode([Item].self, from: content)
    router.get("items/{n}") { request, context in
        guard let n = context.parameters.get("n", as: Int.self), n > 0, n <= records.count else {
            throw HTTPError(.notFound)
        }
        guard let factor = request.uri.queryParameters.get("m", as: Int.self), factors ~= factor else {
            throw HTTPError(.badRequest)
        }
        let items = records.prefix(n).map {
            PricedItem(item: $0, total: $0.price * $0.quantity * factor)
        }
        return ItemList(count: n, items: items)
    }
    // The middleware serves a file where no route is found; in a group, no other request passes it.
    router.group("static")
        .add(middleware: FileMiddleware("\(folder)/static", urlBasePath: "/static", logger: logger))
        .get("**") { _, _ -> Response in throw HTTPError(.notFound) }
}
