import type { ChannelId, UserId } from '../kernel/ids.js';
import { parseNote } from './reminders.js';
import { failureNotice } from './scheduled-delivery.js';
import { parseRecipients, requireFuture } from './scheduled-messages.js';

const SELF = 7 as UserId;

it('parseRecipients returns distinct recipients, ascending, with the sender only if alone', () => {
  const named = (...members: number[]) => parseRecipients('direct', members as UserId[], SELF);
  expect(named(9, 7, 3, 9)).toEqual({ kind: 'userIds', ids: [3, 9] });
  expect(named(7, 7)).toEqual({ kind: 'userIds', ids: [7] });
  expect(named()).toEqual({ kind: 'userIds', ids: [] });
});

it.each([
  ['channel', [5 as UserId], 'Invalid data type for channel ID'],
  ['direct', 5 as ChannelId, 'Invalid data type for recipients'],
] as const)('parseRecipients rejects for a %s message the recipients %j', (kind, to, message) => {
  expect(() => parseRecipients(kind, to, SELF)).toThrow(message);
});

it('requireFuture accepts only a future delivery time', () => {
  expect(() => requireFuture(101, 100)).not.toThrow();
  expect(() => requireFuture(100, 100)).toThrow('Scheduled delivery time must be in the future.');
});

it('parseNote trims a note and rejects one that is too long', () => {
  expect(parseNote('\n\n  a\n b \n ')).toBe('  a\n b');
  expect(parseNote(' \n')).toBe('');
  expect(parseNote(`${'😀'.repeat(1000)}   `)).toBe('😀'.repeat(1000));
  expect(() => parseNote('x'.repeat(1001))).toThrow('Maximum reminder note length: 1000 characters');
});

it('failureNotice contains the scheduled time and the reason', () => {
  expect(failureNotice({ dueAt: 1_778_410_800, failure: 'No.' })).toBe(
    'The message you scheduled for <time:2026-05-10 11:00:00+00:00>  was not sent because of the following error:\n\n' +
      '> No.\n\n[View scheduled messages](#scheduled)',
  );
});
