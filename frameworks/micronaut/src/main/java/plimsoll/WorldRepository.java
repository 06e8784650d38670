package plimsoll;

import static io.micronaut.data.model.query.builder.sql.Dialect.POSTGRES;

import io.micronaut.data.annotation.Query;
import io.micronaut.data.jdbc.annotation.JdbcRepository;
import io.micronaut.data.repository.CrudRepository;
import java.util.Collection;
import java.util.List;

@JdbcRepository(dialect = POSTGRES)
interface WorldRepository extends CrudRepository<World, Integer> {

    /**
     * Rows locked in the order of their ids, so that transactions wait for each other and never in
     * a circle.
     */
    @Query("SELECT id, random_number FROM world WHERE id IN (:ids) ORDER BY id FOR UPDATE")
    List<World> lock(Collection<Integer> ids);
}
