// Reads the two kinds of form, for which Qt's server has no parser.

#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QString>

#include <optional>
#include <utility>

using Arguments = QList<std::pair<QString, QByteArray>>;

// The arguments of `a=1&b=2`, decoded, in the order in which they came.
Arguments urlencodedArguments(QByteArray encoded);

// Their values alone.
QByteArrayList urlencodedValues(const QByteArray &encoded);

// The values of the fields of a multipart form, or nothing if it is not one.
std::optional<QByteArrayList> multipartValues(const QByteArray &contentType, const QByteArray &body);
