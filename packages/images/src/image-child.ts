import { writeFileSync } from 'node:fs';
import { openHeic } from './heic.js';
import { answerJob, type ImageJob } from './image-process.js';
import { SharpImageProcessor } from './sharp-image-processor.js';

const processor = new SharpImageProcessor(openHeic);

try {
  // On Linux: should memory run out, this process ends rather than the server.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Elsewhere there is no such file.
}

// What runs in the process of `ImageProcess`: every job gets its answer.
process.on('message', async (job: ImageJob) => process.send?.(await answerJob(processor, job)));
process.on('disconnect', () => process.exit());
