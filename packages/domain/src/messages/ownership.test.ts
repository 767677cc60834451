import type { RecipientId } from '../kernel/ids.js';
import { type ChannelMove, ownershipOf, type Span } from './message.js';

const HOME = 1 as RecipientId;
const OTHER = 2 as RecipientId;

const follows = (recipientId: RecipientId, bounds: Partial<Span> = {}): Span => ({
  recipientId,
  fromOrdinal: 1,
  toOrdinal: null,
  fromMove: 1,
  toMove: null,
  ...bounds,
});
const to = (targetRecipientId: RecipientId, number: number, isHistoryProtected = false): ChannelMove => ({
  number,
  targetRecipientId,
  isHistoryProtected,
});
const protectedOther = (number: number) => to(OTHER, number, true);

describe('ownershipOf for a message with ordinal 5', () => {
  it.each<[string, Span[], ChannelMove[], string]>([
    ['no user who never subscribed', [], [], 'none'],
    ['a follower', [follows(HOME)], [], 'received'],
    ['one who came with it', [follows(HOME, { fromOrdinal: 5 })], [], 'received'],
    ['one who came after it', [follows(HOME, { fromOrdinal: 6 })], [], 'none'],
    ['one who left after it', [follows(HOME, { toOrdinal: 6 })], [], 'received'],
    ['one who left before it', [follows(HOME, { toOrdinal: 5 })], [], 'none'],
    ['one who came back', [follows(HOME, { toOrdinal: 3 }), follows(HOME, { fromOrdinal: 4 })], [], 'received'],
    ['a follower of another channel', [follows(OTHER)], [], 'none'],

    ['moved: one who follows both', [follows(HOME), follows(OTHER)], [to(OTHER, 1)], 'received'],
    ['moved: one who follows the source only', [follows(HOME)], [to(OTHER, 1)], 'none'],
    ['moved: one who follows the target only', [follows(OTHER)], [to(OTHER, 1)], 'none'],
    ['moved: one who follows the protected target only', [follows(OTHER)], [protectedOther(1)], 'gained'],
    ['moved: one who follows both, target protected', [follows(HOME), follows(OTHER)], [protectedOther(1)], 'received'],
    [
      'moved: one who came to the target later',
      [follows(HOME), follows(OTHER, { fromMove: 2 })],
      [to(OTHER, 1)],
      'none',
    ],
    ['moved: one who left the target before', [follows(HOME), follows(OTHER, { toMove: 1 })], [to(OTHER, 1)], 'none'],
    [
      'moved: one who left the target afterwards',
      [follows(HOME), follows(OTHER, { toMove: 2 })],
      [to(OTHER, 1)],
      'received',
    ],

    ['there and back: one who follows home only', [follows(HOME)], [to(OTHER, 1), to(HOME, 2)], 'none'],
    ['there and back, home protected', [follows(HOME)], [to(OTHER, 1), to(HOME, 2, true)], 'gained'],
    ['there and back: one who follows the other only', [follows(OTHER)], [protectedOther(1), to(HOME, 2)], 'none'],
  ])('decides ownership: %s', (_who, spans, moves, expected) => {
    expect(ownershipOf(spans, { recipientId: HOME, ordinal: 5 }, moves)).toBe(expected);
  });
});
