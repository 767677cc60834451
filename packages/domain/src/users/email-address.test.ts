import { isEmailAddress } from './user.js';

describe('isEmailAddress', () => {
  it.each([
    'hamlet@zulip.com',
    'AARON@zulip.com',
    "o'brien+tag@mail.example.co.uk",
    'a.b-c_d@x-y.example',
    `${'l'.repeat(64)}@example.com`,
    `a@${'d'.repeat(63)}.example`,
    'a@example.xn--p1ai',
  ])('accepts %s', (text) => {
    expect(isEmailAddress(text)).toBe(true);
  });

  it.each([
    '',
    'hamlet',
    '@zulip.com',
    'hamlet@',
    'a@b',
    'a@b@zulip.com',
    '.a@zulip.com',
    'a.@zulip.com',
    'a..b@zulip.com',
    'a b@zulip.com',
    'a\u0000b@zulip.com',
    'a\u0001b@zulip.com',
    'é@zulip.com',
    '"a"@zulip.com',
    'a@zulip.c',
    'a@10.0.0.1',
    'a@-x.com',
    'a@x-.com',
    'a@x..com',
    'a@zulip.com\n',
    `a@${'d'.repeat(64)}.example`,
    `${'l'.repeat(65)}@example.com`,
    `a@${'d.'.repeat(130)}example`,
  ])('rejects %j', (text) => {
    expect(isEmailAddress(text)).toBe(false);
  });
});
