import { parentPort, workerData } from 'node:worker_threads';
import { parseMail } from './mail-parsing.js';

// Script of the threads of `MailParser`: returns the parsed email, or null for one that cannot be read.
if (parentPort && workerData instanceof Uint8Array) {
  const email = await parseMail(workerData).catch(() => null);
  parentPort.postMessage(email, [...new Set(email?.attachments.map(({ bytes }) => bytes.buffer as ArrayBuffer))]);
}
