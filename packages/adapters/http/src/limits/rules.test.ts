import { ipGroup, networkOf, parseQuotas } from './rules.js';

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('ipGroup assigns %s to the group %s', (ip, group) => {
  expect(ipGroup(ip)).toBe(group);
});

it.each([
  ['10.1.2.3', undefined],
  ['::ffff:10.1.2.3', undefined],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0::/48'],
  ['2001:db8:0:ffff::1', '2001:db8:0::/48'],
])('networkOf maps %s to the network %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network);
});

it('ipGroup truncates invalid addresses', () => {
  expect(ipGroup('x'.repeat(10_000)).length).toBeLessThan(50);
  expect(ipGroup(':'.repeat(10_000)).length).toBeLessThan(50);
  expect(ipGroup(`${'x'.repeat(10_000)}:`).length).toBeLessThan(50);
});

it.each([undefined, '', 'x', '60', '60:0', '60:5,'])('parseQuotas returns no quotas for %p', (text) => {
  expect(parseQuotas(text)).toBeUndefined();
});
