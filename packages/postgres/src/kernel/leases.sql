-- Recurring work that one of several servers does, until a moment.
CREATE TABLE worker_lease (
  name text COLLATE "C" PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  until bigint NOT NULL
);
