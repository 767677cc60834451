import type { Request } from '../wire/request.js';
import type { Identity } from './authenticate.js';
import { BrowserChecks, CSRF_FIELD, newCsrfToken, type TrustedOrigins } from './csrf.js';

const TOKEN = 'a'.repeat(32);

interface Given {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isSecure?: boolean;
  readonly publicUrl?: string;
  readonly authority?: string;
  readonly expected?: string;
  readonly field?: string;
}

/** Returns the reason for rejection of a page's request; null if allowed. */
const reasonOf = (given: Given): string | null =>
  refusalOf(given, { ...(given.expected && { session: { csrfToken: given.expected } }) }, undefined);

function refusalOf(given: Given, identity: object, trustedOrigins: TrustedOrigins | undefined): string | null {
  const { method = 'POST', headers = {}, authority = 'chat.example', isSecure = false, field } = given;
  const request = {
    method,
    authority,
    host: authority.replace(/:\d+$/, ''),
    isSecure,
    header: (name: string) => headers[name],
  } as Request;
  const publicUrl = given.publicUrl ?? `${isSecure ? 'https' : 'http'}://chat.example`;
  const checks = new BrowserChecks({ publicUrl, ...(trustedOrigins && { trustedOrigins }) });
  const body = { fields: new Map(field === undefined ? [] : [[CSRF_FIELD, field]]), files: [] };
  try {
    checks.checkSender(request, { identity: identity as Identity, isPage: trustedOrigins === undefined, body });
    return null;
  } catch (error) {
    const reason = (error as { extra: { reason: string } }).extra.reason;
    expect(error).toMatchObject({ status: 403, code: 'CSRF_FAILED', message: `CSRF error: ${reason}` });
    return reason;
  }
}

const own = { cookie: `csrftoken=${TOKEN}`, 'x-csrftoken': TOKEN };
const badOrigin = (origin: string) => `Origin checking failed - ${origin} does not match any trusted origins.`;
const WRONG_HEADER = "CSRF token from the 'X-Csrftoken' HTTP header incorrect.";

it.each<[string, Given, string | null]>([
  ['the token of the cookie in a header', { headers: own }, null],
  ['the token of the cookie in the form', { headers: { cookie: own.cookie }, field: TOKEN }, null],
  ['a method that does not change state', { method: 'GET', headers: { origin: 'https://evil.example' } }, null],
  ['a page of the same origin', { headers: { ...own, origin: 'http://chat.example' } }, null],
  ['a custom port', { headers: { ...own, origin: 'http://chat.example:8080' }, authority: 'chat.example:8080' }, null],
  [
    'the default port, explicit or not',
    { headers: { ...own, origin: 'https://chat.example' }, authority: 'chat.example:443', isSecure: true },
    null,
  ],
  [
    'https terminated by a proxy that does not report it',
    { headers: { ...own, origin: 'https://chat.example' } },
    null,
  ],
  [
    'a proxy that names itself as the host',
    { headers: { ...own, origin: 'https://chat.example' }, authority: '127.0.0.1:9991', isSecure: true },
    null,
  ],
  [
    'a page of the same origin by Referer',
    { headers: { ...own, referer: 'https://chat.example/page' }, isSecure: true },
    null,
  ],
  ['the token of the session', { headers: own, expected: TOKEN }, null],
])('BrowserChecks accepts from its pages %s', (_what, given, reason) => {
  expect(reasonOf(given)).toBe(reason);
});

it.each<[string, Given, string]>([
  ['no cookie', { headers: { 'x-csrftoken': TOKEN } }, 'CSRF cookie not set.'],
  [
    'a cookie that the server did not issue',
    { headers: { ...own, cookie: 'csrftoken=<a b>' } },
    'CSRF cookie not set.',
  ],
  ['no token', { headers: { cookie: own.cookie } }, 'CSRF token missing.'],
  ['another token in a header', { headers: { ...own, 'x-csrftoken': 'b'.repeat(32) } }, WRONG_HEADER],
  ['a shorter token', { headers: { ...own, 'x-csrftoken': 'a' } }, WRONG_HEADER],
  ['another token in the form', { headers: own, field: 'b'.repeat(32) }, 'CSRF token from POST incorrect.'],
  ['a matching cookie and token set by a neighbouring host', { headers: own, expected: 'c'.repeat(32) }, WRONG_HEADER],
  ['another origin', { headers: { ...own, origin: 'http://evil.example' } }, badOrigin('http://evil.example')],
  ['an opaque origin', { headers: { ...own, origin: 'null' } }, badOrigin('null')],
  ['another port', { headers: { ...own, origin: 'http://chat.example:81' } }, badOrigin('http://chat.example:81')],
  [
    'a host that begins like ours',
    { headers: { ...own, origin: 'http://chat.example.evil.example' } },
    badOrigin('http://chat.example.evil.example'),
  ],
  [
    'an http origin for an https server',
    { headers: { ...own, origin: 'http://chat.example' }, isSecure: true },
    badOrigin('http://chat.example'),
  ],
  [
    'another organization of the server',
    { headers: { ...own, origin: 'http://lear.chat.example' }, authority: 'hamlet.chat.example' },
    badOrigin('http://lear.chat.example'),
  ],
  [
    "the root organization's origin for another organization",
    { headers: { ...own, origin: 'http://chat.example' }, authority: 'hamlet.chat.example' },
    badOrigin('http://chat.example'),
  ],
  [
    'a scheme other than http and https',
    { headers: { ...own, origin: 'ftp://chat.example' } },
    badOrigin('ftp://chat.example'),
  ],
  ['neither Origin nor Referer on https', { headers: own, isSecure: true }, 'Referer checking failed - no Referer.'],
  [
    'a malformed Referer',
    { headers: { ...own, referer: '/page' }, isSecure: true },
    'Referer checking failed - Referer is malformed.',
  ],
  [
    'an http Referer',
    { headers: { ...own, referer: 'http://chat.example/' }, isSecure: true },
    'Referer checking failed - Referer is insecure while host is secure.',
  ],
  [
    'a Referer of another site',
    { headers: { ...own, referer: 'https://evil.example/a' }, isSecure: true },
    'Referer checking failed - https://evil.example/a does not match any trusted origins.',
  ],
])('BrowserChecks rejects from its pages %s', (_what, given, reason) => {
  expect(reasonOf(given)).toBe(reason);
});

it('BrowserChecks truncates a long origin in the error', () => {
  const origin = `http://${'e'.repeat(10_000)}`;
  expect(reasonOf({ headers: { ...own, origin } })!.length).toBeLessThan(300);
});

it.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PATCH', 'PUT', 'DELETE'])(
  'BrowserChecks lets %s pass without a token only if it changes nothing',
  (method) => {
    expect(reasonOf({ method }) === null).toBe(['GET', 'HEAD', 'OPTIONS'].includes(method));
  },
);

it('newCsrfToken creates tokens that are valid in a cookie', () => {
  expect(newCsrfToken()).toMatch(/^[\w-]{32}$/);
});

describe('BrowserChecks for log-ins of the host application', () => {
  const outcome = (given: Given, trusted: TrustedOrigins = new Set(['http://localhost:5173'])) =>
    refusalOf(given, { isHostLogin: true }, trusted);
  const cookie = 'session=1';

  it.each<[string, Given]>([
    ['programs', { headers: { cookie } }],
    [
      'pages of the same origin',
      { headers: { cookie, origin: 'http://chat.example', 'sec-fetch-site': 'same-origin' } },
    ],
    [
      'pages of the same origin in a browser that sends only Origin',
      { headers: { cookie, origin: 'http://chat.example' } },
    ],
    [
      'pages of the same origin behind a proxy that changes the host',
      { headers: { cookie, origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' } },
    ],
    ['a typed address', { headers: { cookie, 'sec-fetch-site': 'none' } }],
    ['a method without changes', { method: 'GET', headers: { cookie, 'sec-fetch-site': 'cross-site' } }],
    [
      'pages of a trusted origin',
      { headers: { cookie, origin: 'http://localhost:5173', 'sec-fetch-site': 'cross-site' } },
    ],
    [
      'a bearer token, which browsers do not send automatically',
      { headers: { authorization: 'Bearer x', origin: 'https://app.example', 'sec-fetch-site': 'cross-site' } },
    ],
  ])('accepts %s', (_what, given) => {
    expect(outcome(given)).toBeNull();
  });

  it.each<[string, Given, string]>([
    [
      'pages of other origins',
      { headers: { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } },
      'https://evil.example',
    ],
    [
      'pages of a neighbouring host',
      { headers: { cookie, origin: 'http://blog.chat.example', 'sec-fetch-site': 'same-site' } },
      'http://blog.chat.example',
    ],
    ['pages that hide their origin', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }, 'cross-site'],
    [
      'a foreign origin from an old browser',
      { headers: { cookie, origin: 'https://evil.example' } },
      'https://evil.example',
    ],
    ['a page without an origin', { headers: { cookie, origin: 'null' } }, 'null'],
    [
      'Basic credentials stored by the browser',
      { headers: { authorization: 'Basic eDp4', origin: 'https://evil.example' } },
      'https://evil.example',
    ],
  ])('rejects %s', (_what, given, origin) => {
    expect(outcome(given)).toBe(badOrigin(origin));
    expect(outcome(given, 'any')).toBeNull();
  });
});
