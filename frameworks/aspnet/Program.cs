// Serves Plimsoll's contract with minimal APIs of ASP.NET Core.

using System.Net;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Plimsoll;

const int Backlog = 4096; // connections that may wait to be accepted
const int LongestLine = 64 * 1024; // room for 26 arguments of any signs, percent-encoded
var gracePeriod = TimeSpan.FromSeconds(5); // for the requests in flight when a stop is asked for

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.SetMinimumLevel(LogLevel.Error);
builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = gracePeriod);
builder.Services.AddHttpClient();
Web.AddCompression(builder.Services);
builder.WebHost.UseKestrelHttpsConfiguration();
builder.WebHost.UseSockets(sockets => sockets.Backlog = Backlog);
builder.WebHost.ConfigureKestrel(kestrel =>
{
    kestrel.Limits.KeepAliveTimeout = TimeSpan.FromDays(1);
    kestrel.Limits.MaxRequestLineSize = LongestLine;
    var address = IPAddress.Parse(Setting("HOST", "127.0.0.1"));
    kestrel.Listen(address, int.Parse(Setting("PORT", "8080")), Configure);
});

var app = builder.Build();
app.UseWebSockets();
Contract.Map(app);
Web.Map(app, Environment.GetEnvironmentVariable("FILES"), Setting("UPSTREAM_URL", ""));
app.Run();

// One version of HTTP without TLS; with TLS, the client chooses.
static void Configure(ListenOptions listen)
{
    var isHttp2 = Setting("PROTOCOL", "http1") == "http2";
    listen.Protocols = isHttp2 ? HttpProtocols.Http2 : HttpProtocols.Http1;
    var certificate = Environment.GetEnvironmentVariable("TLS_CERT");
    if (certificate is not null)
    {
        listen.UseHttps(X509Certificate2.CreateFromPemFile(certificate, Setting("TLS_KEY", "")));
    }
}

static string Setting(string name, string otherwise) =>
    Environment.GetEnvironmentVariable(name) ?? otherwise;
