package plimsoll

import io.helidon.common.buffers.BufferData
import io.helidon.websocket.WsListener
import io.helidon.websocket.WsSession

/** Returns every message as it came, in as many fragments, and answers pings; Helidon answers close frames. */
object Echo : WsListener {

    override fun onMessage(session: WsSession, text: String, last: Boolean) {
        session.send(text, last)
    }

    override fun onMessage(session: WsSession, buffer: BufferData, last: Boolean) {
        session.send(buffer, last)
    }

    override fun onPing(session: WsSession, buffer: BufferData) {
        session.pong(buffer)
    }
}
