package plimsoll;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.runtime.Startup;
import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jboss.resteasy.reactive.RestQuery;

/** Lists as JSON, each encoded anew. */
@Path("items")
@Startup
public class ItemsResource {

    public record Rating(double score, int count) {}

    public record Item(
        int id,
        String name,
        String category,
        long price,
        long quantity,
        boolean active,
        List<String> tags,
        Rating rating) {}

    public record PricedItem(@JsonUnwrapped Item item, long total) {}

    public record Items(int count, List<PricedItem> items) {}

    private final List<Item> records;

    ItemsResource(ObjectMapper mapper, @ConfigProperty(name = "FILES") Optional<String> files)
        throws IOException {
        records = files.isEmpty()
            ? List.of()
            : mapper.readValue(
                Files.readString(java.nio.file.Path.of(files.get(), "items.json")),
                new TypeReference<>() {});
    }

    @GET
    @Path("{count}")
    @NonBlocking
    public Items items(int count, @RestQuery long m) {
        if (count < 1 || count > records.size()) {
            throw new NotFoundException();
        }
        return new Items(count, records.stream()
            .limit(count)
            .map(item -> new PricedItem(item, item.price() * item.quantity() * m))
            .toList());
    }
}
