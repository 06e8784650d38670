package plimsoll

import io.netty.channel.ChannelOption
import org.springframework.boot.reactor.netty.NettyServerCustomizer
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.HttpHeaders.DATE
import org.springframework.stereotype.Component
import org.springframework.web.server.ServerWebExchange
import org.springframework.web.server.WebFilter
import org.springframework.web.server.WebFilterChain
import reactor.core.publisher.Mono

private const val BACKLOG = 4096

/** What Spring Boot has no properties for. */
@Configuration
class Server {

    @Bean
    fun backlog() = NettyServerCustomizer { it.option(ChannelOption.SO_BACKLOG, BACKLOG) }

    /** Spring Boot's own compression goes by media type, so all JSON would pass it. */
    @Bean
    fun compression() =
        NettyServerCustomizer { it.compress { request, _ -> request.uri().startsWith("/items/") } }
}

/** Neither Spring nor Reactor Netty sends a date. */
@Component
class Dates : WebFilter {

    override fun filter(exchange: ServerWebExchange, chain: WebFilterChain): Mono<Void> {
        exchange.response.headers.setDate(DATE, System.currentTimeMillis())
        return chain.filter(exchange)
    }
}
