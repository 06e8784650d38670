import HTTPTypes
import Hummingbird
import JWTKit
import NIOCore

struct Claims: JWTPayload {
    let sub: SubjectClaim
    let exp: ExpirationClaim

    func verify(using _: some JWTAlgorithm) throws {
        try exp.verifyNotExpired()
    }
}

/// The one key that tokens are signed with.
func tokenKeys(_ environment: Environment) async -> JWTKeyCollection {
    let key = HMACKey(from: environment.get("AUTH_KEY") ?? "")
    return await JWTKeyCollection().add(hmac: key, digestAlgorithm: .sha256)
}

/// Answers with the subject of a valid token.
func addTokens(to router: Router<AppRequestContext>, keys: JWTKeyCollection) {
    router.get("auth") { request, _ in
        guard let token = bearer(request.headers),
            let claims = try? await keys.verify(token, as: Claims.self)
        else { throw HTTPError(.unauthorized) }
        return text(ByteBuffer(string: claims.sub.value))
    }
}

private func bearer(_ headers: HTTPFields) -> String? {
    let scheme = "Bearer "
    guard let header = headers[.authorization], header.hasPrefix(scheme) else { return nil }
    return String(header.dropFirst(scheme.count))
}
