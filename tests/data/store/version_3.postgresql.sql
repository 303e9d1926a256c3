CREATE TABLE accounts (
    id BIGSERIAL NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT pk_accounts PRIMARY KEY (id),
    CONSTRAINT uq_accounts_name UNIQUE (name)
);
CREATE TABLE store_version (
    version INTEGER NOT NULL,
    applied TIMESTAMP WITH TIME ZONE NOT NULL,
    program TEXT NOT NULL,
    CONSTRAINT pk_store_version PRIMARY KEY (version)
);
CREATE TABLE writers (
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    program TEXT NOT NULL,
    started TIMESTAMP WITH TIME ZONE NOT NULL,
    seen TIMESTAMP WITH TIME ZONE NOT NULL,
    sequence BIGINT NOT NULL,
    CONSTRAINT pk_writers PRIMARY KEY (id)
);
CREATE TABLE connections (
    id BIGSERIAL NOT NULL,
    account_id BIGINT NOT NULL,
    logged_in TIMESTAMP WITH TIME ZONE,
    lost TIMESTAMP WITH TIME ZONE,
    state TEXT,
    reason TEXT,
    CONSTRAINT pk_connections PRIMARY KEY (id),
    CONSTRAINT ck_connections_times CHECK (logged_in IS NOT NULL OR lost IS NOT NULL),
    CONSTRAINT fk_connections_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX ix_connections_account_id ON connections (account_id);
CREATE TABLE opponents (
    id BIGSERIAL NOT NULL,
    account_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    first_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    last_seen TIMESTAMP WITH TIME ZONE NOT NULL,
    rating DOUBLE PRECISION,
    experience BIGINT,
    client TEXT,
    CONSTRAINT pk_opponents PRIMARY KEY (id),
    CONSTRAINT uq_opponents_account_id_name UNIQUE (account_id, name),
    CONSTRAINT fk_opponents_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE TABLE ratings (
    id BIGSERIAL NOT NULL,
    account_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    rating DOUBLE PRECISION NOT NULL,
    experience BIGINT NOT NULL,
    CONSTRAINT pk_ratings PRIMARY KEY (id),
    CONSTRAINT fk_ratings_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX ix_ratings_account_id_at ON ratings (account_id, at);
CREATE INDEX ix_ratings_account_id_id ON ratings (account_id, id);
CREATE TABLE facts (
    opponent_id BIGINT NOT NULL,
    fact TEXT NOT NULL,
    times INTEGER NOT NULL,
    first_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_facts PRIMARY KEY (opponent_id, fact),
    CONSTRAINT ck_facts_times CHECK (times > 0),
    CONSTRAINT fk_facts_opponent_id FOREIGN KEY(opponent_id) REFERENCES opponents (id) ON DELETE CASCADE
);
CREATE TABLE matches (
    id BIGSERIAL NOT NULL,
    account_id BIGINT NOT NULL,
    opponent_id BIGINT NOT NULL,
    length INTEGER,
    started TIMESTAMP WITH TIME ZONE NOT NULL,
    seen TIMESTAMP WITH TIME ZONE NOT NULL,
    ended TIMESTAMP WITH TIME ZONE,
    outcome TEXT NOT NULL,
    inferred BOOLEAN NOT NULL,
    own_score INTEGER,
    opponent_score INTEGER,
    resumed INTEGER NOT NULL,
    why TEXT,
    rating_before DOUBLE PRECISION,
    experience_before BIGINT,
    rating_after DOUBLE PRECISION,
    experience_after BIGINT,
    opponent_rating DOUBLE PRECISION,
    opponent_experience BIGINT,
    site TEXT,
    CONSTRAINT pk_matches PRIMARY KEY (id),
    CONSTRAINT ck_matches_outcome CHECK (outcome IN ('playing', 'saved', 'won', 'lost', 'unseen')),
    CONSTRAINT fk_matches_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT fk_matches_opponent_id FOREIGN KEY(opponent_id) REFERENCES opponents (id) ON DELETE CASCADE
);
CREATE INDEX ix_matches_account_id_experience_after ON matches (account_id, experience_after);
CREATE INDEX ix_matches_account_id_outcome ON matches (account_id, outcome);
CREATE INDEX ix_matches_account_id_started ON matches (account_id, started);
CREATE INDEX ix_matches_opponent_id ON matches (opponent_id);
CREATE TABLE games (
    id BIGSERIAL NOT NULL,
    match_id BIGINT NOT NULL,
    number INTEGER NOT NULL,
    started TIMESTAMP WITH TIME ZONE NOT NULL,
    ended TIMESTAMP WITH TIME ZONE,
    won BOOLEAN,
    points INTEGER,
    how TEXT,
    cube INTEGER,
    inferred BOOLEAN NOT NULL,
    CONSTRAINT pk_games PRIMARY KEY (id),
    CONSTRAINT uq_games_match_id_number UNIQUE (match_id, number),
    CONSTRAINT fk_games_match_id FOREIGN KEY(match_id) REFERENCES matches (id) ON DELETE CASCADE
);
CREATE TABLE decisions (
    id BIGSERIAL NOT NULL,
    game_id BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    sitting INTEGER NOT NULL,
    turn INTEGER,
    phase TEXT NOT NULL,
    xgid TEXT,
    dice TEXT,
    offer INTEGER,
    answer TEXT NOT NULL,
    equity DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    fallback TEXT,
    refused TEXT,
    CONSTRAINT pk_decisions PRIMARY KEY (id),
    CONSTRAINT fk_decisions_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE
);
CREATE INDEX ix_decisions_game_id ON decisions (game_id);
CREATE TABLE sheets (
    id BIGSERIAL NOT NULL,
    game_id BIGINT NOT NULL,
    key TEXT NOT NULL,
    sitting INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    state TEXT NOT NULL,
    CONSTRAINT pk_sheets PRIMARY KEY (id),
    CONSTRAINT fk_sheets_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
    CONSTRAINT uq_sheets_key UNIQUE (key)
);
CREATE INDEX ix_sheets_game_id ON sheets (game_id);
CREATE TABLE entries (
    id BIGSERIAL NOT NULL,
    sheet_id BIGINT NOT NULL,
    number INTEGER NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL,
    kind TEXT NOT NULL,
    own BOOLEAN,
    dice TEXT,
    play TEXT,
    level INTEGER,
    accepted BOOLEAN,
    equity DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    rebuilt BOOLEAN NOT NULL,
    reason TEXT,
    state TEXT,
    CONSTRAINT pk_entries PRIMARY KEY (id),
    CONSTRAINT ck_entries_kind CHECK (kind IN ('throw', 'double', 'take', 'pass', 'beaver', 'resign', 'gap')),
    CONSTRAINT uq_entries_sheet_id_number UNIQUE (sheet_id, number),
    CONSTRAINT fk_entries_sheet_id FOREIGN KEY(sheet_id) REFERENCES sheets (id) ON DELETE CASCADE
);
