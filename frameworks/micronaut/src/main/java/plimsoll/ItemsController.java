package plimsoll;

import io.micronaut.context.annotation.Value;
import io.micronaut.core.type.Argument;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.json.JsonMapper;
import io.micronaut.serde.annotation.Serdeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

@Controller
public class ItemsController {

    @Serdeable
    public record Rating(double score, int count) {}

    @Serdeable
    public record Item(
        int id,
        String name,
        String category,
        long price,
        long quantity,
        boolean active,
        List<String> tags,
        Rating rating) {

        PricedItem priced(long factor) {
            return new PricedItem(
                id, name, category, price, quantity, active, tags, rating, price * quantity * factor);
        }
    }

    @Serdeable
    public record PricedItem(
        int id,
        String name,
        String category,
        long price,
        long quantity,
        boolean active,
        List<String> tags,
        Rating rating,
        long total) {}

    @Serdeable
    public record Items(int count, List<PricedItem> items) {}

    private final List<Item> records;

    /** Micronaut makes a controller when its first request comes. */
    ItemsController(JsonMapper mapper, @Value("${files}") String files) throws IOException {
        var file = Files.readAllBytes(Path.of(files, "items.json"));
        records = mapper.readValue(file, Argument.listOf(Item.class));
    }

    @Get("/items/{count}")
    HttpResponse<Items> items(int count, @QueryValue long m) {
        if (count < 1 || count > records.size()) {
            return HttpResponse.notFound();
        }
        var found = records.stream().limit(count).map(item -> item.priced(m)).toList();
        return HttpResponse.ok(new Items(count, found))
            .header(HttpHeaders.VARY, HttpHeaders.ACCEPT_ENCODING);
    }
}
