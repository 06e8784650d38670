# Runs Apache with Django in it (mod-wsgi) or behind it (fcgi), as the argument says, until
# something ends or SIGTERM comes.
#
# What is written, and what is read by Django, lies in a folder of its own below /tmp: started by
# root, Django runs as www-data, who may not be able to read a checkout in somebody's home.

set -eu

THREADS=32   # of each process of flup
CHILDREN=10  # of Apache at most, ServerLimit in apache.conf

RUN=$(mktemp -d /tmp/plimsoll-django.XXXXXX)
export RUN FILES="${FILES:-/nonexistent}"
apache=
django=

# Apache first, and gracefully: flup waits until its connections are closed.
finish() {
    trap '' TERM INT
    [ -z "$apache" ] || kill -WINCH "$apache" 2>/dev/null || true
    [ -z "$apache" ] || wait "$apache" || true
    [ -z "$django" ] || kill $django 2>/dev/null || true
    wait
    rm -rf "$RUN"
}
trap finish EXIT
trap 'exit 0' TERM INT

as_www_data() {
    if [ "$(id -u)" -eq 0 ]; then
        exec setpriv --reuid=www-data --regid=www-data --clear-groups "$@"
    else
        exec "$@"
    fi
}

cp -R contract apache/*.conf "$RUN"
export SITE=$BUILD/site
if ! (as_www_data test -r "$SITE/django/__init__.py"); then
    cp -a "$SITE" "$RUN"
    SITE=$RUN/site
fi
chmod -R u=rwX,go=rX "$RUN"
cd "$RUN"

start_flup() {
    mkdir sockets
    [ "$(id -u)" -ne 0 ] || chown www-data sockets
    for number in $(seq "$WORKERS"); do
        socket=$RUN/sockets/$number
        (as_www_data env PYTHONPATH="$RUN:$SITE" \
            /usr/bin/python3 -m contract.fcgi "$socket" "$THREADS") &
        django="$django $!"
        echo "BalancerMember unix:$socket|fcgi://flup-$number enablereuse=on max=$((THREADS / CHILDREN))"
    done >members.conf
    for number in $(seq "$WORKERS"); do
        while [ ! -S "sockets/$number" ] && kill -0 $django; do sleep 0.02; done
    done
}

[ "$1" != fcgi ] || start_flup

# Apache signals its whole process group when it stops, so it gets one of its own.
setsid /usr/sbin/apache2 -f "$RUN/$1.conf" -D FOREGROUND &
apache=$!

wait -n || true
exit 1
