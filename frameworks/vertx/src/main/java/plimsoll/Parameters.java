package plimsoll;

import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.HttpException;

/** What paths say. */
class Parameters {

    private Parameters() {}

    /**
     * A number in a path.
     *
     * @throws HttpException it is none, so there is nothing below this path.
     */
    static int number(RoutingContext context, String name) {
        try {
            return Integer.parseUnsignedInt(context.pathParam(name));
        } catch (NumberFormatException notANumber) {
            throw new HttpException(404, notANumber);
        }
    }
}
