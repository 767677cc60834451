import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { BrowserChecks } from './csrf.js';

const checks = new BrowserChecks({ publicUrl: 'http://chat.example' });
const PAGE: Reply = { status: 200, body: 'x' };
const TOKEN = 'a'.repeat(32);

it.each`
  method       | cacheControl               | cookie                  | token
  ${'GET'}     | ${undefined}               | ${undefined}            | ${'a new one'}
  ${'HEAD'}    | ${undefined}               | ${undefined}            | ${'a new one'}
  ${'GET'}     | ${undefined}               | ${`csrftoken=${TOKEN}`} | ${'none'}
  ${'GET'}     | ${undefined}               | ${'csrftoken=<b>'}      | ${'a new one'}
  ${'GET'}     | ${'public, max-age=86400'} | ${undefined}            | ${'none'}
  ${'POST'}    | ${undefined}               | ${undefined}            | ${'none'}
  ${'OPTIONS'} | ${undefined}               | ${undefined}            | ${'none'}
`(
  'BrowserChecks adds a CSRF cookie ($token) to $method with cookie $cookie and Cache-Control $cacheControl',
  ({ method, cacheControl, cookie, token }) => {
    const request = {
      method,
      isSecure: false,
      realmAddress: '',
      header: (name: string) => (name === 'cookie' ? cookie : undefined),
    };
    const { headers = [] } = checks.withToken(
      { ...PAGE, ...(cacheControl && { cacheControl }) },
      request as unknown as Request,
      undefined,
    );
    expect(headers.join(' ')).toMatch(token === 'none' ? /^$/ : /^Set-Cookie csrftoken=[\w-]{32};/);
  },
);
