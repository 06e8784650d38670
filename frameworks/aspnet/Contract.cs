using System.Net.WebSockets;
using System.Numerics;
using System.Text;
using Microsoft.Extensions.Primitives;

namespace Plimsoll;

/// <summary>The answers that need nothing but the request.</summary>
static class Contract
{
    const int LongestMessage = 1 << 20; // bytes of a message of WebSocket

    static readonly byte[] Letters2048 = Letters(2048);

    record Person(long Id, string FirstName, string LastName);

    public static void Map(WebApplication app)
    {
        app.MapGet("/empty", () => Results.Ok());
        app.MapGet("/plaintext", Constant("Hello, World!"u8.ToArray()));
        app.MapGet("/2048", Constant(Letters2048));
        app.MapGet("/8192", Constant(Letters(8192)));
        app.MapGet("/32768", Constant(Letters(32768)));
        app.MapGet("/getArgs2048", (HttpRequest request) => Decoded(request, request.Query));
        app.MapPost("/postArgs2048", AnswerForm);
        app.MapPost("/postArgsMulti2048", AnswerForm);
        app.MapGet("/args", (HttpRequest request) => Checksum(request.Query));
        app.MapPost("/json", (Person person) => person);
        app.MapGet("/fibonacci/{n:int:min(0)}", (int n) => Fibonacci(n).ToString());
        app.MapGet("/echo", Echo);
    }

    static byte[] Letters(int length) => Encoding.ASCII.GetBytes(new string('A', length));

    static Func<IResult> Constant(byte[] body) => () => Results.Bytes(body, "text/plain");

    /// <summary>Forms of both kinds: the content type says which one it is.</summary>
    static async Task<IResult> AnswerForm(HttpRequest request) =>
        Decoded(request, await request.ReadFormAsync());

    /// <summary>Says how many bytes the decoded values of the arguments have together.</summary>
    static IResult Decoded(
        HttpRequest request, IEnumerable<KeyValuePair<string, StringValues>> arguments)
    {
        var bytes = arguments.Sum(argument => Encoding.UTF8.GetByteCount(argument.Value.ToString()));
        request.HttpContext.Response.Headers["decoded-bytes"] = bytes.ToString();
        return Results.Bytes(Letters2048, "text/plain");
    }

    /// <summary>The CRC-32 of the values by rising name, each followed by a line feed.</summary>
    static string Checksum(IQueryCollection arguments)
    {
        var crc = new Crc32();
        foreach (var name in arguments.Keys.Order(StringComparer.Ordinal))
        {
            crc.Append(Encoding.UTF8.GetBytes($"{arguments[name]}\n"));
        }
        return crc.Value.ToString();
    }

    /// <summary>Adds n - 1 times.</summary>
    static BigInteger Fibonacci(int n)
    {
        var (a, b) = (BigInteger.Zero, BigInteger.One);
        if (n == 0)
        {
            return a;
        }
        for (var i = 1; i < n; i++)
        {
            (a, b) = (b, a + b);
        }
        return b;
    }

    /// <summary>Returns every message as it came; the framework answers pings.</summary>
    static async Task<IResult> Echo(HttpContext context)
    {
        if (!context.WebSockets.IsWebSocketRequest)
        {
            return Results.BadRequest();
        }
        using var socket = await context.WebSockets.AcceptWebSocketAsync();
        var message = new byte[LongestMessage];
        while (socket.State == WebSocketState.Open)
        {
            var (length, last) = await Receive(socket, message, context.RequestAborted);
            if (last.MessageType == WebSocketMessageType.Close)
            {
                var status = socket.CloseStatus ?? WebSocketCloseStatus.NormalClosure;
                await socket.CloseAsync(status, null, context.RequestAborted);
                break;
            }
            var whole = message.AsMemory(0, length);
            await socket.SendAsync(whole, last.MessageType, true, context.RequestAborted);
        }
        return Results.Empty;
    }

    /// <summary>A message that may come in parts; a longer one than there is room for ends the connection.</summary>
    static async Task<(int Length, ValueWebSocketReceiveResult Last)> Receive(
        WebSocket socket, byte[] message, CancellationToken aborted)
    {
        for (var length = 0; ;)
        {
            var part = await socket.ReceiveAsync(message.AsMemory(length), aborted);
            length += part.Count;
            if (part.EndOfMessage || length == message.Length)
            {
                return (length, part);
            }
        }
    }
}
