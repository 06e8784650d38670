using System.IO.Compression;
using System.Text.Json;
using Microsoft.AspNetCore.ResponseCompression;
using Microsoft.Extensions.FileProviders;

namespace Plimsoll;

/// <summary>What web applications do besides: many routes, files, large bodies, calls of another service.</summary>
static class Web
{
    const int Routes = 1000;
    const int MostEvents = 100;
    const int Piece = 64 * 1024; // bytes of an upload that are read at a time
    static readonly TimeSpan EventInterval = TimeSpan.FromMilliseconds(10);

    record Rating(double Score, long Count);

    record Item(
        long Id, string Name, string Category, long Price, long Quantity, bool Active, string[] Tags,
        Rating Rating)
    {
        public long? Total { get; init; }
    }

    record ItemList(int Count, IEnumerable<Item> Items);

    record UpstreamValue(long Id, long Value);

    record DoubledValue(long Id, long Doubled);

    public static void AddCompression(IServiceCollection services)
    {
        services.AddResponseCompression(compression =>
        {
            compression.EnableForHttps = true;
            compression.Providers.Add<GzipCompressionProvider>();
        });
        services.Configure<GzipCompressionProviderOptions>(gzip => gzip.Level = CompressionLevel.Fastest);
    }

    public static void Map(WebApplication app, string? files, string upstream)
    {
        for (var k = 0; k < Routes; k++)
        {
            var name = $"{k}:";
            app.MapGet($"/r/{k}/x/{{id}}", (string id) => name + id);
        }
        app.MapPost("/upload", Upload);
        app.MapPost("/json-in", (JsonElement document) => Sum(document).ToString());
        app.MapGet("/stream/{n:int}", Stream);
        app.MapGet("/up/{id:long}", (long id, IHttpClientFactory clients, ILogger<Program> log) =>
            Doubled(clients.CreateClient(), upstream, id, log));
        if (files is not null)
        {
            MapFiles(app, files);
        }
    }

    /// <summary>Compression is for this path alone: no other pays for it.</summary>
    static void MapFiles(WebApplication app, string files)
    {
        var json = File.ReadAllBytes(Path.Combine(files, "items.json"));
        var records = JsonSerializer.Deserialize<Item[]>(json, JsonSerializerOptions.Web) ?? [];
        app.UseWhen(
            context => context.Request.Path.StartsWithSegments("/items"),
            branch => branch.UseResponseCompression());
        app.MapGet("/items/{n:int}", (int n, long m) => n < 1 || n > records.Length
            ? Results.NotFound()
            : Results.Ok(new ItemList(
                n, records.Take(n).Select(item => item with { Total = item.Price * item.Quantity * m }))));
        app.UseStaticFiles(new StaticFileOptions
        {
            FileProvider = new PhysicalFileProvider(Path.Combine(files, "static")),
            RequestPath = "/static",
        });
    }

    /// <summary>The CRC-32 of a body, which is never in memory as a whole.</summary>
    static async Task<string> Upload(HttpRequest request)
    {
        var crc = new Crc32();
        var piece = new byte[Piece];
        for (int length; (length = await request.Body.ReadAsync(piece)) > 0;)
        {
            crc.Append(piece.AsSpan(0, length));
        }
        return crc.Value.ToString();
    }

    /// <summary>The sum of all members named <c>value</c>.</summary>
    static long Sum(JsonElement document) => document.ValueKind switch
    {
        JsonValueKind.Object => document.EnumerateObject().Sum(member =>
            member.NameEquals("value") && member.Value.TryNumber(out var number) ? number : Sum(member.Value)),
        JsonValueKind.Array => document.EnumerateArray().Sum(Sum),
        _ => 0,
    };

    static bool TryNumber(this JsonElement element, out long number)
    {
        number = 0;
        return element.ValueKind == JsonValueKind.Number && element.TryGetInt64(out number);
    }

    /// <summary>Events, each sent when it is due.</summary>
    static async Task Stream(int n, HttpResponse response, CancellationToken aborted)
    {
        if (n is < 1 or > MostEvents)
        {
            response.StatusCode = StatusCodes.Status404NotFound;
            return;
        }
        response.ContentType = "text/event-stream";
        response.Headers.CacheControl = "no-cache";
        using var due = new PeriodicTimer(EventInterval);
        for (var i = 0; i < n; i++)
        {
            await response.WriteAsync($"data: {i}\n\n", aborted);
            await response.Body.FlushAsync(aborted);
            await due.WaitForNextTickAsync(aborted);
        }
    }

    /// <summary>Twice what another service says.</summary>
    static async Task<IResult> Doubled(HttpClient client, string upstream, long id, ILogger log)
    {
        try
        {
            var found = await client.GetFromJsonAsync<UpstreamValue>($"{upstream}/value/{id}");
            return found is null
                ? Results.StatusCode(StatusCodes.Status502BadGateway)
                : Results.Ok(new DoubledValue(id, 2 * found.Value));
        }
        catch (Exception failed) when (failed is HttpRequestException or JsonException)
        {
            log.LogError(failed, "no value from the upstream");
            return Results.StatusCode(StatusCodes.Status502BadGateway);
        }
    }
}
