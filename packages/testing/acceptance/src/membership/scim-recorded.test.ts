import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IssueProvisioningToken } from '@parley/domain/log-in';
import { serverPerSuite } from '../testing/servers.js';

interface RecordedRequest {
  /** Page that documents the request. */
  readonly of: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  /** Part of the response; absent for an empty response. */
  readonly answer?: object;
  /** Properties that the response must not have. */
  readonly lacks?: readonly string[];
  /** Name by which later requests refer to the id in the response. */
  readonly keep?: string;
}

interface Recording {
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: readonly RecordedRequest[];
}

const recordingOf = (directory: string): Recording =>
  JSON.parse(readFileSync(join(__dirname, `fixtures/scim-${directory}.json`), 'utf8'));

/** Inserts ids of earlier responses at the recorded placeholders. */
const withIds = <T>(value: T, ids: ReadonlyMap<string, string>): T =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === 'string' ? each.replace(/\{(\w+)\}/g, (text, name) => ids.get(name) ?? text) : each,
  );

describe.each(['entra', 'okta'])('recorded %s request', (directory) => {
  const { headers, requests } = recordingOf(directory);
  const ids = new Map<string, string>();
  let token: string;
  const { server } = serverPerSuite();
  beforeAll(async () => {
    const input = { realmId: server.realmId, name: directory };
    token = await server.parley.useCase(IssueProvisioningToken).execute(input);
  });

  it('names the page that documents it', () => {
    for (const { of } of requests) expect(of).toMatch(/^https:\/\/(?:learn\.microsoft|developer\.okta)\.com\//);
  });

  // Keeps the recorded order, because later requests need objects created by earlier ones.
  it.each(requests)('gets its documented response: $name', async (recorded) => {
    const { method, path, body, status, answer, lacks = [], keep } = recorded;
    const [route, query] = withIds(path, ids).split('?') as [string, string?];
    const search = query && `?${query.replace(/[^=&?]+/g, (part) => encodeURIComponent(part))}`;
    const reply = await server.request(method, `//scim/v2${route}${search ?? ''}`, {
      ...(body && { body: JSON.stringify(withIds(body, ids)) }),
      headers: {
        ...headers,
        Authorization: `Bearer ${token}`,
        ...(body && { 'Content-Type': 'application/scim+json; charset=utf-8' }),
      },
    });
    expect([reply.status, reply.status === status ? '' : reply.body]).toEqual([status, '']);
    if (!answer) return expect(reply.body ?? '').toBe('');
    expect(reply.headers['content-type']).toBe('application/scim+json');
    const response = JSON.parse(reply.body);
    expect(response).toMatchObject(withIds(answer, ids));
    for (const name of lacks) expect(response).not.toHaveProperty(name);
    if (keep) ids.set(keep, response.id);
  });
});
