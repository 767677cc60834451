import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ParleyClient } from '@parley/client';
import { sendResumable } from './resumable-upload.js';

const BYTES = 6 * 1024 * 1024;
const PATH = '/json/tus/2/ab/file.bin';

/** Node's variant of the library reads buffers instead of files. */
const file = Object.assign(Buffer.alloc(BYTES), { name: 'file.bin', type: '', size: BYTES, lastModified: 0 });

let server: Server;
let calls: string[];
let offset: number;
/** Responses of a proxy in front of the server, each sent once instead of that of the server. */
let failures: { readonly method: string; readonly at: number; readonly status: number; readonly body?: string }[];

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let received = 0;
  for await (const chunk of request) received += (chunk as Buffer).length;
  const method = request.method!;
  const failure = failures.find((each) => each.method === method && each.at === offset);
  const status = failure?.status ?? (method === 'POST' ? 201 : 200);
  calls.push(`${method} ${status} at ${offset}`);
  if (failure) {
    failures.splice(failures.indexOf(failure), 1);
    response.writeHead(status).end(failure.body);
    return;
  }
  offset = method === 'POST' ? 0 : offset + received;
  response.writeHead(status, { Location: PATH, 'Upload-Offset': offset, 'Upload-Length': BYTES });
  response.end(method === 'PATCH' && offset === BYTES ? JSON.stringify({ url: '/user_uploads/2/ab/file.bin' }) : '');
}

beforeEach(async () => {
  [calls, failures, offset] = [[], [], 0];
  server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

function send(onInterrupted = () => {}): Promise<string> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/json/tus`;
  const client = { resumableUploads: async () => ({ url, headers: {} }) } as unknown as ParleyClient;
  return sendResumable(client, 'key', file as unknown as File, { onInterrupted });
}

it('continues an upload at its offset after the server and its HEAD responses fail', async () => {
  const first = 4 * 1024 * 1024;
  failures = [
    { method: 'PATCH', at: first, status: 502 },
    { method: 'HEAD', at: first, status: 502 },
    { method: 'HEAD', at: first, status: 503 },
  ];
  let interruptions = 0;
  const url = await send(() => {
    interruptions++;
  });
  expect(url).toBe('/user_uploads/2/ab/file.bin');
  expect(calls).toEqual([
    'POST 201 at 0',
    'PATCH 200 at 0',
    `PATCH 502 at ${first}`,
    `HEAD 502 at ${first}`,
    `HEAD 503 at ${first}`,
    `HEAD 200 at ${first}`,
    `PATCH 200 at ${first}`,
  ]);
  expect(interruptions).toBe(3);
});

it.each([
  ['names the size as the reason of an error page 413 of a proxy', '<h1>413</h1>', 'TOO_LARGE'],
  ["keeps the server's reason of a response 413", '{"message":"Full"}', 'BAD_REQUEST'],
])('%s', async (_, body, code) => {
  failures = [{ method: 'PATCH', at: 0, status: 413, body }];
  await expect(send()).rejects.toMatchObject({ code, status: 413 });
});
