package plimsoll;

import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;

/** Another service. */
@RegisterRestClient(configKey = "upstream")
public interface Upstream {

    record Value(long id, long value) {}

    @GET
    @Path("value/{id}")
    Uni<Value> value(int id);
}
