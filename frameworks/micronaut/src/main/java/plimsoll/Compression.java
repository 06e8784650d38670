package plimsoll;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.server.netty.HttpCompressionStrategy;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import jakarta.inject.Singleton;

/** Compresses responses that say that they vary by coding; Micronaut's own strategy, all texts above 1 KiB. */
@Singleton
@Replaces(HttpCompressionStrategy.class)
class Compression implements HttpCompressionStrategy {

    private static final int LONGEST_ZSTD = 1 << 20;

    @Override
    public boolean shouldCompress(HttpResponse response) {
        return response.headers().contains(HttpHeaderNames.VARY);
    }

    @Override
    public int getMaxZstdEncodeSize() {
        return LONGEST_ZSTD;
    }
}
