import fc from 'fast-check';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';

const TRUSTED = 'https://app.example';

/** Cross-site requests, which carry the user's cookies, a fixed `Origin` or `Sec-Fetch-Site`, and any body. */
describe('cross-site request', () => {
  let userId: number;
  let session: string;
  let port: string;
  const { server } = serverPerSuite({
    authenticate: async ({ headers }) => (headers.cookie?.includes('host=yes') ? { realm: 'zulip', userId } : null),
    trustedOrigins: new Set([TRUSTED]),
  });
  beforeAll(async () => {
    const { hamlet, iago } = server.people;
    userId = hamlet.id;
    ({ port } = new URL(server.url));
    const browser = await TestBrowser.loggedIn(server, iago);
    session = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  });

  const origins = () => [
    'null',
    'https://evil.example',
    `http://evil.example:${port}`,
    'http://localhost',
    `http://localhost:${Number(port) + 1}`,
    `http://localhost.evil.example:${port}`,
    `http://localhost:${port}@evil.example`,
    `http://localhost:${port}, https://evil.example`,
    `http://sub.localhost:${port}`,
    `ws://localhost:${port}`,
    'file://',
    'localhost',
    `${TRUSTED}.evil.example`,
    `${TRUSTED}:8443`,
    'http://app.example',
    `http://${'x'.repeat(5000)}`,
  ];
  const absent = undefined;
  const sender = () =>
    fc.oneof(
      fc.record({
        Origin: fc.constantFrom(...origins()),
        'Sec-Fetch-Site': fc.constantFrom('cross-site', 'same-site', absent),
      }),
      fc.record({ 'Sec-Fetch-Site': fc.constantFrom('cross-site', 'same-site') }),
    );
  const others = () =>
    fc.record({
      Referer: fc.constantFrom(absent, 'https://evil.example/', `http://localhost:${port}/`, 'about:blank', '\\'),
      'Content-Type': fc.constantFrom(
        'application/x-www-form-urlencoded',
        'text/plain',
        'application/x-www-form-urlencoded; application/json',
        'multipart/form-data; boundary=B',
      ),
      Authorization: fc.constantFrom(absent, 'Basic', 'Basic Og==', 'Digest x', 'Bearer'),
    });
  const body = fc.constantFrom(
    'away=true&status_text=hacked',
    'status_text=hacked&csrfmiddlewaretoken=',
    'status_text=hacked&csrfmiddlewaretoken=x',
    'status_text=hacked&method=POST',
    '--B\r\nContent-Disposition: form-data; name="status_text"\r\n\r\nhacked\r\n--B--\r\n',
  );
  const path = fc.constantFrom(
    '//json/users/me/status',
    '/users/me/status',
    '//json/users/me/status?csrfmiddlewaretoken=x',
  );

  it('changes nothing for any kind of log-in', async () => {
    const cookies = fc.constantFrom('host=yes', session, `host=yes; ${session}`, `csrftoken=x; ${session}`);
    const defined = (headers: object) =>
      Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== absent));
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(cookies, sender(), others(), path, body, async (Cookie, from, more, to, content) => {
        const headers = defined({ Cookie, ...from, ...more });
        const reply = await server.request('POST', to, { headers, body: content });
        expect([400, 401, 403]).toContain(reply.status);
        if (reply.status === 403) refused++;
      }),
      { numRuns: 400 },
    );
    // The remaining requests are rejected for their credentials or content type.
    expect(refused).toBeGreaterThan(200);
    for (const { id } of [server.people.hamlet, server.people.iago]) {
      const { status } = fieldsOf(await server.get(`/users/${id}/status`, server.people.desdemona)) as {
        readonly status: object;
      };
      expect(status).toEqual({});
    }
  });

  it('is rejected by origin alone', async () => {
    for (const Origin of origins()) {
      for (const [Cookie, to] of [
        ['host=yes', '/users/me/status'],
        ['host=yes', '//json/users/me/status'],
        [session, '//json/users/me/status'],
      ] as const) {
        const reply = await server.request('POST', to, {
          headers: { Cookie, Origin },
          params: { status_text: 'hacked' },
        });
        expect([Origin, Cookie, reply.status, reply.body.code]).toEqual([Origin, Cookie, 403, 'CSRF_FAILED']);
      }
    }
  });

  it('is accepted from the same origin and from origins that the host application trusts', async () => {
    const post = (headers: Readonly<Record<string, string>>) =>
      server.request('POST', '/users/me/status', {
        headers: { Cookie: 'host=yes', ...headers },
        params: { away: 'false' },
      });
    fieldsOf(await post({ Origin: `http://localhost:${port}` }));
    fieldsOf(await post({ Origin: TRUSTED, 'Sec-Fetch-Site': 'cross-site' }));
    fieldsOf(await post({}));
  });
});
