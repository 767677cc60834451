import { comesOnline, statusOf, timesAfterReport, timesAfterSwitch } from './presence.js';

const NOW = 10_000;
const ago = (active: number | null, connected: number) => ({
  lastActive: active === null ? null : NOW - active,
  lastConnected: NOW - connected,
});

it.each([
  ['active', null, ago(0, 0)],
  ['idle', null, ago(null, 0)],
  ['active', ago(55, 55), null],
  ['active', ago(56, 55), ago(0, 55)],
  ['active', ago(55, 56), ago(55, 0)],
  ['idle', ago(100, 55), null],
  ['idle', ago(100, 56), ago(100, 0)],
  ['active', ago(null, 10), ago(0, 10)],
] as const)('timesAfterReport turns a report of %s after %j into %j', (status, before, after) => {
  expect(timesAfterReport(before, status, NOW)).toEqual(after);
});

it.each([
  ['active', null, true],
  ['idle', null, true],
  ['active', ago(130, 0), false],
  ['active', ago(131, 0), true],
  ['active', ago(null, 0), true],
  ['idle', ago(500, 400), false],
] as const)('comesOnline decides if a report of %s after %j brings the user online: %j', (status, before, expected) => {
  expect(comesOnline(before, status, NOW)).toBe(expected);
});

it.each([
  [ago(100, 30), 'active', 100],
  [ago(101, 30), 'idle', 30],
  [ago(null, 30), 'idle', 30],
  [ago(0, 30), 'active', 0],
] as const)('statusOf converts %j to the legacy status %s', (times, status, seconds) => {
  expect(statusOf(times)).toEqual({ status, timestamp: NOW - seconds });
});

it.each([3600, 172_800, 63_072_000])('a presence %i seconds in the future is replaced by the next report', (step) => {
  expect(timesAfterReport(ago(-step, -step), 'active', NOW)).toEqual(ago(0, 0));
  expect(comesOnline(ago(-step, -step), 'active', NOW)).toBe(true);
});

it('timesAfterSwitch makes a hidden user appear offline', () => {
  expect(timesAfterSwitch(false, NOW)).toEqual(ago(null, 320));
  expect(timesAfterSwitch(true, NOW)).toEqual(ago(0, 0));
});
