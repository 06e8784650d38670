package plimsoll

import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.MediaType.TEXT_PLAIN
import org.springframework.web.reactive.function.server.router

private const val ROUTES = 1000

/**
 * Routes that are registered one by one. Spring finds one of them by trying one after another, but
 * only for paths that begin like these.
 */
@Configuration
class Routes {

    @Bean
    fun manyRoutes() = router {
        "/r".nest {
            for (k in 0 until ROUTES) {
                GET("/$k/x/{id}") { request ->
                    ok().contentType(TEXT_PLAIN).bodyValue("$k:${request.pathVariable("id")}")
                }
            }
        }
    }
}
