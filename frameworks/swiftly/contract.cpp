#include "contract.h"

#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QUrl>

#include <gmpxx.h>
#include <zlib.h>

using Arguments = QHash<QString, QSharedPointer<QString>>;

static const QByteArray body2048(2048, 'A');
static const QByteArray body8192(8192, 'A');
static const QByteArray body32768(32768, 'A');

static void setHeader(HttpResponse &response, const QString &name, const QString &value)
{
    response.setHeader(name, QSharedPointer<QString>::create(value));
}

// Swiftly sends no date of its own.
static void finish(HttpResponse &response, const QString &type)
{
    const QDateTime now = QDateTime::currentDateTimeUtc();
    setHeader(response, "Date", QLocale::c().toString(now, "ddd, dd MMM yyyy hh:mm:ss 'GMT'"));
    response.finish(type);
}

static void text(HttpResponse &response, const QByteArray &body)
{
    response << body;
    finish(response, "text/plain");
}

// Swiftly splits arguments; what stands for other letters in them is left to its users.
static QByteArray percentDecoded(QString value)
{
    return QUrl::fromPercentEncoding(value.replace('+', ' ').toUtf8()).toUtf8();
}

// The constant body, with the length of all values in UTF-8 as proof that they were decoded.
static void countedDecodedBytes(HttpResponse &response, const Arguments &arguments)
{
    int decodedBytes = 0;
    for (const QSharedPointer<QString> &value : arguments)
        decodedBytes += percentDecoded(*value).size();
    setHeader(response, "decoded-bytes", QString::number(decodedBytes));
    text(response, body2048);
}

// The CRC-32 of the values by rising name, each followed by a line feed.
static quint32 checksum(const Arguments &arguments)
{
    QStringList names = arguments.keys();
    names.sort();
    uLong crc = 0;
    for (const QString &name : names) {
        const QByteArray line = percentDecoded(*arguments[name]) + '\n';
        crc = crc32_z(crc, reinterpret_cast<const Bytef *>(line.constData()), size_t(line.size()));
    }
    return quint32(crc);
}

// F(n) by n - 1 additions; F(0) = 0, F(1) = 1.
static mpz_class fibonacci(unsigned n)
{
    mpz_class previous = 0;
    mpz_class current = n == 0 ? 0 : 1;
    for (unsigned i = 1; i < n; ++i) {
        previous += current;
        swap(previous, current);
    }
    return current;
}

void Contract::registerPathHandlers()
{
    AddGetHandler("/empty", handleEmpty);
    AddGetHandler("/2048", handle2048);
    AddGetHandler("/8192", handle8192);
    AddGetHandler("/32768", handle32768);
    AddGetHandler("/plaintext", handlePlaintext);
    AddGetHandler("/getArgs2048", handleGetArgs);
    AddPostHandler("/postArgs2048", handlePostArgs);
    AddGetHandler("/args", handleArgs);
    AddPostHandler("/json", handleJson);
    AddGetHandler("/fibonacci", handleFibonacci);
}

void Contract::handleEmpty(HttpRequest &, HttpResponse &response)
{
    finish(response, "text/plain");
}

void Contract::handle2048(HttpRequest &, HttpResponse &response)
{
    text(response, body2048);
}

void Contract::handle8192(HttpRequest &, HttpResponse &response)
{
    text(response, body8192);
}

void Contract::handle32768(HttpRequest &, HttpResponse &response)
{
    text(response, body32768);
}

void Contract::handlePlaintext(HttpRequest &, HttpResponse &response)
{
    text(response, "Hello, World!");
}

void Contract::handleGetArgs(HttpRequest &request, HttpResponse &response)
{
    countedDecodedBytes(response, request.getHeader().getQueries());
}

void Contract::handlePostArgs(HttpRequest &request, HttpResponse &response)
{
    countedDecodedBytes(response, request.getFormData());
}

void Contract::handleArgs(HttpRequest &request, HttpResponse &response)
{
    text(response, QByteArray::number(checksum(request.getHeader().getQueries())));
}

void Contract::handleJson(HttpRequest &request, HttpResponse &response)
{
    const QJsonDocument person = QJsonDocument::fromJson(request.getRawData());
    if (!person.isObject()) {
        response.setStatusCode(400);
        return;
    }
    response << person.toJson(QJsonDocument::Compact);
    finish(response, "application/json");
}

// The path ends where its handler was found: what is below it, the handler reads.
void Contract::handleFibonacci(HttpRequest &request, HttpResponse &response)
{
    bool isNumber = false;
    const ushort n = request.getHeader().getPath().section('/', 2).toUShort(&isNumber);
    if (!isNumber) {
        response.setStatusCode(400);
        return;
    }
    text(response, QByteArray::fromStdString(fibonacci(n).get_str()));
}
