CREATE TABLE accounts (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT pk_accounts PRIMARY KEY (id),
    CONSTRAINT uq_accounts_name UNIQUE (name)
);
CREATE TABLE store_version (
    version INTEGER NOT NULL,
    applied VARCHAR(32) NOT NULL,
    program TEXT NOT NULL,
    CONSTRAINT pk_store_version PRIMARY KEY (version)
);
CREATE TABLE writers (
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    program TEXT NOT NULL,
    started VARCHAR(32) NOT NULL,
    seen VARCHAR(32) NOT NULL,
    sequence BIGINT NOT NULL,
    CONSTRAINT pk_writers PRIMARY KEY (id)
);
CREATE TABLE connections (
    id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    logged_in VARCHAR(32),
    lost VARCHAR(32),
    state TEXT,
    reason TEXT,
    CONSTRAINT pk_connections PRIMARY KEY (id),
    CONSTRAINT ck_connections_times CHECK (logged_in IS NOT NULL OR lost IS NOT NULL),
    CONSTRAINT fk_connections_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX ix_connections_account_id ON connections (account_id);
CREATE TABLE opponents (
    id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    first_seen VARCHAR(32) NOT NULL,
    last_seen VARCHAR(32) NOT NULL,
    rating DOUBLE,
    experience BIGINT,
    client TEXT,
    CONSTRAINT pk_opponents PRIMARY KEY (id),
    CONSTRAINT uq_opponents_account_id_name UNIQUE (account_id, name),
    CONSTRAINT fk_opponents_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE TABLE ratings (
    id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    at VARCHAR(32) NOT NULL,
    rating DOUBLE NOT NULL,
    experience BIGINT NOT NULL,
    CONSTRAINT pk_ratings PRIMARY KEY (id),
    CONSTRAINT fk_ratings_account_id FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);
CREATE INDEX ix_ratings_account_id_at ON ratings (account_id, at);
CREATE INDEX ix_ratings_account_id_id ON ratings (account_id, id);
CREATE TABLE facts (
    opponent_id INTEGER NOT NULL,
    fact TEXT NOT NULL,
    times INTEGER NOT NULL,
    first_at VARCHAR(32) NOT NULL,
    last_at VARCHAR(32) NOT NULL,
    CONSTRAINT pk_facts PRIMARY KEY (opponent_id, fact),
    CONSTRAINT ck_facts_times CHECK (times > 0),
    CONSTRAINT fk_facts_opponent_id FOREIGN KEY(opponent_id) REFERENCES opponents (id) ON DELETE CASCADE
);
CREATE TABLE matches (
    id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    opponent_id INTEGER NOT NULL,
    length INTEGER,
    started VARCHAR(32) NOT NULL,
    seen VARCHAR(32) NOT NULL,
    ended VARCHAR(32),
    outcome TEXT NOT NULL,
    inferred BOOLEAN NOT NULL,
    own_score INTEGER,
    opponent_score INTEGER,
    resumed INTEGER NOT NULL,
    why TEXT,
    rating_before DOUBLE,
    experience_before BIGINT,
    rating_after DOUBLE,
    experience_after BIGINT,
    opponent_rating DOUBLE,
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
    id INTEGER NOT NULL,
    match_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started VARCHAR(32) NOT NULL,
    ended VARCHAR(32),
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
    id INTEGER NOT NULL,
    game_id INTEGER NOT NULL,
    at VARCHAR(32) NOT NULL,
    sitting INTEGER NOT NULL,
    turn INTEGER,
    phase TEXT NOT NULL,
    xgid TEXT,
    dice TEXT,
    offer INTEGER,
    answer TEXT NOT NULL,
    equity DOUBLE,
    seconds DOUBLE,
    fallback TEXT,
    refused TEXT,
    CONSTRAINT pk_decisions PRIMARY KEY (id),
    CONSTRAINT fk_decisions_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE
);
CREATE INDEX ix_decisions_game_id ON decisions (game_id);
CREATE TABLE sheets (
    id INTEGER NOT NULL,
    game_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    sitting INTEGER NOT NULL,
    at VARCHAR(32) NOT NULL,
    state TEXT NOT NULL,
    CONSTRAINT pk_sheets PRIMARY KEY (id),
    CONSTRAINT fk_sheets_game_id FOREIGN KEY(game_id) REFERENCES games (id) ON DELETE CASCADE,
    CONSTRAINT uq_sheets_key UNIQUE ("key")
);
CREATE INDEX ix_sheets_game_id ON sheets (game_id);
CREATE TABLE entries (
    id INTEGER NOT NULL,
    sheet_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at VARCHAR(32) NOT NULL,
    kind TEXT NOT NULL,
    own BOOLEAN,
    dice TEXT,
    play TEXT,
    level INTEGER,
    accepted BOOLEAN,
    equity DOUBLE,
    seconds DOUBLE,
    rebuilt BOOLEAN NOT NULL,
    reason TEXT,
    state TEXT,
    CONSTRAINT pk_entries PRIMARY KEY (id),
    CONSTRAINT ck_entries_kind CHECK (kind IN ('throw', 'double', 'take', 'pass', 'beaver', 'resign', 'gap')),
    CONSTRAINT uq_entries_sheet_id_number UNIQUE (sheet_id, number),
    CONSTRAINT fk_entries_sheet_id FOREIGN KEY(sheet_id) REFERENCES sheets (id) ON DELETE CASCADE
);
