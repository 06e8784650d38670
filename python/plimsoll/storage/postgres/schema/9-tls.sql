-- TLS: when TCP was connected, whether a session was resumed, and the alert of the server.
ALTER TABLE plimsoll.connections
    ADD COLUMN IF NOT EXISTS tcp_connected_ns bigint,
    ADD COLUMN IF NOT EXISTS resumed boolean,
    ADD COLUMN IF NOT EXISTS alert smallint;
