package plimsoll;

import static io.micronaut.http.MediaType.TEXT_PLAIN;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.security.annotation.Secured;
import io.micronaut.security.rules.SecurityRule;
import java.security.Principal;

@Controller
public class TokenController {

    @Get(value = "/auth", produces = TEXT_PLAIN)
    @Secured(SecurityRule.IS_AUTHENTICATED)
    String subject(Principal principal) {
        return principal.getName();
    }
}
