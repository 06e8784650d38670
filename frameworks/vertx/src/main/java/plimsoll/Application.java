package plimsoll;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServerOptions;

public class Application {

    public static void main(String[] args) {
        int workers = Integer.parseInt(System.getenv("WORKERS"));
        var vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(workers)
            // No files are served, so none have to be unpacked into the temporary folder.
            .setFileSystemOptions(new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false)));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(vertx)));
        var listen = new HttpServerOptions()
            .setHost(System.getenv("HOST"))
            .setPort(Integer.parseInt(System.getenv("PORT")))
            .setAcceptBacklog(4096)
            // Room for 26 arguments of any signs, percent-encoded.
            .setMaxInitialLineLength(64 * 1024);
        vertx.deployVerticle(
                () -> new ContractVerticle(listen),
                new DeploymentOptions().setInstances(workers))
            .onFailure(cause -> {
                cause.printStackTrace();
                System.exit(1);
            });
    }

    private static void close(Vertx vertx) {
        try {
            vertx.close().toCompletionStage().toCompletableFuture().get(5, SECONDS);
        } catch (Exception cause) {
            cause.printStackTrace();
        }
    }
}
