import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MailParser } from './mail-gateway.js';

describe('MailParser', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-mail-'));
    const script =
      "import { parentPort, workerData } from 'node:worker_threads';\n" +
      "const text = Buffer.from(workerData).toString();\nif (text === 'slow') for (;;);\nparentPort.postMessage({ text });\n";
    writeFileSync(join(folder, 'thread.mjs'), script);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('parses other emails while one takes long', async () => {
    const parser = new MailParser(join(folder, 'thread.mjs'), 3000);
    let isOver = false;
    const slow = parser.parse(new Uint8Array(Buffer.from('slow'))).finally(() => {
      isOver = true;
    });
    await expect(parser.parse(new Uint8Array(Buffer.from('quick')))).resolves.toMatchObject({ text: 'quick' });
    expect(isOver).toBe(false);
    await expect(slow).rejects.toMatchObject({ code: 'UNREADABLE_EMAIL' });
  });
});
