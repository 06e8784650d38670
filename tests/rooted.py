"""A framework in a root of its own: a server of a few lines of Perl, which every Debian has.

It returns what it was built with, and has a child that does not stop by itself.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import small_servers
from plimsoll.campaign.framework import Framework

SUITE = "trixie"

SERVER = """
use IO::Socket::INET;
open my $file, '<', "$ENV{BUILD}/suite" or die;
my $suite = <$file>;
my $listener = IO::Socket::INET->new(
    LocalAddr => $ENV{HOST}, LocalPort => $ENV{PORT}, Listen => 4096, ReuseAddr => 1) or die;
if (fork == 0) {
    $SIG{TERM} = "IGNORE";
    sleep 600;
    exit;
}
$SIG{TERM} = sub { exit 0 };
while (my $connection = $listener->accept) {
    sysread $connection, my $request, 65536;
    my $length = length $suite;
    print $connection "HTTP/1.1 200 OK\\r\\nContent-Length: $length\\r\\n";
    print $connection "Connection: close\\r\\n\\r\\n$suite";
    close $connection;
}
"""

BUILD = 'sed -n "s/^VERSION_CODENAME=//p" /etc/os-release | tr -d "\\n" > "$BUILD/suite"'


def framework(folder: Path) -> Framework:
    """A framework that is built and runs in a root, and returns the name of the root's suite."""
    made = small_servers.framework(folder, "", root=f"debian:{SUITE}", build=BUILD)
    (folder / "server.pl").write_text(SERVER)
    return replace(made, start="exec perl server.pl", version="perl -v | sed -n 2p")
