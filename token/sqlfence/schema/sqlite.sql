-- The tables of package sqlfence for SQLite, version 1.

-- What is here, so that an older program notices a later form.
CREATE TABLE IF NOT EXISTS palisade_schema (
    version INTEGER NOT NULL PRIMARY KEY
);

-- For each resource the greatest token accepted. Deleting a row lets every
-- paused writer of that resource in.
CREATE TABLE IF NOT EXISTS palisade_fence (
    resource TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL CHECK (typeof(token) = 'integer' AND token > 0)
);

-- The operations that took effect, with what the first attempt returned.
-- Deleting a row means that the operation can be done again. The column at
-- counts milliseconds since 1970.
CREATE TABLE IF NOT EXISTS palisade_operation (
    resource TEXT COLLATE BINARY NOT NULL,
    operation TEXT COLLATE BINARY NOT NULL,
    token BIGINT NOT NULL CHECK (typeof(token) = 'integer' AND token > 0),
    value BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (resource, operation)
);

CREATE INDEX IF NOT EXISTS palisade_operation_at ON palisade_operation (at);

INSERT INTO palisade_schema (version) VALUES (1) ON CONFLICT (version) DO NOTHING;
