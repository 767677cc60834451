-- Completed onboarding steps.

CREATE TABLE onboarding_step (
  user_id bigint NOT NULL,
  step text COLLATE "C" NOT NULL,
  realm_id bigint NOT NULL REFERENCES realm (id),
  PRIMARY KEY (user_id, step)
);
