-- TLS: when TCP was connected, whether a session was resumed, and the alert of the server.
ALTER TABLE plimsoll.connections
    ADD COLUMN tcp_connected_ns bigint,
    ADD COLUMN resumed boolean,
    ADD COLUMN alert smallint;
