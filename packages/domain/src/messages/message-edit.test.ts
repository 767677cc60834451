import type { ChannelId, UserId } from '../kernel/ids.js';
import type { Message } from './message.js';
import { type MessageEdit, visibleEdits } from './message-edit.js';
import { snapshotsOf } from './messages.use-cases.js';

const none = { previousContent: null, topic: null, channel: null };
const by = (userId: number, editedAt: number, more: Partial<MessageEdit>): MessageEdit => ({
  ...none,
  userId: userId as UserId,
  editedAt,
  ...more,
});
const text = (content: string) => ({ content, rendered: `<p>${content}</p>` });

const moved = by(1, 30, { topic: { from: 'b', to: 'c' }, channel: { from: 1 as ChannelId, to: 2 as ChannelId } });
const both = by(2, 20, { topic: { from: 'a', to: 'b' }, previousContent: text('second') });
const edited = by(2, 10, { previousContent: text('first') });
const all = [moved, both, edited];

describe('visibleEdits (messages §2.5)', () => {
  it.each`
    visibility | shown
    ${'all'}   | ${all}
    ${'moves'} | ${[moved, { ...both, previousContent: null }]}
    ${'none'}  | ${[]}
  `('follows the organization policy $visibility', ({ visibility, shown }) => {
    expect(visibleEdits(all, visibility)).toEqual(shown);
  });
});

describe('snapshotsOf (messages §10)', () => {
  const message = {
    senderId: 2,
    sentAt: 5,
    channelId: 2,
    topic: 'c',
    content: 'third',
    renderedContent: '<p>third</p>',
  } as Message;
  const told = (edits: readonly MessageEdit[]) =>
    snapshotsOf(message, edits).map(({ userId, timestamp, topic, content }) => [userId, timestamp, topic, content]);

  it('returns the message state after each edit, oldest first', () => {
    expect(told(all)).toEqual([
      [2, 5, 'a', 'first'],
      [2, 10, 'a', 'second'],
      [2, 20, 'b', 'third'],
      [1, 30, 'c', 'third'],
    ]);
  });

  it('omits earlier texts that are not visible', () => {
    expect(told(visibleEdits(all, 'moves'))).toEqual([
      [2, 5, 'a', 'third'],
      [2, 20, 'b', 'third'],
      [1, 30, 'c', 'third'],
    ]);
  });

  it('returns one snapshot for an unedited message', () => {
    expect(told([])).toEqual([[2, 5, 'c', 'third']]);
  });
});
