# Runs PHP-FPM and nginx until one of them ends or SIGTERM comes.
#
# All that is read and written lies in a folder of its own below /tmp: started by root, the servers
# go on as www-data, who may not be able to read a checkout in somebody's home.

set -eu
export PATH="$PATH:/usr/sbin"

RUN=$(mktemp -d /tmp/plimsoll-symfony.XXXXXX)

finish() {
    trap '' TERM INT
    kill $(jobs -p) 2>/dev/null || true
    wait
    rm -rf "$RUN"
}
trap finish EXIT
trap 'exit 0' TERM INT

cp -R "$BUILD/app" *.conf "$RUN"
[ -z "${FILES:-}" ] || ln -s "$FILES/static" "$RUN/app/public/static"
chmod -R u=rwX,go=rX "$RUN"
cd "$RUN"

echo "listen $HOST:$PORT backlog=4096;" >listen.conf
# As Symfony's page on performance has it; these are settings of the whole of PHP-FPM, not of a pool.
"php-fpm$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')" \
    -d opcache.preload="$RUN/app/var/cache/prod/App_KernelProdContainer.preload.php" \
    -d opcache.preload_user=www-data \
    -d opcache.memory_consumption=256 -d opcache.max_accelerated_files=20000 \
    --nodaemonize --prefix "$RUN" --fpm-config php-fpm.conf &
# nginx answers 502 until PHP-FPM listens.
while [ ! -S fpm-5.sock ] && kill -0 $!; do sleep 0.02; done
nginx -p "$RUN" -c nginx.conf -g "worker_processes $WORKERS;" &

wait -n || true
exit 1
