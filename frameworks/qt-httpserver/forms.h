// Reads the two kinds of form, for which Qt's server has no parser.

#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QString>

#include <optional>

// The values of `a=1&b=2`, decoded.
QByteArrayList urlencodedValues(QByteArray encoded);

// The values of the fields of a multipart form, or nothing if it is not one.
std::optional<QByteArrayList> multipartValues(const QByteArray &contentType, const QByteArray &body);
