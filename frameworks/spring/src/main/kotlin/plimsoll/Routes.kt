package plimsoll

import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.MediaType.TEXT_PLAIN
import org.springframework.web.servlet.function.router

private const val ROUTES = 1000

/**
 * Routes that are registered one by one. Spring asks annotated controllers first, so they do not
 * pay for these, and finds one of these by trying one after another.
 */
@Configuration
class Routes {

    @Bean
    fun manyRoutes() = router {
        "/r".nest {
            for (k in 0 until ROUTES) {
                GET("/$k/x/{id}") { request ->
                    ok().contentType(TEXT_PLAIN).body("$k:${request.pathVariable("id")}")
                }
            }
        }
    }
}
