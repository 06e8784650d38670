package plimsoll;

import io.quarkus.websockets.next.OnBinaryMessage;
import io.quarkus.websockets.next.OnTextMessage;
import io.quarkus.websockets.next.WebSocket;
import io.smallrye.common.annotation.NonBlocking;
import io.vertx.core.buffer.Buffer;

/** Returns every message as it came; Quarkus answers pings and close frames. */
@WebSocket(path = "/echo")
public class Echo {

    @OnTextMessage
    @NonBlocking
    String text(String message) {
        return message;
    }

    @OnBinaryMessage
    @NonBlocking
    Buffer binary(Buffer message) {
        return message;
    }
}
