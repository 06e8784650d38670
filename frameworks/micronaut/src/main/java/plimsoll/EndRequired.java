package plimsoll;

import io.micronaut.http.HttpRequest;
import io.micronaut.security.token.Claims;
import io.micronaut.security.token.jwt.validator.GenericJwtClaimsValidator;
import jakarta.inject.Singleton;

/** Micronaut Security also takes a token without an end. */
@Singleton
class EndRequired implements GenericJwtClaimsValidator<HttpRequest<?>> {

    @Override
    public boolean validate(Claims claims, HttpRequest<?> request) {
        return claims.get(Claims.EXPIRATION_TIME) != null;
    }
}
