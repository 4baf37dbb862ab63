-- The index file: one per user, profiles separated inside it. Every table is STRICT; natural keys are UNIQUE.
-- Text is redacted before it comes here. Times are UTC milliseconds. Lists and mappings are JSON text.
-- The text index of a profile is made beside these tables by fulltext.py, one per profile (its words and
-- frequencies must not show in another's scores).

CREATE TABLE profiles (
    profile_no      INTEGER PRIMARY KEY,
    name            TEXT NOT NULL UNIQUE,
    generation      INTEGER NOT NULL DEFAULT 0,     -- goes up with every publication; cursors are bound to it
    created_at      INTEGER NOT NULL
) STRICT;

-- What the user authorised outside the hosts' own roots.
CREATE TABLE authorised_paths (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    path            TEXT NOT NULL,                  -- resolved, absolute
    kind            TEXT NOT NULL CHECK (kind IN ('file', 'folder')),
    added_at        INTEGER NOT NULL,
    UNIQUE (profile_no, path)
) STRICT;

CREATE TABLE queue (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    source          TEXT NOT NULL,
    host            TEXT NOT NULL,
    queued_at       INTEGER NOT NULL,
    force           INTEGER NOT NULL DEFAULT 0,     -- analyse again though the source is unchanged (rebuild)
    attempts        INTEGER NOT NULL DEFAULT 0,     -- failures that count as an attempt
    code            TEXT,                           -- of the last failure
    message         TEXT,
    failed_at       INTEGER,
    UNIQUE (profile_no, source)
) STRICT;

-- Who works on a source. The owner proves that it lives by an OS lock (lease.py); the row says how far it is.
CREATE TABLE leases (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    source          TEXT NOT NULL,
    owner           TEXT NOT NULL,
    acquired_at     INTEGER NOT NULL,
    progressed_at   INTEGER NOT NULL,               -- moved by forward progress only
    stage           TEXT NOT NULL,
    done            INTEGER NOT NULL DEFAULT 0,
    total           INTEGER NOT NULL DEFAULT 0,
    UNIQUE (profile_no, source)
) STRICT;

-- Index runs that somebody follows from outside: started by a tool, or in the background. That a running one lives is
-- proved by its owner's OS lock (lease.py); its leases say how far it is, the ledger under its run what it sent.
CREATE TABLE jobs (
    job_no          INTEGER PRIMARY KEY,
    job_id          TEXT NOT NULL UNIQUE,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    words           TEXT NOT NULL,                  -- the command that goes on with it
    run             TEXT NOT NULL,
    owner           TEXT NOT NULL,
    detached        INTEGER NOT NULL,               -- goes on when who asked has gone
    started_at      INTEGER NOT NULL,
    cancel_at       INTEGER,                        -- when somebody asked for its end
    ended_at        INTEGER,
    state           TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
    answer          TEXT                            -- its document, once it has ended
) STRICT;
CREATE INDEX jobs_of_profile ON jobs (profile_no, job_no);

-- What the person works on. An id is minted once and never computed again; `marker` is the UUID that a marker file holds.
CREATE TABLE projects (
    project_no      INTEGER PRIMARY KEY,
    project_id      TEXT NOT NULL,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    name            TEXT NOT NULL,
    marker          TEXT NOT NULL,
    archived        INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    UNIQUE (profile_no, project_id),
    UNIQUE (profile_no, marker)
) STRICT;

-- What leads to a project: a folder, a repository (its common git folder), or a host's own record.
CREATE TABLE bindings (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    project_no      INTEGER NOT NULL REFERENCES projects,
    kind            TEXT NOT NULL CHECK (kind IN ('folder', 'git', 'host')),
    key             TEXT NOT NULL,                  -- what is compared: see folders.py; of a host's record 'host:id'
    folds           INTEGER NOT NULL DEFAULT 0,     -- the file system there does not tell case apart
    shown           TEXT NOT NULL,                  -- the path as it was given
    seen            TEXT NOT NULL DEFAULT '{}',     -- what a folder is recognised by when it has moved
    bound_at        INTEGER NOT NULL,
    UNIQUE (profile_no, kind, key)
) STRICT;

-- Where the user put a conversation (NULL: in no project), by its host's id: it may not be indexed yet.
CREATE TABLE decisions (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    host            TEXT NOT NULL,
    host_conversation_id TEXT NOT NULL,
    project_no      INTEGER REFERENCES projects,
    decided_at      INTEGER NOT NULL,
    UNIQUE (profile_no, host, host_conversation_id)
) STRICT;

-- What the user wants forgotten stays out: it is neither listed as new nor indexed. Nothing of its text is here.
CREATE TABLE tombstones (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    host            TEXT NOT NULL,
    host_conversation_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    forgotten_at    INTEGER NOT NULL,
    UNIQUE (profile_no, host, host_conversation_id)
) STRICT;

-- Folders that the user does not want to be asked about.
CREATE TABLE declines (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    key             TEXT NOT NULL,
    declined_at     INTEGER NOT NULL,
    UNIQUE (profile_no, key)
) STRICT;

CREATE TABLE conversations (
    conversation_no INTEGER PRIMARY KEY,
    conversation_id TEXT NOT NULL UNIQUE,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    host            TEXT NOT NULL,
    host_conversation_id TEXT NOT NULL,
    source          TEXT NOT NULL,                  -- where it was last seen; not its identity
    parent          TEXT,                           -- what the header calls its parent (an id or a path), redacted
    continues       TEXT,                           -- the host's id of what it goes on with after a compaction
    sidechain       INTEGER NOT NULL DEFAULT 0,
    automation      INTEGER NOT NULL DEFAULT 0,     -- a timetable started it, no person
    archived        INTEGER NOT NULL DEFAULT 0,     -- its host put it aside
    host_version    TEXT,                           -- of the program that wrote it
    project_no      INTEGER REFERENCES projects,
    why_project     TEXT NOT NULL DEFAULT 'none',   -- moved inherited marker folder host git mention none
    git_group       TEXT,                           -- the common git folder of where it ran, when it was there
    title           TEXT,
    cwd             TEXT,
    started_at      INTEGER,
    last_active_at  INTEGER,
    content_sha256  TEXT NOT NULL,
    content_bytes   INTEGER NOT NULL,
    size            INTEGER NOT NULL,
    mtime_ns        INTEGER NOT NULL,
    device          INTEGER NOT NULL,
    inode           INTEGER NOT NULL,
    rules_version   INTEGER NOT NULL,               -- of the redaction that its stored text went through
    reader_version  INTEGER NOT NULL,
    model           TEXT NOT NULL,                  -- who analysed it: 'offline' or a model string
    extractive      INTEGER NOT NULL,
    summary         TEXT NOT NULL,
    facts           TEXT NOT NULL,
    cuts            TEXT NOT NULL,                  -- where its chunks ended
    warnings        TEXT NOT NULL,
    redactions      TEXT NOT NULL,                  -- kind -> count
    published_at    INTEGER NOT NULL,
    UNIQUE (profile_no, host, host_conversation_id)
) STRICT;
CREATE INDEX conversations_by_activity ON conversations (profile_no, last_active_at DESC, conversation_no);
CREATE INDEX conversations_by_source ON conversations (profile_no, source);
CREATE INDEX conversations_by_project ON conversations (project_no);
CREATE INDEX conversations_in_scope ON conversations (profile_no, sidechain, automation, archived);

CREATE TABLE entries (
    entry_no        INTEGER PRIMARY KEY,
    conversation_no INTEGER NOT NULL REFERENCES conversations,
    seq             INTEGER NOT NULL,               -- order in the source
    entry_id        TEXT NOT NULL,
    parent_id       TEXT,
    line            INTEGER NOT NULL,
    offset          INTEGER NOT NULL,
    length          INTEGER NOT NULL,
    sha256          TEXT NOT NULL,                  -- of the raw bytes
    kind            TEXT NOT NULL,
    role            TEXT NOT NULL,
    tool            TEXT,
    at              INTEGER,
    turn            TEXT,                           -- the entry that begins the message that this is a further block of
    marks           TEXT NOT NULL,                  -- sorted, separated by one space
    chars           INTEGER NOT NULL,               -- length of text in code points
    text            TEXT NOT NULL,
    UNIQUE (conversation_no, entry_id)
) STRICT;
CREATE UNIQUE INDEX entries_in_order ON entries (conversation_no, seq);
CREATE INDEX entries_by_time ON entries (at);
CREATE INDEX entries_by_id ON entries (entry_id, sha256);
CREATE INDEX entries_by_parent ON entries (conversation_no, parent_id);

-- Where each redacted secret first stood, so that its number is kept. Neither the secret nor a digest of it.
CREATE TABLE placeholders (
    conversation_no INTEGER NOT NULL REFERENCES conversations,
    location        TEXT NOT NULL,
    number          INTEGER NOT NULL,
    UNIQUE (conversation_no, location)
) STRICT;

CREATE TABLE topics (
    topic_no        INTEGER PRIMARY KEY,
    topic_id        TEXT NOT NULL UNIQUE,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    title           TEXT NOT NULL,
    description     TEXT NOT NULL,
    aliases         TEXT NOT NULL,
    extractive      INTEGER NOT NULL,
    state           TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'retired', 'merged')),
    merged_into     INTEGER REFERENCES topics,
    version         INTEGER NOT NULL DEFAULT 1,     -- goes up with every change of its text or members
    created_at      INTEGER NOT NULL,
    changed_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX topics_of_profile ON topics (profile_no, state);

CREATE TABLE facets (
    facet_no        INTEGER PRIMARY KEY,
    facet_id        TEXT NOT NULL,
    conversation_no INTEGER NOT NULL REFERENCES conversations,
    ordinal         INTEGER NOT NULL,
    title           TEXT NOT NULL,
    description     TEXT NOT NULL,
    aliases         TEXT NOT NULL,
    UNIQUE (conversation_no, facet_id)
) STRICT;
CREATE INDEX facets_by_id ON facets (facet_id);

-- facet -> exactly one topic
CREATE TABLE memberships (
    facet_no        INTEGER PRIMARY KEY REFERENCES facets,
    topic_no        INTEGER NOT NULL REFERENCES topics,
    reason          TEXT NOT NULL,
    candidates      TEXT NOT NULL,                  -- topic ids that placement carried and did not choose
    placed_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX memberships_of_topic ON memberships (topic_no);

CREATE TABLE evidence (
    facet_no        INTEGER NOT NULL REFERENCES facets,
    ordinal         INTEGER NOT NULL,
    entry_id        TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    quote           TEXT NOT NULL,
    start           INTEGER NOT NULL,
    length          INTEGER NOT NULL,
    UNIQUE (facet_no, ordinal)
) STRICT;

CREATE TABLE findings (
    finding_no      INTEGER PRIMARY KEY,
    facet_no        INTEGER NOT NULL REFERENCES facets,
    ordinal         INTEGER NOT NULL,
    statement       TEXT NOT NULL,
    status          TEXT NOT NULL,
    entry_id        TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    quote           TEXT NOT NULL,
    start           INTEGER NOT NULL,
    length          INTEGER NOT NULL,
    UNIQUE (facet_no, ordinal)
) STRICT;

-- Findings that later ones replaced, by the places of their quotes: a finding is written anew with each publication.
-- Nothing is deleted by it; where the newer finding goes, the older one holds again.
CREATE TABLE supersessions (
    older_conversation_no INTEGER NOT NULL REFERENCES conversations,
    older_entry_id  TEXT NOT NULL,
    older_start     INTEGER NOT NULL,
    older_quote     TEXT NOT NULL,                  -- the words of the claim that it was replaced, verified
    newer_conversation_no INTEGER NOT NULL REFERENCES conversations,
    newer_entry_id  TEXT NOT NULL,
    newer_start     INTEGER NOT NULL,
    newer_quote     TEXT NOT NULL,
    said_at         INTEGER NOT NULL,
    UNIQUE (older_conversation_no, older_entry_id, older_start, newer_conversation_no, newer_entry_id, newer_start)
) STRICT;
CREATE INDEX supersessions_by_newer ON supersessions (newer_conversation_no);

-- Why a topic is as it is.
CREATE TABLE topic_events (
    event_no        INTEGER PRIMARY KEY,
    topic_no        INTEGER NOT NULL REFERENCES topics,
    conversation_no INTEGER REFERENCES conversations,
    at              INTEGER NOT NULL,
    kind            TEXT NOT NULL,                  -- created joined left moved redefined merged retired revived
    reason          TEXT NOT NULL,
    before          TEXT NOT NULL,
    after           TEXT NOT NULL,
    evidence        TEXT NOT NULL DEFAULT '[]',     -- of repair: what was read for it (facet, entry, hash)
    proof           TEXT                            -- of repair: the digest of its proof
) STRICT;
CREATE INDEX topic_events_of_topic ON topic_events (topic_no, event_no);

-- How each topic stands to repair.
CREATE TABLE topic_audits (
    topic_no        INTEGER PRIMARY KEY REFERENCES topics ON DELETE CASCADE,
    position        INTEGER NOT NULL DEFAULT 0,     -- the facet that was audited last; the ring goes on behind it
    publications    INTEGER NOT NULL DEFAULT 0,     -- that touched it since its last audit
    queued_at       INTEGER,                        -- waits for maintenance since then
    audited_at      INTEGER
) STRICT;
CREATE INDEX topic_audits_queued ON topic_audits (queued_at) WHERE queued_at IS NOT NULL;

-- Entries that were delivered whole to a repair child, in runs that were published.
CREATE TABLE receipts (
    facet_no        INTEGER NOT NULL REFERENCES facets ON DELETE CASCADE,
    facet_sha256    TEXT NOT NULL,                  -- the facet's words and evidence, as they were then
    entry_id        TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    chars           INTEGER NOT NULL,
    proof           TEXT NOT NULL,
    published_at    INTEGER NOT NULL,
    UNIQUE (facet_no, entry_id)
) STRICT;

-- One row for each request that was really started; written before it is sent.
CREATE TABLE ledger (
    call_no         INTEGER PRIMARY KEY,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    run             TEXT NOT NULL,                  -- one command's run
    source          TEXT,
    kind            TEXT NOT NULL,
    model           TEXT NOT NULL,
    endpoint        TEXT NOT NULL,
    attempt         INTEGER NOT NULL,
    request_bytes   INTEGER NOT NULL,
    charged_at      INTEGER NOT NULL,
    settled_at      INTEGER,
    state           TEXT NOT NULL CHECK (state IN ('charged', 'done', 'failed')),
    code            TEXT,
    prompt_tokens   INTEGER,
    completion_tokens INTEGER,
    cost_usd        REAL                            -- NULL where the model has no known price
) STRICT;
CREATE INDEX ledger_by_day ON ledger (profile_no, charged_at);

CREATE TABLE model_cache (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    key             TEXT NOT NULL,
    kind            TEXT NOT NULL,
    model           TEXT NOT NULL,
    reply           TEXT NOT NULL,                  -- redacted
    source          TEXT,
    created_at      INTEGER NOT NULL,
    UNIQUE (profile_no, key)
) STRICT;

CREATE TABLE consents (
    consent_no      INTEGER PRIMARY KEY,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    provider        TEXT NOT NULL,
    endpoint        TEXT NOT NULL,
    model           TEXT NOT NULL,
    projects        TEXT NOT NULL,                  -- 'all', or a JSON list of ids
    granted_at      INTEGER NOT NULL,
    revoked_at      INTEGER
) STRICT;

-- What an endpoint was seen to take ('response_format': 'json_schema', 'json_object', 'none').
CREATE TABLE endpoint_traits (
    endpoint        TEXT NOT NULL,
    model           TEXT NOT NULL,
    trait           TEXT NOT NULL,
    value           TEXT NOT NULL,
    seen_at         INTEGER NOT NULL,
    UNIQUE (endpoint, model, trait)
) STRICT;

-- Which engine a profile's text index was made with, and by which segmenting rules.
CREATE TABLE text_indexes (
    profile_no      INTEGER PRIMARY KEY REFERENCES profiles,
    engine          TEXT NOT NULL CHECK (engine IN ('fts5', 'fts4')),
    segment_version INTEGER NOT NULL,
    counted_rows    INTEGER NOT NULL DEFAULT 0      -- how many entries it held when its common words were counted
) STRICT;

-- In how many rows of a text index its commonest words stand, as they were counted last: asking the index itself takes
-- as many steps as there are rows.
CREATE TABLE frequent_words (
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    layer           TEXT NOT NULL CHECK (layer IN ('text', 'curated')),
    word            TEXT NOT NULL,
    rows            INTEGER NOT NULL,
    PRIMARY KEY (profile_no, layer, word)
) STRICT, WITHOUT ROWID;

-- What analysis and placement wrote, as the text index holds it: the words a hit is found by. A hit counts for the
-- entries that its owner cites. The text stands here so that it can leave the index when its owner has changed.
CREATE TABLE curated_texts (
    curated_no      INTEGER PRIMARY KEY,
    profile_no      INTEGER NOT NULL REFERENCES profiles,
    conversation_no INTEGER REFERENCES conversations,   -- NULL for a topic
    kind            TEXT NOT NULL CHECK (kind IN ('summary', 'facet', 'aliases', 'finding', 'topic')),
    owner_no        INTEGER NOT NULL,               -- conversation_no, facet_no (also of its aliases), finding_no or topic_no
    text            TEXT NOT NULL,
    UNIQUE (profile_no, kind, owner_no)
) STRICT;
CREATE INDEX curated_of_conversation ON curated_texts (conversation_no);
