import type { ImageInfo } from '@parley/domain/files';
import { fakeImage } from '@parley/testkit';
import type { TestReply } from './test-reply.js';
import type { TestServer, TestUser } from './test-server.js';

export interface FileUpload {
  /** Name of the part. */
  readonly field?: string;
  readonly name: string;
  readonly content: string | Buffer;
  readonly type?: string;
}

/** Fake image for a server without real image processing; 10 × 20 by default. */
export const imageFile = (info: Partial<ImageInfo> = {}): FileUpload => ({
  name: 'a.png',
  content: Buffer.from(fakeImage({ format: 'png', width: 10, height: 20, frames: 1, ...info })),
  type: 'image/png',
});

const BOUNDARY = 'b0undary';

export const MULTIPART = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Multipart body of a form with files. */
export function multipart(files: readonly FileUpload[], fields: Readonly<Record<string, string>> = {}): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`));
  }
  for (const { field = 'file', name, content, type = 'text/plain' } of files) {
    const head = `Content-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: ${type}`;
    parts.push(Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const postFiles = (
  server: TestServer,
  path: string,
  as: TestUser | null,
  files: readonly FileUpload[],
  fields: Readonly<Record<string, string>> = {},
  realm?: string,
): Promise<TestReply> =>
  server.request('POST', path, { as, body: multipart(files, fields), headers: MULTIPART, ...(realm && { realm }) });
