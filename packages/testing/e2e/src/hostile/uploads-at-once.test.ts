import { createHash, randomBytes } from 'node:crypto';
import { SeededRandomness } from '@parley/testkit';
import { send } from '../conformance/request.js';
import type { ParleyProcess } from '../testing/parley-process.js';
import { type Person, TestOrganization } from '../testing/test-organization.js';
import { basic } from './caller.js';
import { SEED, size } from './scale.js';

const ROUNDS = size(15, 300);
const AT_ONCE = 10;
const LENGTH = 200_000;
const TUS = { 'Tus-Resumable': '1.0.0' };

/** Concurrent requests for one resumable upload, in random order. */
describe(`resumable upload with concurrent requests and seed ${SEED}`, () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let person: Person;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    person = await organization.addPerson('Hamlet');
    server = await organization.serve();
  });
  afterAll(() => organization.close());

  const request = (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | null = null,
  ) => send({ method, url: server.url + path, headers: { ...TUS, authorization: basic(person), ...headers }, body });

  it('accepts each byte once and never fails', async () => {
    const chance = new SeededRandomness(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const content = randomBytes(LENGTH);
      const metadata = `filename ${Buffer.from(`a ${round}`).toString('base64')}`;
      const begun = await request('POST', '/api/v1/tus/', {
        ...{ 'Upload-Length': String(LENGTH), 'Upload-Metadata': metadata },
      });
      expect(begun.status).toBe(201);
      const path = begun.headers.location!;
      const isTerminated = chance.fraction() < 0.3;
      let offset = 0;
      let url: string | undefined;
      while (offset < LENGTH && url === undefined) {
        const end = Math.min(LENGTH, offset + 1 + Math.floor(chance.fraction() * LENGTH));
        const part = content.subarray(offset, end);
        const headers = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) };
        const replies = await Promise.all([
          ...Array.from({ length: AT_ONCE }, () => request('PATCH', path, headers, part)),
          request('HEAD', path, {}),
          ...(isTerminated && chance.fraction() < 0.5 ? [request('DELETE', path, {})] : []),
        ]);
        const statuses = replies.map(({ status }) => status);
        for (const status of statuses) expect([200, 204, 404, 409, 410, 423]).toContain(status);
        const accepted = replies.slice(0, AT_ONCE).filter(({ status }) => status === 200 || status === 204);
        expect([statuses, accepted.length <= 1]).toEqual([statuses, true]);
        if (accepted.length === 0) break;
        offset = end;
        if (offset === LENGTH) url = JSON.parse(accepted[0]!.text).url;
      }
      if (url === undefined) {
        expect(isTerminated).toBe(true);
        continue;
      }
      const read = await fetch(server.url + url, { headers: { authorization: basic(person) } });
      // An upload terminated after its last byte is a file.
      const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
      expect([round, read.status, digest(new Uint8Array(await read.arrayBuffer()))]).toEqual([
        round,
        200,
        digest(content),
      ]);
    }
    expect(server.output).not.toContain('"level":"error"');
  });
});
