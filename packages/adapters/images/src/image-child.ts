import { writeFileSync } from 'node:fs';
import { openHeic } from './heic.js';
import { answerJob, type DocumentJob, type ImageJob } from './image-process.js';
import { SharpImageProcessor } from './sharp-image-processor.js';

const processor = new SharpImageProcessor(openHeic);

try {
  // On Linux, the out-of-memory killer ends this process rather than the server.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Other systems have no such file.
}

const readDocument = async (document: Uint8Array, contentType: string): Promise<string> =>
  (await import('./documents.js')).readDocument(document, contentType);

// Code of the `ImageProcess` process: every job gets a response.
process.on('message', async (job: ImageJob | DocumentJob) =>
  process.send?.(await answerJob(processor, job, readDocument)),
);
process.on('disconnect', () => process.exit());
