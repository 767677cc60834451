import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Email } from '@parley/domain/access';
import { createParley, type Parley } from '@parley/server';
import { until } from '@parley/testkit';

const ANN = { realm: '', externalId: 'u1' };
const TUS = { 'Tus-Resumable': '1.0.0' };

describe('public address with a path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-path-'));
  const emails: Email[] = [];
  let parley: Parley;
  let authorization: string;
  const call = (path: string, init: RequestInit = {}) =>
    parley.fetch(
      new Request(`https://example.com/chat${path}`, {
        ...init,
        headers: { Authorization: authorization, ...init.headers },
      }),
    );
  beforeAll(async () => {
    parley = await createParley({
      database: `sqlite:${join(folder, 'parley.db')}`,
      url: 'https://example.com/chat',
      shedsLoad: false,
      mailer: { send: async (email: Email) => void emails.push(email) },
    });
    await parley.realms.ensure({ name: '' });
    await parley.users.upsert({ ...ANN, name: 'Ann', email: 'ann@example.com', role: 'owner' });
    authorization = `Basic ${btoa(`ann@example.com:${await parley.users.apiKey(ANN)}`)}`;
  });
  afterAll(async () => {
    await parley.close();
    rmSync(folder, { recursive: true });
  });

  it('is part of the address of an upload in parts', async () => {
    const begun = await call('/api/v1/tus/', { method: 'POST', headers: { ...TUS, 'Upload-Length': '5' } });
    expect(begun.headers.get('location')).toMatch(/^\/chat\/api\/v1\/tus\/\d+\//);
  });

  it('is part of the organization address, to which addresses of files are relative', async () => {
    const form = new FormData();
    form.append('file', new Blob(['hello']), 'a.txt');
    const { url } = await (await call('/api/v1/user_uploads', { method: 'POST', body: form })).json();
    const { realm_url: base } = await (await call('/api/v1/server_settings')).json();
    expect(`${base}${url}`).toMatch(/^https:\/\/example\.com\/chat\/user_uploads\//);
    expect(await (await call(url)).text()).toBe('hello');
  });

  it('is part of links in emails', async () => {
    const body = new URLSearchParams({ invitee_emails: 'bob@example.com', stream_ids: '[]' });
    expect((await call('/api/v1/invites', { method: 'POST', body })).status).toBe(200);
    await until(() => emails.length > 0);
    expect(emails[0]!.text).toContain('https://example.com/chat/accounts/');
    expect(emails[0]!.text).not.toMatch(/https?:\/\/(?!example\.com\/chat)/);
  });
});
