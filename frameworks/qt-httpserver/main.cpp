// Serves Plimsoll's contract with QHttpServer, one event loop for each core.

#include "forms.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QHttpServer>
#include <QHttpServerRequest>
#include <QHttpServerResponse>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QTcpServer>
#include <QThread>

#include <gmpxx.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

using Method = QHttpServerRequest::Method;
using StatusCode = QHttpServerResponse::StatusCode;

static const int backlog = 4096;
static const QByteArray body2048(2048, 'A');
static const QByteArray body8192(8192, 'A');
static const QByteArray body32768(32768, 'A');

static QHttpServerResponse text(const QByteArray &body)
{
    return QHttpServerResponse("text/plain", body);
}

// Qt 6.8 has given the header fields of a response a class of their own.
static void setHeader(QHttpServerResponse &response, const char *name, const QByteArray &value)
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    QHttpHeaders headers = response.headers();
    headers.append(name, value);
    response.setHeaders(std::move(headers));
#else
    response.setHeader(name, value);
#endif
}

static QHttpServerResponse badRequest()
{
    return QHttpServerResponse(StatusCode::BadRequest);
}

// The constant body, with the length of all values in UTF-8 as proof that they were decoded.
static QHttpServerResponse countedDecodedBytes(const QByteArrayList &values)
{
    qsizetype decodedBytes = 0;
    for (const QByteArray &value : values)
        decodedBytes += value.size();
    QHttpServerResponse response = text(body2048);
    setHeader(response, "decoded-bytes", QByteArray::number(decodedBytes));
    return response;
}

static QByteArray queryOf(const QHttpServerRequest &request)
{
    return request.url().query(QUrl::FullyEncoded).toUtf8();
}

static QHttpServerResponse queryArgs(const QHttpServerRequest &request)
{
    return countedDecodedBytes(urlencodedValues(queryOf(request)));
}

static QHttpServerResponse formArgs(const QHttpServerRequest &request)
{
    return countedDecodedBytes(urlencodedValues(request.body()));
}

static QHttpServerResponse multipartArgs(const QHttpServerRequest &request)
{
    const auto values = multipartValues(request.value("Content-Type"), request.body());
    return values ? countedDecodedBytes(*values) : badRequest();
}

// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
static QHttpServerResponse checksum(const QHttpServerRequest &request)
{
    Arguments arguments = urlencodedArguments(queryOf(request));
    std::sort(arguments.begin(), arguments.end());
    uLong crc = 0;
    for (const auto &argument : arguments) {
        const QByteArray line = argument.second + '\n';
        crc = crc32_z(crc, reinterpret_cast<const Bytef *>(line.data()), size_t(line.size()));
    }
    return text(QByteArray::number(quint32(crc)));
}

static QHttpServerResponse jsonEcho(const QHttpServerRequest &request)
{
    const QJsonDocument person = QJsonDocument::fromJson(request.body());
    return person.isObject() ? QHttpServerResponse(person.object()) : badRequest();
}

// F(n) by n - 1 additions; F(0) = 0, F(1) = 1.
static QHttpServerResponse fibonacci(unsigned n)
{
    if (n > 99'999)
        return QHttpServerResponse(StatusCode::NotFound);
    mpz_class previous = 0;
    mpz_class current = n == 0 ? 0 : 1;
    for (unsigned i = 1; i < n; ++i) {
        previous += current;
        swap(previous, current);
    }
    return text(QByteArray::fromStdString(current.get_str()));
}

// The time as HTTP writes it; each event loop writes it anew once a second.
static QByteArray date()
{
    thread_local qint64 second = 0;
    thread_local QByteArray written;
    const qint64 now = QDateTime::currentSecsSinceEpoch();
    if (now != second) {
        const QDateTime utc = QDateTime::fromSecsSinceEpoch(now, Qt::UTC);
        written = QLocale::c().toString(utc, "ddd, dd MMM yyyy hh:mm:ss 'GMT'").toLatin1();
        second = now;
    }
    return written;
}

static void addRoutes(QHttpServer &server)
{
    server.route("/empty", Method::Get, [] { return text({}); });
    server.route("/plaintext", Method::Get, [] { return text("Hello, World!"); });
    server.route("/2048", Method::Get, [] { return text(body2048); });
    server.route("/8192", Method::Get, [] { return text(body8192); });
    server.route("/32768", Method::Get, [] { return text(body32768); });
    server.route("/getArgs2048", Method::Get,
                 [](const QHttpServerRequest &request) { return queryArgs(request); });
    server.route("/postArgs2048", Method::Post,
                 [](const QHttpServerRequest &request) { return formArgs(request); });
    server.route("/postArgsMulti2048", Method::Post,
                 [](const QHttpServerRequest &request) { return multipartArgs(request); });
    server.route("/args", Method::Get,
                 [](const QHttpServerRequest &request) { return checksum(request); });
    server.route("/json", Method::Post,
                 [](const QHttpServerRequest &request) { return jsonEcho(request); });
    server.route("/fibonacci/<arg>", Method::Get, [](unsigned n) { return fibonacci(n); });
    // Qt's server sends no date of its own.
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    server.addAfterRequestHandler(&server, [](const QHttpServerRequest &, QHttpServerResponse &response) {
        setHeader(response, "Date", date());
    });
#else
    server.afterRequest([](QHttpServerResponse &&response) {
        setHeader(response, "Date", date());
        return std::move(response);
    });
#endif
}

// One event loop with a server that accepts from the socket all of them share.
class Worker : public QThread
{
public:
    explicit Worker(qintptr listener) : listener(listener) {}

protected:
    void run() override
    {
        QHttpServer server;
        addRoutes(server);
        auto *accepting = new QTcpServer;
        if (!accepting->setSocketDescriptor(dup(listener)))
            qFatal("%s", qPrintable(accepting->errorString()));
        server.bind(accepting);
        exec();
    }

private:
    const qintptr listener;
};

int main(int argc, char *argv[])
{
    // Every thread inherits this: the signal waits until it is asked for.
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);

    QCoreApplication app(argc, argv);
    if (app.arguments().contains("--version")) {
        std::printf("Qt %s, GMP %s\n", qVersion(), gmp_version);
        return 0;
    }

    QTcpServer listener;
    listener.setListenBacklogSize(backlog);
    if (!listener.listen(QHostAddress(qEnvironmentVariable("HOST")),
                         quint16(qEnvironmentVariableIntValue("PORT"))))
        qFatal("%s", qPrintable(listener.errorString()));

    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < qEnvironmentVariableIntValue("WORKERS"); ++i) {
        workers.push_back(std::make_unique<Worker>(listener.socketDescriptor()));
        workers.back()->start();
    }

    int signal = 0;
    sigwait(&stop, &signal);
    for (const auto &worker : workers)
        worker->quit();
    for (const auto &worker : workers)
        worker->wait();
    return 0;
}
