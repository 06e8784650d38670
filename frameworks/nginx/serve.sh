# Runs nginx until it ends or SIGTERM comes.
#
# All that is read and written lies in a folder of its own below /tmp: started by root, the workers
# go on as www-data, who may not be able to read a checkout in somebody's home.

set -eu
export PATH="$PATH:/usr/sbin"

RUN=$(mktemp -d /tmp/plimsoll-nginx.XXXXXX)

finish() {
    trap '' TERM INT
    kill $(jobs -p) 2>/dev/null || true
    wait
    rm -rf "$RUN"
}
trap finish EXIT
trap 'exit 0' TERM INT

mkdir "$RUN/public"
: >"$RUN/public/empty"
for length in 2048 8192 32768; do
    head -c "$length" /dev/zero | tr '\0' A >"$RUN/public/$length"
done
printf 'Hello, World!' >"$RUN/public/plaintext"
[ -z "${FILES:-}" ] || ln -s "$FILES/static" "$RUN/public/static"
cp nginx.conf "$RUN"
chmod -R u=rwX,go=rX "$RUN"

tls=${TLS_CERT:+ ssl}
http2=
if [ "${PROTOCOL:-http1}" = http2 ]; then http2=' http2'; fi
{
    echo "listen $HOST:$PORT backlog=4096$tls$http2;"
    if [ -n "$tls" ]; then
        echo "ssl_certificate $TLS_CERT;"
        echo "ssl_certificate_key $TLS_KEY;"
    fi
    # Without TLS nginx leaves the body to sendfile(2), and an HTTP/2 response waited 40 ms between two
    # sends for the client's delayed ACK. Off is nginx's default:
    # https://nginx.org/en/docs/http/ngx_http_core_module.html#sendfile
    if [ -n "$http2" ]; then echo 'sendfile off;'; fi
} >"$RUN/listen.conf"

nginx -e stderr -p "$RUN" -c nginx.conf -g "worker_processes $WORKERS;" &
wait -n || true
exit 1
