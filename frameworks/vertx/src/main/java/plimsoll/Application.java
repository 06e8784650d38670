package plimsoll;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;

public class Application {

    private static final int LONGEST_MESSAGE = 1 << 20;

    public static void main(String[] args) {
        int workers = Integer.parseInt(System.getenv("WORKERS"));
        var vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(workers)
            .setPreferNativeTransport(true)
            // No files are served, so none have to be unpacked into the temporary folder.
            .setFileSystemOptions(new FileSystemOptions()
                .setFileCachingEnabled(false)
                .setClassPathResolvingEnabled(false)));
        if (!vertx.isNativeTransportEnabled()) {
            throw new IllegalStateException("there is no native transport", vertx.unavailableNativeTransportCause());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(vertx)));
        var listen = new HttpServerOptions()
            .setHost(System.getenv("HOST"))
            .setPort(Integer.parseInt(System.getenv("PORT")))
            .setAcceptBacklog(4096)
            // Room for 26 arguments of any signs, percent-encoded.
            .setMaxInitialLineLength(64 * 1024)
            // Unless told otherwise, a frame of WebSocket has at most 64 KiB.
            .setMaxWebSocketFrameSize(LONGEST_MESSAGE)
            .setMaxWebSocketMessageSize(LONGEST_MESSAGE);
        var certificate = System.getenv("TLS_CERT");
        if (certificate != null) {
            listen.setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                    .setCertPath(certificate)
                    .setKeyPath(System.getenv("TLS_KEY")));
        }
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
