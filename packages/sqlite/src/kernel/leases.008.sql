-- Recurring work that one of several servers does, until a moment.
CREATE TABLE worker_lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
