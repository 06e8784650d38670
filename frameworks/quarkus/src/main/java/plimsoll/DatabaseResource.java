package plimsoll;

import static jakarta.ws.rs.core.MediaType.TEXT_HTML;

import io.quarkus.qute.Template;
import io.quarkus.qute.TemplateInstance;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import plimsoll.Rows.Fortune;
import plimsoll.Rows.World;

/** Methods that return a {@link Uni} run on the event loops, which do not wait for the database. */
@Path("")
public class DatabaseResource {

    private static final int MOST_UPDATES = 500;
    private static final Fortune ADDED =
        new Fortune(0, "This sentence was added when the request came.");

    private final Rows rows;
    private final Template fortunes;

    DatabaseResource(Rows rows, Template fortunes) {
        this.rows = rows;
        this.fortunes = fortunes;
    }

    @GET
    @Path("db/{id}")
    public Uni<World> world(int id) {
        return rows.world(id).onItem().ifNull().failWith(NotFoundException::new);
    }

    @GET
    @Path("fortunes")
    @Produces(TEXT_HTML)
    public Uni<TemplateInstance> fortunes() {
        return rows.fortunes().map(found -> fortunes.data("fortunes", withAdded(found)));
    }

    @POST
    @Path("updates/{count}")
    public Uni<List<World>> updates(int count) {
        if (count < 1 || count > MOST_UPDATES) {
            throw new BadRequestException("there are 1 to 500 updates");
        }
        return rows.update(count);
    }

    private static List<Fortune> withAdded(List<Fortune> found) {
        return Stream.concat(found.stream(), Stream.of(ADDED))
            .sorted(Comparator.comparing(Fortune::message))
            .toList();
    }
}
