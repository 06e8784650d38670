namespace Plimsoll;

/// <summary>The CRC-32 of zlib, gzip and PNG, by a table.</summary>
sealed class Crc32
{
    const uint Polynomial = 0xEDB88320;

    static readonly uint[] Table = [.. Enumerable.Range(0, 256).Select(Entry)];

    uint state = uint.MaxValue;

    public uint Value => ~state;

    public void Append(ReadOnlySpan<byte> bytes)
    {
        foreach (var value in bytes)
        {
            state = (state >> 8) ^ Table[(byte)(state ^ value)];
        }
    }

    static uint Entry(int index)
    {
        var entry = (uint)index;
        for (var bit = 0; bit < 8; bit++)
        {
            entry = (entry & 1) == 0 ? entry >> 1 : (entry >> 1) ^ Polynomial;
        }
        return entry;
    }
}
