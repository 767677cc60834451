import { parentPort, workerData } from 'node:worker_threads';
import { parseMail } from './mail-parsing.js';

// Worker thread of `MailParser`: posts the parsed email, or null if it is unreadable.
if (parentPort && workerData instanceof Uint8Array) {
  const email = await parseMail(workerData).catch(() => null);
  parentPort.postMessage(email, [...new Set(email?.attachments.map(({ bytes }) => bytes.buffer as ArrayBuffer))]);
}
