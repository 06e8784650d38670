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
import java.time.Instant
import java.time.ZoneOffset.UTC
import java.time.format.DateTimeFormatter
import java.util.Locale

private const val BACKLOG = 4096

private val HTTP_DATE =
    DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(UTC)

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

/** Neither Spring nor Reactor Netty sends a date; it is written anew once a second. */
@Component
class Dates : WebFilter {

    @Volatile
    private var written = Written(0)

    override fun filter(exchange: ServerWebExchange, chain: WebFilterChain): Mono<Void> {
        val now = Instant.now().epochSecond
        if (written.second != now) written = Written(now)
        exchange.response.headers.set(DATE, written.date)
        return chain.filter(exchange)
    }

    private class Written(val second: Long) {
        val date: String = HTTP_DATE.format(Instant.ofEpochSecond(second))
    }
}
