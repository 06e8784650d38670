#include "forms.h"

#include <QUrlQuery>

Arguments urlencodedArguments(QByteArray encoded)
{
    // QUrlQuery leaves a plus as it is, for only forms write a space so.
    const QUrlQuery query(QString::fromUtf8(encoded.replace('+', "%20")));
    Arguments arguments;
    for (const auto &[name, value] : query.queryItems(QUrl::FullyDecoded))
        arguments.append({name, value.toUtf8()});
    return arguments;
}

QByteArrayList urlencodedValues(const QByteArray &encoded)
{
    QByteArrayList values;
    for (const auto &argument : urlencodedArguments(encoded))
        values.append(argument.second);
    return values;
}

static QByteArray boundaryOf(const QByteArray &contentType)
{
    for (const QByteArray &parameter : contentType.split(';')) {
        const QByteArray trimmed = parameter.trimmed();
        if (trimmed.toLower().startsWith("boundary=")) {
            QByteArray boundary = trimmed.mid(9);
            if (boundary.size() > 1 && boundary.startsWith('"') && boundary.endsWith('"'))
                boundary = boundary.mid(1, boundary.size() - 2);
            return boundary;
        }
    }
    return {};
}

std::optional<QByteArrayList> multipartValues(const QByteArray &contentType, const QByteArray &body)
{
    const QByteArray boundary = boundaryOf(contentType);
    if (boundary.isEmpty() || !body.startsWith("--" + boundary))
        return std::nullopt;

    const QByteArray delimiter = "\r\n--" + boundary;
    QByteArrayList values;
    qsizetype at = delimiter.size() - 2;
    while (QByteArrayView(body).sliced(at).startsWith("\r\n")) {
        // Of the header of a part, only where it ends matters here.
        const qsizetype headerEnd = body.indexOf("\r\n\r\n", at);
        const qsizetype end = headerEnd < 0 ? -1 : body.indexOf(delimiter, headerEnd + 2);
        if (end < 0)
            return std::nullopt;
        values.append(body.mid(headerEnd + 4, end - headerEnd - 4));
        at = end + delimiter.size();
    }
    return values;
}
