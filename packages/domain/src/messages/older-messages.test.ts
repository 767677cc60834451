import type { MessageId } from '../kernel/ids.js';
import { MAX_OLDER_RANGES, rangeWith } from './older-messages.js';

const range = (first: number, last: number) => ({ first: first as MessageId, last: last as MessageId });
const sent = (id: number, sentAt: number) => ({ id: id as MessageId, sentAt });

it.each`
  message     | ranges           | previous   | expected         | why
  ${[9, 50]}  | ${[]}            | ${null}    | ${range(9, 9)}   | ${'is the first'}
  ${[9, 50]}  | ${[range(4, 8)]} | ${[8, 40]} | ${range(4, 9)}   | ${'follows the last one'}
  ${[9, 40]}  | ${[range(4, 8)]} | ${[8, 40]} | ${range(4, 9)}   | ${'is from the same second'}
  ${[9, 39]}  | ${[range(4, 8)]} | ${[8, 40]} | ${range(9, 9)}   | ${'is older than the last one'}
  ${[10, 50]} | ${[range(4, 8)]} | ${[8, 40]} | ${range(10, 10)} | ${'comes after another message'}
  ${[9, 50]}  | ${[range(4, 8)]} | ${null}    | ${range(9, 9)}   | ${'follows a deleted message'}
`('rangeWith returns $expected for an older message that $why', ({ message, ranges, previous, expected }) => {
  expect(rangeWith(sent(message[0], message[1]), ranges, previous && sent(previous[0], previous[1]))).toEqual(expected);
});

it('rangeWith limits the number of ranges', () => {
  const ranges = Array.from({ length: MAX_OLDER_RANGES }, (_, n) => range(2 * n + 1, 2 * n + 1));
  const end = ranges.at(-1)!.last;
  expect(() => rangeWith(sent(end + 2, 50), ranges, sent(end, 40))).toThrow(
    expect.objectContaining({ code: 'HISTORY_OUT_OF_ORDER' }),
  );
  expect(rangeWith(sent(end + 1, 50), ranges, sent(end, 40))).toEqual(range(end, end + 1));
});
