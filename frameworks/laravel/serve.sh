# Runs Laravel behind nginx or within Apache, as the argument says, until something ends or SIGTERM comes.
#
# All that is read and written lies in a folder of its own below /tmp: started by root, the servers
# go on as www-data, who may not be able to read a checkout in somebody's home.

set -eu
export PATH="$PATH:/usr/sbin"

RUN=$(mktemp -d /tmp/plimsoll-laravel.XXXXXX)
export RUN

finish() {
    trap '' TERM INT
    kill $(jobs -p) 2>/dev/null || true
    wait
    rm -rf "$RUN"
}
trap finish EXIT
trap 'exit 0' TERM INT

# Dates stay: Laravel compiles a page again unless it is older than what was compiled of it.
cp -Rp "$BUILD/app" *.conf "$RUN"
[ -z "${FILES:-}" ] || ln -s "$FILES/static" "$RUN/app/public/static"
# Where the database is comes from the environment, and paths from where the application is now.
(cd "$RUN/app" && php artisan config:cache && php artisan view:cache) >/dev/null
chmod -R u=rwX,go=rX "$RUN"
cd "$RUN"

case $1 in
    nginx)
        echo "listen $HOST:$PORT backlog=4096;" >listen.conf
        "php-fpm$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')" \
            --nodaemonize --prefix "$RUN" --fpm-config php-fpm.conf &
        # nginx answers 502 until PHP-FPM listens.
        while [ ! -S fpm-5.sock ] && kill -0 $!; do sleep 0.02; done
        nginx -p "$RUN" -c nginx.conf -g "worker_processes $WORKERS;" &
        ;;
    apache)
        # Apache signals its whole process group when it stops, so it gets one of its own.
        setsid apache2 -f "$RUN/apache.conf" -D FOREGROUND &
        ;;
esac

wait -n || true
exit 1
