// Serves Plimsoll's contract with Swiftly.

#include "contract.h"

#include <QCoreApplication>
#include <Swiftly.h>

#include <csignal>
#include <cstdlib>

int main(int argc, char *argv[])
{
    QCoreApplication application(argc, argv);
    // A server of Swiftly cannot be stopped: its workers wait for connections without an end.
    std::signal(SIGTERM, [](int) { std::_Exit(EXIT_SUCCESS); });

    REGISTER_WEBAPP(Contract);
    HttpServer::getSingleton().start(qEnvironmentVariableIntValue("WORKERS"),
                                     static_cast<quint16>(qEnvironmentVariableIntValue("PORT")));
    return application.exec();
}
