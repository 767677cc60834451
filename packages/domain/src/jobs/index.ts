export {
  type EncodedJob,
  encodeJob,
  type Job,
  type JobKind,
  jobKind,
  MAX_JOB_PAYLOAD_LENGTH,
  type NewJob,
  type StoredJob,
} from './job.js';
export type { JobHandler } from './job-handler.js';
export { type JobRepository, type JobSelection, MAX_JOB_PROBLEM_LENGTH, type ScheduledJob } from './job-repository.js';
export { JobRunner, type JobRunnerParts } from './job-runner.js';
