import Foundation
import Hummingbird
import MultipartKit
import NIOCore

/// A context whose decoder is chosen by the content type of the request.
struct AppRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let requestDecoder = AppRequestDecoder()

    init(source: Source) {
        coreContext = .init(source: source)
    }
}

struct AppRequestDecoder: RequestDecoder {
    func decode<T: Decodable>(
        _ type: T.Type, from request: Request, context: some RequestContext
    ) async throws -> T {
        guard let mediaType = request.headers[.contentType].flatMap(MediaType.init(from:)) else {
            throw HTTPError(.unsupportedMediaType)
        }
        switch mediaType {
        case .applicationJson:
            return try await JSONDecoder().decode(type, from: request, context: context)
        case .applicationUrlEncoded:
            return try await URLEncodedFormDecoder().decode(type, from: request, context: context)
        case .multipartForm:
            return try await decodeForm(type, from: request, mediaType: mediaType, context: context)
        default:
            throw HTTPError(.unsupportedMediaType)
        }
    }

    private func decodeForm<T: Decodable>(
        _ type: T.Type, from request: Request, mediaType: MediaType, context: some RequestContext
    ) async throws -> T {
        guard let parameter = mediaType.parameter, parameter.name == "boundary" else {
            throw HTTPError(.unsupportedMediaType)
        }
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        return try FormDataDecoder().decode(type, from: body, boundary: parameter.value)
    }
}
