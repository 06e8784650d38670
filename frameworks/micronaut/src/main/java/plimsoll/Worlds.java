package plimsoll;

import jakarta.inject.Singleton;
import jakarta.transaction.Transactional;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

@Singleton
class Worlds {

    private static final int ROWS = 10_000;

    private final WorldRepository repository;

    Worlds(WorldRepository repository) {
        this.repository = repository;
    }

    /** Reads rows, gives each a new number, and writes them. */
    @Transactional
    List<World> update(int count) {
        var ids = ThreadLocalRandom.current()
            .ints(1, ROWS + 1)
            .distinct()
            .limit(count)
            .boxed()
            .collect(Collectors.toSet());
        var worlds = repository.lock(ids).stream()
            .map(world -> new World(world.id(), ThreadLocalRandom.current().nextInt(ROWS) + 1))
            .toList();
        repository.updateAll(worlds);
        return worlds;
    }
}
