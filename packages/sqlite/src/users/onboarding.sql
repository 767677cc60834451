-- Completed onboarding steps.

CREATE TABLE onboarding_step (
  user_id INTEGER NOT NULL,
  step TEXT NOT NULL,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  PRIMARY KEY (user_id, step)
) STRICT, WITHOUT ROWID;
