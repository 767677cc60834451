import type { EventSeq } from '@parley/domain/kernel';
import { seqAfter } from './events.js';

const LAST = 2 ** 36 - 1;

it('numbers events up to the maximum sequence and rejects the next', () => {
  expect(seqAfter(0 as EventSeq)).toBe(1);
  expect(seqAfter((LAST - 1) as EventSeq)).toBe(LAST);
  expect(() => seqAfter(LAST as EventSeq)).toThrow('has run out of event numbers');
});
