-- The tables of package sqlfence for PostgreSQL, version 1.

-- What is here, so that an older program notices a later form.
CREATE TABLE IF NOT EXISTS palisade_schema (
    version integer NOT NULL PRIMARY KEY
);

-- For each resource the greatest token accepted. Deleting a row lets every
-- paused writer of that resource in. Names are compared byte by byte: an index
-- in the order of a language is damaged when that order changes with an
-- upgrade of the operating system, and could then hold a resource twice.
CREATE TABLE IF NOT EXISTS palisade_fence (
    resource text COLLATE "C" NOT NULL PRIMARY KEY,
    token bigint NOT NULL CHECK (token > 0)
);

-- The operations that took effect, with what the first attempt returned.
-- Deleting a row means that the operation can be done again.
CREATE TABLE IF NOT EXISTS palisade_operation (
    resource text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    token bigint NOT NULL CHECK (token > 0),
    value bytea NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (resource, operation)
);

CREATE INDEX IF NOT EXISTS palisade_operation_at ON palisade_operation (at);

INSERT INTO palisade_schema (version) VALUES (1) ON CONFLICT (version) DO NOTHING;
