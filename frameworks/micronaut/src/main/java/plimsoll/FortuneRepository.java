package plimsoll;

import static io.micronaut.data.model.query.builder.sql.Dialect.POSTGRES;

import io.micronaut.data.jdbc.annotation.JdbcRepository;
import io.micronaut.data.repository.CrudRepository;

@JdbcRepository(dialect = POSTGRES)
interface FortuneRepository extends CrudRepository<Fortune, Integer> {}
