# Runs Rails in Passenger within Apache until Apache ends or SIGTERM comes.
#
# All that is read and written lies in a folder of its own below /tmp: started by root, the servers
# go on as www-data, who may not be able to read a checkout in somebody's home.

set -eu
export PATH="$PATH:/usr/sbin"

RUN=$(mktemp -d /tmp/plimsoll-rails.XXXXXX)
export RUN

finish() {
    trap '' TERM INT
    kill $(jobs -p) 2>/dev/null || true
    wait
    # Passenger's own processes end after Apache and take their folder with them.
    for _ in $(seq 80); do
        [ -n "$(find "$RUN" -maxdepth 1 -name 'passenger.*')" ] || break
        sleep 0.1
    done
    rm -rf "$RUN"
}
trap finish EXIT
trap 'exit 0' TERM INT

mkdir -p "$RUN/rails/public"
cp -R app config config.ru "$RUN/rails"
cp apache.conf "$RUN"
chmod -R u=rwX,go=rX "$RUN"
cd "$RUN"

# Apache signals its whole process group when it stops, so it gets one of its own.
setsid apache2 -f "$RUN/apache.conf" -D FOREGROUND &

wait -n || true
exit 1
