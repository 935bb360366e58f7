"""The tables of `index.sqlite` that are searched (`texts` tells what is in them), and what was added to the first ones."""

from __future__ import annotations

from memory.L4_raw_sessions.tokens import TOKENIZER

SEARCH = f"""
CREATE TABLE texts (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize="{TOKENIZER}");
CREATE TABLE live (id INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE, model TEXT, started REAL NOT NULL,
  ended REAL NOT NULL, stale INTEGER NOT NULL, history TEXT);
CREATE TABLE messages (part INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT, role TEXT NOT NULL, time REAL NOT NULL,
  text INTEGER NOT NULL REFERENCES texts (id), PRIMARY KEY (part, ordinal)) WITHOUT ROWID;
CREATE INDEX messages_text ON messages (text);
CREATE TRIGGER members_gone AFTER DELETE ON members BEGIN DELETE FROM messages WHERE part = old.id; END
"""

EMPTIED = "ALTER TABLE members ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0"
