#pragma once

#include <WebApp.h>

// Serves Plimsoll's contract.
class Contract : public WebApp
{
    Q_OBJECT

public:
    void registerPathHandlers() override;

public slots:
    void handleEmpty(HttpRequest &, HttpResponse &);
    void handle2048(HttpRequest &, HttpResponse &);
    void handle8192(HttpRequest &, HttpResponse &);
    void handle32768(HttpRequest &, HttpResponse &);
    void handlePlaintext(HttpRequest &, HttpResponse &);
    void handleGetArgs(HttpRequest &, HttpResponse &);
    void handlePostArgs(HttpRequest &, HttpResponse &);
    void handleArgs(HttpRequest &, HttpResponse &);
    void handleJson(HttpRequest &, HttpResponse &);
    void handleFibonacci(HttpRequest &, HttpResponse &);
};
