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
    ['a user who never subscribed', [], [], 'none'],
    ['a subscriber', [follows(HOME)], [], 'received'],
    ['a user who subscribed with the message', [follows(HOME, { fromOrdinal: 5 })], [], 'received'],
    ['a user who subscribed after it', [follows(HOME, { fromOrdinal: 6 })], [], 'none'],
    ['a user who left after it', [follows(HOME, { toOrdinal: 6 })], [], 'received'],
    ['a user who left before it', [follows(HOME, { toOrdinal: 5 })], [], 'none'],
    ['a user who resubscribed', [follows(HOME, { toOrdinal: 3 }), follows(HOME, { fromOrdinal: 4 })], [], 'received'],
    ['a subscriber of another channel', [follows(OTHER)], [], 'none'],

    ['moved: a subscriber of both channels', [follows(HOME), follows(OTHER)], [to(OTHER, 1)], 'received'],
    ['moved: a subscriber of the source only', [follows(HOME)], [to(OTHER, 1)], 'none'],
    ['moved: a subscriber of the target only', [follows(OTHER)], [to(OTHER, 1)], 'none'],
    ['moved: a subscriber of the protected target only', [follows(OTHER)], [protectedOther(1)], 'gained'],
    [
      'moved: a subscriber of both channels, target protected',
      [follows(HOME), follows(OTHER)],
      [protectedOther(1)],
      'received',
    ],
    [
      'moved: a user who subscribed to the target later',
      [follows(HOME), follows(OTHER, { fromMove: 2 })],
      [to(OTHER, 1)],
      'none',
    ],
    [
      'moved: a user who left the target before',
      [follows(HOME), follows(OTHER, { toMove: 1 })],
      [to(OTHER, 1)],
      'none',
    ],
    [
      'moved: a user who left the target afterwards',
      [follows(HOME), follows(OTHER, { toMove: 2 })],
      [to(OTHER, 1)],
      'received',
    ],

    ['there and back: a subscriber of the source only', [follows(HOME)], [to(OTHER, 1), to(HOME, 2)], 'none'],
    ['there and back: source protected', [follows(HOME)], [to(OTHER, 1), to(HOME, 2, true)], 'gained'],
    ['there and back: a subscriber of the target only', [follows(OTHER)], [protectedOther(1), to(HOME, 2)], 'none'],
  ])('decides ownership: %s', (_who, spans, moves, expected) => {
    expect(ownershipOf(spans, { recipientId: HOME, ordinal: 5 }, moves)).toBe(expected);
  });
});
