import { workMsOf } from '@parley/testkit/process-usage';
import { CLIENT_VARIANTS, clientNameOf, parseUserAgent, variantByKey, variantOf } from './request.js';

it.each([
  ['ZulipMobile/26.22.145 (Android 10)', 'ZulipMobile', '26.22.145'],
  ['ZulipFlutter/30.0.250 (Android 14)', 'ZulipFlutter', '30.0.250'],
  ['ZulipTerminal/0.7.0 ZulipPython/0.9.0 (Linux)', 'ZulipTerminal', '0.7.0'],
  ['Mozilla/5.0 (X11; Linux)', 'Mozilla', '5.0'],
  ['curl', 'curl', null],
  ['My Bot (x)', 'My Bot', null],
  ['a-client-with-a-name-longer-than-thirty/1', 'a-client-with-a-name-longer-th', '1'],
  ['\ud800x/1', '\ufffdx', '1'],
  ['', '', null],
  [undefined, 'Unspecified', null],
])('parseUserAgent parses %s as %s %s', (userAgent, name, version) => {
  expect(parseUserAgent(userAgent)).toEqual({ name, version });
});

it('parseUserAgent parses a long name in linear time', async () => {
  const read = () => parseUserAgent(`${'a'.repeat(16_000)}\u0001(`);
  expect(await workMsOf(read, 50)).toBeLessThan(50);
});

it.each`
  parameter          | userAgent            | session  | name
  ${undefined}       | ${'my-script/1'}     | ${false} | ${'my-script'}
  ${'test'}          | ${'my-script/1'}     | ${false} | ${'test'}
  ${'😀'.repeat(31)} | ${'my-script/1'}     | ${false} | ${'😀'.repeat(30)}
  ${undefined}       | ${'Mozilla/5.0'}     | ${true}  | ${'website'}
  ${undefined}       | ${'ZulipElectron/5'} | ${true}  | ${'ZulipElectron'}
`(
  'clientNameOf names the client for parameter $parameter, User-Agent $userAgent and session $session: $name',
  ({ parameter, userAgent, session, name }) => {
    expect(clientNameOf(parseUserAgent(userAgent), parameter, session)).toBe(name);
  },
);

it.each`
  userAgent                  | key
  ${'Mozilla/5.0'}           | ${'standard'}
  ${undefined}               | ${'standard'}
  ${'ZulipPython/0.9.1'}     | ${'zulip'}
  ${'zulip-js/2.1.0'}        | ${'zulip'}
  ${'ZulipFlutter/30.0'}     | ${'zulip'}
  ${'ZulipTerminal/0.7.0'}   | ${'zulip-terminal'}
  ${'ZulipMobile/26.22.145'} | ${'zulip-mobile-before-pronouns'}
  ${'ZulipMobile/27.191'}    | ${'zulip-mobile-before-pronouns'}
  ${'ZulipMobile/27.192'}    | ${'zulip'}
  ${'ZulipMobile/28.1'}      | ${'zulip'}
`('variantOf selects $key for $userAgent', ({ userAgent, key }) => {
  expect(variantOf(parseUserAgent(userAgent)).key).toBe(key);
});

it('variantOf selects the extra emoji type per client', () => {
  expect(variantOf(parseUserAgent('Mozilla/5.0')).extraEmojiType).toBe('service_extra_emoji');
  expect(variantOf(parseUserAgent('ZulipFlutter/30.0')).extraEmojiType).toBe('zulip_extra_emoji');
});

it.each(CLIENT_VARIANTS)('variantByKey finds the variant of stored key %s', (key) =>
  expect(variantByKey(key).key).toBe(key),
);
