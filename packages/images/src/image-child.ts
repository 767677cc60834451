import { answerJob, type ImageJob } from './image-job.js';

// What runs in the process of `ImageProcess`: every job gets its answer.
process.on('message', async (job: ImageJob) => process.send?.(await answerJob(job)));
process.on('disconnect', () => process.exit());
