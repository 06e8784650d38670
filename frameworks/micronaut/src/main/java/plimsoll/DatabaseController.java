package plimsoll;

import static io.micronaut.http.HttpStatus.BAD_REQUEST;
import static io.micronaut.http.MediaType.TEXT_HTML;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.exceptions.HttpStatusException;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import io.micronaut.views.View;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What needs PostgreSQL, on threads that may wait for it. */
@Controller
@ExecuteOn(TaskExecutors.BLOCKING)
public class DatabaseController {

    private static final int MOST_UPDATES = 500;
    private static final Fortune ADDED = new Fortune(0, "This sentence was added when the request came.");

    private final WorldRepository worlds;
    private final FortuneRepository fortunes;
    private final Worlds updates;

    DatabaseController(WorldRepository worlds, FortuneRepository fortunes, Worlds updates) {
        this.worlds = worlds;
        this.fortunes = fortunes;
        this.updates = updates;
    }

    /** Micronaut answers with 404 if there is no such row. */
    @Get("/db/{id}")
    Optional<World> world(int id) {
        return worlds.findById(id);
    }

    @Get(value = "/fortunes", produces = TEXT_HTML + "; charset=utf-8")
    @View("fortunes")
    Map<String, List<Fortune>> fortunes() {
        var found = fortunes.findAll();
        found.add(ADDED);
        found.sort(Comparator.comparing(Fortune::message));
        return Map.of("fortunes", found);
    }

    @Post("/updates/{count}")
    List<World> updates(int count) {
        if (count < 1 || count > MOST_UPDATES) {
            throw new HttpStatusException(BAD_REQUEST, "there are 1 to 500 updates");
        }
        return updates.update(count);
    }
}
